"""Compares dates by common errors: day and month swapped, one digit wrong, a part unknown, about the same time."""

from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from stream_lsh.records.compare.comparator import OneByOne

_NEAR_DAYS = 366


class _Date(NamedTuple):
    year: int
    month: int
    day: int
    days: int
    digits: str


@lru_cache(maxsize=1 << 17)
def _date(value: str) -> _Date | None:
    """The parts of a date, 0 for unknown ones; None for a text that is not a date, or a day that does not exist."""
    parts = value.split("-")
    if len(parts) > 3 or len(parts[0]) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):
        return None
    year, month, day = (*map(int, parts), 0, 0)[:3]
    if not (0 <= month <= 12 and 0 <= day <= 31):
        return None
    return _Date(year, month, day, ordinal(year, month or 1, day or 1), value.replace("-", ""))


def ordinal(year: int, month: int, day: int) -> int:
    """Days from a fixed day to this one, in the Gregorian calendar.

    Example:
        >>> ordinal(2000, 3, 1) - ordinal(2000, 2, 28), ordinal(1901, 1, 1) - ordinal(1900, 1, 1)
        (2, 365)
    """
    # Years that begin in March put the leap day at the end: Richards, Mapping time, 1998, chapter 24.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day


class Dates(OneByOne):
    """Levels of two dates in the form of `standardise.date`; other values are compared by the digits that differ.

    Example:
        >>> dates = Dates()
        >>> [dates.levels[dates.level("1978-11-12", other)] for other in ("1978-12-11", "1978-11-13")]
        ['day and month swapped', 'one digit']
        >>> [dates.levels[dates.level("1978-11-12", other)] for other in ("1978-11", "1979-02-03", "unknown")]
        ['two of three parts', 'within a year', 'else']
    """

    spec = "date"
    levels = (
        "equal",
        "one digit",
        "day and month swapped",
        "two of three parts",
        "within a year",
        "within ten years",
        "else",
    )

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        left_date, right_date = _date(left), _date(right)
        if left_date is None or right_date is None:
            return 1 if _one_edit(left.replace("-", ""), right.replace("-", "")) else 6
        if left_date.day and right_date.day:
            if _one_edit(left_date.digits, right_date.digits):
                return 1
            if (
                left_date.month == right_date.day
                and left_date.day == right_date.month
                and left_date.year == right_date.year
            ):
                return 2
            same = (
                (left_date.year == right_date.year)
                + (left_date.month == right_date.month)
                + (left_date.day == right_date.day)
            )
            if same == 2:
                return 3
        elif left_date.year == right_date.year and (
            left_date.month == right_date.month or not left_date.month or not right_date.month
        ):
            return 3
        apart = abs(left_date.days - right_date.days)
        return 4 if apart <= _NEAR_DAYS else 5 if apart <= 10 * _NEAR_DAYS else 6


def _one_edit(left: str, right: str) -> bool:
    return bool(OSA.distance(left, right, score_cutoff=1) <= 1)
