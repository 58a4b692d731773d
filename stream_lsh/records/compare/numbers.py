"""Compares numbers by their difference: as a share of the larger one, or in units."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import F64, U8
from stream_lsh.records.compare.comparator import AT_ONCE, Within, numbered
from stream_lsh.records.standardise.number import as_number


class Numbers(Within):
    """Levels of the difference.

    Args:
        most: ascending: level i is a difference of at most `most[i - 1]`; below 1 a share of the larger number's size,
            else units.

    Raises:
        ConfigError: not ascending, or not above 0.

    Example:
        >>> Numbers((0.01, 0.1)).level("100", "99"), Numbers((1, 5)).level("1999", "2001")
        (1, 2)
    """

    def __init__(self, most: Sequence[float] = (0.01, 0.1)) -> None:
        super().__init__("number", "differences", most, shown)

    def level(self, left: str, right: str) -> int:
        """The level of two values; the last one if a value is not a number."""
        left_number, right_number = as_number(left), as_number(right)
        if left_number is None or right_number is None:
            return len(self._most) + 1
        apart, size = abs(left_number - right_number), max(abs(left_number), abs(right_number))
        return self._level(lambda most: apart <= (most if most >= 1 else most * size))

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        values, ones, others = numbered(left, right)
        numbers = np.array([as_number(value) for value in values], np.float64)  # None becomes NaN
        return levels_of_differences(numbers[ones], numbers[others], self._most)


def levels_of_differences(left: F64, right: F64, most: Sequence[float]) -> U8:
    """The level of the difference of each of n pairs of numbers: uint8[n]; the last one if a number is NaN.

    Args:
        left: float64[n].
        right: float64[n].
        most: as for `Numbers`.

    Example:
        >>> levels_of_differences(np.array([100, 100, np.nan]), np.array([99, 50, 1]), (0.01, 0.1)).tolist()
        [1, 3, 3]
    """
    levels = np.full(left.size, len(most) + 1, np.uint8)
    with np.errstate(invalid="ignore"):
        apart, size = np.abs(left - right), np.maximum(np.abs(left), np.abs(right))
        for level, greatest in reversed([*enumerate(most, 1)]):
            levels[apart <= (greatest if greatest >= 1 else greatest * size)] = level
    return levels


def shown(most: float) -> str:
    """The name of the level of a difference: in units, or below 1 as a share.

    Example:
        >>> shown(0.1), shown(2)
        ('≤ 0.1 of it apart', '≤ 2 apart')
    """
    return f"≤ {most:g} apart" if most >= 1 else f"≤ {most:.3g} of it apart"
