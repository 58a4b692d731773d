"""The library: any history ends like a fresh start with the remaining documents, and a file restores it."""

import itertools
import json
import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import (
    About,
    ConfigError,
    DamagedBytes,
    Document,
    FingerprintMismatch,
    FutureFormat,
    Guards,
    MalformedMessage,
    NearDuplicates,
    StateError,
    UnusableDocument,
)
from stream_lsh.measure.catalog import MEASURES
from stream_lsh.model import First, Outlet
from tests.evaluation.oracles import containment, jaccard, tokens, word_windows

WORDS = st.lists(st.sampled_from("abcdef"), max_size=9).map(" ".join)
IDS = st.sampled_from([f"doc{number}" for number in range(12)])
ACTIONS = st.lists(st.tuples(IDS, st.none() | WORDS), max_size=40)

Pairs = dict[tuple[str, str], float]


def pairs_of(near: NearDuplicates) -> Pairs:
    return {(match.left, match.right): match.similarity for match in near.matches()}


def groups_of(near: NearDuplicates) -> set[frozenset[str]]:
    return {frozenset(cluster.members) for cluster in near.clusters()}


def exact_pairs(texts: dict[str, str], threshold: float, k: int = 3) -> Pairs:
    sets = {id: set(word_windows(text, k)) for id, text in texts.items()}
    return {
        (left, right): similarity
        for left in texts
        for right in texts
        if left < right and (similarity := jaccard(sets[left], sets[right])) >= threshold
    }


def components(pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    groups: list[set[str]] = []
    for left, right in pairs:
        touched = [group for group in groups if left in group or right in group]
        groups = [group for group in groups if group not in touched] + [{left, right}.union(*touched)]
    return set(map(frozenset, groups))


def survivors(actions: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for id, text in actions:
        texts.pop(id, None)
        if text is not None:
            texts[id] = text
    return texts


@given(ACTIONS)
def test_any_history_ends_like_a_fresh_start_with_the_survivors(actions: list[tuple[str, str | None]]) -> None:
    near = NearDuplicates(threshold=0.5, max_candidates=0)
    for id, text in actions:
        if text is None:
            near.remove(id)
        else:
            near.add(id, text)
    texts = survivors(actions)
    fresh = NearDuplicates(threshold=0.5, max_candidates=0)
    fresh.add_many(texts.items())
    assert pairs_of(near) == pairs_of(fresh)
    assert groups_of(near) == groups_of(fresh)
    assert len(near) == len(texts)
    assert all((id in near) == (id in texts) for id, _ in actions)


@given(ACTIONS, st.integers(0, 3))
def test_one_by_one_equals_in_batches(actions: list[tuple[str, str | None]], seed: int) -> None:
    documents = [Document(id, text, number * 1000) for number, (id, text) in enumerate(actions)]
    one_by_one, at_once = (NearDuplicates(threshold=0.5, max_candidates=0, seed=seed) for _ in range(2))
    for document in documents:
        one_by_one.add_many([document])
    matches = at_once.add_many(documents)
    assert pairs_of(one_by_one) == pairs_of(at_once) == {(m.left, m.right): m.similarity for m in matches}
    assert groups_of(one_by_one) == groups_of(at_once)


@given(st.dictionaries(IDS, WORDS))
def test_all_pairs_are_exact_and_at_a_low_threshold_none_is_missed(texts: dict[str, str]) -> None:
    # Bands of one row: a pair at the threshold is missed with a probability of 1e-5.
    near = NearDuplicates(threshold=0.3, shingles="word:2", recall=0.99999, max_candidates=0)
    near.add_many(texts.items())
    expected = exact_pairs(texts, 0.3, k=2)
    assert pairs_of(near) == pytest.approx(expected)
    assert groups_of(near) == components(expected)


@given(st.dictionaries(IDS, WORDS), st.sampled_from([1.0, 1.5, 2.0]))
def test_by_containment_all_pairs_are_exact_and_none_is_missed(texts: dict[str, str], ratio: float) -> None:
    near = NearDuplicates(0.5, "word:2", 0.99999, max_candidates=0, measure="containment", size_ratio=ratio)
    near.add_many(texts.items())
    sets = {id: set(word_windows(text, 2)) for id, text in texts.items()}
    expected = {
        (left, right): (found, len(sets[left]), len(sets[right]))
        for left, right in itertools.combinations(sorted(texts), 2)
        if (found := containment(sets[left], sets[right], ratio)) >= 0.5
    }
    matches = near.matches()
    assert {(m.left, m.right): (m.similarity, m.left_shingles, m.right_shingles) for m in matches} == expected


@pytest.mark.parametrize("measure", MEASURES)
@given(actions=ACTIONS, text=WORDS)
def test_a_query_finds_what_adding_would_and_changes_nothing(
    measure: str, actions: list[tuple[str, str | None]], text: str
) -> None:
    near = NearDuplicates(threshold=0.5, max_candidates=0, measure=measure)
    near.add_many(Document(*action) for action in actions)
    before = near.matches(), near.clusters(), len(near)
    found = near.query(text)
    assert found == near.query(text)
    assert (near.matches(), near.clusters(), len(near)) == before
    assert "" not in near
    added = near.add("asked", text)
    assert {one.id: (one.similarity, one.shared, one.union) for one in found} == {
        (match.left if match.right == "asked" else match.right): (match.similarity, match.shared, match.union)
        for match in added
    }


@settings(max_examples=30)
@pytest.mark.parametrize("measure", MEASURES)
@given(before=ACTIONS, after=ACTIONS)
def test_a_restored_instance_continues_like_the_saved_one(
    tmp_path_factory: pytest.TempPathFactory,
    measure: str,
    before: list[tuple[str, str | None]],
    after: list[tuple[str, str | None]],
) -> None:
    path = tmp_path_factory.mktemp("save") / "near.slsh"
    near = NearDuplicates(threshold=0.5, retention_ms=20_000, measure=measure)
    documents = [Document(id, text, number * 1000) for number, (id, text) in enumerate(before + after)]
    near.add_many(documents[: len(before)])
    near.save(path)
    again = NearDuplicates.load(path)
    for document in documents[len(before) :]:
        assert near.add_many([document]) == again.add_many([document])
        assert near.clusters() == again.clusters()
    assert near.matches() == again.matches()
    assert len(near) == len(again)
    assert near.query("a b c d") == again.query("a b c d")


def test_settings_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    numbers = {"seed": 3, "retention_ms": 1000, "max_candidates": 7, "min_characters": 2}
    guards = Guards(max_size=np.int64(5), bridge_similarity=np.float32(0.75))  # type: ignore[arg-type]
    settings = {"threshold": np.float32(0.5), **{name: np.int64(value) for name, value in numbers.items()}}
    near = NearDuplicates(**settings, guards=guards)  # type: ignore[arg-type]
    plain = NearDuplicates(0.5, **numbers, guards=Guards(max_size=5, bridge_similarity=0.75))  # type: ignore[arg-type]
    for one in (near, plain):
        one.add_many((str(number), f"some words that come again {number // 3}") for number in range(9))
    near.save(tmp_path / "near.slsh")
    again = NearDuplicates.load(tmp_path / "near.slsh")
    assert again.matches() == near.matches() == plain.matches() != []
    assert again.settings == plain.settings


@pytest.mark.slow
def test_memory_does_not_grow_with_what_was_removed() -> None:
    near = NearDuplicates()
    near.add("stays", "one two three four")
    for number in range(3000):
        near.add(f"goes{number}", f"one two three four {number % 7}")
        assert near.remove(f"goes{number}")
    assert len(near) == 1
    assert len(near._pipeline.documents._ids) < 1100
    assert [one.id for one in near.query("one two three four")] == ["stays"]


def test_a_document_outside_the_retention_is_no_match_and_is_forgotten() -> None:
    near = NearDuplicates(retention_ms=1000)
    near.add("old", "one two three four", 0)
    assert near.add("new", "one two three four", 1001) == []
    assert near.query("one two three four", 2000)[0].id == "new"
    assert near.query("one two three four", 2002) == []
    assert [one.id for one in near.query("one two three four")] == ["new", "old"]
    near.add("far", "unrelated", 10_000_000_000)
    near.add("far", "unrelated still", 20_000_000_000)
    assert "old" not in near
    assert near.query("one two three four") == []


def test_identical_documents_are_found_whatever_the_caps() -> None:
    near = NearDuplicates(max_candidates=1)
    near.add_many((f"doc{number}", "the same words in each of them") for number in range(500))
    (cluster,) = near.clusters()
    assert len(cluster.members) == 500
    assert near.cluster_of("doc7") == cluster
    assert near.capped > 0


def test_a_text_shorter_than_a_shingle_matches_only_its_like_and_an_empty_one_nothing() -> None:
    near = NearDuplicates(threshold=0.1)
    near.add_many([("a", "one two"), ("b", "One, two!"), ("c", "one two three"), ("d", ""), ("e", ""), ("f", "...")])
    assert pairs_of(near) == {("a", "b"): 1.0}
    assert near.query("") == []


@pytest.mark.parametrize("text", ["\0 \0 nul \0 bytes", "lone \ud800 surrogates \udfff here", "x" * 2_000_000])
def test_any_string_is_a_text(tmp_path: Path, text: str) -> None:
    near = NearDuplicates()
    near.add("a", text)
    assert [match.similarity for match in near.add("b\ud800", text)] == [1.0]
    near.save(tmp_path / "near.slsh")
    assert NearDuplicates.load(tmp_path / "near.slsh").matches() == near.matches()


@pytest.mark.parametrize(
    ("document", "error"),
    [
        (("", "text"), UnusableDocument),
        (("é" * 513, "text"), UnusableDocument),
        ((7, "text"), MalformedMessage),
        (("a", b"text"), MalformedMessage),
        (("a", "text", 1.5), MalformedMessage),
        (("a", "text", 1 << 60), MalformedMessage),
    ],
)
def test_an_unusable_document_is_rejected_and_changes_nothing(document: tuple[object, ...], error: type) -> None:
    near = NearDuplicates()
    with pytest.raises(error, match="got"):
        near.add_many([("fine", "text"), document])  # type: ignore[list-item]
    assert len(near) == 0


def test_a_threshold_that_is_no_number_is_no_jaccard_similarity_of_another_measure() -> None:
    with pytest.raises(ConfigError, match=r"got nan, expected a number above 0 and below 1$"):
        NearDuplicates(float("nan"))


def test_a_query_is_a_string() -> None:
    with pytest.raises(MalformedMessage, match="got NoneType as the text of a query, expected a string"):
        NearDuplicates().query(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0},
        {"threshold": 1.5},
        {"shingles": "word"},
        {"shingles": 3},
        {"normalise": "nfc"},
        {"recall": 1},
        {"retention_ms": 0},
        {"retention_ms": 7 * 864e5},
        {"max_candidates": -1},
        {"measure": "cosine"},
        {"measure": None},
        {"method": 1},
        {"size_ratio": 2.0},
        {"measure": "containment", "size_ratio": 0.5},
        {"measure": "containment", "threshold": 1.5},
    ],
)
def test_invalid_settings_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"got|expected"):
        NearDuplicates(**wrong)  # type: ignore[arg-type]


# -- files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    near = NearDuplicates(threshold=0.5)
    near.add_many((f"doc{number}", f"some words that come again {number // 3}", number) for number in range(60))
    near.remove("doc7")
    near.save(tmp_path / "near.slsh")
    return tmp_path / "near.slsh"


@pytest.mark.slow
def test_a_file_truncated_anywhere_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for size in {*range(0, 300), *range(300, len(data), 97), len(data) - 1}:
        saved.write_bytes(data[:size])
        with pytest.raises(DamagedBytes, match=r"restore|rebuild|look"):
            NearDuplicates.load(saved)


@pytest.mark.slow
def test_a_file_altered_anywhere_is_refused(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    for at in {*range(0, 100), *range(100, len(data), 53), len(data) - 1}:
        data[at] ^= 0x10
        saved.write_bytes(data)
        with pytest.raises(StateError):
            NearDuplicates.load(saved)
        data[at] ^= 0x10


@pytest.mark.parametrize("foreign", [b"", b"\x1f\x8b", b"PK\x03\x04 something else", b"SLSH" * 20])
def test_a_foreign_file_is_refused(tmp_path: Path, foreign: bytes) -> None:
    (tmp_path / "x").write_bytes(foreign)
    with pytest.raises(DamagedBytes, match=r"stream_lsh|header"):
        NearDuplicates.load(tmp_path / "x")


def with_head(path: Path, change: Callable[[dict[str, object]], object], version: int = 1) -> None:
    data = path.read_bytes()
    _, _, size, _, _ = struct.unpack_from("<8sIIII", data)
    head = json.loads(data[24 : 24 + size])
    change(head)
    new = json.dumps(head).encode()
    path.write_bytes(struct.pack("<8sIIII", b"SLSHFILE", version, len(new), crc32(new), 0) + new + data[24 + size :])


def test_a_file_of_a_newer_version_is_refused(saved: Path) -> None:
    with_head(saved, lambda head: None, version=2)
    with pytest.raises(FutureFormat, match="newer version"):
        NearDuplicates.load(saved)


def test_a_file_of_another_scheme_is_refused_and_the_difference_named(saved: Path) -> None:
    def older_unicode(head: dict[str, object]) -> None:
        scheme = head["scheme"]
        assert isinstance(scheme, dict)
        scheme["unicode"] = "1.0"

    with_head(saved, older_unicode)
    with pytest.raises(FingerprintMismatch, match=r"unicode: ours .*, theirs '1.0'"):
        NearDuplicates.load(saved)


def test_a_file_names_the_measure_only_where_it_is_not_the_default(saved: Path, tmp_path: Path) -> None:
    def settings(path: Path) -> dict[str, object]:
        data = path.read_bytes()
        found: dict[str, object] = json.loads(data[24 : 24 + struct.unpack_from("<I", data, 12)[0]])["settings"]
        return found

    assert not settings(saved).keys() & {"measure", "size_ratio"}
    NearDuplicates(measure="containment", size_ratio=3).save(tmp_path / "contained")
    assert settings(tmp_path / "contained").items() >= {("measure", "containment"), ("size_ratio", 3.0)}


@pytest.mark.parametrize("change", [{"kind": "other"}, {"settings": {"a": 1}}, {"next_offset": "x"}, {"scheme": 5}])
def test_an_invalid_head_is_rejected(saved: Path, change: dict[str, object]) -> None:
    with_head(saved, lambda head: head.update(change))
    with pytest.raises(DamagedBytes, match="head"):
        NearDuplicates.load(saved)


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    near = NearDuplicates.load(saved)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        near.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        NearDuplicates.load(tmp_path / "nothing")


def test_the_tokens_of_the_examples_are_those_of_the_oracle() -> None:
    assert tokens("One, two!") == ["one", "two"]


def newsroom() -> NearDuplicates:
    near, text = NearDuplicates(0.5, stories=True), "two ships burn in the port of the town"
    near.add("b", text, 10, title="Fire", source="wire")
    near.add("a", f"{text} tonight", 12, title="Two ships burn", source="herald")
    near.add_many([Document("c", text, 15, About("Ships", "wire")), ("d", f"{text}\nadds the mayor", 20)])
    return near


def test_stories_have_headline_outlets_and_the_first_document() -> None:
    (story,) = newsroom().stories()
    outlets = (Outlet("wire", 10, 2), Outlet("herald", 12, 1))
    assert (story.id, story.headline, story.representative) == ("b", "two ships burn in the port of the town", "d")
    assert (story.sources, story.source_count, story.first) == (outlets, 2, First("b", "wire", 10))
    assert (story.last_time_ms, story.members) == (20, ("d", "c", "a", "b"))


def test_stories_go_on_after_they_were_saved_and_without_a_document_that_was_removed(tmp_path: Path) -> None:
    near = newsroom()
    near.save(tmp_path / "near")
    again = NearDuplicates.load(tmp_path / "near")
    assert again.stories() == near.stories()
    for one in (near, again):
        one.add("d", "two ships burn in the port of the town\nsays the mayor", 20, title="The mayor", source="post")
        assert [story.headline for story in one.stories()] == ["The mayor"]
        one.remove("d")
        one._compact()
    (story,) = again.stories()
    assert (story.headline, story.first.source) == ("Two ships burn", "wire")
    assert near.stories() == again.stories()


def test_a_document_without_a_match_when_it_was_saved_is_in_the_story_of_a_later_match(tmp_path: Path) -> None:
    near = NearDuplicates(stories=True)
    near.add("a", "the council met on monday", 1, title="Council", source="wire")
    near.save(tmp_path / "near")
    again = NearDuplicates.load(tmp_path / "near")
    again.add("b", "the council met on monday", 2)
    (story,) = again.stories()
    assert (story.headline, story.sources) == ("Council", (Outlet("wire", 1, 1),))


def test_titles_and_stories_are_refused_where_nothing_is_kept_for_them() -> None:
    near = NearDuplicates()
    for ask in (near.stories, lambda: near.add("a", "text", title="Title")):
        with pytest.raises(ConfigError, match="stories=True"):
            ask()
    assert len(near) == 0


def test_a_file_without_stories_does_not_mention_them(saved: Path, tmp_path: Path) -> None:
    NearDuplicates(stories=True).save(tmp_path / "stories")
    assert b"stories" in (tmp_path / "stories").read_bytes()
    assert b"stories" not in saved.read_bytes()
