"""The transforms of blocking rules, by name: each extracts parts of a value."""

import re
from collections.abc import Callable, Mapping

from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.phonetic import CODES, phonetic_code
from stream_lsh.spelling import suggestion

Transform = Callable[[str], tuple[str, ...]]
"""Converts a value to its parts: none, one, or several, of which one must agree."""

MOST_TOKENS = 6
"""The number of words of a value that are used: the longest ones, which are usually the rarest."""
_SHORTEST_TOKEN = 3
_COUNTED = re.compile(r"(first|last)([1-9])")


def _date_part(start: int, end: int) -> Transform:
    def part(value: str) -> tuple[str, ...]:
        digits = value[start:end]
        return (digits,) if len(digits) == end - start and digits.isdecimal() else ()

    return part


def _digits(value: str) -> tuple[str, ...]:
    digits = "".join(re.findall("[0-9]+", value))
    return (digits,) if digits else ()


def _number(value: str) -> tuple[str, ...]:
    match = re.search("[0-9]+", value)
    return (match[0],) if match else ()


def _tokens(value: str) -> tuple[str, ...]:
    tokens = {word for word in value.split() if len(word) >= _SHORTEST_TOKEN}
    return tuple(sorted(tokens, key=lambda word: (-len(word), word))[:MOST_TOKENS])


def _letters(value: str) -> tuple[str, ...]:
    return ("".join(sorted(value.replace(" ", ""))),)


def _words(value: str) -> tuple[str, ...]:
    return (" ".join(sorted(value.split())),)


def _sounds(code: str) -> Transform:
    return lambda value: (phonetic_code(value, code),)


_NAMED: Mapping[str, Transform] = {
    "year": _date_part(0, 4),
    "month": _date_part(5, 7),
    "day": _date_part(8, 10),
    "digits": _digits,
    "number": _number,
    "token": _tokens,
    "letters": _letters,
    "words": _words,
    **{code: _sounds(code) for code in CODES},
}
TRANSFORMS = (*_NAMED, "first1", "last1")
"""The names of all transforms; `first` and `last` accept a number of characters from 1 to 9."""
EXPLODING = frozenset({"token"})
"""Transforms with several parts of one value."""


def transform(name: str) -> Transform:
    """The transform with a name; "" is the whole value.

    Raises:
        ConfigError: an unknown name.

    Example:
        >>> transform("first3")("garski"), transform("year")("1978-11-12"), transform("token")("the data base of it")
        (('gar',), ('1978',), ('base', 'data', 'the'))
        >>> transform("letters")("ab ba"), transform("words")("smith john"), transform("digits")("12 main st 4")
        (('aabb',), ('john smith',), ('124',))
    """
    if not name:
        return lambda value: (value,)
    counted = _COUNTED.fullmatch(name)
    if counted:
        count = int(counted[2])
        return (lambda value: (value[:count],)) if counted[1] == "first" else (lambda value: (value[-count:],))
    if name not in _NAMED:
        expected = ", ".join(TRANSFORMS)
        raise ConfigError(f"transform: got {name!r}, expected one of {expected}{suggestion(name, TRANSFORMS)}")
    return _NAMED[name]
