"""Invalid arguments of programs: a missing value removes nothing, and the error of each class names the valid types."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_lsh import (
    ConfigError,
    Document,
    MalformedMessage,
    NearDuplicates,
    NearestNeighbours,
    PartialCopies,
    Record,
    RecordLinker,
    SimilarSets,
    UnusableDocument,
    link,
)
from stream_lsh.kinds.record.profiles import bundled_text

pandas: Any = import_module("pandas")
TEXT = "the quick brown fox jumps over the lazy dog"


class Frame:
    """Iterates as a table of pandas does: over the names of its columns."""

    def __iter__(self) -> Any:
        return iter(["id", "text"])


def near() -> NearDuplicates:
    made = NearDuplicates(0.5)
    made.add("a", TEXT)
    return made


def sets() -> SimilarSets:
    made = SimilarSets(0.5)
    made.add("a", ["bread", "milk"])
    return made


def vectors() -> NearestNeighbours:
    made = NearestNeighbours(2, 1.0)
    made.add("a", [1, 0])
    return made


def copies() -> PartialCopies:
    made = PartialCopies()
    made.add("a", TEXT)
    return made


def linker() -> RecordLinker:
    made = RecordLinker("people")
    made.add(Record("a", {"surname": "Doe"}))
    return made


@pytest.mark.parametrize("make", [near, sets, vectors, copies])
def test_a_missing_value_is_an_error_and_removes_nothing(make: Callable[[], Any]) -> None:
    memory = make()
    with pytest.raises(MalformedMessage):
        memory.add("a", None)
    assert "a" in memory
    assert len(memory) == 1


def test_who_gives_no_text_or_set_is_pointed_to_remove() -> None:
    memories: list[Any] = [near(), sets(), copies()]
    for memory in memories:
        with pytest.raises(
            MalformedMessage, match=r"got None.*remove\(id\) removes|got NoneType.*remove\(id\) removes"
        ):
            memory.add("a", None)


def test_a_row_without_a_text_is_an_error_and_a_document_without_one_a_removal() -> None:
    memory = near()
    with pytest.raises(MalformedMessage, match="got None as the text of 'a'"):
        memory.add_many([("b", TEXT), ("a", None)])  # type: ignore[list-item]
    assert len(memory) == 1, "nothing was changed"
    memory.add_many([Document("a", None)])
    assert len(memory) == 0


@pytest.mark.parametrize("make", [near, sets, vectors])
@pytest.mark.parametrize(
    ("rows", "got"),
    [
        ([{"id": "b", "text": TEXT}], r"got dict \{'id'"),
        (Frame(), "got str 'id'"),
        ([("b", TEXT, 5, None, None)], "got tuple"),
        ([("b",)], "got tuple"),
    ],
    ids=["dicts", "a table", "too much", "too little"],
)
def test_rows_of_another_shape_are_refused_with_what_is_expected(make: Callable[[], Any], rows: Any, got: str) -> None:
    memory = make()
    with pytest.raises(MalformedMessage, match=rf"{got}.*, expected a .*tuple of id, .*zip\(ids, values\)"):
        memory.add_many(rows)
    assert len(memory) == 1


@pytest.mark.parametrize("wrong", [{"id": "b", "surname": "Doe"}, None, "id", Record("b", None)])  # type: ignore[arg-type]
def test_a_linker_takes_records_only(wrong: Any) -> None:
    memory = linker()
    for add in (
        memory.add,
        lambda one: memory.add_many([one]),
        lambda one: RecordLinker("people").count_first([one]),
        lambda one: RecordLinker.learned("people", [one, one]),
    ):
        with pytest.raises(MalformedMessage, match=r"expected a Record, such as Record\(row.pop\('id'\), row\)"):
            add(wrong)
    assert len(memory) == 1


@pytest.mark.parametrize("fields", [pandas.Series({"surname": "Doe"}), [("surname", "Doe")], "Doe"], ids=type)
def test_the_fields_of_a_record_are_a_mapping(fields: Any) -> None:
    memory = linker()
    for use in (memory.search, lambda one: memory.add(Record("b", one))):
        with pytest.raises(MalformedMessage, match=r"got fields of type .*, expected a dict, such as row.to_dict\(\)"):
            use(fields)
    assert len(memory) == 1


def test_records_to_learn_from_may_be_a_generator() -> None:
    records = [Record(str(number), {"surname": f"Doe{number % 9}", "city": f"c{number % 5}"}) for number in range(60)]
    assert RecordLinker.learned("people", iter(records)).profile == RecordLinker.learned("people", records).profile


def test_an_id_that_is_no_string_is_an_error_of_decisions_and_of_the_record() -> None:
    memory = linker()
    with pytest.raises(MalformedMessage, match="got the id 1, expected a string"):
        memory.decide("a", 1, same=True)  # type: ignore[arg-type]
    with pytest.raises(UnusableDocument, match="got 1, expected the id of a record that was added"):
        memory.record(1)  # type: ignore[arg-type]


def test_a_time_may_be_an_integer_of_numpy() -> None:
    time_ms = np.int64(7)
    assert near().add("b", TEXT, time_ms)[0].right_time_ms == 7  # type: ignore[arg-type]
    assert type(near().add_many([Document("b", TEXT, time_ms)])[0].right_time_ms) is int  # type: ignore[arg-type]
    memory = linker()
    memory.add(Record("b", {"surname": "Doe"}, time_ms=time_ms))  # type: ignore[arg-type]
    assert memory.record("b").time_ms == 7


def test_values_of_a_record_may_be_numbers_of_numpy_and_a_tuple_of_any_texts() -> None:
    memory = linker()
    values = {"phone": np.float64(4930123456), "postcode": np.int64(4109), "name": ("Jane\ud800", np.int32(5))}
    memory.add(Record("b", values))
    assert memory.record("b").fields == {"phone": 4930123456.0, "postcode": 4109, "full_name": ["Jane", 5]}


def test_a_profile_is_one_its_name_or_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(bundled_text("people"), "utf-8")
    by_name, by_path = RecordLinker("people").profile, RecordLinker(tmp_path / "mine.toml").profile
    assert RecordLinker(by_path).profile == by_path == by_name
    rows, records = [{"name": "Jane Doe"}] * 2, [Record("a", {"name": "Jane Doe"})] * 2
    assert link(rows, tmp_path / "mine.toml") == link(rows, "people")
    uses: list[Any] = [RecordLinker, lambda one: link(rows, one), lambda one: RecordLinker.learned(one, records)]
    for use in uses:
        with pytest.raises(
            ConfigError, match=r"profile: got None, expected a Profile, people, .* or the path of a file"
        ):
            use(None)
