"""Pipelines of records in the configuration: the required profile, and keys of another kind."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stream_lsh.config import Config, parse, settings_shown, settings_text
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.record.kind import RecordKind
from stream_lsh.kinds.record.profiles import bundled, profile_text
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.worker.checks.startup import manifest_of
from stream_lsh.worker.process import warnings_of
from tests.patience import PATIENCE

HEAD = '[pipeline]\nsource = "crm"\nname = "customers"\nkind = "record"\n'


def customers(lines: str, environ: dict[str, str] | None = None) -> Config:
    return parse(HEAD + lines, "c.toml", environ or {})


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse(text, "c.toml", {})
    return [*caught.value.problems]


def test_records_need_a_profile() -> None:
    message = "got none, expected people, companies, products, bibliography or the path of a file, as `kind` is record"
    assert problems(HEAD) == [f"c.toml:1: pipeline.profile: {message}"]


def test_an_unknown_profile_is_reported_with_the_nearest_one() -> None:
    (message,) = problems(HEAD + 'profile = "compnies"\n')
    assert message == (
        "c.toml:5: pipeline.profile: got 'compnies', expected people, companies, products, bibliography or the path of "
        "a file; did you mean 'companies'?"
    )
    (message,) = problems(HEAD + 'profile = "nosuch"\n')
    assert message.endswith("expected people, companies, products, bibliography or the path of a file")
    (message,) = problems(HEAD + 'profile = "nowhere/people.toml"\n')
    assert message.startswith(
        "c.toml:5: pipeline.profile: nowhere/people.toml: got No such file or directory, expected"
    )


def test_all_mistakes_of_a_profile_are_reported_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("name = 'own'\nrules = ['sirname']\nmach = 0.9\n[[field]]\nname = 'surname'\n", "utf-8")
    assert problems(f'{HEAD}profile = "{file}"\nseed = -1\n') == [
        f"c.toml:5: pipeline.profile: {file}:1: comparison: got none, expected one or more: they define a match",
        f"c.toml:5: pipeline.profile: {file}:2: rules: got the field 'sirname', expected one of the profile; did you "
        "mean 'surname'?",
        f"c.toml:5: pipeline.profile: {file}:3: mach: got an unknown key; did you mean 'match'?",
        'c.toml:6: pipeline.seed: got an unknown key; `seed` is a key of kind = "text" or "set" or "vector", not of '
        '"record"',
    ]


@pytest.mark.parametrize(
    "line",
    [
        'preset = "news"', 'shingles = "char:5"', "threshold = 0.7", 'measure = "containment"', "recall = 0.9",
        "slots = 64", 'normalise = ["nfkc"]', "seed = 2", 'html = "main"', "min_characters = 9", "stories = true",
        "bands = 16", "rows = 6",
        "mirror_share = 0.0", 'fields.text = "body"', 'fields.title = "name"', 'topics.clusters = "people"',
        'topics.mirror_sites = "mirrors"', "shadow = 0.01",
    ],
)  # fmt: skip
def test_keys_of_texts_are_refused_among_records(line: str) -> None:
    key = line.partition(" ")[0]
    (message,) = problems(f'{HEAD}profile = "people"\n{line}\n')
    assert message.startswith(f'c.toml:6: pipeline.{key}: got an unknown key; `{key}` is a key of kind = "text"')
    assert message.endswith(', not of "record"')


def test_mistakes_of_a_profile_are_in_the_order_of_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    lines = ["name = 'own'", "mach = 0.9", *[""] * 7, "rulez = []", *[""] * 89, "revew = 0.5"]
    file.write_text("\n".join(lines), "utf-8")
    found = [problem.split(":")[4] for problem in problems(f'{HEAD}profile = "{file}"') if "unknown key" in problem]
    assert found == ["2", "10", "100"]


def test_a_profile_is_refused_among_texts() -> None:
    message = 'c.toml:3: pipeline.profile: got an unknown key; `profile` is a key of kind = "record", not of "text"'
    assert problems('[pipeline]\nsource = "s"\nprofile = "people"\n') == [message]
    assert problems('[pipeline]\nsource = "s"\nprofile = "people"\nkind = "text"\n') == [message]


def test_keys_of_both_kinds_can_be_set_for_records() -> None:
    config = customers(
        'profile = "people"\nretention = "9d"\nmax_candidates = 0\nrekey = true\nfields.time = "seen"\n'
        "fields.deleted = 'gone'\nguards.one_per_source = true\ntopics.members = 'who'\n"
    )
    (pipeline,) = config.pipelines
    assert (pipeline.retention_ms, pipeline.max_candidates, pipeline.fields.time) == (9 * 86_400_000, 0, "seen")
    assert pipeline.limits().guards.one_per_source


def test_guards_are_held_against_the_threshold_of_the_profile() -> None:
    # That of people is 0.5.
    assert customers('profile = "people"\nguards.representative_similarity = 0.96\n').pipelines
    (message,) = problems(HEAD + 'profile = "people"\nguards.representative_similarity = 0.4\n')
    assert message.endswith(
        "representative_similarity: got 0.4, expected at least the threshold, 0.5: no pair is below it"
    )


def test_that_sources_are_clean_is_written_down_with_the_guards(tmp_path: Path) -> None:
    clean, file = replace(bundled("people"), one_to_one=True), tmp_path / "clean.toml"
    file.write_text(profile_text(clean), encoding="utf-8")
    (by_profile,) = customers(f'profile = "{file}"').pipelines
    (by_guard,) = customers('profile = "people"\nguards.one_per_source = true').pipelines
    (neither,) = customers('profile = "people"').pipelines
    written = [manifest_of(one, 4, None).guards for one in (by_profile, by_guard, neither)]
    assert written[0] == written[1] != written[2]


def test_defaults_of_the_kind_hold_and_their_origin_is_shown() -> None:
    shown = {one.key: (one.value, one.origin) for one in settings_shown(customers('profile = "people"'))}
    assert shown["pipeline.customers.retention"] == ('""', "kind record")
    assert shown["pipeline.customers.profile"] == ('"people"', "c.toml:5")
    assert shown["pipeline.customers.max_candidates"] == ("1000", "default")
    assert 'pipeline.customers.retention = ""' in settings_text(customers('profile = "people"'))
    (pipeline,) = customers('profile = "people"').pipelines
    assert (pipeline.retention_ms, pipeline.public_retention_ms) == (None, -1)


def test_a_variable_names_the_profile_and_the_kind() -> None:
    variable = "STREAM_LSH__PIPELINE__CUSTOMERS__PROFILE"
    config = customers('profile = "nothing"', {variable: "companies"})
    assert as_kind(config.pipelines[0].kind, RecordKind).loaded_profile.name == "companies"
    assert config.origins["pipeline.customers.profile"] == f"environment {variable}"
    kinds = {"STREAM_LSH__PIPELINE__A__KIND": "record", "STREAM_LSH__PIPELINE__A__PROFILE": "people"}
    (pipeline,) = parse('pipeline = {source = "s", name = "a"}', "c.toml", kinds).pipelines
    assert (as_kind(pipeline.kind, RecordKind).loaded_profile.name, pipeline.retention_ms) == ("people", None)
    with pytest.raises(ConfigError) as caught:
        customers("", {variable: "peeple"})
    assert caught.value.problems[0].startswith(f"environment: {variable}: got 'peeple', expected people, ")


def test_the_topics_are_those_of_the_kind() -> None:
    (pipeline,) = customers('profile = "people"\ntopics.decisions = "verdicts"\ntopics.reviews = "look-here"').pipelines
    assert pipeline.public_topics == {
        "matches": "customers-matches",
        "members": "customers-members",
        "entities": "customers-entities",
        "reviews": "look-here",
        "dead_letters": "customers-dead-letters",
    }
    assert pipeline.named_topics == {**pipeline.public_topics, "decisions": "verdicts"}
    assert pipeline.clusters_topic == "customers-entities"
    shown = {one.key: one.value for one in settings_shown(customers('profile = "people"'))}
    assert shown["pipeline.customers.topics.decisions"] == '"customers-decisions"'
    (texts,) = parse('[pipeline]\nsource = "s"\nname = "news"', "c.toml", {}).pipelines
    assert texts.named_topics == texts.public_topics
    assert not {"entities", "reviews", "decisions"} & texts.named_topics.keys()


def test_decisions_are_no_topic_that_something_else_is() -> None:
    (message,) = problems(HEAD + 'profile = "people"\ntopics.decisions = "customers-matches"\n')
    assert message == (
        "c.toml:6: pipeline.topics.decisions: got the topic 'customers-matches', which is `topics.matches` of the "
        "pipeline 'customers', expected topics that differ"
    )


def test_a_worker_of_texts_needs_no_library_of_records() -> None:
    program = (
        "import sys\n"
        "sys.modules.update(rapidfuzz=None, jellyfish=None)\n"
        "from stream_lsh.config import parse\n"
        "import stream_lsh.worker.topology\n"
        "parse('pipeline.source = \"s\"', 'c.toml', {}).pipelines[0].kind.results('p')\n"
        f"text = {HEAD + 'profile = chr(112)'!r}\n"
        "try:\n"
        "    parse(text.replace('chr(112)', '\"people\"'), 'c.toml', {})\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stderr == ""
    assert done.stdout == (
        'ConfigError c.toml:5: pipeline.profile: comparing records needs jellyfish: pip install "stream_lsh[records]"\n'
    )


def test_a_worker_warns_of_a_profile_without_trained_weights(tmp_path: Path) -> None:
    (warning,) = warnings_of(customers('profile = "people"\n'))
    assert warning.startswith("customers: the profile people has no trained weights, so scores are weighted means")
    assert "stream-lsh train FILE... --profile people --output LEARNED.toml" in warning
    plain = bundled("people")
    weights = tuple(
        replace(one, m=(0.9, *[0.1 / size] * size), u=(0.1, *[0.9 / size] * size))
        for one in plain.comparisons
        for size in (len(comparator(one.comparator, one.levels).levels) - 1,)
    )
    learned = tmp_path / "learned.toml"
    learned.write_text(profile_text(replace(plain, prior=0.001, comparisons=weights)))
    assert [*warnings_of(customers(f'profile = "{learned}"\n'))] == []
    weights = (*weights[:-1], plain.comparisons[-1])
    learned.write_text(profile_text(replace(plain, prior=0.001, comparisons=weights)))
    (warning,) = warnings_of(customers(f'profile = "{learned}"\n'))
    assert f"has no trained weights for {plain.comparisons[-1].field}, so scores are weighted means" in warning
