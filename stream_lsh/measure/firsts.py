"""Bounds the overlap of two sets by their sizes and the first members of each in a common order.

A row of uint32 represents a set:

    size | first members, ascending, by the upper halves of their 64-bit hashes | EMPTY_SLOT where there are no more

The order is that of the hashes: it favours no set, and needs no frequencies of members.  Halves suffice, because
different members with equal halves only raise the bound; it is never too low.

Reference: the bounds of positions and suffix lengths in Leskovec, Rajaraman and Ullman, Mining of Massive Datasets,
section 3.9, over all members that are known and not only the first shared one; Cohen and Kaplan, Summarizing data using
bottom-k sketches, 2007.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.sketch.scheme import EMPTY_SLOT

_HALF = np.uint64(32)
_TOGETHER = 1 << 20
"""The members of both sets that are processed at once."""


def first_members(sets: Sequence[U64], slots: int) -> U32:
    """The rows of sets: uint32[n, slots].

    Args:
        sets: ascending and without repetitions.
        slots: one for the size, and one for each stored first member; at least 2.

    Example:
        >>> sets = [np.array([3 << 32, 5 << 32, 9 << 32], np.uint64), np.array([4 << 32], np.uint64)]
        >>> first_members(sets, 3).tolist()
        [[3, 3, 5], [1, 4, 4294967295]]
    """
    rows = np.full((len(sets), slots), EMPTY_SLOT, np.uint32)
    for row, members in enumerate(sets):
        if members.size:
            kept = members[: slots - 1]
            rows[row, 0] = members.size
            rows[row, 1 : 1 + kept.size] = kept >> _HALF
    return rows


def sizes_of(rows: U32) -> I64:
    """The sizes of sets that have members: int64[n]."""
    return rows[:, 0].astype(np.int64)


def most_shared(ones: U32, others: U32) -> I64:
    """The most members that each pair of sets can share: int64[n].

    Up to its last stored member, all members of a set are known.  So below the smaller of both ends the common members
    are counted; beyond it, all members of the set with fewer of them may be common.

    Args:
        ones: uint32[n, slots], rows of sets that have members.
        others: likewise.

    Guarantees:
        never less than the overlap; equal to it, except for equal halves, if all members of both are known.
    Cost:
        a sort of both rows.

    Example:
        >>> one, other = np.array([3, 7, 30], np.uint64) << 32, np.array([7, 8, 9, 30], np.uint64) << 32
        >>> [int(most_shared(*(first_members([s], slots) for s in (one, other)))[0]) for slots in (2, 3, 4, 5)]
        [3, 2, 2, 2]
    """
    most = np.empty(len(ones), np.int64)
    step = max(1, _TOGETHER // (2 * ones.shape[1]))
    for start in range(0, len(ones), step):
        at = slice(start, start + step)
        most[at] = _most_shared(ones[at], others[at])
    return most


def _most_shared(ones: U32, others: U32) -> I64:
    sizes, other_sizes = sizes_of(ones), sizes_of(others)
    kept = ones.shape[1] - 1
    end = np.minimum(_end(ones, sizes), _end(others, other_sizes))[:, None]
    places = np.arange(kept)
    below = [rows[:, 1:] < end for rows in (ones, others)]
    below[0] &= places < sizes[:, None]
    below[1] &= places < other_sizes[:, None]
    left_known, right_known = (np.count_nonzero(some, axis=1) for some in below)
    both = np.concatenate((ones[:, 1:], others[:, 1:]), axis=1)
    both[~np.concatenate(below, axis=1)] = EMPTY_SLOT
    both.sort(axis=1)
    equal = (both[:, 1:] == both[:, :-1]) & (np.arange(2 * kept - 1) < (left_known + right_known - 1)[:, None])
    shared: I64 = np.count_nonzero(equal, axis=1) + np.minimum(sizes - left_known, other_sizes - right_known)
    return np.minimum(shared, np.minimum(sizes, other_sizes))


def _end(rows: U32, sizes: I64) -> I64:
    """The end of the known members of a set: the last stored one, beyond all hashes if all are stored."""
    return np.where(sizes >= rows.shape[1], rows[:, -1].astype(np.int64), np.int64(1 << 32))
