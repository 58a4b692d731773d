"""Numbers by how far they are apart: as a share of the larger one, or in units."""

from collections.abc import Sequence
from itertools import pairwise

from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.comparator import OneByOne, spec_of
from stream_lsh.records.standardise.number import as_number


class Numbers(OneByOne):
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
        ordered = all(left < right for left, right in pairwise(most))
        if not most or not ordered or most[0] <= 0:
            shown = ", ".join(f"{left:g}" for left in most) or "none"
            raise ConfigError(f"number: got the levels {shown}, expected differences above 0, ascending")
        self.spec = spec_of("number", most)
        self.levels = (
            "equal",
            *(f"≤ {left:g} apart" if left >= 1 else f"≤ {left:.3g} of it apart" for left in most),
            "else",
        )
        self._most = tuple(most)

    def level(self, left: str, right: str) -> int:
        """The level of two values; what is no number is as far apart as can be."""
        left_number, right_number = as_number(left), as_number(right)
        if left_number is not None and right_number is not None:
            apart, size = abs(left_number - right_number), max(abs(left_number), abs(right_number))
            for level, most in enumerate(self._most, 1):
                if apart <= (most if most >= 1 else most * size):
                    return level
        return len(self._most) + 1
