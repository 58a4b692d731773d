"""Types of values: how each is read from the file and from an environment variable, and how it is shown.

`of_text` turns the text of a variable into what the file would have; from there both take the same way.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from stream_lsh.errors import ConfigError
from stream_lsh.measure.containment import MOST_SIZE_RATIO
from stream_lsh.settings.units import size_bytes, span_ms, span_text
from stream_lsh.spelling import resembling, suggestion
from stream_lsh.text.catalog import SPECS, shingler
from stream_lsh.text.normalise import FORMS

LONGEST_TOPIC = 249
"""Characters of a topic's name, as Kafka has it."""
_LONGEST_SPAN = "1000000d"
_MAX_INT32 = (1 << 31) - 1
_MAX_LENGTH = 1e15


class Secret:
    """A text that shows in no repr, message or dump; `reveal` gives it to whom it is for.

    Example:
        >>> secret = Secret("hunter2")
        >>> secret, str(secret), secret == Secret("hunter2"), secret.reveal()
        (Secret(***), '***', True, 'hunter2')
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))


class InvalidValue(Exception):
    """A value that its type does not accept.

    Attributes:
        suggestion: the most similar valid value, where there is one.
        expected: in place of the description of the type.
        entry: of a list, the entry that is not accepted.
    """

    def __init__(self, suggestion: str | None = None, expected: str | None = None, entry: object | None = None) -> None:
        super().__init__()
        self.suggestion = suggestion
        self.expected = expected
        self.entry = entry


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps("" if value is None else str(value), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type of values.

    Attributes:
        expected: in words, for messages and the documentation.
        convert: from what TOML has; raises InvalidValue, or ConfigError with words of its own.
        of_text: from an environment variable to what TOML would have.
        shown: as TOML would have it.
        secret: messages must not contain it.
    """

    expected: str
    convert: Callable[[object], Any]
    of_text: Callable[[str], object] = str
    shown: Callable[[Any], str] = _toml
    secret: bool = False


def got(value: object, *, secret: bool = False) -> str:
    """A value for a message."""
    if secret or isinstance(value, dict | list):
        return sort_of(value) + (" (not shown)" if secret else "")
    if isinstance(value, str):
        # What stands before the @ of an address is a user's name and password.
        return ascii(re.sub(r"[^\s,/@]*@", "***@", value))[:80]
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]


def sort_of(value: object) -> str:
    """The type of a value, for messages."""
    if value == []:
        return "an empty list"
    sorts: dict[type, str] = {dict: "a table", list: "a list", bool: "a boolean", str: "a string"}
    return sorts.get(type(value), "a number" if isinstance(value, int | float) else "a date or time")


def whole(least: int, most: int = _MAX_INT32) -> ValueType:
    """A whole number."""

    def convert(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InvalidValue
        return value

    expected = f"a whole number from {least} on" if most == _MAX_INT32 else f"a whole number from {least} to {most}"
    return ValueType(expected, convert, _number)


def choice(options: Sequence[str]) -> ValueType:
    """One of several words."""
    expected = options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"

    def convert(value: object) -> str:
        if not isinstance(value, str) or value not in options:
            raise InvalidValue(resembling(value, options) if isinstance(value, str) else None)
        return value

    return ValueType(expected, convert)


def span(*, least: str = "0s", most: str = _LONGEST_SPAN, endless: bool = False) -> ValueType:
    """A span of time, in milliseconds; if `endless`, "" and 0 stand for no end and become None."""
    shortest, longest = span_ms(least) or 0, span_ms(most) or 0

    def convert(value: object) -> int | None:
        ms = 0 if value in (0, "0") and not isinstance(value, bool) else None
        if isinstance(value, str) and ms is None:
            ms = 0 if endless and value == "" else span_ms(value)
        if ms is None or not shortest <= ms <= longest:
            raise InvalidValue
        return ms or (None if endless else 0)

    start = f"a span such as 3d, 12h, 90m, 30s or 500ms, from {least} to {most}"
    expected = start.replace(f"from {least}", "up") + ', or "" for no end' if endless else start
    return ValueType(expected, convert, shown=lambda ms: _toml("" if ms is None else span_text(ms)))


def size(least: int, most: int) -> ValueType:
    """A number of bytes, or a text such as 512KB."""

    def convert(value: object) -> int:
        byte_count = size_bytes(value) if isinstance(value, str) else value
        if type(byte_count) is not int or not least <= byte_count <= most:
            raise InvalidValue
        return byte_count

    return ValueType(f"bytes or a size such as 512KB or 2MB, from {least} to {most} bytes", convert)


def _number(text: str) -> object:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _share(value: object, *, zero: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 or not (value or zero):
        raise InvalidValue
    return float(value)


def _size_ratio(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST_SIZE_RATIO:
        raise InvalidValue
    return float(value)


def _length(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX_LENGTH:
        raise InvalidValue
    return float(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidValue
    return value


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValue
    return value


def _secret(value: object) -> Secret | None:
    if not isinstance(value, str):
        raise InvalidValue
    return Secret(value) if value else None


def _topic(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", value, re.ASCII):
        proposal = re.sub(r"[^A-Za-z0-9._-]+", "-", value)[:LONGEST_TOPIC].strip("-") if isinstance(value, str) else ""
        raise InvalidValue(proposal or None)
    if value in (".", ".."):
        raise InvalidValue
    return value


def _topics(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    topics = _each(_topic, listed)
    if not topics:
        raise InvalidValue
    repeated = next((topic for at, topic in enumerate(topics) if topic in topics[:at]), None)
    if repeated is not None:
        raise InvalidValue(expected="topics that differ", entry=repeated)
    return topics


def _optional_topic(value: object) -> str:
    return "" if value == "" else _topic(value)


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise InvalidValue
    return Path(value)


def _folder(value: object) -> Path | None:
    return None if value == "" else _path(value)


def _file(value: object) -> Path | None:
    if value == "":
        return None
    path = _path(value)
    if not os.path.isfile(path) or not os.access(path, os.R_OK):  # Path.is_file raises for names that are too long
        raise InvalidValue
    return path


def _address(value: object) -> str:
    form = (
        re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})", value) if isinstance(value, str) else None
    )
    if not form or not 0 < int(form[2]) <= 0xFFFF:
        raise InvalidValue
    return form[0]


def _web(value: object) -> str:
    return "" if value == "" else _address(value)


def _brokers(value: object) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise InvalidValue
    return _each(_broker, listed)


def _each(convert: Callable[[object], str], listed: Sequence[object]) -> tuple[str, ...]:
    """The converted entries of a list; an InvalidValue has the first one that is not accepted."""
    converted = []
    for entry in listed:
        try:
            converted.append(convert(entry))
        except InvalidValue as invalid:
            raise InvalidValue(invalid.suggestion, invalid.expected, entry) from None
    return tuple(converted)


def _broker(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValue
    try:
        return _address(value.strip())
    except InvalidValue:
        host = re.fullmatch(r"[A-Za-z0-9.-]+", value.strip())
        raise InvalidValue(f"{host[0]}:9092" if host else None) from None


def _shingles(value: object) -> str:
    shingler(_any_text(value))
    return str(value)


def _forms(value: object) -> tuple[str, ...]:
    listed = [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise InvalidValue
    for name in listed:
        if name not in FORMS:
            raise ConfigError(f"normalise: got {name!a}, expected {FORMS_EXPECTED}{suggestion(name, FORMS)}")
    return tuple(listed)


LEAST_SHARE = ValueType("a number from 0 to below 1", partial(_share, zero=True), _number)
SHARE = ValueType("a number above 0 and below 1", _share, _number)
SIZE_RATIO = ValueType(f"a number from 1 to {MOST_SIZE_RATIO:g}", _size_ratio, _number)
LENGTH = ValueType("a number from 0 on", _length, _number)
FLAG = ValueType("true or false", _flag, lambda text: {"true": True, "false": False}.get(text.lower(), text))
FIELD_NAME = ValueType("the name of a field", _text)
ANY_TEXT = ValueType("a string", _any_text)
SECRET = ValueType("a string", _secret, secret=True)
TOPIC = ValueType(f"1 to {LONGEST_TOPIC} of the characters A-Z a-z 0-9 . _ -", _topic)
TOPICS = ValueType(
    f"{TOPIC.expected}; several as a list, with `rekey`",
    _topics,
    lambda text: [topic.strip() for topic in text.split(",")],
    lambda topics: _toml(topics if len(topics) > 1 else topics[0]),
)
OPTIONAL_TOPIC = ValueType(f'{TOPIC.expected}, or "" for the default', _optional_topic)
FOLDER = ValueType('the path of a folder, or "" for none', _folder)
FILE = ValueType('the path of a file that can be read, or ""', _file)
WEB = ValueType('host:port, or "" for none', _web)
BROKERS = ValueType("host:port, several with commas or as a list", _brokers)
SHINGLES = ValueType(SPECS, _shingles)
FORMS_EXPECTED = f"names out of {', '.join(FORMS)}"
NORMAL_FORMS = ValueType(f"a list of {FORMS_EXPECTED}", _forms)
