"""Bags: as sets, whose Jaccard similarity is the bag similarity Σ min / Σ max of the counts, and by the counts."""

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.text.bag import bag

__all__ = ["bag", "shared_of_bags"]


def shared_of_bags(left: U64, right: U64) -> int:
    """Σ min of the counts: how many elements two bags share, each as often as both have it.

    Args:
        left: hashes with their repetitions, in any order.
        right: likewise.

    Guarantees:
        exact, by counts: no hash is made for a repetition.

    Example:
        >>> shared_of_bags(np.array([3, 1, 3], np.uint64), np.array([3, 3, 3, 2], np.uint64))
        2
    """
    values, counts = np.unique(left, return_counts=True)
    others, other_counts = np.unique(right, return_counts=True)
    _, here, there = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[here], other_counts[there]).sum())
