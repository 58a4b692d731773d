"""Messages of sets and vectors: one JSON object each, with one field that is compared.

    value                                the set, or the vector
    null                                 is deleted
    {"deleted": true, ...}               is deleted
    {"id"?, "items": [...], "time"?}     has these items (`kinds.set.messages`)
    {"id"?, "vector": ..., "time"?}      is this vector (`kinds.vector.messages`)

Id, key, time and deletion are as in documents (`kinds.text.messages`), and so are all errors except those of the
compared field, whose reason is `items` or `vector`.  All other fields are ignored.
"""

from collections.abc import Sequence
from typing import Any, Protocol, cast

import msgspec

from stream_lsh.errors import InputError
from stream_lsh.model import Document
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.toml import Path
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.message import DEFAULT_RULES, EXPECTED_TIME, ParseRules, as_iso, encoded, object_of, typed

_decode = msgspec.json.Decoder().decode


class Form(Protocol):
    """Converts the compared field: items or a vector."""

    @property
    def field(self) -> str:
        """Its attribute of `FieldNames`, and the reason of its errors."""

    def text(self, value: Any, name: str) -> str:
        """The text that the steps compare; raises InputError for an invalid value.  `name`: of the field in errors."""

    def value(self, text: str) -> Any:
        """The value for a message, the inverse of `text`."""

    def of_cell(self, cell: str) -> Any:
        """The value in a cell of a table."""


def parse_valued(
    value: bytes | None,
    key: bytes | None,
    form: Form,
    rules: ParseRules = DEFAULT_RULES,
    *,
    fallback_time_ms: int | None,
    now_ms: int | None = None,
) -> Document:
    r"""The set or the vector in a message, as a document.

    Args:
        value: the message's value.
        key: the message's key; None if it has none.
        form: of the compared field.
        rules: of the source.
        fallback_time_ms: the event time of a message without one (the Kafka timestamp); None: it is required.
        now_ms: the current time; None without a clock.
    Guarantees:
        pure; returns or raises `InputError` for any bytes.

    Raises:
        MalformedMessage: the message cannot be read (json, utf8, or the type of a field).
        UnusableDocument: the message can be read but not used (key, id, size, time, or the compared field).

    Example:
        >>> from stream_lsh.kinds.set.messages import ItemsForm
        >>> value = b'{"items": ["milk", 17, "milk"], "time": "1970-01-01T00:00:01Z"}'
        >>> parse_valued(value, b"basket", ItemsForm(), fallback_time_ms=5)[:3]
        ('basket', '17\nmilk\n', 1000)
        >>> parse_valued(None, b"basket", ItemsForm(), fallback_time_ms=5)[:3]
        ('basket', None, 5)
    """
    key_id = rules.key_id(value, key)
    if value is None:
        return Document(cast("str", key_id), None, fallback_time_ms or 0)
    names = rules.names
    name = getattr(names, form.field)
    fields = _object(value, name)
    value_id = typed(fields, names.id, (str, int), "id", "a string or an integer")
    deleted = typed(fields, names.deleted, (bool,), "json", "true or false")
    time = typed(fields, names.time, (str, int, float), "time", EXPECTED_TIME)
    id = rules.id(value_id, key, key_id, names.id)
    if deleted:
        return Document(id, None, rules.event_time_ms(time, fallback_time_ms or 0))
    time_ms = rules.event_time_ms(time, fallback_time_ms, rules.latest_ms(fallback_time_ms, now_ms))
    return Document(id, form.text(fields.get(name), name), time_ms)


def valued_message(document: Document, form: Form, names: FieldNames) -> tuple[bytes, bytes | None]:
    r"""Key and value of a set or a vector.

    Raises:
        UnusableDocument: an id that is not a valid key.

    Example:
        >>> from stream_lsh.kinds.set.messages import ItemsForm
        >>> valued_message(Document("a", "bread\nmilk\n", 5), ItemsForm(), FieldNames())
        (b'a', b'{"id":"a","items":["bread","milk"],"time":"1970-01-01T00:00:00.005Z"}')
    """
    key = key_of(document.id)
    if document.text is None:
        return key, None
    time = as_iso(document.time_ms)
    fields = {names.id: document.id, getattr(names, form.field): form.value(document.text), names.time: time}
    return key, encoded(fields)


def parse_valued_lines(
    lines: Sequence[bytes], form: Form, rules: ParseRules, fallback_time_ms: int = 0
) -> tuple[list[Document], list[tuple[int, InputError]]]:
    """The sets or vectors of a file of JSON lines, and the rejected lines, each with its index and the error.

    Blank lines are skipped.  The arguments are those of `parse_valued`; `rules` are not keyed.
    """
    documents: list[Document] = []
    errors: list[tuple[int, InputError]] = []
    for index, line in enumerate(lines):
        if not line or line.isspace():
            continue
        try:
            documents.append(parse_valued(line, None, form, rules, fallback_time_ms=fallback_time_ms))
        except InputError as error:
            errors.append((index, error))
    return documents, errors


def check_field_name(form_field: str, names: FieldNames, path: Path, problems: Problems) -> None:
    """Report a compared field with the same name as another field."""
    place, name = (*path, "fields", form_field), getattr(names, form_field)
    if name in (names.id, names.time, names.deleted) and problems.is_valid(place):
        problems.add(place, f"got {name!r}, which is another field, expected a name of its own")


def _object(value: bytes, name: str) -> dict[str, Any]:
    try:
        fields = _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fields = None
    if isinstance(fields, dict):
        return fields
    return object_of(value, f"an object with `{name}`", f"a JSON object with the field `{name}`")
