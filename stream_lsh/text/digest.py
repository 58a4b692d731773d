"""A number for each document that identifies its bag of shingles, to recognise copies without comparing sets."""

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import GOLDEN, fmix64
from stream_lsh.text.shingles import Shingles


def bag_digest(shingles: Shingles) -> U64:
    """A 64-bit digest of each document's shingles with their counts, independent of their order: uint64[n].

    The sum of the hashes modulo 2^64, plus the number of shingles times an odd constant, scrambled.

    Returns:
        0 for a document without shingles, which is equal to nothing: mask it.
    Guarantees:
        equal digests mean the same shingles in the same numbers, except with a probability of 2^-64 a pair.  The
        converse holds for bags only: documents with equal *sets* of shingles in other numbers have other digests (ADR
        0005).
    Cost:
        one pass over the hashes.

    Example:
        >>> batch = Shingles(np.array([1, 2, 2, 1, 1, 2, 2], dtype=np.uint64), np.array([0, 2, 4, 4, 7]))
        >>> a, b, empty, other_counts = bag_digest(batch).tolist()
        >>> a == b, empty, other_counts == a
        (True, 0, False)
    """
    counts = shingles.counts
    if counts.size == 1 and shingles.hashes.size:
        return fmix64(shingles.hashes.sum(keepdims=True) + counts.view(np.uint64) * GOLDEN)
    digests = np.zeros(counts.size, np.uint64)
    # A segment of reduceat ends where the next one starts; those between two that have shingles are
    # empty.
    filled = counts.nonzero()[0]
    if filled.size:
        sums = np.add.reduceat(shingles.hashes, shingles.offsets[filled])
        sums += counts[filled].astype(np.uint64) * GOLDEN
        digests[filled] = fmix64(sums)
    return digests
