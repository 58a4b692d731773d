"""Pipelines of sets and vectors in the configuration: their required keys, and keys of another kind."""

from pathlib import Path

import pytest

from stream_lsh.config import Config, parse, settings_shown
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.set.grid_scheme import GridScheme
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.kinds.vector.kind import VectorKind
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.model import Document
from stream_lsh.worker.checks.startup import manifest_of

NOW_MS = 1_714_564_800_000
HEAD = '[pipeline]\nsource = "s"\nname = "near"\n'
SETS = f'{HEAD}kind = "set"\n'
GRID = f'{SETS}family = "grid"\ngrid.squares = 100\n'
VECTORS = f'{HEAD}kind = "vector"\ndimension = 16\ndistance = 20\n'


def read(text: str) -> Config:
    return parse(text, "c.toml", {})


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(text)
    return [problem.partition(": pipeline.")[2] for problem in caught.value.problems]


def foreign(key: str, kinds: str, kind: str) -> str:
    return f'{key}: got an unknown key; `{key}` is a key of kind = {kinds}, not of "{kind}"'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        # A key of another kind.
        (HEAD, "bag = true", foreign("bag", '"set"', "text")),
        (HEAD, 'family = "grid"', foreign("family", '"set"', "text")),
        (HEAD, "dimension = 3", foreign("dimension", '"vector"', "text")),
        (HEAD, 'fields.items = "x"', foreign("fields.items", '"set"', "text")),
        (SETS, 'shingles = "char:5"', foreign("shingles", '"text"', "set")),
        (SETS, "stories = true", foreign("stories", '"text"', "set")),
        (SETS, "distance = 3", foreign("distance", '"vector"', "set")),
        (SETS, "grid.squares = 9", "grid.squares: got it, expected none: it requires `family` grid"),
        (SETS, 'measure = "cosine"', "measure: got 'cosine', expected jaccard or containment"),
        (SETS, 'fields.items = "id"', "fields.items: got 'id', which is another field, expected a name of its own"),
        (SETS, 'fields.text = "x"', foreign("fields.text", '"text"', "set")),
        (GRID, "recall = 0.9", "recall: got it, expected none: `family` grid has settings of its own"),
        (GRID, "bag = true", "bag: got it, expected none: `family` grid has settings of its own"),
        (GRID.replace("100", "2"), "", "grid.squares: got 2, expected at least the 3 squares of a function"),
        (GRID.replace("100", "0"), "", "grid.squares: got none, expected the number of squares of the `family` grid"),
        (VECTORS, "threshold = 0.5", foreign("threshold", '"text" or "set"', "vector")),
        (VECTORS, 'measure = "jaccard"', "measure: got 'jaccard', expected cosine, euclidean or hamming"),
        (VECTORS, "line_width = 2", "line_width: got 2, expected none, as the measure is cosine"),
        (VECTORS.replace("20", "180"), "", "distance: got 180, expected degrees, above 0 and below 180"),
        (VECTORS.replace("20", "179"), "", "distance: with `slots` and `recall`: no banding of 256 slots finds a pair"),
        (f"{HEAD}kind = 'vector'\ndistance = 3\n", "", "dimension: got none, expected the number of values of a"),
        (f"{HEAD}kind = 'vector'\ndimension = 3\n", "", "distance: got none, expected the maximum distance of a"),
        (VECTORS, "guards.representative_similarity = 0.5", "guards.representative_similarity: got 0.5, expected at"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported(text: str, line: str, message: str) -> None:
    (found,) = problems(f"{text}{line}\n")
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("distance = 400\n", ["dimension", "distance"]),
        ("dimension = 3\nline_width = 2\n", ["distance", "line_width"]),
        ("dimension = -1\ndistance = 400\n", ["dimension", "distance"]),
        ("measure = 'hamming'\ndistance = 400\n", ["dimension"]),
    ],
)
def test_a_missing_or_wrong_key_of_vectors_does_not_hide_the_mistakes_of_others(lines: str, names: list[str]) -> None:
    found = problems(f'{HEAD}kind = "vector"\n{lines}')
    assert sorted(problem.partition(":")[0] for problem in found) == names


def test_keys_of_sets_and_vectors_are_refused_among_records() -> None:
    messages = problems(f'{HEAD}kind = "record"\nprofile = "people"\nbag = true\ndistance = 3\n')
    assert messages == [
        foreign("bag", '"set"', "record"),
        foreign("distance", '"vector"', "record"),
    ]


def test_each_kind_has_its_scheme_and_settings_of_its_own() -> None:
    schemes = [read(text).pipelines[0].kind.scheme() for text in (SETS, GRID, VECTORS)]
    assert [type(scheme) for scheme in schemes] == [TextScheme, GridScheme, VectorScheme]
    assert [scheme.settings["kind"] for scheme in schemes] == ["set", "set", "vector"]
    variants = [
        SETS, f"{SETS}bag = true\n", f"{SETS}threshold = 0.5\n", f"{SETS}seed = 2\n",
        f'{SETS}measure = "containment"\n',
        GRID, f"{GRID}grid.functions = 9\n", f"{GRID}grid.size = 2\n", f"{GRID}seed = 2\n",
        VECTORS, VECTORS.replace("20", "21"), VECTORS.replace("16", "17"), f"{VECTORS}slots = 300\n",
        f'{VECTORS}measure = "euclidean"\n', f'{VECTORS}measure = "euclidean"\nline_width = 3\n',
        f'{VECTORS.replace("20", "3")}measure = "hamming"\n', HEAD,
    ]  # fmt: skip
    found = [read(text).pipelines[0].kind.stored_settings() for text in variants]
    assert all(one != other for at, one in enumerate(found) for other in found[:at])


def test_vectors_have_defaults_of_their_own_and_their_origin_is_shown() -> None:
    shown = {one.key: (one.value, one.origin) for one in settings_shown(read(VECTORS))}
    assert shown["pipeline.near.measure"] == ('"cosine"', "kind vector")
    assert shown["pipeline.near.slots"] == ("256", "kind vector")
    (pipeline,) = read(VECTORS).pipelines
    assert pipeline.kind.least == 1 - 20 / 180
    assert manifest_of(pipeline, 4, None).threshold == pipeline.kind.least


def test_keys_of_another_kind_are_mistakes_even_with_their_default() -> None:
    assert [one.partition(":")[0] for one in problems(f"{HEAD}bag = false\ndimension = 0\n")] == ["bag", "dimension"]
    assert [one.partition(":")[0] for one in problems(f"{VECTORS}threshold = 0.8\n")] == ["threshold"]
    assert read(f"{GRID}bag = false\n").pipelines[0].kind.name == "set"


def test_variables_of_another_kind_are_mistakes() -> None:
    environ = {"STREAM_LSH__PIPELINE__NEAR__BAG": "true", "STREAM_LSH__PIPELINE__NEAR__GRID__SIZE": "3"}
    with pytest.raises(ConfigError) as caught:
        parse(HEAD, "c.toml", environ)
    message = 'got an unknown key; `{}` is a key of kind = "set", not of "text"'
    assert [*caught.value.problems] == [
        f"environment: STREAM_LSH__PIPELINE__NEAR__BAG: {message.format('bag')}",
        f"environment: STREAM_LSH__PIPELINE__NEAR__GRID__SIZE: {message.format('grid')}",
    ]


def test_settings_of_another_kind_are_not_shown() -> None:
    for text, own, foreign in ((HEAD, "html", "bag"), (SETS, "bag", "html"), (VECTORS, "distance", "threshold")):
        shown = {one.key.removeprefix("pipeline.near.") for one in settings_shown(read(text))}
        assert own in shown
        assert foreign not in shown


def test_messages_are_read_as_the_kind_wants_it() -> None:
    sets, vectors = (read(text).pipelines[0] for text in (f'{SETS}fields.items = "basket"\n', VECTORS))
    value = b'{"basket": ["b", "a"], "time": "2024-05-01"}'
    assert sets.document(value, b"x", NOW_MS) == Document("x", "a\nb\n", 1_714_521_600_000)
    assert sets.document(None, b"x", NOW_MS) == Document("x", None, NOW_MS)
    text = vectors.document(b'{"vector": [1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}', b"x", NOW_MS).text
    assert as_kind(vectors.kind, VectorKind).form.value(text or "") == [1.0] + [0.0] * 15


def test_the_topics_are_those_of_texts() -> None:
    for text in (SETS, VECTORS):
        (pipeline,) = read(text).pipelines
        assert sorted(pipeline.named_topics) == ["clusters", "dead_letters", "matches", "members"]


def test_a_variable_can_set_the_kind(tmp_path: Path) -> None:
    environ = {"STREAM_LSH__PIPELINE__NEAR__KIND": "vector", "STREAM_LSH__PIPELINE__NEAR__DIMENSION": "4",
               "STREAM_LSH__PIPELINE__NEAR__DISTANCE": "1.5"}  # fmt: skip
    (pipeline,) = parse(HEAD, "c.toml", environ).pipelines
    kind = as_kind(pipeline.kind, VectorKind)
    assert (kind.name, kind.measure, kind.distance) == ("vector", "cosine", 1.5)
