"""Messages of records: everything that is fine, and a name for everything that is not; more is in `test_messages`."""

import json
import time
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings

from stream_lsh.errors import InputError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.record.messages import (
    LONGEST_SOURCE,
    MAX_RECORD_BYTES,
    ParsedRecord,
    parse_record,
    record_document,
)
from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.compare.levels import level_of
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Field, Profile
from stream_lsh.records.reading import LONGEST_RECORD, Reader
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.message import ParseRules
from tests.unit.wire.strategies import STRINGS

NOW = 1_714_564_800_000  # 2024-05-01T12:00:00Z
FIELDS = (
    Field(name="name", type="name", columns=("full name",)),
    Field(name="born", type="date", columns=("dob",)),
    Field(name="city", type="address"),
)
READER = Reader(Profile(name="people", fields=FIELDS, comparisons=()))


def parse(value: bytes | None, key: bytes | None = b"a", **options: Any) -> ParsedRecord:
    return parse_record(value, key, READER, ParseRules(**options), fallback_time_ms=NOW)


def unkeyed(value: Any) -> ParsedRecord:
    return parse(value if isinstance(value, bytes) else json.dumps(value).encode(), None, keyed=False)


# --- valid messages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "values", "raw_values"),
    [
        ({"name": "Dr. Ann Lee"}, ("ann lee", "", ""), {"name": "Dr. Ann Lee"}),
        ({"DOB": "3/1/1970"}, ("", "1970-03-01", ""), {"born": "3/1/1970"}),
        ({"FULL-NAME": "Ann", "name": "Bob"}, ("ann", "", ""), {"name": "Ann"}),
        ({"full name": "", "name": "Bob"}, ("bob", "", ""), {"name": "Bob"}),
        ({"fields": {"Name": "Ann", "time": "noon", "deleted": "no"}}, ("ann", "", ""), {"name": "Ann"}),
        ({"fields": {"name": "A"}, "name": "B", "city": "Rome"}, ("a", "", "rome"), {"name": "A", "city": "Rome"}),
        ({"fields": None, "name": "Bob"}, ("bob", "", ""), {"name": "Bob"}),
        ({"fields": ["medicine", {}], "name": "Bob"}, ("bob", "", ""), {"name": "Bob"}),
        ({"name": ["Bob", None, "Ann"], "city": []}, ("ann\x1fbob", "", ""), {"name": ["Bob", None, "Ann"]}),
        ({"born": 19700301, "city": 1.5}, ("", "1970-03-01", "1 5"), {"born": 19700301, "city": 1.5}),
        ({"name": True, "city": [False]}, ("true", "", "false"), {"name": True, "city": [False]}),
        ({"name": None, "born": "", "city": "n/a"}, ("", "", ""), {}),
        ({}, ("", "", ""), {}),
        ({"shoes": {"size": [9]}, "": [[{}]]}, ("", "", ""), {}),
        ({"born": "2021-02-30"}, ("", "2021-02-30", ""), {"born": "2021-02-30"}),  # no day, and no error: a text
        ({"name": "A\x00nn\x1b[31m\nLee"}, ("a nn 31m lee", "", ""), {"name": "A\x00nn\x1b[31m\nLee"}),
        ({"name": "王杰", "city": "Москва"}, ("王杰", "", "москва"), {"name": "王杰", "city": "Москва"}),
        ({"name": "فيصل صديقي"}, ("فيصل صديقي", "", ""), {"name": "فيصل صديقي"}),
    ],
)  # fmt: skip
def test_columns_are_values_and_what_was_given(
    value: Any, values: tuple[str, ...], raw_values: dict[str, object]
) -> None:
    for escape in (False, True):
        found = parse(json.dumps(value, ensure_ascii=escape).encode())
        assert found == ParsedRecord("a", values, raw_values, "", NOW)


@pytest.mark.parametrize(
    ("value", "values", "raw_values"),
    [
        (b'\xef\xbb\xbf{"name": "Ann"}', ("ann", "", ""), {"name": "Ann"}),
        (b' \n{"name": "Ann"}\r\n', ("ann", "", ""), {"name": "Ann"}),
        (b'{"name": "Ann", "name": "Bob"}', ("bob", "", ""), {"name": "Bob"}),
        (b'{"name": "A\\ud800nn"}', ("ann", "", ""), {"name": "Ann"}),
        (b'{"name": ["\\udc00Ann", 1e400, 2]}', ("2\x1fann", "", ""), {"name": ["Ann", None, 2]}),
        (b'{"name": 1e400, "city": -1e400}', ("", "", ""), {}),
        (b'{"name": "pair \\ud83d\\ude00"}', ("pair", "", ""), {"name": "pair \U0001f600"}),
        (b'{"city": 123456789012345678901234567890}', ("", "", "1234567890" * 3), {"city": int("1234567890" * 3)}),
        (b'{"shoes": "\\ud800", "name": "Ann"}', ("ann", "", ""), {"name": "Ann"}),
    ],
)
def test_json_in_its_unusual_forms(value: bytes, values: tuple[str, ...], raw_values: dict[str, object]) -> None:
    found = parse(value)
    assert (found.values, found.raw_values) == (values, raw_values)
    assert json.dumps(found.raw_values, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    ("value", "key", "expected"),
    [
        (None, b"a", ParsedRecord("a", (), {}, "", NOW, True)),
        (b'{"deleted": true}', b"a", ParsedRecord("a", (), {}, "", NOW, True)),
        (b'{"deleted": true, "id": "a", "name": {}}', b"a", ParsedRecord("a", (), {}, "", NOW, True)),
        (
            b'{"deleted": true, "source": "crm", "time": "1970-01-02"}',
            b"a",
            ParsedRecord("a", (), {}, "crm", 86_400_000, True),
        ),
        (b'{"deleted": false, "name": "Bo"}', b"a", ParsedRecord("a", ("bo", "", ""), {"name": "Bo"}, "", NOW)),
        (b'{"deleted": null, "name": "Bo"}', b"a", ParsedRecord("a", ("bo", "", ""), {"name": "Bo"}, "", NOW)),
    ],
)
def test_deletes_are_recognised(value: bytes | None, key: bytes, expected: ParsedRecord) -> None:
    assert parse(value, key) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"id": "b"}, "b"),
        ({"id": 7}, "7"),
        ({"rec_id": "r", "unique_id": "u"}, "r"),
        ({"REC ID": "r"}, "r"),
        ({"unique_id": "u", "id": None}, "u"),
        ({"id": "b", "fields": {"id": "c"}}, "b"),
        ({"fields": {"record_id": 12}}, "12"),
        ({"fields": {"id": "c"}, "rec_id": "r"}, "r"),
        ({"id": "x" * MAX_ID_BYTES}, "x" * MAX_ID_BYTES),
        ({"id": "null \0"}, "null \0"),
        ({"id": int("1234567890" * 3)}, "1234567890" * 3),
    ],
)
def test_without_a_key_the_id_is_the_first_of_the_columns_of_the_profile(value: Any, expected: str) -> None:
    assert unkeyed(value).id == expected
    if expected.isprintable():
        assert parse(json.dumps(value).encode(), expected.encode()).id == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"source": "crm"}, "crm"),
        ({"DATA_SOURCE": "CUSTOMERS"}, "CUSTOMERS"),
        ({"source": "", "data_source": "shop"}, "shop"),
        ({"source": None, "data_source": " "}, ""),
        ({"source": " web \t shop\r\n"}, "web shop"),
        ({"source": "\x00c\x1brm\x7f\x85é"}, "crm é"),
        ({"source": "\x00\x1b"}, ""),
        ({"source": "倉庫"}, "倉庫"),
        ({"source": "crm\ud800"}, "crm"),
        ({"source": "a", "fields": {"source": "b"}}, "a"),
        ({"fields": {"source": "b"}}, "b"),
        ({"source": "x" * LONGEST_SOURCE}, "x" * LONGEST_SOURCE),
        ({"source": "x" * LONGEST_SOURCE + "\x00\n"}, "x" * LONGEST_SOURCE),
        ({}, ""),
    ],
)
def test_the_source_is_the_first_of_the_columns_of_the_profile_that_has_one(value: Any, expected: str) -> None:
    assert parse(json.dumps(value).encode()).source == expected


def test_deletion_may_have_another_name() -> None:
    assert parse(b'{"gone": true}', names=FieldNames(deleted="gone")).deleted
    assert not parse(b'{"deleted": "no", "gone": false}', names=FieldNames(deleted="gone")).deleted


def test_a_profile_without_names_for_the_id_takes_the_key_alone() -> None:
    reader = Reader(replace(READER.profile, id_columns=(), source_columns=()))
    value = b'{"id": "b", "source": 7, "name": "Ann"}'
    assert parse_record(value, b"a", reader, fallback_time_ms=0)[:5] == (
        "a", ("ann", "", ""), {"name": "Ann"}, "", 0,
    )  # fmt: skip


# --- invalid messages -----------------------------------------------------------------------------------------------

OBJECT = "got an object as the value of a field, expected a text, a number or a list of them"


@pytest.mark.parametrize(
    ("value", "reason", "error", "message"),
    [
        (b'{"name": NaN}', "json", MalformedMessage, "NaN is not a JSON number"),
        (b'{"name": "A\0nn"}', "json", MalformedMessage, "not JSON"),
        (b'{"name": [Infinity]}', "json", MalformedMessage, "Infinity is not a JSON number"),
        (b"null", "json", MalformedMessage, "got null, expected a JSON object of columns"),
        (b"[1]", "json", MalformedMessage, "got an array, expected a JSON object of columns"),
        (b'{"name": ' + b"[" * 100_000, "json", MalformedMessage, "nested too deeply, expected an object of col"),
        (b'{"name": "\xff"}', "utf8", MalformedMessage, "not UTF-8 .*at byte 10"),
        (b'{"name": {"first": "Ann"}}', "field", MalformedMessage, f"'name': {OBJECT}"),
        (b'{"name": [{"first": "Ann"}]}', "field", MalformedMessage, f"'name': {OBJECT}"),
        (b'{"fields": {"CITY": {}}}', "field", MalformedMessage, f"'CITY': {OBJECT}"),
        (b'{"name": ["Ann", ["Bob"]]}', "field", MalformedMessage, "'name': got a list as the value of a field"),
        (b'{"C' + b"-" * 9_000 + b'ity": {}}', "field", MalformedMessage, OBJECT),
        (b'{"rec_id": "b"}', "key", UnusableDocument, "the key 'a' with `rec_id` 'b', expected them to be equal"),
        (b'{"REC-ID": ["a"]}', "id", MalformedMessage, "an array as `REC-ID`"),
        (b'{"i' + b"-" * 9_000 + b'd": []}', "id", MalformedMessage, "an array as `'i---"),
        (b'{"source": 7}', "source", MalformedMessage, "a number 7 as `source`, expected a string"),
        (b'{"Data Source": ["crm"]}', "source", MalformedMessage, "an array as `Data Source`"),
        (b'{"source": {}, "deleted": true}', "source", MalformedMessage, "an object as `source`"),
        (b'{"source": "' + b"x" * 101 + b'"}', "source", UnusableDocument, "got 101 characters as `source`, exp"),
        (b'{"name": "' + b"n" * 600_000 + b'"}', "size", UnusableDocument, "600012 bytes, expected at most"),
    ],
)  # fmt: skip
def test_messages_that_are_not_fine(value: bytes, reason: str, error: type[InputError], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        parse(value)
    assert raised.value.reason == reason
    assert type(raised.value) is error
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("value", [b'{"name": "Ann"}', b'{"deleted": true}', b'{"id": null}', b'{"fields": {}}', None])
def test_without_key_and_id_there_is_no_record(value: bytes | None) -> None:
    with pytest.raises(UnusableDocument, match="got neither") as raised:
        parse(value, None, keyed=False)
    assert raised.value.reason == "id"
    many = Reader(replace(READER.profile, id_columns=tuple(f"column {n}" for n in range(99))))
    with pytest.raises(UnusableDocument) as raised:
        parse_record(b"{}", None, many, ParseRules(keyed=False), fallback_time_ms=0)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("digits", [4_300, 4_301, 100_000])
def test_an_integer_of_very_many_digits_never_surprises(digits: int) -> None:
    value = b'{"name": ' + b"9" * digits + b"}"
    if digits <= 4_300:  # Python neither reads nor writes more of them
        assert parse(value).values == ("9" * 512, "", "")
    else:
        with pytest.raises(MalformedMessage) as raised:
            parse(value)
        assert raised.value.reason == "json"


# --- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10_000, 500_000])
@pytest.mark.parametrize("unit", ["n", "ann ", "王", "\u0301", "\u202e", "\x00", "ﷺ"])
def test_a_name_as_long_as_a_message_is_read_and_compared_in_a_moment(size: int, unit: str) -> None:
    people = bundled("people")
    reader = Reader(people)
    names = (unit * (size // len(unit.encode())), "ann lee " + unit * (size // len(unit.encode()) - 8))
    began = time.process_time()
    records = [
        parse_record(
            json.dumps({"full name": name, "address": name, "occupation": name}, ensure_ascii=False).encode(),
            b"a",
            reader,
            ParseRules(max_bytes=10_000_000),
            fallback_time_ms=0,
        )
        for name in names
    ]
    for one in people.comparisons:
        at = people.names.index(one.field)
        compared = comparator(one.comparator, one.levels)
        assert level_of(compared, records[0].values[at], records[1].values[at]) in {*range(len(compared.levels)), 255}
    assert time.process_time() - began < 2.0
    assert max(len(value) for record in records for value in record.values) <= 4_096
    assert records[1].raw_values == dict.fromkeys(("full_name", "address", "occupation"), names[1])
    assert bool(records[0].raw_values) == bool(records[0].values[people.names.index("full_name")])


def test_thousands_of_values_and_of_columns_are_read_in_a_moment() -> None:
    began = time.process_time()
    found = parse(json.dumps({"name": [f"n{n}" for n in range(50_000)]}).encode())
    assert found.values[0].split("\x1f") == ["n0", "n1", "n10", "n100", "n101", "n102", "n103", "n104"]
    assert found.raw_values["name"] == [f"n{n}" for n in range(256)]
    assert parse(json.dumps({f"c{n}": n for n in range(30_000)} | {"city": "Rome"}).encode()).values[2] == "rome"
    assert time.process_time() - began < 2.0


def too_large(value: Any, **more: Any) -> str:
    with pytest.raises(UnusableDocument) as raised:
        _ = parse(json.dumps(value, ensure_ascii=False).encode(), max_bytes=10_000_000, **more).document
    assert raised.value.reason == "size"
    return str(raised.value)


def test_raw_values_have_a_limit_and_the_error_names_the_largest_field() -> None:
    room = MAX_RECORD_BYTES - len('{"name":"","city":"Rome"}')
    fits = {"name": "x" * room, "city": "Rome", "not of the profile": "x" * 300_000}
    document = parse(json.dumps(fits).encode(), max_bytes=10_000_000).document
    assert len(document.about.title) == MAX_RECORD_BYTES
    assert too_large({"city": "Rome", "name": "x" * (room + 1)}) == (
        f"got 131073 bytes in the fields of the profile, {room + 3} of them in `name`, expected at most 131072 "
        "together: shorten it, or remove it from the profile"
    )
    assert "`city`" in too_large({"name": "Ann", "city": "Rome" + "\x01" * 22_000})
    assert "`name`" in too_large({"name": ["x" * 1_000] * 200, "city": "Rome"})
    with pytest.raises(UnusableDocument, match=r"`name`, expected at most 131072"):
        record_document(READER, Record("a", {"name": "x" * 200_000}))


def test_the_beginning_of_a_large_record_is_compared() -> None:
    fields = tuple(Field(name=f"f{number}", type="text", columns=("all",)) for number in range(12))
    reader = Reader(Profile(name="wide", fields=(*fields, Field(name="short")), comparisons=()))
    rare = "\u0436" * 4_096
    value = json.dumps({"all": rare, "short": "Ann"}).encode()
    read = parse_record(value, b"a", reader, fallback_time_ms=NOW)
    assert read.values == (*[rare[: (LONGEST_RECORD - 3) // 12]] * 12, "ann")
    assert len((read.document.text or "").encode()) < MAX_RECORD_BYTES


# --- whatever it is -------------------------------------------------------------------------------------------------

REASONS = {"none", "json", "utf8", "key", "id", "field", "time", "size", "source"}
COLUMNS = st.sampled_from(
    ["id", "rec_id", "source", "time", "deleted", "fields", "name", "Full Name", "born", "city", "x"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | STRINGS | st.sampled_from(["2021-02-30", "a", ""])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(COLUMNS, inner, max_size=4), max_leaves=12
)


def judged(value: bytes | None, key: bytes | None) -> str:
    reason = "none"
    for keyed in (False, True):
        try:
            found = parse(value, key, keyed=keyed)
        except InputError as error:
            reason = error.reason if len(str(error)) < 300 else "too long a message"
        else:
            assert len(found.values) == (0 if found.deleted else len(FIELDS))
            assert found.raw_values.keys() == {
                field.name for field, one in zip(FIELDS, found.values or [""] * 3, strict=True) if one
            }
            json.dumps((found.values, found.raw_values), ensure_ascii=False, allow_nan=False).encode()
            assert len(found.source) <= LONGEST_SOURCE
            assert found.source.encode().decode() == found.source
    return reason


@settings(max_examples=60)
@given(st.binary(max_size=60), st.none() | st.binary(max_size=5))
def test_any_bytes_give_a_record_or_an_input_error(value: bytes, key: bytes | None) -> None:
    for data in (
        value,
        *(b'{"' + name + b'":' + value + b"}" for name in (b"name", b"id", b"source", b"fields", b"time")),
    ):
        assert judged(data, key) in REASONS


@settings(max_examples=60)
@given(st.dictionaries(COLUMNS, JSON), st.none() | st.just(b"a"))
def test_any_object_gives_a_record_or_an_input_error(value: dict[str, Any], key: bytes | None) -> None:
    for escape in (False, True):
        assert judged(json.dumps(value, ensure_ascii=escape).encode("utf-8", "surrogatepass"), key) in REASONS


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["id", "source", "name", "born", "city", "x"]), STRINGS, min_size=1))
def test_either_way_through_json_gives_the_same(value: dict[str, str]) -> None:
    value = {name: one.encode("utf-8", "replace").decode() for name, one in value.items()}
    plain = json.dumps(value, ensure_ascii=False).encode()
    found = []
    for data in (plain, b"\xef\xbb\xbf" + plain):
        try:
            found.append(str(unkeyed(data)))
        except InputError as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("digits", [40, 308, 309, 400, 1_000, 4_300])
def test_an_integer_that_was_given_can_be_read_again_or_is_left_out(digits: int) -> None:
    value = b'{"name": ["Ann", 1%s], "city": -1%s}' % (b"0" * (digits - 1), b"0" * (digits - 1))
    found = parse(value)
    again = msgspec.json.decode(found.document.about.title)
    number = 10 ** (digits - 1)
    assert again in ({"name": ["Ann", number], "city": -number}, {"name": ["Ann", None], "city": None})
