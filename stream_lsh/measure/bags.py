"""Bags: a conversion to sets, and two Jaccard similarities with different definitions of the union.

    max_union    Σ min(a_i, b_i) / Σ max(a_i, b_i)      the greater count of every element
    sum_union    Σ min(a_i, b_i) / (|A| + |B|)          both counts of every element

A bag of equal elements numbered one after the other is a set (`bag`), and `max_union` is the Jaccard similarity of
those sets; so one minus it is a metric.  `sum_union` is at most 1/2, for equal bags, so one minus it is no metric: the
distance of a bag from itself is not 0.  Twice that similarity is the one of Sørensen and Dice, which violates the
triangle inequality: {1} and {2} have the distance 1, and each has 1/3 from {1, 2}.

Reference: Ruzicka, Anwendung mathematisch-statistischer Methoden in der Geobotanik, 1958; Leskovec, Rajaraman and
Ullman, Mining of Massive Datasets, section 3.1.3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.measure.distance import HashesDistance
from stream_lsh.text.shinglers.bag import bag

__all__ = ["MaxUnion", "SumUnion", "bag", "max_union", "shared_of_bags", "sum_union"]


def shared_of_bags(left: U64, right: U64) -> int:
    """Σ min of the counts: the number of elements that two bags share, with repetitions.

    Args:
        left: hashes with their repetitions, in any order.
        right: likewise.

    Guarantees:
        exact, from counts without hashes of repetitions.

    Example:
        >>> shared_of_bags(np.array([3, 1, 3], np.uint64), np.array([3, 3, 3, 2], np.uint64))
        2
    """
    values, counts = np.unique(left, return_counts=True)
    others, other_counts = np.unique(right, return_counts=True)
    _, left_at, right_at = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[left_at], other_counts[right_at]).sum())


def max_union(left: U64, right: U64) -> float:
    """The similarity of two bags, given as hashes with their repetitions in any order; 0.0 if one of them is empty.

    Example:
        >>> one, other = np.array([1, 2, 3, 3], np.uint64), np.array([1, 1, 3, 3, 3, 3], np.uint64)
        >>> max_union(one, other) == 3 / 7
        True
    """
    shared = shared_of_bags(left, right)
    return shared / (left.size + right.size - shared) if shared else 0.0


@dataclass(frozen=True, slots=True)
class MaxUnion(HashesDistance):
    """The distance `max_union`: one minus the similarity.

    The empty bag has the distance 1 from every bag, itself included.

    Example:
        >>> MaxUnion()(np.array([5, 5, 5], np.uint64), np.array([5], np.uint64)) == 2 / 3
        True
    """

    name: ClassVar[str] = "max_union"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """The distance of two bags."""
        shared = shared_of_bags(left, right)
        union = left.size + right.size - shared
        return (union - shared) / union if shared else 1.0


def sum_union(left: U64, right: U64) -> float:
    """The similarity of two bags, given as hashes with their repetitions in any order; 0.0 if one of them is empty.

    Example:
        >>> one, other = np.array([1, 2, 3, 3], np.uint64), np.array([1, 1, 3, 3, 3, 3], np.uint64)
        >>> sum_union(one, other), sum_union(one, one)
        (0.3, 0.5)
    """
    shared = shared_of_bags(left, right)
    return shared / (left.size + right.size) if shared else 0.0


@dataclass(frozen=True, slots=True)
class SumUnion(HashesDistance):
    """The distance `sum_union`: one minus the similarity, 1/2 to 1.

    Example:
        >>> SumUnion()(np.array([5], np.uint64), np.array([5], np.uint64))
        0.5
    """

    name: ClassVar[str] = "sum_union"
    metric: ClassVar[bool] = False
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """The distance of two bags."""
        return 1 - sum_union(left, right)
