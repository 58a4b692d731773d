"""Messages of records: one JSON object of columns, parsed strictly where it matters and leniently elsewhere.

    value                                       the record
    null                                        is deleted
    {"deleted": true, ...}                      is deleted
    {"id"?, "source"?, "time"?, "name": ...}    has these columns
    {"id"?, ..., "fields": {"name": ...}}       has the columns in `fields`, and beside it those that `fields` lacks

Columns are those of the profile, by any of their names in it, in any case.  A value is a text, a number, a boolean
(read as the text true or false), null (no value), or a list of these.  Columns that are not in the profile may have any
value.  No text is invalid: a date that does not exist stays a text, a name of ten thousand characters is compared by
its first ones.  So are the longest values of a record with more than 16,384 characters.

In a keyed source the key is the id, and the first of the profile's id columns that is present must equal it.  In an
unkeyed source that column is the id, and the key is the id only without such a column.  The source is that of the first
of the profile's source columns with a value, otherwise ""; control characters are removed from it.  Time and deletion
are as in documents (`kinds.text.messages`), and so are all errors:

    json    not JSON, or not one object             key     not UTF-8, too long, empty, missing, or not the id
    utf8    not UTF-8                               id      missing, empty, too long, of a wrong type
    field   a value of a wrong type                 time    cannot be read, or lies in the future
    size    larger than allowed                     source  too long, of a wrong type

Messages between the steps carry the raw values with every pair of the record, for golden records.  So the values of
the profile's columns have a separate limit, `MAX_RECORD_BYTES`; other columns of a message do not count.
"""

import re
import unicodedata
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from stream_lsh.errors import MalformedMessage, UnusableDocument
from stream_lsh.model import About, Document
from stream_lsh.records.model import Record, Values, as_text
from stream_lsh.records.profile import Profile, folded
from stream_lsh.records.reading import Reader
from stream_lsh.wire.arguments import validate_document
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.message import DEFAULT_RULES, EXPECTED_TIME, ParseRules, as_iso, encoded, object_of, typed
from stream_lsh.wire.split import FRAME_BYTES

NESTED = "fields"
"""The name of the inner object of columns; a column in it is never read as the time of the record."""
LONGEST_SOURCE = 100
MAX_RECORD_BYTES = FRAME_BYTES // 2
"""The limit of a record's raw values in bytes of JSON: a message with both ends of a pair has room for two records.
Standardised values have a lower limit, see `LONGEST_RECORD`."""

_LONGEST_NAME = 64
_MOST_BITS = 1_000
"""Of an integer: golden records decode the raw values, and the decoder does not accept thousands of digits."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class ParsedRecord(NamedTuple):
    """The record in a message.

    Attributes:
        id: of the record.
        values: standardised, in the order of the profile's fields; empty for a deleted record.
        raw_values: before standardisation, by the names of the profile's fields.
        source: of the record; "" if unknown.
        time_ms: event time, milliseconds since the epoch.
        deleted: whether the record was deleted.
    """

    id: str
    values: Values
    raw_values: Mapping[str, object]
    source: str
    time_ms: int
    deleted: bool = False

    @property
    def document(self) -> Document:
        """The record as a document for the steps: standardised values to compare, raw values to publish.

        Raises:
            UnusableDocument: size; the values exceed `MAX_RECORD_BYTES`.
        """
        if self.deleted:
            return Document(self.id, None, self.time_ms)
        about = _encode(self.raw_values)
        if len(about) > MAX_RECORD_BYTES:
            raise _too_large(len(about), {name: len(_encode(value)) for name, value in self.raw_values.items()})
        return Document(self.id, as_text(self.values, self.id), self.time_ms, About(about.decode(), self.source))


def parse_record(
    value: bytes | None,
    key: bytes | None,
    reader: Reader,
    rules: ParseRules = DEFAULT_RULES,
    *,
    fallback_time_ms: int | None,
    now_ms: int | None = None,
) -> ParsedRecord:
    """The record in a message.

    Args:
        value: the message's value.
        key: the message's key; None if it has none.
        reader: of the profile, made once.
        rules: of the source; of `names` only `time` and `deleted` apply, as id and source are columns of the profile.
        fallback_time_ms: the event time of a record without one (the Kafka timestamp); None: it is required.
        now_ms: the current time; None without a clock.
    Guarantees:
        pure; returns or raises `InputError` for any bytes.  The raw values can be encoded as UTF-8 and JSON:
        lone surrogates, infinities and integers of more than 1,000 bits are dropped.
    Cost:
        3 us and the standard forms of the values, some 40 us for twenty columns.

    Raises:
        MalformedMessage: the message cannot be read (json, utf8, or the type of a field).
        UnusableDocument: the message can be read but not used (key, id, size, source, or a time in the future).

    Example:
        >>> from stream_lsh.records.profile import Field, Profile
        >>> reader = Reader(Profile(name="people", fields=(Field(name="name", type="name"),), comparisons=()))
        >>> parse_record(b'{"Name": "Dr. Ann Lee", "source": "crm"}', b"7", reader, fallback_time_ms=5)[:5]
        ('7', ('ann lee',), {'name': 'Dr. Ann Lee'}, 'crm', 5)
        >>> parse_record(None, b"7", reader, fallback_time_ms=5).deleted
        True
    """
    key_id = rules.key_id(value, key)
    if value is None:
        return ParsedRecord(cast("str", key_id), (), {}, "", fallback_time_ms or 0, deleted=True)
    top, plain = _object(value)
    deleted = typed(top, rules.names.deleted, (bool,), "json", "true or false")
    time = typed(top, rules.names.time, (str, int, float), "time", EXPECTED_TIME)
    columns = _columns(top)
    id_name, value_id = _id_in(top, columns, reader)
    if value_id is None and key is None:
        expected = ascii(", ".join(reader.profile.id_columns))[1:120]
        raise UnusableDocument(
            "id", f"got neither a key nor one of the columns {expected}, expected an id: is `id_columns` right?"
        )
    id = rules.id(value_id, key, key_id, id_name)
    source = _source_in(top, columns, reader)
    if deleted:
        time_ms = rules.event_time_ms(time, fallback_time_ms or 0)
        return ParsedRecord(id, (), {}, source, time_ms, deleted=True)
    time_ms = rules.event_time_ms(time, fallback_time_ms, rules.latest_ms(fallback_time_ms, now_ms))
    values, raw_values = reader.read(columns)
    if not plain:
        raw_values = {name: _storable(raw_value) for name, raw_value in raw_values.items()}
    return ParsedRecord(id, values, raw_values, source, time_ms)


def record_document(reader: Reader, record: Record) -> Document:
    """A record as a document for the steps of a pipeline.

    Raises:
        MalformedMessage, UnusableDocument: an unusable id, time, source or value.
    """
    checked = validate_document(Document(record.id, "", record.time_ms))
    if not isinstance(record.source, str):
        raise MalformedMessage("source", f"got {type(record.source).__name__} as the source, expected a string")
    values, raw = reader.read(record.fields)
    raw = {name: _storable(value) for name, value in raw.items()}
    return ParsedRecord(checked.id, values, raw, checked_source(record.source, "source"), checked.time_ms).document


def check_size(reader: Reader, record: Record) -> None:
    """Check that a record from a file is no larger than a pipeline accepts; a small one is not read for that.

    Raises:
        UnusableDocument: size; as of `record_document`.
    """
    fields = len(reader.profile.fields)
    try:
        most = fields * (len(_encode(record.fields)) + _LONGEST_NAME)  # each field may have the value of any column
    except (OverflowError, UnicodeEncodeError):  # what cannot be stored is dropped
        most = MAX_RECORD_BYTES + 1
    if most > MAX_RECORD_BYTES:
        record_document(reader, record)


def _too_large(size: int, sizes: Mapping[str, int]) -> UnusableDocument:
    """The error for too large a record, given its size and the size of each field in bytes."""
    largest = max(sizes, key=sizes.__getitem__)
    return UnusableDocument(
        "size",
        f"got {size} bytes in the fields of the profile, {sizes[largest]} of them in `{_short(largest)}`, expected at "
        f"most {MAX_RECORD_BYTES} together: shorten it, or remove it from the profile",
    )


def _object(value: bytes) -> tuple[dict[str, Any], bool]:
    """The object, and whether the fast decoder read it, which accepts only storable values."""
    try:
        fields = _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fields = None
    if isinstance(fields, dict):
        return fields, True
    return object_of(value, "an object of columns", "a JSON object of columns"), False


def _columns(top: dict[str, Any]) -> dict[str, Any]:
    nested = top.get(NESTED)
    if not isinstance(nested, dict):
        return top
    return nested | {name: value for name, value in top.items() if name != NESTED and name not in nested}


def _id_in(top: Mapping[str, Any], columns: Mapping[str, Any], reader: Reader) -> tuple[str, str | int | None]:
    """The id and its column; columns beside `fields` take precedence over those in it."""
    for each in (top,) if columns is top else (top, columns):
        for column in reader.plan(tuple(each)).ids:
            if each[column] is not None:
                name = _short(column)
                return name, typed({name: each[column]}, name, (str, int), "id", "a string or an integer")
    return "id", None


def _source_in(top: Mapping[str, Any], columns: Mapping[str, Any], reader: Reader) -> str:
    for each in (top,) if columns is top else (top, columns):
        for column in reader.plan(tuple(each)).sources:
            name = _short(column)
            source = checked_source(typed({name: each[column]}, name, (str,), "source", "a string") or "", name)
            if source:
                return source
    return ""


def checked_source(text: str, name: str) -> str:
    """The source without control characters; `name` is its column, for errors.

    Raises:
        UnusableDocument: the source is too long.
    """
    source = _cleaned(text)
    if len(source) > LONGEST_SOURCE:
        raise UnusableDocument("source", f"got {len(source)} characters as `{name}`, expected at most {LONGEST_SOURCE}")
    return source


def _short(column: str) -> str:
    """The name of a column, shortened for an error message."""
    return column if len(column) <= 60 and column.isprintable() else ascii(column)[:60]


def _cleaned(text: str) -> str:
    """The text on one line, without control characters and lone surrogates."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept = "".join(
        character for character in text if character.isspace() or unicodedata.category(character) not in ("Cc", "Cs")
    )
    return " ".join(kept.split())


def _storable(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATES.sub("", value)
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return None
    return None if isinstance(value, float) and not isfinite(value) else value


def record_message(record: Record, profile: Profile, names: FieldNames) -> tuple[bytes, bytes | None]:
    """Key and value of a record: its columns, with id, source and time, if it has these; no value for a deletion.

    The columns are beside id, source and time, or in `fields`, if the name of a column conflicts with one of these.

    Args:
        record: deleted, if the column of deletion is true.
        profile: of the pipeline, with the names of id and source.
        names: of time and deletion in the source.

    Raises:
        UnusableDocument: an id that is not a valid key.

    Example:
        >>> people = Profile(name="people", fields=(), comparisons=())
        >>> record_message(Record("crm/7", {"name": "Ann"}, "crm", 5), people, FieldNames())
        (b'crm/7', b'{"id":"crm/7","source":"crm","time":"1970-01-01T00:00:00.005Z","name":"Ann"}')
        >>> record_message(Record("7", {"id": "x", "name": "Ann"}), people, FieldNames())
        (b'7', b'{"id":"7","fields":{"id":"x","name":"Ann"}}')
    """
    key = key_of(record.id)
    if record.fields.get(names.deleted) is True:
        return key, None
    own = {column: record.id for column in profile.id_columns[:1]}
    own |= {column: record.source for column in profile.source_columns[:1] if record.source}
    special = {*map(folded, (*own, *profile.source_columns)), folded(names.time), folded(names.deleted), NESTED}
    beside: dict[str, Any] = {**own, **({names.time: as_iso(record.time_ms)} if record.time_ms else {})}
    columns = {name: value for name, value in record.fields.items() if name != names.time or not record.time_ms}
    nested = any(folded(name) in special for name in columns)
    return key, encoded({**beside, NESTED: columns} if nested else {**beside, **columns})
