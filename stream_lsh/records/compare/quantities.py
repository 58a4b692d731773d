"""Compares prices and measures: numbers with a currency or a unit, by their difference."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U8
from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.comparator import AT_ONCE, Within, numbered
from stream_lsh.records.compare.numbers import levels_of_differences, shown
from stream_lsh.records.standardise.measure import as_measure, factors
from stream_lsh.records.standardise.price import as_price, same_currency


class Prices(Within):
    """Levels of the difference of two prices in the form of `standardise.price`.

    Amounts in different currencies, or for different units, are not comparable: the level is the last one.  An unknown
    currency may be any, and `$` any dollar.

    Args:
        most: ascending: level i is a difference of at most `most[i - 1]`; below 1 a share of the larger amount, else
            units of the currency.

    Raises:
        ConfigError: not ascending, or not above 0.

    Example:
        >>> prices = Prices((0.01, 0.1))
        >>> prices.level("399 usd", "399 $"), prices.level("399 usd", "379 usd"), prices.level("399 usd", "399 eur")
        (1, 2, 3)
    """

    def __init__(self, most: Sequence[float] = (0.01, 0.1, 0.3)) -> None:
        super().__init__("price", "differences", most, shown)

    def level(self, left: str, right: str) -> int:
        """The level of two values; the last one if a value is not a price."""
        one, other = as_price(left), as_price(right)
        if one is None or other is None or not _comparable(*one[1:], *other[1:]):
            return len(self._most) + 1
        apart, size = abs(one.amount - other.amount), max(abs(one.amount), abs(other.amount))
        return self._level(lambda most: apart <= (most if most >= 1 else most * size))

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        values, ones, others = numbered(left, right)
        prices = [as_price(value) for value in values]
        amounts = np.array([np.nan if one is None else one.amount for one in prices])
        kinds: dict[tuple[str, str], int] = {}
        codes = np.array([kinds.setdefault(("", "") if one is None else one[1:], len(kinds)) for one in prices])
        names = [*kinds]
        pairs, places = np.unique(codes[ones] * len(kinds) + codes[others], return_inverse=True)
        comparable = [_comparable(*names[pair // len(names)], *names[pair % len(names)]) for pair in pairs.tolist()]
        rights = np.where(np.array(comparable)[places], amounts[others], np.nan)
        return levels_of_differences(amounts[ones], rights, self._most)


def _comparable(currency: str, per: str, other_currency: str, other_per: str) -> bool:
    return per == other_per and same_currency(currency, other_currency)


class Measures(Within):
    """Levels of the difference of two quantities in the form of `standardise.measure`.

    Of several sides, in any order, the greatest difference counts.  A number without a unit may be in another unit than
    the other number.  Quantities of different kinds have the last level.

    Args:
        most: ascending, below 1: a difference of at most this share of the larger number.

    Raises:
        ConfigError: not ascending, or not above 0.

    Example:
        >>> measures = Measures((0.01, 0.1))
        >>> pairs = ("2 gb", "2.01 gb"), ("225 s", "225000"), ("2 gb", "2.2 gb"), ("2 gb", "2 l")
        >>> [measures.levels[measures.level(*pair)] for pair in pairs]
        ['≤ 0.01 of it apart', 'in another unit', '≤ 0.1 of it apart', 'else']
    """

    def __init__(self, most: Sequence[float] = (0.01, 0.05, 0.2)) -> None:
        super().__init__("measure", "shares", most, shown)
        if most[-1] >= 1:
            raise ConfigError(f"measure: got the level {most[-1]:g}, expected shares below 1")
        first, *wider = self.levels[1:-1]
        self.levels = ("equal", first, "in another unit", *wider, "else")

    def level(self, left: str, right: str) -> int:
        """The level of two values; the last one if a value is not a measure."""
        one, other = as_measure(left), as_measure(right)
        last = len(self.levels) - 1
        if one is None or other is None or len(one.sizes) != len(other.sizes):
            return last
        if one.unit and other.unit and one.unit != other.unit:
            return last
        ones, others = sorted(one.sizes), sorted(other.sizes)
        level = self._level(lambda most: _apart(ones, others) <= most)
        if level == 1 or (one.unit and other.unit):
            return level if level == 1 else level + 1
        unit = one.unit or other.unit
        if one.unit:
            ones, others = others, ones  # the number without a unit comes first
        return 2 if self._scaled(ones, others, unit) or (not unit and self._scaled(others, ones, unit)) else level + 1

    def _scaled(self, without_unit: Sequence[float], others: Sequence[float], unit: str) -> bool:
        """Whether the first number is the other one in another unit."""
        return any(
            _apart([size * factor for size in without_unit], others) <= self._most[0] for factor in factors(unit)
        )


def _apart(left: Sequence[float], right: Sequence[float]) -> float:
    """The greatest difference, as a share of the larger number."""
    return max(
        abs(one - other) / max(abs(one), abs(other)) if one != other else 0.0
        for one, other in zip(left, right, strict=True)
    )
