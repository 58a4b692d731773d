"""What messages of a user have in common, of documents and of records: size, key, JSON, id and time.

Everything here returns or raises `InputError`, whatever the bytes are.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NoReturn

from stream_lsh.errors import MalformedMessage, UnusableDocument
from stream_lsh.wire.ids import checked_id, key_id_of

MAX_DOCUMENT_BYTES = 524_288
MAX_AHEAD_MS = 3_600_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, as datetime has them."""


def key_of_message(value: bytes | None, key: bytes | None, max_bytes: int, *, keyed: bool) -> str | None:
    """The id that the key is, as far as that is known before the value is read; the value's size is held to its limit.

    Args:
        value: of the message; without one the key alone says what is deleted.
        key: of the message.
        max_bytes: the size above which a value is not even read.
        keyed: whether the key is the id.

    Raises:
        UnusableDocument, MalformedMessage: size, key; id, where there is neither key nor value.
    """
    if value is not None and len(value) > max_bytes:
        raise UnusableDocument("size", f"got a value of {len(value)} bytes, expected at most {max_bytes}")
    if keyed and key is None:
        raise UnusableDocument(
            "key", "got a null key, expected the document's id: key the source by it, or set `rekey`"
        )
    key_id = key_id_of(key) if key is not None and (keyed or value is None) else None
    if value is None and key_id is None:
        raise UnusableDocument("id", "got neither key nor value, expected at least a key")
    return key_id


def id_of_message(value_id: str | int | None, key_id: str | None, name: str) -> str:
    """The id out of value and key, which must not contradict each other; `name` is what the value calls it.

    Raises:
        UnusableDocument: id, key.
    """
    if value_id is None:
        if key_id is None:
            raise UnusableDocument("id", f"got neither a key nor the field `{name}`, expected one of them")
        return key_id
    found = checked_id(str(value_id))
    if key_id is not None and found != key_id:
        raise UnusableDocument(
            "key",
            f"got the key {ascii(key_id)[:60]} with `{name}` {ascii(found)[:60]}, expected them to be "
            "equal: key the source by id, or set `rekey`",
        )
    return found


def object_of(value: bytes, what: str, expected: str) -> dict[str, Any]:
    """The JSON object in a value, read leniently: a byte order mark and lone surrogates are fine.

    Args:
        value: of the message.
        what: an object of this sort, for messages, such as `an object with a text`.
        expected: the same in full.

    Raises:
        MalformedMessage: utf8, json.
    """
    try:
        content = value.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            "utf8", f"got bytes that are not UTF-8 ({error.reason} at byte {error.start}), expected JSON in UTF-8"
        ) from None
    try:
        found = json.loads(content, parse_constant=_refuse_constant)
    except RecursionError:
        raise MalformedMessage("json", f"got JSON that is nested too deeply, expected {what}") from None
    except ValueError as error:
        raise MalformedMessage("json", f"got a value that is not JSON ({error}), expected one JSON object") from None
    if not isinstance(found, dict):
        raise MalformedMessage("json", f"got {shown(found)}, expected {expected}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def typed(found: Mapping[str, Any], name: str, types: tuple[type, ...], reason: str, expected: str) -> Any:
    """The value of a field, None where it is absent or null.

    Raises:
        MalformedMessage: a value of none of the types.
    """
    value = found.get(name)
    if value is None or type(value) in types:  # a bool is no number here
        return value
    raise MalformedMessage(reason, f"got {shown(value)} as `{name}`, expected {expected}")


def shown(value: object) -> str:
    """A value for a message: its JSON type, and as much of it as a log line takes."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    text = ascii(value) if not isinstance(value, dict | list) else ""
    return f"{kinds.get(type(value), 'a number')} {text[:60]}".rstrip()


def time_of_message(time: str | int | float | None, fallback_time_ms: int, max_ahead_ms: int | None) -> int:
    """Milliseconds since the epoch, rounded down.

    Raises:
        MalformedMessage, UnusableDocument: time.
    """
    if time is None:
        return fallback_time_ms
    if isinstance(time, str):
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            raise MalformedMessage(
                "time", f"got {shown(time)} as a time, expected ISO 8601, such as 2024-05-01T12:00:00Z"
            ) from None
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        time_ms = since.days * 86_400_000 + since.seconds * 1_000 + since.microseconds // 1_000
    else:
        if not isfinite(time) or not FIRST_MS <= time <= LAST_MS:
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
