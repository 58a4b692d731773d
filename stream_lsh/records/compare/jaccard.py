"""Jaccard similarity of the sets of words, or of the runs of q letters, of two values.

Reference: Jaccard, Étude comparative de la distribution florale, 1901; Ukkonen, Approximate string matching with
q-grams, 1992.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from stream_lsh.records.compare.comparator import OneByOne, check_thresholds, spec_of


@lru_cache(maxsize=1 << 15)
def qgrams(text: str, q: int) -> frozenset[str]:
    """The runs of q letters of a text with a space at either end; the text itself, if it is shorter.

    Example:
        >>> sorted(qgrams("abc", 3)), sorted(qgrams("a", 4))
        ([' ab', 'abc', 'bc '], [' a '])
    """
    padded = f" {text} "
    return frozenset(padded[at : at + q] for at in range(max(1, len(padded) - q + 1)))


@lru_cache(maxsize=1 << 15)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class SetJaccard(OneByOne):
    """Levels of Jaccard similarity.

    Args:
        q: letters in a run; 0: words.
        thresholds: descending.

    Example:
        >>> SetJaccard(0, (0.5,)).level("data base systems", "systems of data")
        1
        >>> SetJaccard(2, (0.5,)).level("night", "nacht")
        2
    """

    def __init__(self, q: int = 3, thresholds: Sequence[float] = (0.8, 0.5)) -> None:
        name = f"qgram-jaccard:{q}" if q else "token-jaccard"
        check_thresholds(name, thresholds)
        self.spec = spec_of(name, thresholds)
        self.levels = ("equal", *(f"≥ {threshold:g}" for threshold in thresholds), "else")
        self._q = q
        self._cuts = [-threshold for threshold in thresholds]

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        left_set, right_set = (
            (qgrams(left, self._q), qgrams(right, self._q)) if self._q else (_words(left), _words(right))
        )
        shared = len(left_set & right_set)
        return bisect_left(self._cuts, -shared / ((len(left_set) + len(right_set) - shared) or 1)) + 1
