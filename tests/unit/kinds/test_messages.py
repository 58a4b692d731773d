"""The common part of the messages of every kind of data: JSON, keys, ids, times, sizes; each mistake has a name."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from stream_lsh.errors import InputError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.record.messages import parse_record
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.single_field import parse_valued
from stream_lsh.kinds.text.messages import parse_document
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.records.profile import Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.message import ParseRules

NOW = 1_714_564_800_000  # 2024-05-01T12:00:00Z
HOUR = 3_600_000
READER = Reader(Profile(name="people", fields=(Field(name="name", type="name"),), comparisons=()))


class Kind(NamedTuple):
    """The parser of a kind, the field with its content, and the same in a form that only the slow JSON parser reads."""

    parse: Callable[..., Any]
    content: bytes
    surrogate: bytes


KINDS = {
    "text": Kind(parse_document, b'"text": "t"', b'"text": "\\ud800"'),
    "record": Kind(partial(parse_record, reader=READER), b'"name": "Ann"', b'"name": "\\ud800"'),
    "set": Kind(partial(parse_valued, form=ItemsForm()), b'"items": ["a"]', b'"items": ["\\ud800"]'),
    "vector": Kind(
        partial(parse_valued, form=VectorForm(2, "cosine")), b'"vector": [1, 2]', b'"vector": [1, 2], "x": "\\ud800"'
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
CONTENTS = [b"{CONTENT}", b'{"deleted": true}', None]
"""A message without an id, a deletion, and the value that deletes."""


def parse(kind: Kind, value: bytes | None, key: bytes | None = b"a", **options: Any) -> Any:
    """Parse a value; `CONTENT` in it stands for the field of the kind."""
    value = value if value is None else value.replace(b"CONTENT", kind.content)
    return kind.parse(value, key, rules=ParseRules(**options), fallback_time_ms=NOW)


# -- valid messages


@pytest.mark.parametrize(
    ("time", "time_ms"),
    [
        ("null", NOW),
        ("1000", 1000),
        ("0", 0),
        ("-1", -1),
        ("1000.9", 1000),
        ("-0.5", -1),
        ("1.5e3", 1500),
        ('"1970-01-01T00:00:01Z"', 1000),
        ('"1970-01-01T00:00:01"', 1000),
        ('"1970-01-01 00:00:01.5"', 1500),
        ('"1970-01-01T01:00:01+01:00"', 1000),
        ('"1970-01-02"', 86_400_000),
        ('"1969-12-31T23:59:59.999Z"', -1),
        ('"0001-01-01T00:00:00Z"', -62_135_596_800_000),
        ('"Thu, 01 Jan 1970 00:00:01 GMT"', 1000),
        ('"1000"', 1000),
        ('"20240501"', 20_240_501),
        (str(NOW + HOUR), NOW + HOUR),
    ],
)
@every_kind
def test_times_that_are_fine(kind: Kind, time: str, time_ms: int) -> None:
    names = FieldNames(time="at")
    for start in (kind.content, kind.surrogate, b'"deleted": true', b'"deleted": true, "x": "\\ud800"'):
        value = b'{%s, "time": %s}' % (start, time.encode())
        assert parse(kind, value, time_unit="ms").time_ms == time_ms
        assert parse(kind, value.replace(b'"time"', b'"at"'), time_unit="ms", names=names).time_ms == time_ms


@every_kind
def test_seconds_are_recognised_and_the_future_is_allowed_where_nothing_is_compared_with_it(kind: Kind) -> None:
    assert parse(kind, b'{CONTENT, "time": 1714564800}').time_ms == NOW
    value = b'{CONTENT, "time": "2099-01-01T00:00:00Z"}'
    assert parse(kind, value, max_ahead_ms=None).time_ms == 4_070_908_800_000


@pytest.mark.parametrize(
    ("value", "key", "id"),
    [
        (b'{"id": "b", CONTENT}', b"a", "b"),
        (b'{"id": "b", CONTENT}', b"\xff", "b"),
        (b'{"id": "b", CONTENT}', b"x" * 2_000, "b"),
        (b'{"id": "b", "deleted": true}', b"", "b"),
        (b'{"id": null, CONTENT}', b"a", "a"),
        (b"{CONTENT}", b"a", "a"),
        (b'{"deleted": true}', b"a", "a"),
        (None, b"a", "a"),
    ],
)
@every_kind
def test_where_the_key_is_not_the_id_it_counts_only_for_a_value_without_one(
    kind: Kind, value: bytes | None, key: bytes, id: str
) -> None:
    assert parse(kind, value, key, keyed=False).id == id


# -- invalid messages

MISTAKES: list[tuple[bytes | None, bytes | None, str, type[InputError], str]] = [
    (b"", b"a", "json", MalformedMessage, "not JSON"),
    (b"words", b"a", "json", MalformedMessage, "not JSON"),
    (b"{CONTENT", b"a", "json", MalformedMessage, "not JSON"),
    (b"{CONTENT} {}", b"a", "json", MalformedMessage, "not JSON"),
    (b'{CONTENT, "x": NaN}', b"a", "json", MalformedMessage, "NaN is not a JSON number"),
    (b'{CONTENT, "x": [Infinity]}', b"a", "json", MalformedMessage, "Infinity is not a JSON number"),
    (b'{CONTENT, "x": "t\0"}', b"a", "json", MalformedMessage, "not JSON"),
    (b"null", b"a", "json", MalformedMessage, "got null, expected a JSON object"),
    (b"[1]", b"a", "json", MalformedMessage, "got an array, expected a JSON object"),
    (b'"text"', b"a", "json", MalformedMessage, "got a string 'text', expected"),
    (b"5", b"a", "json", MalformedMessage, "got a number 5, expected"),
    (b'{CONTENT, "x": ' + b"[" * 100_000, b"a", "json", MalformedMessage, "nested too deeply"),
    (b'{CONTENT, "deleted": "yes"}', b"a", "json", MalformedMessage, "'yes' as `deleted`, expected true or false"),
    (b'{CONTENT, "deleted": 1}', b"a", "json", MalformedMessage, "expected true or false"),
    (b'{"id": "\xff", CONTENT}', b"a", "utf8", MalformedMessage, "not UTF-8 .*at byte 8"),
    (b'{"id": "\xed\xa0\x80", CONTENT}', b"a", "utf8", MalformedMessage, "not UTF-8"),
    (b'{CONTENT, "x": "\xff"}', b"a", "utf8", MalformedMessage, "not UTF-8"),
    (b'{CONTENT, "x": ["\xed\xa0\x80"]}', b"a", "utf8", MalformedMessage, "not UTF-8"),
    (b'{CONTENT, "\xff": 1}', b"a", "utf8", MalformedMessage, "not UTF-8"),
    ('{"x": "t"}'.encode("utf-16"), b"a", "utf8", MalformedMessage, "not UTF-8"),
    (b"{CONTENT}", None, "key", UnusableDocument, "got a null key"),
    (None, None, "key", UnusableDocument, "got a null key"),
    (b"{CONTENT}", b"", "key", UnusableDocument, "a key of 0 bytes, expected 1 to 1024"),
    (b"{CONTENT}", b"k" * 1025, "key", UnusableDocument, "a key of 1025 bytes"),
    (b"{CONTENT}", b"\xff", "key", MalformedMessage, "not UTF-8"),
    (b'{CONTENT, "id": "b"}', b"a", "key", UnusableDocument, "the key 'a' with `id` 'b', expected them to be equal"),
    (b'{CONTENT, "id": "\\ud800"}', b"a", "key", UnusableDocument, "expected them to be equal"),
    (b'{"deleted": true, "id": "b"}', b"a", "key", UnusableDocument, "expected them to be equal"),
    (b'{CONTENT, "id": ""}', b"a", "id", UnusableDocument, "an id of 0 bytes"),
    (b'{CONTENT, "id": 1.5}', b"a", "id", MalformedMessage, "a number 1.5 as `id`, expected a string or an integer"),
    (b'{CONTENT, "id": true}', b"a", "id", MalformedMessage, "a boolean True as `id`"),
    (b'{CONTENT, "id": ["a"]}', b"a", "id", MalformedMessage, "an array as `id`"),
    (b'{CONTENT, "id": "' + b"x" * 1025 + b'"}', b"a", "id", UnusableDocument, "an id of 1025 bytes"),
    (b'{CONTENT, "time": "tomorrow"}', b"a", "time", MalformedMessage, "'tomorrow' as a time, expected ISO"),
    (b'{CONTENT, "time": ""}', b"a", "time", MalformedMessage, "expected ISO"),
    (b'{CONTENT, "time": "2024-13-01"}', b"a", "time", MalformedMessage, "expected ISO"),
    (b'{CONTENT, "time": "\\ud800"}', b"a", "time", MalformedMessage, "expected ISO"),
    (b'{CONTENT, "time": true}', b"a", "time", MalformedMessage, "a boolean True as `time`"),
    (b'{CONTENT, "time": {}}', b"a", "time", MalformedMessage, "an object as `time`"),
    (b'{CONTENT, "time": 1000}', b"a", "time", MalformedMessage, "got 1000 as a time, expected seconds or millis"),
    (b'{CONTENT, "time": 1e400}', b"a", "time", MalformedMessage, "expected seconds or milliseconds"),
    (b'{CONTENT, "time": -1e18}', b"a", "time", MalformedMessage, "is it in other units"),
    (b'{CONTENT, "time": 1714564800000000000000000}', b"a", "time", MalformedMessage, "expected seconds"),
    (b'{CONTENT, "time": 1%s}' % (b"0" * 309), b"a", "time", MalformedMessage, "expected seconds"),
    (b'{CONTENT, "time": -1%s}' % (b"0" * 4_299), b"a", "time", MalformedMessage, "other units"),
    (b'{CONTENT, "time": 1%s}' % (b"0" * 5_000), b"a", "json", MalformedMessage, "4300 digits"),
    (b'{CONTENT, "time": "2099-01-01"}', b"a", "time", UnusableDocument, "later than `max_ahead` allows"),
    (f'{{CONTENT, "time": {NOW + HOUR + 1}}}'.encode(), b"a", "time", UnusableDocument, ", 1 ms later than"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{one[2]}: {one[4]}" for one in MISTAKES])
@every_kind
def test_messages_that_are_not_fine(
    kind: Kind, mistake: tuple[bytes | None, bytes | None, str, type[InputError], str]
) -> None:
    value, key, reason, error, message = mistake
    with pytest.raises(InputError, match=message) as raised:
        parse(kind, value, key)
    assert raised.value.reason == reason
    assert type(raised.value) is error
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("value", CONTENTS)
@every_kind
def test_without_key_and_id_there_is_no_document(kind: Kind, value: bytes | None) -> None:
    with pytest.raises(UnusableDocument, match="got neither") as raised:
        parse(kind, value, None, keyed=False)
    assert raised.value.reason == "id"


@pytest.mark.parametrize("value", CONTENTS)
@pytest.mark.parametrize("key", [b"", b"\xff", b"x" * 1_025])
@every_kind
def test_a_key_that_has_to_be_the_id_is_held_to_that(kind: Kind, key: bytes, value: bytes | None) -> None:
    with pytest.raises(InputError) as raised:
        parse(kind, value, key, keyed=False)
    assert raised.value.reason == "key"


@pytest.mark.parametrize("digits", [1024, 1025, 4300, 4301, 100_000])
@every_kind
def test_an_id_that_is_an_integer_of_very_many_digits_never_surprises(kind: Kind, digits: int) -> None:
    # Python neither reads nor writes an integer of more than 4,300 digits.
    value = b'{CONTENT, "id": ' + b"9" * digits + b"}"
    if digits <= MAX_ID_BYTES:
        assert parse(kind, value, None, keyed=False).id == "9" * digits
    else:
        with pytest.raises(InputError) as raised:
            parse(kind, value, None, keyed=False)
        assert raised.value.reason == ("id" if digits <= 4300 else "json")


@every_kind
def test_size_is_that_of_the_value_and_the_limit_is_included(kind: Kind) -> None:
    size = len(kind.content) + 2
    assert parse(kind, b"{CONTENT}", max_bytes=size).id == "a"
    with pytest.raises(UnusableDocument, match=f"{size} bytes, expected at most {size - 1}") as raised:
        parse(kind, b"{CONTENT}", max_bytes=size - 1)
    assert raised.value.reason == "size"
