"""Reduces pairs to distinct combinations of levels: a million pairs of eight fields have some thousand patterns."""

from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, U8


class Patterns(NamedTuple):
    """Combinations of levels, and the number of pairs with each.

    Attributes:
        levels: uint8[p, comparisons], distinct rows.
        counts: float64[p].
    """

    levels: U8
    counts: F64


def patterns_of(levels: U8) -> Patterns:
    """The patterns of pairs with these levels, uint8[n, comparisons].

    Example:
        >>> found = patterns_of(np.array([[0, 1], [2, 0], [0, 1]], np.uint8))
        >>> found.levels.tolist(), found.counts.tolist()
        ([[0, 1], [2, 0]], [2.0, 1.0])
    """
    if not levels.size:
        return Patterns(levels, np.zeros(len(levels)))
    rows = np.ascontiguousarray(levels).view(np.dtype((np.void, levels.shape[1])))
    _, first, counts = np.unique(rows.ravel(), return_index=True, return_counts=True)
    return Patterns(levels[first], counts.astype(np.float64))
