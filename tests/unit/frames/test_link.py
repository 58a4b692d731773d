"""`link` of frames, compared with the command on the same rows, and the frames of the library classes."""

import csv
import json
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stream_lsh import (
    ConfigError,
    MalformedMessage,
    NearDuplicates,
    NearestNeighbours,
    Record,
    RecordLinker,
    SimilarSets,
    deduplicate,
    link,
)
from tests.unit.cli.runs import ran

pandas: Any = import_module("pandas")
polars: Any = import_module("polars")
arrow: Any = import_module("pyarrow")

LIBRARIES = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": arrow.table,
    "pandas of arrow": lambda columns: pandas.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "dicts": lambda columns: [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ],
}
every_library = pytest.mark.parametrize("library", LIBRARIES)


def people(seed: int = 1, count: int = 120) -> dict[str, list[Any]]:
    """People of whom some occur twice or three times, with errors and missing values."""
    random = Random(seed)
    rows = []
    for number in range(count):
        surname = "".join(random.choices("abcdefgilmnorstu", k=7))
        born, city = f"19{random.randint(30, 99)}-0{random.randint(1, 9)}-1{random.randint(0, 9)}", random.choice("xyz")
        for copy in range(random.choice([1, 1, 2, 3])):
            name = surname if copy == 0 else surname[:3] + surname[4:]
            rows.append((f"given{number % 31}", name, None if random.random() < 0.15 else born, f"{city}town", number))
    random.shuffle(rows)
    names = ("given_name", "surname", "dob", "city", "person")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def rows_of(table: Any, name: str) -> list[Any]:
    """A column of a table of any library, with None for missing values."""
    if isinstance(table, list):
        return [row[name] for row in table]
    values = table[name].to_pylist() if isinstance(table, arrow.Table) else list(table[name])
    return [None if pandas.api.types.is_scalar(value) and pandas.isna(value) else value for value in values]


def commanded(columns: dict[str, list[Any]], folder: Path) -> tuple[list[int], dict[int, dict[str, str]]]:
    """The first row of the entity of each row, and the golden records, as the command computes them."""
    with (folder / "people.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *columns])
        for row, values in enumerate(zip(*columns.values(), strict=True)):
            writer.writerow([f"{row:06d}", *("" if value is None else value for value in values)])
    outputs = ("-o", "entities.jsonl", "--golden", "golden.csv")
    done = ran("link", "people.csv", "--profile", "people", *outputs, cwd=folder)
    assert done.returncode == 0, done.stderr
    first = [*range(len(columns["surname"]))]
    first_of_entity = {}
    for line in (folder / "entities.jsonl").read_text().splitlines():
        entity = json.loads(line)
        members = [int(member["id"]) for member in entity["members"]]
        first_of_entity[entity["entity"]] = min(members)
        for member in members:
            first[member] = min(members)
    with (folder / "golden.csv").open() as file:
        golden = {first_of_entity[row["entity"]]: row for row in csv.DictReader(file)}
    return first, golden


@every_library
def test_the_entities_are_those_of_the_command_and_the_type_is_that_of_the_input(library: str, tmp_path: Path) -> None:
    columns = people()
    frame = LIBRARIES[library](columns)
    expected, golden = commanded(columns, tmp_path)
    found = link(frame, "people")
    assert type(found) is type(frame)
    assert rows_of(found, "entity") == expected
    assert len(set(expected)) < len(expected)
    assert rows_of(found, "person") == columns["person"]
    merged = link(frame, "people", golden=True)
    assert type(merged) is type(frame)
    assert rows_of(merged, "entity") == sorted(set(expected))
    assert rows_of(merged, "size") == [expected.count(first) for first in sorted(set(expected))]
    for name in ("given_name", "surname", "date_of_birth"):
        values = dict(zip(rows_of(merged, "entity"), rows_of(merged, name), strict=True))
        assert {first: value or "" for first, value in values.items() if first in golden} == {
            first: row[name] for first, row in golden.items()
        }
        if name == "surname":
            alone = [first for first in expected if expected.count(first) == 1]
            assert [values[first] for first in alone] == [columns["surname"][first] for first in alone]


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA, pandas.NaT])
def test_missing_values_are_missing_whatever_their_form(missing: Any) -> None:
    columns = people(2)
    columns["dob"] = [missing if value is None else value for value in columns["dob"]]
    frame = pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in columns.items()})
    expected = [row["entity"] for row in link(LIBRARIES["dicts"](people(2)), "people")]
    assert link(frame, "people")["entity"].tolist() == expected
    assert [row["entity"] for row in link(LIBRARIES["dicts"](columns), "people")] == expected


def test_the_index_stays_and_the_input_is_unchanged() -> None:
    frame = pandas.DataFrame(people(3))
    frame.index = frame.index[::-1]
    before = frame.copy()
    found = link(frame, "people", entity="who")
    assert found.drop(columns=["who"]).equals(before)
    assert frame.equals(before)


def test_a_threshold_replaces_that_of_the_profile() -> None:
    rows = LIBRARIES["dicts"](people(4))
    counts = [len({row["entity"] for row in link(rows, "people", threshold=one)}) for one in (0.05, 0.5, 0.999999999)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_sources_are_linked_to_each_other() -> None:
    titles = ["near duplicate detection in streams", "entity resolution at scale", "sketches of sets and streams"]
    rows = [
        {"title": title, "authors": f"a. author{number}, b. writer", "year": 1990 + number, "source": source}
        for number, title in enumerate(titles * 4)
        for source in ("x", "y")
    ][:6]
    assert [row["entity"] for row in link(rows, "bibliography")] == [0, 0, 2, 2, 4, 4]
    alone = [{name: value for name, value in row.items() if name != "source"} for row in rows]
    with pytest.raises(ConfigError, match="source: got rows of one source, expected two or more"):
        link(alone, "bibliography")
    renamed = [{**row, "origin": other["source"]} for row, other in zip(alone, rows, strict=True)]
    assert [row["entity"] for row in link(renamed, "bibliography", source="origin")] == [0, 0, 2, 2, 4, 4]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "source": ({"source": "nowhere"}, "got no column 'nowhere' for the source, found 'given_name', 'surname'"),
    "time": ({"time": "nowhere"}, "got no column 'nowhere' for the time, found 'given_name'"),
    "entity": ({"entity": "city"}, "entity: the table already has a column 'city', expected a new name"),
    "profile": ({"profile": "persons"}, "persons"),
    "threshold": ({"threshold": 1.5}, "threshold: got 1.5, expected a number above 0 and below 1"),
}


@pytest.mark.parametrize("wrong", REFUSED)
@pytest.mark.parametrize("library", ["pandas", "dicts"])
def test_a_wrong_argument_is_one_error_that_lists_the_columns(library: str, wrong: str) -> None:
    settings, message = REFUSED[wrong]
    with pytest.raises(ConfigError, match=message) as raised:
        link(LIBRARIES[library](people(5, 4)), **{"profile": "people", **settings})
    assert "x00" not in str(raised.value)


@pytest.mark.parametrize(
    "frame",
    [pandas.DataFrame([["Ann", "x"]] * 2), [{"name": "Ann", 1: "x"}] * 2, [{"name": "Ann", None: ["x"]}] * 2],
    ids=["a frame", "a number", "cells beyond the header"],
)
def test_a_column_whose_name_is_no_text_is_an_error(frame: Any) -> None:
    for linked in (lambda: link(frame, "people"), lambda: RecordLinker("people").add_frame(frame, id="name")):
        with pytest.raises(
            ConfigError, match=r"data: got the column name (0|1|None), expected texts: does the frame have"
        ):
            linked()


def test_columns_that_no_field_reads_are_an_error_that_lists_them() -> None:
    with pytest.raises(ConfigError, match="got the columns 'a', 'b', none of them with a value for a field of"):
        link(polars.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "people")


@every_library
def test_tables_without_rows_or_with_one_have_no_pairs(library: str) -> None:
    columns = people(6, 3)
    one = {name: values[:1] for name, values in columns.items()}
    assert rows_of(link(LIBRARIES[library](one), "people"), "entity") == [0]
    if library != "dicts":
        empty = LIBRARIES[library](columns)[:0]
        found = link(empty, "people")
        assert (len(found), type(found)) == (0, type(empty))
    assert link([], "people") == link([], "people", golden=True) == []


# -- the classes


@every_library
def test_documents_of_a_frame_are_those_of_add_many(library: str) -> None:
    texts = ["to be or not to be", "To be, or not to be", None, "that is all", "that is all"]
    columns: dict[str, list[Any]] = {"key": [1, 2, 3, 4, 5], "body": texts, "at": [5, 6, 7, 8, 9]}
    near, other = NearDuplicates(threshold=0.5), NearDuplicates(threshold=0.5)
    seconds = [int(1e9) + at for at in columns["at"]]
    found = near.add_frame(LIBRARIES[library]({**columns, "at": seconds}), id="key", text="body", time="at")
    other.add_many(
        [(str(key), text or "", 1000 * at) for key, text, at in zip(columns["key"], texts, seconds, strict=True)]
    )
    assert (near.matches(), near.clusters()) == (other.matches(), other.clusters())
    assert sorted(found, key=lambda match: match.left) == near.matches()
    assert len(near) == 5
    pairs, members = near.matches_frame(), near.clusters_frame()
    kind = list if library == "dicts" else type(LIBRARIES[library](columns))
    assert isinstance(pairs, kind)
    assert isinstance(members, kind)
    assert rows_of(pairs, "similarity") == [match.similarity for match in near.matches()]
    assert rows_of(pairs, "left_time_ms") == [match.left_time_ms for match in near.matches()]
    listed = [(cluster.id, member) for cluster in near.clusters() for member in cluster.members]
    assert [*zip(rows_of(members, "cluster"), rows_of(members, "id"), strict=True)] == listed


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_library_can_be_chosen_and_empty_frames_have_typed_columns(library: str) -> None:
    frame = NearDuplicates().matches_frame(library)
    module = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": arrow.Table}[library]
    assert isinstance(frame, module)
    table = (
        frame if library == "pyarrow" else frame.to_arrow() if library == "polars" else arrow.Table.from_pandas(frame)
    )
    assert len(frame) == 0
    assert arrow.types.is_floating(table.schema.field("similarity").type)
    assert arrow.types.is_integer(table.schema.field("shared").type)
    with pytest.raises(ConfigError, match="library: got 'dask', expected pandas, polars, pyarrow or dicts"):
        NearDuplicates().clusters_frame("dask")


def test_times_of_every_form_are_one_time() -> None:
    moment = pandas.Timestamp("2024-03-05T06:07:08.009")
    ms = 1709618828009
    columns = {
        "text": "2024-03-05T06:07:08.009Z",
        "pandas": moment,
        "zone": moment.tz_localize("UTC").tz_convert("Asia/Tokyo"),
        "standard": moment.to_pydatetime(),
        "ms": ms,
    }
    near = NearDuplicates()
    for name, value in columns.items():
        near.add_frame(pandas.DataFrame({"id": [name], "text": ["to be or not to be"], "t": [value]}), time="t")
        near.add_frame(polars.DataFrame({"id": [f"{name}2"], "text": ["to be or not to be"], "t": [
            value.to_pydatetime() if isinstance(value, pandas.Timestamp) else value]}), time="t")  # fmt: skip
    assert {match.left_time_ms for match in near.matches()} == {match.right_time_ms for match in near.matches()} == {ms}
    near.add_frame([{"id": "none", "text": "x y z", "t": None}], time="t")
    with pytest.raises(MalformedMessage, match="time: in row 0 of 't': got"):
        near.add_frame([{"id": "bad", "text": "x", "t": [1]}], time="t")


@pytest.mark.parametrize("id", [None, 1.5, float("nan"), True, ["x"]])
def test_an_unusable_id_is_an_error_with_its_row_and_nothing_is_added(id: Any) -> None:
    near = NearDuplicates()
    with pytest.raises(MalformedMessage, match=r"id: got .* in row 1 of 'id', expected a text or a whole number"):
        near.add_frame([{"id": "a", "text": "b"}, {"id": id, "text": "b"}])
    assert len(near) == 0


@pytest.mark.parametrize("argument", ["id", "text", "time"])
def test_a_column_that_does_not_exist_is_an_error_that_lists_the_others(argument: str) -> None:
    with pytest.raises(ConfigError, match=f"{argument}: got the column 'nope', expected one of 'id', 'text'"):
        NearDuplicates().add_frame(pandas.DataFrame({"id": ["a"], "text": ["b"]}), **{argument: "nope"})


@every_library
def test_sets_and_vectors_of_a_frame_are_those_of_add_many(library: str) -> None:
    sets, others = SimilarSets(threshold=0.5), SimilarSets(threshold=0.5)
    items = [["tea", "milk"], ["milk", "tea", "salt"], ["x"], None]
    sets.add_frame(LIBRARIES[library]({"id": ["a", "b", "c", "d"], "bought": items}), items="bought")
    others.add_many([(id, one or []) for id, one in zip("abcd", items, strict=True)])
    assert sets.matches() == others.matches() != []
    assert len(sets) == 4
    points, expected = NearestNeighbours(2, 10), NearestNeighbours(2, 10)
    vectors = [[1.0, 0.0], [0.99, 0.11], [0.0, 1.0], None]
    points.add_frame(LIBRARIES[library]({"id": ["a", "b", "c", "d"], "vector": vectors}))
    expected.add_many([(id, one) for id, one in zip("abc", vectors, strict=False) if one is not None])
    assert points.pairs() == expected.pairs() != []
    assert rows_of(points.matches_frame("polars"), "distance") == [pair.distance for pair in points.pairs()]
    assert len(points) == 3


@every_library
def test_records_of_a_frame_are_those_of_add_many(library: str) -> None:
    columns = people(7, 40)
    columns["id"] = [*range(len(columns["surname"]))]
    linker, other = RecordLinker("people"), RecordLinker("people")
    linker.add_frame(LIBRARIES[library](columns))
    fields = [name for name in columns if name != "id"]
    rows = zip(columns["id"], *(columns[name] for name in fields), strict=True)
    other.add_many(
        [Record(str(id), {n: v for n, v in zip(fields, values, strict=True) if v is not None}) for id, *values in rows]
    )
    assert linker.matches() == other.matches() != []
    entities, pairs = linker.entities_frame(), linker.matches_frame()
    assert rows_of(entities, "entity") == [entity.id for entity in linker.entities()]
    assert rows_of(entities, "surname") == [entity.golden.get("surname") for entity in linker.entities()]
    assert rows_of(pairs, "score") == [match.score for match in linker.matches()]
    assert rows_of(pairs, "weight_surname") == [match.weights.get("surname") for match in linker.matches()]
    with pytest.raises(ConfigError, match="got no column 'key' for the id, found 'given_name', 'surname'"):
        linker.add_frame(LIBRARIES[library](columns), id="key")


# -- datasets


def test_datasets_give_datasets() -> None:
    library: Any = import_module("datasets")
    columns = people(8)
    data = library.Dataset.from_dict(columns)
    expected = rows_of(link(LIBRARIES["dicts"](columns), "people"), "entity")
    found = link(data, "people")
    assert type(found) is type(data)
    assert found["entity"][:] == expected
    golden = link(data, "people", golden=True)
    assert type(golden) is type(data)
    assert golden["entity"][:] == sorted(set(expected))
    texts = ["a b c d", None, "A b c d", "e f g h"]
    shuffled = library.Dataset.from_dict({"text": texts, "n": [1, 2, 3, 4]}).select([2, 0, 3, 1])
    assert deduplicate(shuffled)["n"][:] == [3, 4, 2]
    assert deduplicate(shuffled, keep=None, cluster="c")["c"][:] == [0, 0, 2, 3]
    near = NearDuplicates()
    near.add_frame(shuffled, id="n")
    assert isinstance(near.matches_frame(), arrow.Table)
    with pytest.raises(ConfigError, match=r"got DatasetDict, expected one datasets.Dataset in memory"):
        deduplicate(library.DatasetDict({"train": data}))
