"""Jaccard distance: the share of the union that is in only one of two sets.

    1 - |A ∩ B| / |A ∪ B|  =  |A △ B| / |A ∪ B|

It is a metric: |A △ B| is one, and |A △ B| / |A ∪ B| is its Steinhaus transform towards the empty set; or, by minhash,
it is the probability that two minima differ, and if two minima differ, a third one differs from at least one of them.

Reference: Levandowsky and Winter, Distance between sets, 1971; Broder, On the resemblance and containment of
documents, 1997.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64, U64
from stream_lsh.measure.distance import HashesDistance, RowDistance
from stream_lsh.measure.jaccard import shared_count
from stream_lsh.measure.vectors import check_rows


@dataclass(frozen=True, slots=True)
class JaccardDistance(HashesDistance):
    """The distance `jaccard`: of sets of hashes, each ascending and without repetitions.

    The empty set has the distance 1 from every set, itself included.

    Guarantees:
        exact, rounded once.

    Example:
        >>> JaccardDistance()(np.array([1, 3, 4, 5], np.uint64), np.array([1, 4, 5], np.uint64))
        0.25
    """

    name: ClassVar[str] = "jaccard"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """The distance of two sets."""
        shared = shared_count(left, right)
        union = left.size + right.size - shared
        return (union - shared) / union if shared else 1.0


@dataclass(frozen=True, slots=True)
class JaccardOfBits(RowDistance):
    """The distance `jaccard_bits`: of sets as columns of a characteristic matrix, one position for every element.

    A nonzero position is in the set.

    Raises:
        InputError: columns of different lengths; reason `vector`.

    Example:
        >>> 1 - JaccardOfBits()([1, 0, 1, 1, 1], [1, 0, 0, 1, 1])
        0.75
    """

    name: ClassVar[str] = "jaccard_bits"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        left_bits, right_bits = (side.astype(np.bool_) for side in check_rows(left, right))
        union = np.count_nonzero(left_bits | right_bits, axis=1)
        shared = np.count_nonzero(left_bits & right_bits, axis=1)
        return np.where(shared > 0, (union - shared) / np.maximum(union, 1), 1.0)
