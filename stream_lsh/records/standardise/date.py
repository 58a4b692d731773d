"""Parses dates in the common orders to `1978-11-12`; `1978-11` and `1978` for incomplete dates.

If three numbers are ambiguous, the field's `order` applies, unless the day exists only in the other order.  A date that
exists in neither order is cleaned and kept.
"""

import re
from collections.abc import Sequence

from stream_lsh.records.standardise.characters import fold, whole

PIVOT = 30
"""A year of two digits is in the 21st century if it is below this number, else in the 20th."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PARTS = re.compile(r"[0-9]+|[^\W\d_]+")
_FILLERS = frozenset(
    "st nd rd th of the de t z utc gmt am pm mon tue wed thu fri sat sun "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_COMPACT = 8


def date(text: str, order: str = "mdy") -> str:
    """The date in ISO 8601, as far as it is known.

    Args:
        text: such as 19781112, 1978-11-12, 11/12/1978, 12 Nov 78, Nov 1978, 1978.
        order: `mdy` or `dmy`, for ambiguous numbers.

    Example:
        >>> [date(text) for text in ("19781112", "11/12/1978", "20/8/1991", "24-May-11", "Mar 1 1970", "1978")]
        ['1978-11-12', '1978-11-12', '1991-08-20', '2011-05-24', '1970-03-01', '1978']
        >>> date("11/12/1978", "dmy"), date("1978-02-31"), date("about 1900"), date("19781112.0")
        ('1978-12-11', '1978-02-31', 'about-1900', '1978-11-12')
    """
    text = whole(fold(text, 40))
    if len(text) == 10 and text[4] == "-" == text[7] and text[:4].isdigit() and exists(text):
        return text
    parts = [part for part in _PARTS.findall(text) if part not in _FILLERS]
    numbers = [part for part in parts if part.isdecimal() and part.isascii()]
    named = [part for part in parts if part not in numbers]
    if len(named) == 1 and named[0][:3] in _MONTHS and len(named[0]) >= len("may"):
        read = _with_month(numbers, _MONTHS.index(named[0][:3]) + 1)
    else:
        read = "" if named else _of_numbers(numbers, order)
    return read or "-".join(parts)


def exists(text: str) -> bool:
    """Whether a text is a complete date that exists, such as `1978-11-12`.

    Example:
        >>> exists("2000-02-29"), exists("1900-02-29"), exists("1978-13-01"), exists("1978")
        (True, False, False, False)
    """
    parts = text.split("-")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() for part in parts):
        return False
    year, month, day = map(int, parts)
    return _is_day(year, month, day)


def _is_day(year: int, month: int, day: int) -> bool:
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]):
        return False
    return month != 2 or day < 29 or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))


def _iso(year: str, month: str | int, day: str) -> str:
    """The date, if it exists."""
    if len(year) not in (2, 4) or len(day) > 2 or len(str(month)) > 2:
        return ""
    whole = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < PIVOT else 1900)
    return f"{whole:04d}-{int(month):02d}-{int(day):02d}" if _is_day(whole, int(month), int(day)) else ""


def _first(days: Sequence[str]) -> str:
    return next(filter(None, days), "")


def _with_month(numbers: Sequence[str], month: int) -> str:
    if len(numbers) == 1 and len(numbers[0]) == 4:
        return f"{numbers[0]}-{month:02d}"
    if len(numbers) < 2:
        return ""
    left, right = numbers[:2]
    return _first(
        [_iso(left, month, right), _iso(right, month, left)] if len(left) == 4 else [_iso(right, month, left)]
    )


def _of_numbers(numbers: Sequence[str], order: str) -> str:
    if len(numbers) == 1:
        one = numbers[0]
        if len(one) == _COMPACT:
            return _first([_iso(one[:4], one[4:6], one[6:]), _three(one[:2], one[2:4], one[4:], order)])
        return one if len(one) == 4 else ""
    if len(numbers) == 2:
        return _month_of(*numbers)
    if len(numbers) < 3:
        return ""
    first, second, third = numbers[:3]  # a time of day may follow
    if len(first) == 4:
        return _first([_iso(first, second, third), _iso(first, third, second)])
    return _three(first, second, third, order)


def _three(first: str, second: str, year: str, order: str) -> str:
    days = [_iso(year, first, second), _iso(year, second, first)]
    return _first(days if order == "mdy" else days[::-1])


def _month_of(first: str, second: str) -> str:
    year, month = (first, second) if len(first) == 4 else (second, first)
    return f"{year}-{int(month):02d}" if len(year) == 4 and len(month) <= 2 and 1 <= int(month) <= 12 else ""
