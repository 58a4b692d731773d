"""Finds strings that share one of their first symbols by an index of prefixes.

An entry of the index is the number of a symbol and the row of a string with it in its prefix, as one integer, so the
strings whose lengths allow a match are one run of each symbol's entries.  In a self-join a string probes the earlier
ones, which are not longer.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.measure.filters import least_shared, most_members, prefix_lengths
from stream_lsh.measure.joins.strings import Strings

_TOGETHER = 1 << 20
"""Hits that are processed at once: some 30 MB."""


class PrefixHits(NamedTuple):
    """Strings that share a symbol: rows of both, the number of symbols before it in each, both lengths; int64[n]."""

    left: I64
    right: I64
    left_before: I64
    right_before: I64
    left_sizes: I64
    right_sizes: I64


class Prefixes(NamedTuple):
    """The first symbols of strings, one string after the other: symbol, row, symbols before it in the string."""

    symbols: I64
    rows: I64
    before: I64


def prefixes(strings: Strings, threshold: float) -> Prefixes:
    """The prefix of each string, in which it shares a symbol with every match."""
    lengths = prefix_lengths(strings.sizes, threshold)
    rows, before = runs(np.zeros(len(strings), np.int64), lengths)
    return Prefixes(strings.symbols[strings.starts[rows] + before], rows, before)


def runs(first: I64, stops: I64) -> tuple[I64, I64]:
    """The place of the run of each number, and the numbers of each run from its first one up to its stop."""
    counts = np.maximum(stops - first, 0)
    places = np.repeat(np.arange(counts.size), counts)
    ends = np.cumsum(counts)
    return places, np.arange(places.size) - np.repeat(ends - counts - first, counts)


def allowed_rows(left: Strings, right: Strings | None, threshold: float) -> tuple[I64, I64]:
    """The run of rows whose lengths allow a match with each string of `left`: first rows and stops; int64[n] each."""
    sizes = (left if right is None else right).sizes
    first = np.searchsorted(sizes, np.maximum(least_shared(left.sizes, threshold), 1))
    if right is None:
        return first, np.arange(len(left))
    return first, np.searchsorted(sizes, most_members(left.sizes, threshold), side="right")


def cut(counts: I64) -> Iterator[slice]:
    """Consecutive slices of entries whose counts add up to at most `_TOGETHER`, or of a single entry."""
    ends, start = np.cumsum(counts), 0
    while start < counts.size:
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + _TOGETHER, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def prefix_hits(left: Strings, right: Strings | None, threshold: float) -> Iterator[PrefixHits]:
    """Pairs of strings with a common prefix symbol and lengths that allow a match, in the order of `left`."""
    indexed = left if right is None else right
    entries, n = prefixes(indexed, threshold), max(len(indexed), 1)
    keys = entries.symbols * n + entries.rows
    order = np.argsort(keys)
    keys, before = keys[order], entries.before[order]
    probes = entries if right is None else prefixes(left, threshold)
    low, high = allowed_rows(left, right, threshold)
    first = np.searchsorted(keys, probes.symbols * n + low[probes.rows])
    stops = np.searchsorted(keys, probes.symbols * n + high[probes.rows])
    met = np.maximum(stops - first, 0)
    of_row = np.searchsorted(probes.rows, np.arange(len(left) + 1))
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(met)))
    left_sizes, right_sizes = left.sizes, indexed.sizes
    for rows in cut(np.diff(sums[of_row])):
        asked = slice(int(of_row[rows.start]), int(of_row[rows.stop]))
        places, at = runs(first[asked], stops[asked])
        left_rows, right_rows = probes.rows[asked][places], keys[at] % n
        yield PrefixHits(
            left_rows,
            right_rows,
            probes.before[asked][places],
            before[at],
            left_sizes[left_rows],
            right_sizes[right_rows],
        )


def distinct_pairs(
    hits: Iterator[PrefixHits], others: int, predicate: Callable[[PrefixHits], Bools] | None = None
) -> Iterator[tuple[I64, I64]]:
    """The pairs of the hits, each once, ascending; only those that satisfy the predicate, if there is one.

    Args:
        hits: the hits of one left string are in one chunk.
        others: strings of the right side.
        predicate: bool[n] for n hits.
    """
    for chunk in hits:
        left, right = chunk.left, chunk.right
        if predicate is not None:
            at = predicate(chunk)
            left, right = left[at], right[at]
        packed = left * others + right
        packed.sort()
        packed = packed[np.flatnonzero(np.diff(packed, prepend=-1))]
        yield packed // max(others, 1), packed % max(others, 1)
