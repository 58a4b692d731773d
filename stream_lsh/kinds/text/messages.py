"""Messages of documents: one JSON object per document, parsed strictly where it matters and leniently elsewhere.

    value                       the document
    null                        is deleted
    {"deleted": true, ...}      is deleted
    {"id"?, "text", "time"?}    has this text; `id` a string or an integer, `time` ISO 8601 (without a zone: UTC),
                                RFC 2822, or a number since the epoch; all other fields are ignored

A pipeline with stories also reads the strings `title`, `source` and `url` (see `about`).

In a keyed source the key is the id, and an `id` in the value must equal it.  In an unkeyed source the key is the id
only if the value has none.  Names of fields can be mapped.  A field that is null counts as absent.  An empty text is a
text.

An unusable message raises an `InputError` whose `reason` is one of

    json    not JSON, or not one object             key     not UTF-8, too long, empty, missing, or not the id
    utf8    not UTF-8                               id      missing, empty, too long, of a wrong type
    text    missing, of a wrong type                time    cannot be read, or lies in the future
    size    larger than allowed                     title, source, url    of a wrong type

There are two parsers.  The fast one is a msgspec decoder with the types of the fields.  The slow one, of the standard
library, parses the messages that the fast one rejects: it accepts an escaped lone surrogate and a byte order mark, and
distinguishes all other problems, for the error message.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast

import msgspec

from stream_lsh.errors import InputError, MalformedMessage
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.text.page import Mode, has_tags, read_page
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.ids import checked_id, key_of
from stream_lsh.wire.message import (
    DEFAULT_RULES,
    EXPECTED_TIME,
    FIRST_MS,
    LAST_MS,
    ParseRules,
    as_iso,
    encoded,
    object_of,
    typed,
)
from stream_lsh.wire.metadata import about_of

RAW = "raw"


_STORY_FIELDS = ("title", "source", "url")
_FIELDS = ("id", "text", "time", "deleted", *_STORY_FIELDS)


class _Fields(Protocol):
    """The fields that are read; others in the object are ignored."""

    id: str | int | None
    text: str | None
    time: str | int | float | None
    deleted: bool | None
    title: str | int | None
    source: str | int | None
    url: str | int | None


def parse_document(
    value: bytes | None,
    key: bytes | None,
    rules: ParseRules = DEFAULT_RULES,
    *,
    fallback_time_ms: int | None,
    now_ms: int | None = None,
    stories: bool = False,
    html: str = "off",
) -> Document:
    """The document in a message.

    Args:
        value: the message's value.
        key: the message's key; None if it has none.
        rules: of the source.
        fallback_time_ms: the event time of a document without one (the Kafka timestamp); None: it is required.
        now_ms: the current time; None without a clock.
        stories: also read title, source and URL, for stories.
        html: the part to read of a text that is a page: `main` or `page` (`text.page`); `off`: texts are not pages.
            A text without tags is unchanged.  RAW: texts are pages that are read later, and are unchanged.
            With stories, title, URL and time of publication are read from the page if the message lacks them.
    Guarantees:
        pure; returns or raises `InputError` for any bytes.
    Cost:
        1 to 2 us and a copy of the text for most messages, some 10 us with the slow parser.

    Raises:
        MalformedMessage: the message cannot be read (json, utf8, or the type of a field).
        UnusableDocument: the message can be read but not used (key, id, size, or a time in the future).

    Example:
        >>> parse_document(b'{"text": "Hello", "time": "1970-01-01T00:00:01Z"}', b"a", fallback_time_ms=5)[:3]
        ('a', 'Hello', 1000)
        >>> parse_document(b'{"text": "Hello", "url": "http://x.org/"}', b"a", fallback_time_ms=5, stories=True).about
        About(title='Hello', source='x.org', length=5)
        >>> parse_document(None, b"a", fallback_time_ms=5)[:3]
        ('a', None, 5)
    """
    key_id = rules.key_id(value, key)
    if value is None:
        return Document(cast("str", key_id), None, fallback_time_ms or 0)
    names = rules.names
    fields = _read(value, names, stories)
    id = rules.id(fields.id, key, key_id, names.id)
    if fields.deleted:
        return Document(id, None, rules.event_time_ms(fields.time, fallback_time_ms or 0))
    latest_ms = rules.latest_ms(fallback_time_ms, now_ms)
    if html not in ("off", RAW):
        published_ms = _read_page(fields, html, names if stories else None)
        # An unusable time in a page does not reject its message.
        if published_ms is not None and FIRST_MS <= published_ms <= (LAST_MS if latest_ms is None else latest_ms):
            fallback_time_ms = published_ms
    time_ms = rules.event_time_ms(fields.time, fallback_time_ms, latest_ms)
    if fields.text is None:
        raise MalformedMessage(
            "text",
            f"got no `{names.text}`, expected a string; to delete a document send a null value or "
            f"`{names.deleted}`: true",
        )
    if not stories:
        return Document(id, fields.text, time_ms)
    return Document(id, fields.text, time_ms, _about(fields, "" if html == RAW else fields.text, names))


def parse_lines(
    lines: Sequence[bytes],
    rules: ParseRules,
    fallback_time_ms: int = 0,
    *,
    stories: bool = False,
    html: str = "off",
) -> tuple[list[Document], list[tuple[int, InputError]]]:
    """The documents of a file of JSON lines, and the rejected lines, each with its index (from 0) and the error.

    Blank lines are skipped.  The arguments are those of `parse_document`; `rules` are not keyed.

    Cost:
        1 us a line and a copy of its text.
    """
    documents: list[Document] = []
    errors: list[tuple[int, InputError]] = []
    names = rules.names
    decode = _decoder(names, stories)
    for index, line in enumerate(lines):
        try:
            if len(line) <= rules.max_bytes:
                fields = decode(line)
                _check_utf8(line)
                text = fields.text
                # Nearly all lines are of this form; `parse_document` below handles all others.
                usual = type(fields.id) is str and fields.time is None and not fields.deleted and html == "off"
                if usual and text is not None:
                    about = _about(fields, text, names) if stories else NO_ABOUT
                    documents.append(Document(checked_id(str(fields.id)), text, fallback_time_ms, about))
                    continue
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            if not line.strip():
                continue
        except InputError as error:
            errors.append((index, error))
            continue
        try:
            document = parse_document(line, None, rules, fallback_time_ms=fallback_time_ms, stories=stories, html=html)
            documents.append(document)
        except InputError as error:
            errors.append((index, error))
    return documents, errors


def plain_documents(
    rows: Sequence[tuple[str, str]], time_ms: int
) -> tuple[list[Document], list[tuple[int, InputError]]]:
    """The documents of ids and texts without other fields; returns what `parse_lines` returns."""
    documents: list[Document] = []
    errors: list[tuple[int, InputError]] = []
    for index, (id, text) in enumerate(rows):
        try:
            documents.append(Document(checked_id(id), text, time_ms, NO_ABOUT))
        except InputError as error:
            errors.append((index, error))
    return documents, errors


def _check_utf8(value: bytes) -> None:
    """Check the fields that the fast parser skips, too: it checks only those that it reads.

    Raises:
        UnicodeDecodeError: some bytes are not UTF-8.
    """
    if not value.isascii():
        value.decode()


@lru_cache(maxsize=64)
def _decoder(names: FieldNames, stories: bool) -> Callable[[bytes], _Fields]:
    fields: list[tuple[str, Any, Any]] = [
        ("id", str | int | None, None),
        ("text", str | None, None),
        ("time", str | int | float | None, None),
        ("deleted", bool | None, None),
    ]
    if stories:
        fields += [(field, str | int | None, None) for field in _STORY_FIELDS if _holder(field, names) == field]
    rename = {field: getattr(names, field) for field, _, _ in fields}
    shape = msgspec.defstruct("Fields", fields, rename=rename, gc=False)
    return cast("Callable[[bytes], _Fields]", msgspec.json.Decoder(shape).decode)


@lru_cache(maxsize=64)
def _holder(field: str, names: FieldNames) -> str:
    """The first field with the name of this one, which holds its value."""
    name = getattr(names, field)
    return next(other for other in _FIELDS if getattr(names, other) == name)


def _about(fields: _Fields, text: str, names: FieldNames) -> About:
    """The metadata of a document for stories."""
    held = {getattr(names, field): getattr(fields, _holder(field, names)) for field in _STORY_FIELDS}
    return about_of(
        text,
        typed(held, names.title, (str,), "title", "a string") or "",
        _outlet(held, names.source),
        typed(held, names.url, (str,), "url", "a string") or "",
    )


def _outlet(held: Mapping[str, Any], name: str) -> str:
    """The outlet, which may be a number, as with ids."""
    outlet = typed(held, name, (str, int), "source", "a string or an integer")
    return "" if outlet is None else str(outlet)


def _read_page(fields: _Fields, mode: str, names: FieldNames | None) -> int | None:
    """Replace the HTML of a page with its text; with names, for stories, also read its title, URL and site.

    Returns:
        the time of publication in the page.
    """
    if fields.text is None or not has_tags(fields.text):
        return None
    page = read_page(fields.text, cast("Mode", mode))
    fields.text = page.text
    if names is None:
        return None
    about = {"title": page.title, "url": page.url}
    if not getattr(fields, _holder("url", names)):  # with a URL, its host names the outlet
        about["source"] = page.site
    for field, value in about.items():
        if _holder(field, names) == field and not getattr(fields, field):
            setattr(fields, field, value)
    return page.published_ms


def _read(value: bytes, names: FieldNames, stories: bool) -> _Fields:
    try:
        fields = _decoder(names, stories)(value)
        _check_utf8(value)
        return fields
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _read_slowly(value, names, stories)


@dataclass(slots=True)
class _SlowFields:
    id: str | int | None
    text: str | None
    time: str | int | float | None
    deleted: bool | None
    title: Any = None
    source: Any = None
    url: Any = None


def _read_slowly(value: bytes, names: FieldNames, stories: bool) -> _Fields:
    fields = object_of(value, "an object with a text", f"a JSON object with the field `{names.text}`")
    return _SlowFields(
        typed(fields, names.id, (str, int), "id", "a string or an integer"),
        typed(fields, names.text, (str,), "text", "a string"),
        typed(fields, names.time, (str, int, float), "time", EXPECTED_TIME),
        typed(fields, names.deleted, (bool,), "json", "true or false"),
        *((fields.get(getattr(names, field)) for field in _STORY_FIELDS) if stories else ()),
    )


def message(document: Document, names: FieldNames) -> tuple[bytes, bytes | None]:
    """Key and value of a document.

    Raises:
        UnusableDocument: an id that is not a valid key.
    """
    key = key_of(document.id)
    if document.text is None:
        return key, None
    about = {names.title: document.about.title, names.source: document.about.source}
    fields: dict[str, Any] = {name: value for name, value in about.items() if value}
    fields |= {names.id: document.id, names.text: document.text, names.time: as_iso(document.time_ms)}
    return key, encoded(fields)
