"""Compares for equality, for categories and codes without typing errors."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U8
from stream_lsh.records.compare.comparator import OneByOne


class Exact(OneByOne):
    """Two levels: equal, else.

    Example:
        >>> Exact().levels, Exact().level("vic", "nsw")
        (('equal', 'else'), 1)
    """

    spec = "exact"
    levels = ("equal", "else")

    def level(self, left: str, right: str) -> int:
        """1, as the values differ."""
        return 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """1 for each."""
        return np.ones(len(left), np.uint8)
