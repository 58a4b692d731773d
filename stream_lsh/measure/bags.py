"""Bags as sets: the Jaccard similarity of the results is the bag similarity Σ min / Σ max of the counts."""

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import GOLDEN, fmix64


def bag(hashes: U64) -> U64:
    """The set of (hash, how many of it came before): ascending, without repetitions, as many elements as hashes.

    The first occurrence of a hash is the hash itself, so a document without repetitions is its own bag.

    Guarantees:
        independent of the order of the hashes; exact but for accidental collisions of 64-bit hashes.

    Example:
        >>> from stream_lsh.measure.jaccard import jaccard
        >>> left, right = bag(np.array([1, 2, 3, 3], np.uint64)), bag(np.array([1, 1, 3, 3, 3, 3], np.uint64))
        >>> jaccard(left, right) == 3 / 7
        True
    """
    ordered = np.sort(hashes)
    if ordered.size < 2:
        return ordered
    first = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    if first.all():
        return ordered
    positions = np.arange(ordered.size)
    occurrence = positions - np.maximum.accumulate(np.where(first, positions, 0))
    repeated = ~first
    ordered[repeated] = fmix64(ordered[repeated] + occurrence[repeated].astype(np.uint64) * GOLDEN)
    ordered.sort()
    return ordered
