"""Levenshtein distance: the least number of insertions, deletions and replacements that turn one string into the other.

The bits of two numbers store a column of the matrix of distances by its differences, +1 or -1 or 0.

Reference: Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966; Myers, A fast
bit-vector algorithm for approximate string matching, 1999, in the form of Hyyrö, 2003.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.measure.edit import places


@dataclass(frozen=True, slots=True)
class Levenshtein:
    """The distance `levenshtein`.

    Cost:
        |one| |other| / 30 steps of integer arithmetic, in C.

    Example:
        >>> Levenshtein()("kitten", "sitting"), Levenshtein()("abcde", "acfdeg")
        (3.0, 3.0)
    """

    name: ClassVar[str] = "levenshtein"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "edits"

    def __call__(self, longer: Sequence[Hashable], shorter: Sequence[Hashable], /) -> float:
        """The distance of two strings, or sequences of any symbols."""
        if len(longer) < len(shorter):
            longer, shorter = shorter, longer
        if not shorter:
            return float(len(longer))
        whole, last = (1 << len(longer)) - 1, 1 << len(longer) - 1
        at, distance = places(longer), len(longer)
        up, down = whole, 0  # bits: where the column rises, and where it falls
        for symbol in shorter:
            equal = at.get(symbol, 0)
            diagonal = (((equal & up) + up) ^ up) | equal | down  # where the diagonal does not rise
            right, left = down | ~(diagonal | up) & whole, up & diagonal  # where the row rises, and where it falls
            distance += bool(right & last) - bool(left & last)
            right, left = (right << 1 | 1) & whole, left << 1 & whole
            up, down = left | ~(diagonal | right) & whole, right & diagonal
        return float(distance)

    def many(self, left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]], /) -> F64:
        """The distances of the strings of both sides, pair by pair: float64[n]."""
        return np.array(
            [self(left_item, right_item) for left_item, right_item in zip(left, right, strict=True)], np.float64
        )
