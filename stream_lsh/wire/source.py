"""What a message of a user says: one JSON object per document, read strictly where it counts and leniently elsewhere.

    value                       the document
    null                        is deleted
    {"deleted": true, ...}      is deleted
    {"id"?, "text", "time"?}    has this text; `id` a string or an integer, `time` ISO 8601 (without a zone: UTC) or
                                epoch milliseconds; every other field is ignored

A pipeline with stories reads `title`, `source` and `url` as well, strings (see `about`).

In a keyed source the key is the id, and an `id` in the value must equal it.  In one that is not, the key counts only
where the value has no id.  Names of fields can be mapped.  A field that is null counts as absent.  An empty text is a
text.

What cannot be used is an `InputError` whose `reason` is one of

    json    not JSON, or not one object             key     not UTF-8, too long, empty, missing, or not the id
    utf8    not UTF-8                               id      missing, empty, too long, of a wrong type
    text    missing, of a wrong type                time    cannot be read, or lies in the future
    size    larger than allowed                     title, source, url    of a wrong type

Two ways lead through this file.  The fast one is a msgspec decoder with the types of the fields.  Whatever it
does not take goes the slow way, through the standard library: there an escaped lone surrogate and a byte order mark are
fine, and everything else is told apart, so that the message says what is wrong.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, NoReturn, Protocol, cast

import msgspec

from stream_lsh.errors import ConfigError, InputError, MalformedMessage, UnusableDocument
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.text.page import Mode, has_tags, read_page
from stream_lsh.wire.about import about_of
from stream_lsh.wire.ids import checked_id, key_id_of

MAX_DOCUMENT_BYTES = 524_288
RAW = "raw"
MAX_AHEAD_MS = 3_600_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999, as datetime has them


@dataclass(frozen=True, slots=True)
class FieldNames:
    """What the source calls the fields of a document; each of the first four must be another one.

    What stories read besides may be one of them: the URL is the id of many a page.
    """

    id: str = "id"
    text: str = "text"
    time: str = "time"
    deleted: str = "deleted"
    title: str = "title"
    source: str = "source"
    url: str = "url"

    def __post_init__(self) -> None:
        names = [self.id, self.text, self.time, self.deleted]
        if len(set(names)) < len(names):
            raise ConfigError(f"got the field names {names}, expected four that differ")


DEFAULT_NAMES = FieldNames()
_TOLD = ("title", "source", "url")
_FIELDS = ("id", "text", "time", "deleted", *_TOLD)


class _Fields(Protocol):
    """The fields that are read; everything else in the object is passed over."""

    id: str | int | None
    text: str | None
    time: str | int | float | None
    deleted: bool | None
    title: str | None
    source: str | None
    url: str | None


def parse_document(
    value: bytes | None,
    key: bytes | None,
    *,
    fallback_time_ms: int,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    max_ahead_ms: int | None = MAX_AHEAD_MS,
    names: FieldNames = DEFAULT_NAMES,
    keyed: bool = True,
    stories: bool = False,
    html: str = "off",
) -> Document:
    """The document in a message.

    Args:
        value: the message's value.
        key: the message's key; None where it has none.
        fallback_time_ms: the event time of a document that has none (the Kafka timestamp).
        max_bytes: the size above which a value is not even read.
        max_ahead_ms: how far beyond `fallback_time_ms` a time may lie; None where there is nothing to compare it with.
        names: what the source calls its fields.
        keyed: whether the key is the id: then a message without one is an error, and so is another `id`.
        stories: read what these tell of the document, too.
        html: the text is a page, and this is what is read of it: `main` or `page` (`text.page`); `off`: it is none.
            A text without tags stays as it is.  RAW: it is one, and somebody else will read it.
            With stories the page tells what the message does not: its title, its address, when it was published.
    Guarantees:
        pure; returns or raises `InputError`, whatever the bytes are.
    Cost:
        1 to 2 us and a copy of the text for the usual message, some 10 us for an unusual one.

    Raises:
        MalformedMessage: it cannot be read (json, utf8, or the type of a field).
        UnusableDocument: it can be read and not be used (key, id, size, or a time in the future).

    Example:
        >>> parse_document(b'{"text": "Hello", "time": "1970-01-01T00:00:01Z"}', b"a", fallback_time_ms=5)[:3]
        ('a', 'Hello', 1000)
        >>> parse_document(b'{"text": "Hello", "url": "http://x.org/"}', b"a", fallback_time_ms=5, stories=True).about
        About(title='Hello', source='x.org', length=5)
        >>> parse_document(None, b"a", fallback_time_ms=5)[:3]
        ('a', None, 5)
    """
    if value is not None and len(value) > max_bytes:
        raise UnusableDocument("size", f"got a value of {len(value)} bytes, expected at most {max_bytes}")
    if keyed and key is None:
        raise UnusableDocument(
            "key", "got a null key, expected the document's id: key the source by it, or set `rekey`"
        )
    key_id = key_id_of(key) if key is not None and (keyed or value is None) else None
    if value is None:
        if key_id is None:
            raise UnusableDocument("id", "got neither key nor value, expected at least a key")
        return Document(key_id, None, fallback_time_ms)
    fields = _read(value, names, stories)
    if key is not None and not keyed and fields.id is None:
        key_id = key_id_of(key)
    if html not in ("off", RAW):
        latest_ms = _LAST_MS if max_ahead_ms is None else fallback_time_ms + max_ahead_ms
        _read_page(fields, html, latest_ms, names if stories else None)
    document = _document(fields, key_id, fallback_time_ms, max_ahead_ms, names)
    if not stories or document.text is None:
        return document
    return document._replace(about=_about(fields, "" if html == RAW else document.text, names))


def parse_lines(
    lines: Sequence[bytes],
    *,
    fallback_time_ms: int = 0,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    max_ahead_ms: int | None = None,
    names: FieldNames = DEFAULT_NAMES,
    stories: bool = False,
    html: str = "off",
) -> tuple[list[Document], list[tuple[int, InputError]]]:
    """The documents of a file of JSON lines, and the lines that have none, each with its index (from 0) and the error.

    A blank line is passed over.  Arguments are those of `parse_document`.

    Cost:
        1 us a line and a copy of its text.
    """
    documents: list[Document] = []
    errors: list[tuple[int, InputError]] = []
    decode = _decoder(names, stories)
    for index, line in enumerate(lines):
        try:
            if len(line) <= max_bytes:
                fields = decode(line)
                text = fields.text
                # The line as nearly all are: anything else about it is settled by the general way below.
                as_most = type(fields.id) is str and fields.time is None and not fields.deleted and html == "off"
                if as_most and text is not None:
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
            document = parse_document(
                line,
                None,
                fallback_time_ms=fallback_time_ms,
                max_bytes=max_bytes,
                max_ahead_ms=max_ahead_ms,
                names=names,
                keyed=False,
                stories=stories,
                html=html,
            )
            documents.append(document)
        except InputError as error:
            errors.append((index, error))
    return documents, errors


@lru_cache(maxsize=64)
def _decoder(names: FieldNames, stories: bool) -> Callable[[bytes], _Fields]:
    fields: list[tuple[str, Any, Any]] = [
        ("id", str | int | None, None),
        ("text", str | None, None),
        ("time", str | int | float | None, None),
        ("deleted", bool | None, None),
    ]
    if stories:
        fields += [(field, str | None, None) for field in _TOLD if _holder(field, names) == field]
    rename = {field: getattr(names, field) for field, _, _ in fields}
    shape = msgspec.defstruct("Fields", fields, rename=rename, gc=False)
    return cast("Callable[[bytes], _Fields]", msgspec.json.Decoder(shape).decode)


@lru_cache(maxsize=64)
def _holder(field: str, names: FieldNames) -> str:
    """The first field that is called as this one: it holds its value."""
    name = getattr(names, field)
    return next(other for other in _FIELDS if getattr(names, other) == name)


def _about(fields: _Fields, text: str, names: FieldNames) -> About:
    """What stories tell of a document."""
    held = {getattr(names, field): getattr(fields, _holder(field, names)) for field in _TOLD}
    return about_of(
        text,
        _typed(held, names.title, (str,), "title", "a string") or "",
        _typed(held, names.source, (str,), "source", "a string") or "",
        _typed(held, names.url, (str,), "url", "a string") or "",
    )


def _read_page(fields: _Fields, mode: str, latest_ms: int, names: FieldNames | None) -> None:
    """Put what is read of a page in place of its source; with names, for stories, what it says of itself too."""
    if fields.text is None or not has_tags(fields.text):
        return
    page = read_page(fields.text, cast("Mode", mode))
    fields.text = page.text
    if names is None:
        return
    told = {"title": page.title, "url": page.url}
    if not getattr(fields, _holder("url", names)):  # then the host is no worse a name of the outlet
        told["source"] = page.site
    for field, value in told.items():
        if _holder(field, names) == field and not getattr(fields, field):
            setattr(fields, field, value)
    # What a page says of itself is no reason to put it aside.
    if fields.time is None and page.published_ms is not None and _FIRST_MS <= page.published_ms <= latest_ms:
        fields.time = page.published_ms


def _read(value: bytes, names: FieldNames, stories: bool) -> _Fields:
    try:
        return _decoder(names, stories)(value)
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
    try:
        content = value.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            "utf8", f"got bytes that are not UTF-8 ({error.reason} at byte {error.start}), expected JSON in UTF-8"
        ) from None
    try:
        found = json.loads(content, parse_constant=_refuse_constant)
    except RecursionError:
        raise MalformedMessage("json", "got JSON that is nested too deeply, expected an object with a text") from None
    except ValueError as error:
        raise MalformedMessage("json", f"got a value that is not JSON ({error}), expected one JSON object") from None
    if not isinstance(found, dict):
        raise MalformedMessage("json", f"got {_shown(found)}, expected a JSON object with the field `{names.text}`")
    return _SlowFields(
        _typed(found, names.id, (str, int), "id", "a string or an integer"),
        _typed(found, names.text, (str,), "text", "a string"),
        _typed(found, names.time, (str, int, float), "time", "ISO 8601 or epoch milliseconds"),
        _typed(found, names.deleted, (bool,), "json", "true or false"),
        *((found.get(getattr(names, field)) for field in _TOLD) if stories else ()),
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _typed(found: Mapping[str, Any], name: str, types: tuple[type, ...], reason: str, expected: str) -> Any:
    value = found.get(name)
    if value is None or type(value) in types:  # a bool is no number here
        return value
    raise MalformedMessage(reason, f"got {_shown(value)} as `{name}`, expected {expected}")


def _shown(value: object) -> str:
    """A value for a message: its JSON type, and as much of it as a log line takes."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    shown = ascii(value) if not isinstance(value, dict | list) else ""
    return f"{kinds.get(type(value), 'a number')} {shown[:60]}".rstrip()


def _document(
    fields: _Fields, key_id: str | None, fallback_time_ms: int, max_ahead_ms: int | None, names: FieldNames
) -> Document:
    value_id = fields.id
    if value_id is None:
        if key_id is None:
            raise UnusableDocument("id", f"got neither a key nor the field `{names.id}`, expected one of them")
        document_id = key_id
    else:
        document_id = checked_id(str(value_id))
        if key_id is not None and document_id != key_id:
            raise UnusableDocument(
                "key",
                f"got the key {ascii(key_id)[:60]} with `{names.id}` {ascii(document_id)[:60]}, expected them to be "
                "equal: key the source by id, or set `rekey`",
            )
    time = fields.time
    time_ms = fallback_time_ms if time is None else _time_ms(time, fallback_time_ms, max_ahead_ms)
    if fields.deleted:
        return Document(document_id, None, time_ms)
    if fields.text is None:
        raise MalformedMessage(
            "text",
            f"got no `{names.text}`, expected a string; to delete a document send a null value or "
            f"`{names.deleted}`: true",
        )
    return Document(document_id, fields.text, time_ms)


def _time_ms(time: str | int | float, fallback_time_ms: int, max_ahead_ms: int | None) -> int:
    """Milliseconds since the epoch, rounded down."""
    if isinstance(time, str):
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            raise MalformedMessage(
                "time", f"got {_shown(time)} as a time, expected ISO 8601, such as 2024-05-01T12:00:00Z"
            ) from None
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        time_ms = since.days * 86_400_000 + since.seconds * 1_000 + since.microseconds // 1_000
    else:
        if not isfinite(time) or not _FIRST_MS <= time <= _LAST_MS:
            raise MalformedMessage(
                "time", f"got {time!r:.40} as a time, expected milliseconds since 1970: is it in other units?"
            )
        time_ms = int(time // 1)
    if max_ahead_ms is not None and time_ms > fallback_time_ms + max_ahead_ms:
        raise UnusableDocument(
            "time",
            f"got a time of {time_ms} ms, {time_ms - fallback_time_ms} ms ahead of the message, expected at most "
            f"{max_ahead_ms} ms: a wrong clock, or other units",
        )
    return time_ms
