"""Exact Jaccard similarity |A ∩ B| / |A ∪ B| of sets of hashes, as sorted arrays without repetitions.

The fastest strategy depends on the sizes; all strategies give the same counts.  Measured, us a pair of sets of n:

    n                        5     20     50    450   2,700
    Python sets            0.6    1.6    3.4     31     199
    search                 1.4    1.5    1.6    3.9      19
    merge                  2.0    2.1    2.1    3.3       9
    search, 64 at once     0.3    0.4    0.6    5.9      45
    probe, 64 at once      0.4    0.5    0.8    3.0      14

Reference: Broder, On the resemblance and containment of documents, 1997.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.measure.filters import sizes_allow
from stream_lsh.measure.probe import Probe

_TINY = 20  # hashes of both sets together: Python sets
_SMALL = 128  # hashes of the smaller set: search
_LOPSIDED = 6  # times larger: search
_FEW_SETS = 4  # fewer sets are counted one by one
_MANY_SETS = 32  # a probe table pays off from this number on
_AT_ONCE = 64  # sets against one in one pass: their hashes stay in the cache
_LARGEST_PROBE = 1 << 16  # hashes: a table of 8 MB


def sorted_unique(hashes: U64) -> U64:
    """The set of some hashes: ascending, without repetitions, as a new array.

    Example:
        >>> sorted_unique(np.array([3, 1, 3], np.uint64)).tolist()
        [1, 3]
    """
    ordered = np.sort(hashes)  # three times as fast as np.unique
    if ordered.size < 2:
        return ordered
    first = np.empty(ordered.size, np.bool_)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def shared_count(left: U64, right: U64) -> int:
    """|A ∩ B| of two sets, each ascending and without repetitions.

    Cost:
        linear in both for sets of similar sizes, else in the smaller one times the logarithm of the larger one.

    Example:
        >>> shared_count(np.array([1, 2, 3], np.uint64), np.array([2, 3, 4, 5], np.uint64))
        2
    """
    if left.size + right.size <= _TINY:
        return len(set(left.tolist()).intersection(right.tolist()))
    if left.size > right.size:
        left, right = right, left
    if left.size <= _SMALL or left.size * _LOPSIDED <= right.size:
        return int(np.count_nonzero(right.take(right.searchsorted(left), mode="clip") == left))
    both = np.concatenate((left, right))
    both.sort(kind="stable")  # merges the two ascending runs in linear time
    return int(np.count_nonzero(both[1:] == both[:-1]))


def jaccard(left: U64, right: U64) -> float:
    """The exact similarity of two sets, each ascending and without repetitions; 0.0 if one of them is empty.

    An empty document is similar to nothing, not even to another one.

    Example:
        >>> jaccard(np.array([1, 3, 4, 5], np.uint64), np.array([1, 4, 5], np.uint64))
        0.75
    """
    if not left.size or not right.size:
        return 0.0
    shared = shared_count(left, right)
    return shared / (left.size + right.size - shared)


@dataclass(frozen=True, slots=True)
class Jaccard:
    """The measure `jaccard`: computes from counts of pairs what `jaccard` computes from two sets.

    Example:
        >>> Jaccard().similarity(np.array([3, 0]), np.array([4, 0]), np.array([3, 0])).tolist()
        [0.75, 0.0]
    """

    name: ClassVar[str] = "jaccard"
    reports_sizes: ClassVar[bool] = False

    @property
    def settings(self) -> dict[str, str | float]:
        """The settings that stored pairs depend on."""
        return {"measure": self.name}

    def similarity(self, shared: U32 | I64, sizes: U32 | I64, others: U32 | I64) -> F64:
        """The similarity of pairs, from the shared shingles and the sizes of both sets: float64[n]."""
        similarity: F64 = shared / np.maximum(sizes + others - shared, 1)
        return similarity

    def sizes_allow(self, sizes: U32 | I64, others: U32 | I64, threshold: float) -> Bools:
        """Whether pairs of sets of these sizes can reach the threshold: bool[n]; never False for one that does."""
        return sizes_allow(sizes, others, threshold)

    def least_jaccard(self, threshold: float) -> float:
        """The threshold itself."""
        return threshold


def shared_counts(hashes: U64, many: Sequence[U64]) -> I64:
    """|A ∩ B| of one set with each of many: int64[len(many)].

    Args:
        hashes: ascending and without repetitions.
        many: likewise.

    Example:
        >>> two, none = np.array([2, 3], np.uint64), np.array([], np.uint64)
        >>> shared_counts(np.array([1, 2, 3], np.uint64), [two, none]).tolist()
        [2, 0]
    """
    counts = np.zeros(len(many), np.int64)
    filled = [row for row, right in enumerate(many) if right.size] if hashes.size else []
    sizes = sum(many[row].size for row in filled)
    similar_sizes = sizes <= _LOPSIDED * hashes.size * len(filled)
    if len(filled) >= _FEW_SETS and hashes.size <= _SMALL and similar_sizes:
        _count_at_once(counts, filled, many, lambda flat: hashes.take(hashes.searchsorted(flat), mode="clip") == flat)
    elif len(filled) >= _MANY_SETS and hashes.size <= _LARGEST_PROBE and similar_sizes:
        _count_at_once(counts, filled, many, Probe(hashes).contains)
    else:
        for row in filled:
            counts[row] = shared_count(hashes, many[row])
    return counts


def _count_at_once(counts: I64, rows: Sequence[int], many: Sequence[U64], contains: Callable[[U64], Bools]) -> None:
    """Count the members of one set in the sets of these rows, none of them empty, some dozens at a time."""
    for start in range(0, len(rows), _AT_ONCE):
        chosen = rows[start : start + _AT_ONCE]
        others = [many[row] for row in chosen]
        ends = np.cumsum([other.size for other in others])
        starts = np.concatenate((ends[:1] * 0, ends[:-1]))
        counts[chosen] = np.add.reduceat(contains(np.concatenate(others)), starts, dtype=np.int64)
