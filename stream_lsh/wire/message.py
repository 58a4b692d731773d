"""Common fields of users' messages, of documents and of records: size, key, JSON, id and time.

Every function returns or raises `InputError`, for any bytes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import msgspec

from stream_lsh.errors import MalformedMessage, UnusableDocument
from stream_lsh.wire.field_names import DEFAULT_NAMES, FieldNames
from stream_lsh.wire.ids import checked_id, key_id_of

MAX_DOCUMENT_BYTES = 524_288
MAX_AHEAD_MS = 3_600_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, as in datetime."""

EXPECTED_TIME = "ISO 8601, RFC 2822, or a number since 1970"
AUTO = "auto"
TIME_UNITS = (AUTO, "s", "ms", "us", "ns")
"""Units of numbers that are times; AUTO is the one in which the number lies between 1973 and 5138."""
_IN_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PER_MS = {"ms": 1, "us": 1_000, "ns": 1_000_000}
_LEAST = {"s": 10**8, "ms": 10**11, "us": 10**14, "ns": 10**17}
FIRST_SURE_MS = _LEAST["ms"]
"""In March 1973; no message was stamped before, and a number that is earlier in milliseconds is in seconds."""
_END_OF_SURE_MS = 1_000 * FIRST_SURE_MS
_NUMBER = re.compile(r"[+-]?[0-9]{1,24}(\.[0-9]{0,9})?")
_LONGEST_DATE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRules:
    """The rules for reading the messages of one source, for any kind of data.

    Attributes:
        max_bytes: the size above which a value is not even read.
        max_ahead_ms: how far a time may lie ahead of the message's timestamp and of the clock, and the former ahead of
            the clock; None: any distance.  It does not apply to a deletion.
        time_unit: of times that are numbers, one of TIME_UNITS.
        names: the field names of the source.
        keyed: whether the key is the id: then a message without one is an error, and so is another id in the value.
    """

    max_bytes: int = MAX_DOCUMENT_BYTES
    max_ahead_ms: int | None = MAX_AHEAD_MS
    time_unit: str = AUTO
    names: FieldNames = DEFAULT_NAMES
    keyed: bool = True

    def key_id(self, value: bytes | None, key: bytes | None) -> str | None:
        """The id in the key, as far as it is known before the value is read; None if the value decides.

        A message without a value has one: its key alone identifies the deleted document.

        Raises:
            UnusableDocument, MalformedMessage: size, key; id, where there is neither key nor value.
        """
        if value is not None and len(value) > self.max_bytes:
            raise UnusableDocument("size", f"got a value of {len(value)} bytes, expected at most {self.max_bytes}")
        if self.keyed and key is None:
            raise UnusableDocument(
                "key", "got a null key, expected the document's id: key the source by it, or set `rekey`"
            )
        key_id = key_id_of(key) if key is not None and (self.keyed or value is None) else None
        if value is None and key_id is None:
            raise UnusableDocument("id", "got neither key nor value, expected at least a key")
        return key_id

    def id(self, value_id: str | int | None, key: bytes | None, key_id: str | None, name: str) -> str:
        """The id from value and key, which must not contradict each other.

        Args:
            value_id: the id in the value.
            key: of the message; if the source is not keyed, it counts only without an id in the value.
            key_id: the result of `key_id`.
            name: the field name of the id.

        Raises:
            UnusableDocument, MalformedMessage: id, key.
        """
        if value_id is None:
            if key_id is None and key is not None:
                key_id = key_id_of(key)
            if key_id is None:
                raise UnusableDocument("id", f"got neither a key nor the field `{name}`, expected one of them")
            return key_id
        id = checked_id(str(value_id))
        if key_id is not None and id != key_id:
            raise UnusableDocument(
                "key",
                f"got the key {ascii(key_id)[:60]} with `{name}` {ascii(id)[:60]}, expected them to be "
                "equal: key the source by id, or set `rekey`",
            )
        return id

    def latest_ms(self, timestamp_ms: int | None, now_ms: int | None) -> int | None:
        """The latest time that a message of this timestamp may have; as `latest_time_ms`."""
        return latest_time_ms(timestamp_ms, self.max_ahead_ms, now_ms)

    def event_time_ms(
        self, time: str | int | float | None, fallback_time_ms: int | None, latest_ms: int | None = None
    ) -> int:
        """The event time of a message, or of a deletion, which may lie ahead; as `time_of_message`."""
        return time_of_message(time, fallback_time_ms, latest_ms, self.time_unit)


DEFAULT_RULES = ParseRules()


def object_of(value: bytes, what: str, expected: str) -> dict[str, Any]:
    """The JSON object in a value, read leniently: a byte order mark and lone surrogates are accepted.

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
        content_object = json.loads(content, parse_constant=_refuse_constant)
    except RecursionError:
        raise MalformedMessage("json", f"got JSON that is nested too deeply, expected {what}") from None
    except ValueError as error:
        raise MalformedMessage("json", f"got a value that is not JSON ({error}), expected one JSON object") from None
    if not isinstance(content_object, dict):
        raise MalformedMessage("json", f"got {shown(content_object)}, expected {expected}")
    return content_object


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def typed(fields: Mapping[str, Any], name: str, types: tuple[type, ...], reason: str, expected: str) -> Any:
    """The value of a field, None where it is absent or null.

    Raises:
        MalformedMessage: a value of none of the types.
    """
    value = fields.get(name)
    if value is None or type(value) in types:  # a bool is no number here
        return value
    raise MalformedMessage(reason, f"got {shown(value)} as `{name}`, expected {expected}")


def shown(value: object) -> str:
    """A value for a message: its JSON type, and a prefix that fits a log line."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    text = ascii(value) if not isinstance(value, dict | list | None) else ""
    return f"{kinds.get(type(value), 'a number')} {text[:60]}".rstrip()


def as_iso(time_ms: int) -> str:
    """A time in the common form of all messages, whatever the unit of its numbers is.

    Example:
        >>> as_iso(1714564800005)
        '2024-05-01T12:00:00.005Z'
    """
    return (_EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def latest_time_ms(timestamp_ms: int | None, max_ahead_ms: int | None, now_ms: int | None) -> int | None:
    """The latest time that a message may have; None: any.

    Args:
        timestamp_ms: of the message; None where it has none.
        max_ahead_ms: how far the time may be ahead of timestamp and clock, and the timestamp ahead of the clock; None:
            without limit.
        now_ms: the clock; None where there is none.

    Raises:
        UnusableDocument: time.  The timestamp is too far ahead of the clock.
    """
    if max_ahead_ms is None:
        return None
    if timestamp_ms is None or now_ms is None:
        earliest_ms = now_ms if timestamp_ms is None else timestamp_ms
        return None if earliest_ms is None else earliest_ms + max_ahead_ms
    if timestamp_ms > now_ms + max_ahead_ms:
        raise UnusableDocument(
            "time",
            f"got a message whose timestamp is {timestamp_ms - now_ms} ms ahead of the clock of the worker, expected "
            f"at most {max_ahead_ms} ms: the clock of the producer or that of the worker is wrong",
        )
    return min(timestamp_ms, now_ms) + max_ahead_ms


def time_of_message(
    time: str | int | float | None,
    fallback_time_ms: int | None,
    latest_ms: int | None = None,
    unit: str = AUTO,
) -> int:
    """The event time of a message, in milliseconds since the epoch.

    Args:
        time: as in the message: ISO 8601 (without a zone: UTC), a date of mail (RFC 2822), or a number since the
            epoch, which may be a string of digits.
        fallback_time_ms: used if the message has none; None if there is no fallback.
        latest_ms: a later time is rejected; None: none is.
        unit: of numbers, one of TIME_UNITS.

    Raises:
        MalformedMessage, UnusableDocument: time.

    Example:
        >>> [time_of_message(time, None) for time in (1714564800, 1714564800000, "1714564800.5")]
        [1714564800000, 1714564800000, 1714564800500]
        >>> time_of_message("Wed, 01 May 2024 14:00:00 +0200", None)
        1714564800000
        >>> time_of_message(5, None, unit="ms")
        5
    """
    if time is None:
        if fallback_time_ms is None:
            raise UnusableDocument(
                "time", "got neither a time nor a timestamp of the message after 1973, expected one of them"
            )
        return fallback_time_ms
    if isinstance(time, str):
        time_ms = _time_of_text(time.strip(), unit)
    elif type(time) is int and FIRST_SURE_MS <= time < _END_OF_SURE_MS and unit in (AUTO, "ms"):
        time_ms = time
    else:
        time_ms = _time_of_number(time, unit)
    if latest_ms is not None and time_ms > latest_ms:
        raise UnusableDocument(
            "time",
            f"got a time of {time_ms} ms, {time_ms - latest_ms} ms later than `max_ahead` allows: a wrong clock, or "
            "another `time_unit`?",
        )
    return time_ms


def _time_of_text(text: str, unit: str) -> int:
    # datetime reads 13 digits as a day, any character, hours and minutes; in AUTO no number of eight digits is a time.
    if _NUMBER.fullmatch(text) and not (unit == AUTO and len(text) == len("20240501")):
        return _time_of_number(float(text) if "." in text else int(text), unit)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = _moment_of_mail(text)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    time_ms = since.days * 86_400_000 + since.seconds * 1_000 + since.microseconds // 1_000
    if not FIRST_MS <= time_ms <= LAST_MS:
        raise MalformedMessage("time", f"got {shown(text)} as a time, expected one from the year 1 to 9999, in UTC")
    return time_ms


def _moment_of_mail(text: str) -> datetime:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - a large import that only such dates need

    try:
        if len(text) > _LONGEST_DATE:
            raise ValueError
        return parsedate_to_datetime(text)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise MalformedMessage(
            "time",
            f"got {shown(text)} as a time, expected {EXPECTED_TIME}, such as 2024-05-01T12:00:00Z, Wed, 01 May 2024 "
            "12:00:00 GMT, or 1714564800000",
        ) from None


def _time_of_number(time: float, unit: str) -> int:
    if unit == AUTO:
        unit = _unit_of(time)
    # False for infinity and nan, and no integer is too long for it.
    time_ms = time * 1_000 if unit == "s" else time // _PER_MS[unit]
    if not FIRST_MS <= time_ms <= LAST_MS:
        raise MalformedMessage(
            "time",
            f"got {time!r:.40} as a time, expected {_IN_WORDS[unit]} since 1970, from the year 1 to 9999: is it in "
            "other units?",
        )
    return round(time_ms)


def _unit_of(time: float) -> str:
    """The unit in which a number is a time from 1973 to 5138; before 1966 they are milliseconds."""
    if time <= -FIRST_SURE_MS:
        return "ms"
    for unit, least in _LEAST.items():
        if least <= time < 1_000 * least:
            return unit
    raise MalformedMessage(
        "time",
        f"got {time!r:.40} as a time, expected seconds or milliseconds since 1970, in March 1973 or later: leave the "
        "time out where it is not known, or name the unit with `time_unit`",
    )


def encoded(fields: Mapping[str, Any]) -> bytes:
    """An object as the value of a message."""
    try:
        return msgspec.json.encode(fields)
    except (UnicodeEncodeError, OverflowError):  # half of a surrogate pair, or a number of many digits
        return json.dumps(fields).encode()
