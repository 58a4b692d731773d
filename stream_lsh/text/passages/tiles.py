"""Passages that two texts share: runs of the same shingles in the same order in both.

Tiles do not overlap in either text, and the longest ones are placed first, so moved passages are found as well.

Reference: Wise, String similarity via greedy string tiling and Running Karp-Rabin matching, 1993; that of JPlag.
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools

MOST_PLACES = 16
"""The most places of a shingle in the second text; more frequent shingles start no passage, but can be part of one."""


class Tile(NamedTuple):
    """A run of `length` shingles that starts at `left` in one text and at `right` in the other."""

    left: int
    right: int
    length: int


def tiles(left: U64, right: U64, least: int = 1) -> list[Tile]:
    """The common passages of two texts, ascending by their places in the left one.

    Args:
        left: the shingles of a text in order, with repetitions.
        right: those of the other text.
        least: the least number of shingles in a passage.

    Guarantees:
        every tile is a run of equal shingles, no shingle of either text is in two tiles, and no tile can be extended.
        Greedy: the longest run comes first, which is not always the best cover, but the one that a reader would mark.
    Cost:
        linear in the shingles and their common places, except for sorting; a shingle with more than 16 places costs
        nothing.

    Example:
        >>> one = np.array([1, 2, 3, 4, 9, 8, 7], np.uint64)
        >>> other = np.array([9, 8, 7, 5, 1, 2, 3, 4], np.uint64)
        >>> tiles(one, other, least=2)
        [Tile(left=0, right=4, length=4), Tile(left=4, right=0, length=3)]
    """
    runs = [(-length, start, start + shift) for start, shift, length in _runs(left, right) if length >= least]
    heapq.heapify(runs)
    taken, taken_right = np.zeros(left.size, np.bool_), np.zeros(right.size, np.bool_)
    result: list[Tile] = []
    while runs:
        negative, at, at_right = heapq.heappop(runs)
        length = -negative
        free = ~(taken[at : at + length] | taken_right[at_right : at_right + length])
        if free.all():
            taken[at : at + length] = True
            taken_right[at_right : at_right + length] = True
            result.append(Tile(at, at_right, length))
            continue
        for start, size in _free_runs(free):
            if size >= least:
                heapq.heappush(runs, (-size, at + start, at_right + start))
    return sorted(result)


def _runs(left: U64, right: U64) -> list[tuple[int, int, int]]:
    """All maximal runs: the start in the left text, the shift to the right text, the length."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, "left")
    counts = np.searchsorted(ordered, left, "right") - first
    counts[counts > MOST_PLACES] = 0
    starts = np.repeat(np.arange(left.size), counts)
    if not starts.size:
        return []
    nth = np.arange(starts.size) - np.repeat(np.cumsum(counts) - counts, counts)
    shifts = order[np.repeat(first, counts) + nth] - starts
    by_shift = np.lexsort((starts, shifts))
    starts, shifts = starts[by_shift], shifts[by_shift]
    begins = np.ones(starts.size, np.bool_)
    begins[1:] = (shifts[1:] != shifts[:-1]) | (starts[1:] != starts[:-1] + 1)
    at = np.flatnonzero(begins)
    lengths = np.diff(np.append(at, starts.size))
    runs = zip(starts[at].tolist(), shifts[at].tolist(), lengths.tolist(), strict=True)
    return list(_extended(left.tolist(), right.tolist(), runs))


def _extended(
    left: list[int], right: list[int], runs: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Extend runs, ascending by shift and start, by equal shingles at their ends, which have too many places."""
    done = (0, 0)
    for first, shift, length in runs:
        start, end = first, first + length
        if done[0] == shift and end <= done[1]:
            continue  # the extended previous run contains it
        while min(start, start + shift) > 0 and left[start - 1] == right[start + shift - 1]:
            start -= 1
        while end < len(left) and end + shift < len(right) and left[end] == right[end + shift]:
            end += 1
        done = shift, end
        yield start, shift, end - start


def _free_runs(free: Bools) -> list[tuple[int, int]]:
    """The starts and lengths of the runs of True."""
    padded = np.zeros(free.size + 2, np.bool_)
    padded[1:-1] = free
    edges: I64 = np.flatnonzero(padded[1:] != padded[:-1])
    return list(zip(edges[::2].tolist(), (edges[1::2] - edges[::2]).tolist(), strict=True))
