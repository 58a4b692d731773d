"""The interface of a comparator, and the comparators that divide a similarity or a distance into levels."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from rapidfuzz.process import cpdist

from stream_lsh.arrays import I64, U8
from stream_lsh.errors import ConfigError

EQUAL = 0
"""The level of equal values, for every comparator."""
MISSING = 255
"""The level of a pair with a missing value."""
AT_ONCE = 32
"""The number of pairs from which the loop of the library over arrays is faster than a Python loop over pairs."""


class Comparator(Protocol):
    """Compares two different values and returns a level from 1 on; equal values are never passed."""

    @property
    def spec(self) -> str:
        """The name and settings in a profile, such as `jaro-winkler 0.92 0.8`."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, best first: `equal`, ..., `else`."""

    def level(self, left: str, right: str) -> int:
        """The level of two values that differ, neither of them empty; symmetric."""

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n such pairs: uint8[n]; for each the result of `level`."""


class OneByOne(Protocol):
    """The base class of comparators without a batch algorithm: `batch` compares pair by pair."""

    def level(self, left: str, right: str) -> int:
        """The level of two values."""

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        return np.fromiter(map(self.level, left, right), np.uint8, len(left))


class Cut(OneByOne):
    """Levels of a similarity from 0 to 1, divided at thresholds.

    Args:
        name: of the comparator.
        scorer: of `rapidfuzz`, from two texts to a similarity.
        thresholds: descending, above 0 and at most 1: level i is a similarity of `thresholds[i - 1]` or more.
        scale: the scorer's value for equal texts.

    Raises:
        ConfigError: thresholds out of order or out of range.
    """

    def __init__(
        self, name: str, scorer: Callable[..., Any], thresholds: Sequence[float], *, scale: float = 1.0
    ) -> None:
        check_thresholds(name, thresholds)
        self.spec = spec_of(name, thresholds)
        self.levels = ("equal", *(f"≥ {threshold:g}" for threshold in thresholds), "else")
        self._scorer = scorer
        self._cutoff = min(thresholds) * scale
        self._descending = np.array([-scale * threshold for threshold in thresholds])
        self._cuts = self._descending.tolist()

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        return bisect_left(self._cuts, -self._scorer(left, right, score_cutoff=self._cutoff)) + 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        similarities = cpdist(left, right, scorer=self._scorer, score_cutoff=self._cutoff, dtype=np.float64, workers=1)
        return (self._descending.searchsorted(-similarities, side="left") + 1).astype(np.uint8)


class Within(OneByOne):
    """Levels of a distance, divided at maxima.

    Args:
        name: of the comparator.
        what: the name of the distances, for errors.
        most: ascending, above 0: level i is a distance of at most `most[i - 1]`.
        shown: converts one of them to the name of its level.

    Raises:
        ConfigError: not ascending, or not above 0.
    """

    def __init__(self, name: str, what: str, most: Sequence[float], shown: Callable[[float], str]) -> None:
        ordered = all(one < other for one, other in pairwise(most))
        if not most or not ordered or not most[0] > 0:
            got = ", ".join(f"{one:g}" for one in most) or "none"
            raise ConfigError(f"{name}: got the levels {got}, expected {what} above 0, ascending")
        self.spec = spec_of(name, most)
        self.levels = ("equal", *map(shown, most), "else")
        self._most = tuple(most)

    def _level(self, fits: Callable[[float], bool]) -> int:
        """The first level whose maximum fits, else the last level."""
        return next((level for level, most in enumerate(self._most, 1) if fits(most)), len(self._most) + 1)


def numbered(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], I64, I64]:
    """The distinct values of n pairs, and the places of both values of each pair among them, int64[n] twice.

    Example:
        >>> values, ones, others = numbered(["a", "b"], ["b", "c"])
        >>> values, ones.tolist(), others.tolist()
        (['a', 'b', 'c'], [0, 1], [1, 2])
    """
    places: dict[str, int] = {}
    ones = np.array([places.setdefault(value, len(places)) for value in left], np.int64)
    others = np.array([places.setdefault(value, len(places)) for value in right], np.int64)
    return [*places], ones, others


def spec_of(name: str, settings: Sequence[float]) -> str:
    """The name of a comparator with its settings."""
    return " ".join((name, *(f"{setting:g}" for setting in settings)))


def check_thresholds(name: str, thresholds: Sequence[float]) -> None:
    """Raise ConfigError unless these are similarities, descending."""
    ordered = all(left > right for left, right in pairwise(thresholds))
    if not thresholds or not ordered or not all(0 < threshold <= 1 for threshold in thresholds):
        shown = ", ".join(f"{threshold:g}" for threshold in thresholds) or "none"
        raise ConfigError(f"{name}: got the levels {shown}, expected similarities above 0 and up to 1, descending")
