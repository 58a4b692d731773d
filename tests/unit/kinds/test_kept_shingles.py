"""States and files keep the shingles that they were built with: an earlier version, or the earlier default."""

from dataclasses import replace
from pathlib import Path

import pytest

from stream_lsh import NearDuplicates
from stream_lsh.cli.options.common import SHINGLES
from stream_lsh.config import Config, parse
from stream_lsh.errors import FingerprintMismatch
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.text.catalog import DEFAULT, EARLIER_DEFAULT, FIRST
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.manifest import disagreements
from stream_lsh.worker.checks.startup import manifest_of, with_stored

HINDI = "हिन्दी भाषा बहुत सुन्दर है और करोड़ों लोग इसे बोलते हैं"


def configured(keys: str = "") -> Config:
    return parse(f"[pipeline]\nsource = 'news'\n{keys}", "news.toml", {})


def kept(keys: str, built_with: str) -> tuple[str, list[Exception]]:
    """The shingles of a worker on a state that was built with these, and the reasons that prevent its start."""
    config = configured(keys)
    (pipeline,) = config.pipelines
    built = replace(pipeline, kind=replace(as_kind(pipeline.kind, TextKind), shingles=built_with))
    theirs = manifest_of(built, 4, None)
    stored = with_stored(config, pipeline, theirs)
    return as_kind(stored.kind, TextKind).shingles, [*disagreements(manifest_of(stored, 4, None), theirs)]


def test_the_default_is_the_same_everywhere() -> None:
    assert TextKind().shingles == NearDuplicates()._settings["shingles"] == SHINGLES == DEFAULT


@pytest.mark.parametrize(
    ("keys", "built_with", "shingles"),
    [
        ("", "word:3/v1", "word:3/v1"),
        ("", "word:3", "word:3"),
        ("", "mixed:3/v1", "mixed:3/v1"),
        ("", "mixed:3", "mixed:3"),
        ("preset = 'news'", "word:3/v1", "word:3/v1"),
        ("shingles = 'word:3'", "word:3/v1", "word:3/v1"),
        ("shingles = 'word:3/8'", "word:3/v1", "word:3/v1"),
        ("shingles = 'bag:word:2/full/4'", "bag:word:2/full/4/v1", "bag:word:2/full/4/v1"),
        ("shingles = 'stem:hi:3'", "stem:hi:3/v1", "stem:hi:3/v1"),
        ("shingles = 'char:5'", "char:5", "char:5"),
    ],
)
def test_a_state_starts_with_the_shingles_that_it_was_built_with(keys: str, built_with: str, shingles: str) -> None:
    found, problems = kept(keys, built_with)
    assert (found.replace("/8", ""), problems) == (shingles, [])


@pytest.mark.parametrize(
    ("keys", "built_with", "difference"),
    [
        ("shingles = 'mixed:3'", "word:3/v1", "shingles: ours 'mixed:3', theirs 'word:3'"),
        ("shingles = 'word:2'", "word:3/v1", "shingles: ours 'word:2', theirs 'word:3'"),
        ("shingles = 'word:3/v1'", "word:3", "shingler_version: ours 1, theirs 2"),
        ("", "char:5", "shingles: ours 'mixed:3', theirs 'char:5'"),
        ("", "word:2/v1", "shingles: ours 'mixed:3', theirs 'word:2'"),
    ],
)
def test_a_state_of_other_shingles_is_rejected(keys: str, built_with: str, difference: str) -> None:
    _, (problem,) = kept(keys, built_with)
    assert difference in str(problem)


def test_an_environment_variable_names_the_shingles_too() -> None:
    config = parse("[pipeline]\nsource = 'news'", "news.toml", {"STREAM_LSH__PIPELINE__DOCUMENTS__SHINGLES": DEFAULT})
    theirs = manifest_of(configured(f"shingles = '{EARLIER_DEFAULT}'").pipelines[0], 4, None)
    stored = with_stored(config, config.pipelines[0], theirs)
    assert as_kind(stored.kind, TextKind).shingles == DEFAULT


def test_the_fingerprint_of_version_1_is_that_of_earlier_states() -> None:
    settings = TextKind(shingles="word:3/v1").stored_settings()
    assert (settings["shingles"], settings["shingler_version"]) == ("word:3", 1)
    assert fingerprint({**settings, "unicode": "14.0.0"}) == 0x9350F49BC65CC10E
    assert settings | {"shingler_version": 2} == TextKind(shingles="word:3").stored_settings()


# -- files


def saved_by_an_earlier_version(path: Path) -> list[str]:
    """Write a file as versions with the first words did; returns what a query found before."""
    near = NearDuplicates(0.5, f"word:2{FIRST}")
    near._settings = {**near._settings, "shingles": "word:2"}
    near.add_many([("a", HINDI), ("b", HINDI.replace("और", "या")), ("c", "the river rose by three metres")])
    near.save(path)
    return [one.id for one in near.query(HINDI)]


def test_a_file_of_an_earlier_version_is_read_with_its_own_words(tmp_path: Path) -> None:
    before = saved_by_an_earlier_version(tmp_path / "near.slsh")
    near = NearDuplicates.load(tmp_path / "near.slsh")
    assert near._settings["shingles"] == "word:2/v1"
    assert [one.id for one in near.query(HINDI)] == before == ["a", "b"]
    near.add("d", HINDI)
    near.save(tmp_path / "again.slsh")
    assert NearDuplicates.load(tmp_path / "again.slsh").matches() == near.matches()


def test_a_file_of_a_later_version_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near = NearDuplicates(0.5, "word:2")
    near._scheme._shingler.version = 3  # type: ignore[attr-defined]
    near.save(tmp_path / "near.slsh")
    with pytest.raises(FingerprintMismatch, match="shingler_version: ours 2, theirs 3"):
        NearDuplicates.load(tmp_path / "near.slsh")
