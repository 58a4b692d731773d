"""Lengths: documents of about equal length are candidates, as a first or an additional filter.

    value = the cell of log(length) in cells of width log(ratio), shifted at random
    P(agree) = max(0, 1 - d / log(ratio))           d: |log(left length / right length)|

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.8.6 (news articles).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, I64, U32, Bools
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.lsh.families.draws import uniforms
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import NOTHING, Hashes, Items

_LONGEST = 2.0**53


@dataclass(frozen=True)
class Lengths(Family):
    """Items are whole numbers [n]: the lengths of documents, in any unit.

    Args:
        ratio: the ratio at which two lengths never agree, 1.01 or more.

    Guarantees:
        (d1, d2, 1 - d1/log(ratio), 1 - d2/log(ratio))-sensitive.  Lengths are compared with precomputed borders of the
        cells, so no logarithm of a length is rounded.  A length of 0 agrees with none.

    Example:
        >>> round(Lengths(ratio=2.0).probability(math.log(1.1)), 3)
        0.862
        >>> Lengths(ratio=2.0).draw(3, seed=1)(np.array([1000, 1010, 5000])).tolist()
        [[10, 10, 10], [10, 10, 10], [12, 12, 13]]
    """

    ratio: float = 2.0

    name: ClassVar[str] = "lengths"
    unit: ClassVar[str] = "logarithm of the ratio of the lengths"

    def __post_init__(self) -> None:
        if not 1.01 <= self.ratio < float("inf"):
            raise ConfigError(f"lengths: got ratio = {self.ratio}, expected 1.01 or more")

    @property
    def farthest(self) -> float:
        """The distance from which no two lengths agree."""
        return math.log(self.ratio)

    def curve(self, distances: F64) -> F64:
        """1 - d / log(ratio)."""
        return np.maximum(0.0, 1 - distances / math.log(self.ratio))

    def draw(self, count: int, seed: int) -> Hashes:
        """Draw separate cells for each function."""
        cells = math.ceil(math.log(_LONGEST) / math.log(self.ratio)) + 1
        shifts = uniforms(count, seed, salt=501)
        return _LengthCells([self.ratio ** (np.arange(cells) + shift) for shift in shifts.tolist()])


class _LengthCells:
    def __init__(self, borders: list[F64]) -> None:
        self._borders = borders

    def __call__(self, items: Items) -> U32:
        lengths = np.asarray(items)
        if lengths.ndim != 1 or (lengths < 0).any():
            raise InvariantError(f"lengths: got items of the shape {lengths.shape}, expected (n,) and none negative")
        values = np.empty((lengths.size, len(self._borders)), np.uint32)
        for column, borders in enumerate(self._borders):
            values[:, column] = np.searchsorted(borders, lengths.astype(np.float64), side="right")
        values[lengths == 0] = NOTHING
        return values


def about_equal(left: I64, right: I64, ratio: float) -> Bools:
    """Whether the lengths of each pair differ by at most this ratio, without randomness: bool[n].

    With the ratio 1 / T all pairs of sets with a Jaccard similarity of T or more pass.

    Example:
        >>> about_equal(np.array([100, 100, 0]), np.array([120, 130, 0]), ratio=1.25).tolist()
        [True, False, False]
    """
    if not ratio >= 1:
        raise ConfigError(f"lengths: got ratio = {ratio}, expected 1 or more")
    shorter, longer = np.minimum(left, right), np.maximum(left, right)
    # Rounding must not exclude a pair exactly at the ratio.
    return (longer <= ratio * (1 + 2.0**-50) * shorter) & (shorter > 0)
