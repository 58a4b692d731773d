"""The family of comparators that count edits."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.process import cpdist

from stream_lsh.arrays import U8
from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.comparator import AT_ONCE, OneByOne, spec_of


class Edits(OneByOne):
    """A distance cut at whole numbers.

    Args:
        name: of the comparator.
        scorer: of `rapidfuzz`, from two texts to a distance.
        most: ascending, from 1 on: level i is a distance of at most `most[i - 1]`.

    Raises:
        ConfigError: distances that are not whole or not in order.
    """

    def __init__(self, name: str, scorer: Callable[..., Any], most: Sequence[float]) -> None:
        ordered = all(one < other for one, other in pairwise(most))
        if not most or not ordered or any(distance < 1 or distance != int(distance) for distance in most):
            shown = ", ".join(f"{distance:g}" for distance in most) or "none"
            raise ConfigError(
                f"{name}: got the levels {shown}, expected distances in whole numbers from 1 on, ascending, or "
                "similarities below 1, descending"
            )
        self.spec = spec_of(name, most)
        self.levels = ("equal", *(f"≤ {distance:g} edits" for distance in most), "else")
        self._scorer = scorer
        self._most = [int(distance) for distance in most]

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        return bisect_left(self._most, self._scorer(left, right, score_cutoff=self._most[-1])) + 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        found = cpdist(left, right, scorer=self._scorer, score_cutoff=self._most[-1], dtype=np.int32, workers=1)
        return (np.searchsorted(self._most, found, side="left") + 1).astype(np.uint8)
