"""Computes the levels of many pairs; each pair of distinct values is compared once."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from stream_lsh.arrays import I64, U8
from stream_lsh.records.compare.comparator import EQUAL, MISSING, Comparator
from stream_lsh.records.model import SEVERAL, Column


def level_of(comparator: Comparator, left: str, right: str) -> int:
    r"""The level of two values: that of the best pair for several values, MISSING for a missing value.

    Example:
        >>> from stream_lsh.records.compare.edits import jaro_winkler
        >>> names = jaro_winkler((0.9,))
        >>> level_of(names, "bob\x1frobert", "robert"), level_of(names, "bob", ""), level_of(names, "bob", "ann")
        (0, 255, 2)
    """
    if not left or not right:
        return MISSING
    if left == right:
        return EQUAL
    if SEVERAL not in left and SEVERAL not in right:
        return comparator.level(left, right)
    ones, others = left.split(SEVERAL), right.split(SEVERAL)
    if not set(ones).isdisjoint(others):
        return EQUAL
    return min(comparator.level(left_value, right_value) for left_value, right_value in product(ones, others))


def levels_of(comparator: Comparator, column: Column, left: I64, right: I64) -> U8:
    """The level of each pair of rows of a column.

    Args:
        comparator: that of the column.
        column: of n records.
        left: rows, int64[m].
        right: rows, int64[m].

    Returns:
        uint8[m]; for each pair the result of `level_of`.
    """
    left_codes, right_codes = column.codes[left], column.codes[right]
    levels = np.full(left_codes.size, MISSING, np.uint8)
    levels[(left_codes == right_codes) & (left_codes >= 0)] = EQUAL
    at = np.flatnonzero((left_codes != right_codes) & (left_codes >= 0) & (right_codes >= 0))
    if not at.size:
        return levels
    # Levels are symmetric.
    low, high = np.minimum(left_codes[at], right_codes[at]), np.maximum(left_codes[at], right_codes[at])
    distinct, places = np.unique(low * len(column.values) + high, return_inverse=True)
    lows, highs = np.divmod(distinct, len(column.values))
    levels[at] = _distinct(comparator, _chosen(column.values, lows), _chosen(column.values, highs))[places]
    return levels


def _chosen(values: Sequence[str], places: I64) -> list[str]:
    return [values[place] for place in places.tolist()]


def _distinct(comparator: Comparator, left: list[str], right: list[str]) -> U8:
    several = [
        at
        for at, (left_value, right_value) in enumerate(zip(left, right, strict=True))
        if SEVERAL in left_value or SEVERAL in right_value
    ]
    if not several:
        return comparator.batch(left, right)
    levels, single = np.empty(len(left), np.uint8), np.ones(len(left), np.bool_)
    single[several] = False
    at = np.flatnonzero(single).tolist()
    levels[single] = comparator.batch([left[place] for place in at], [right[place] for place in at])
    levels[several] = [level_of(comparator, left[place], right[place]) for place in several]
    return levels
