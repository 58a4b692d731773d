"""All pairs of sets whose Jaccard similarity reaches a threshold, by one of four filters with the same result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64, U64
from stream_lsh.errors import ConfigError
from stream_lsh.measure.catalog import JACCARD
from stream_lsh.measure.jaccard import shared_counts
from stream_lsh.measure.joins.candidates import by_length, by_position, by_prefix, by_suffix
from stream_lsh.measure.joins.strings import Strings, rarest_first
from stream_lsh.spelling import suggestion

Candidates = Callable[[Strings, Strings | None, float], Iterator[tuple[I64, I64]]]

METHODS: Mapping[str, Candidates] = {
    "length": by_length,
    "prefix": by_prefix,
    "position": by_position,
    "suffix": by_suffix,
}
"""Methods by name, each with at most as many comparisons as the previous one."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The pairs that reach the threshold, ascending, and the number of comparisons.

    Attributes:
        left, right: int64[n], rows; in a self-join left < right.
        similarity: float64[n], exact.
        shared: int64[n], common members.
        compared: the number of compared pairs.
    """

    left: I64
    right: I64
    similarity: F64
    shared: I64
    compared: int

    def __len__(self) -> int:
        return self.left.size


def join(
    sets: Sequence[U64], threshold: float, others: Sequence[U64] | None = None, *, method: str = "suffix"
) -> Joined:
    """All pairs of sets whose similarity is at least the threshold.

    Args:
        sets: ascending and without repetitions; an empty one is similar to nothing.
        threshold: above 0 and at most 1.
        others: likewise; None: all pairs of `sets`.
        method: `length`, `prefix`, `position` or `suffix`: the filter that selects the compared pairs.

    Guarantees:
        exact: every method returns the pairs of a comparison of all pairs; a similarity is the quotient of two counts,
        rounded once, so that 9 of 10 reach 0.9.  No method compares a pair that the previous method does not compare.
        Independent of the order of the sets.
    Cost:
        a sort of all members, a few array operations for every two strings that share one of their first symbols (for
        `length`, whose lengths allow it), and a comparison for each candidate.  Near a threshold of 1 there are few
        first symbols, all of them rare; at a low threshold most symbols are first ones.

    Raises:
        ConfigError: a threshold out of range, an unknown method.

    Example:
        >>> sets = [np.array(one, np.uint64) for one in ([1, 2, 3, 4], [1, 2, 3], [7, 8], [])]
        >>> found = join(sets, 0.75)
        >>> list(zip(found.left.tolist(), found.right.tolist(), found.similarity.tolist())), found.compared
        ([(0, 1, 0.75)], 1)
        >>> join(sets, 0.75, method="length").compared, len(join(sets, 0.76))
        (1, 0)
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and at most 1")
    if method not in METHODS:
        expected = ", ".join(METHODS)
        raise ConfigError(f"method: got {method!r}, expected {expected}{suggestion(method, METHODS)}")
    collections = [sets] if others is None else [sets, others]
    strings = rarest_first(collections)
    left, right = strings[0], None if others is None else strings[1]
    rows_of, with_sets = strings[-1].rows, collections[-1]
    compared, parts = 0, [_no_pairs()]
    for at, with_at in METHODS[method](left, right, threshold):
        compared += at.size
        parts.append(_compared(sets, with_sets, left.rows[at], rows_of[with_at], threshold))
    ones, rest, similarity, shared = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if others is None:
        ones, rest = np.minimum(ones, rest), np.maximum(ones, rest)
    order = np.lexsort((rest, ones))
    return Joined(ones[order], rest[order], similarity[order], shared[order], compared)


def _compared(
    sets: Sequence[U64], others: Sequence[U64], rows: I64, with_rows: I64, threshold: float
) -> tuple[I64, I64, F64, I64]:
    """The pairs that reach the threshold; those of one left row are adjacent in the input."""
    shared = np.zeros(rows.size, np.int64)
    for run in np.split(np.arange(rows.size), np.flatnonzero(np.diff(rows)) + 1) if rows.size else ():
        shared[run] = shared_counts(sets[rows[run[0]]], [others[row] for row in with_rows[run].tolist()])
    sizes, others_sizes = _sizes(sets)[rows], _sizes(others)[with_rows]
    similarity = JACCARD.similarity(shared, sizes, others_sizes)
    at = np.flatnonzero(similarity >= threshold)
    return rows[at], with_rows[at], similarity[at], shared[at]


def _sizes(sets: Sequence[U64]) -> I64:
    return np.fromiter((members.size for members in sets), np.int64, len(sets))


def _no_pairs() -> tuple[I64, I64, F64, I64]:
    none = np.empty(0, np.int64)
    return none, none, np.empty(0), none
