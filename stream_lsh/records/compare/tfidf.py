"""Words in common, rare ones more: cosine of the vectors of inverse document frequencies.

Reference: Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988; Cohen, Ravikumar and
Fienberg, A comparison of string distance metrics for name-matching tasks, 2003.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import log, sqrt

from stream_lsh.records.compare.comparator import OneByOne, check_thresholds, spec_of
from stream_lsh.records.frequencies import Frequencies


class TfIdf(OneByOne):
    """Levels of the weighted similarity of words.

    Args:
        frequencies: the number of values with each word; read at every comparison, so it may change in between.
        thresholds: descending.

    Guarantees:
        the result is a function of values and frequencies; a word without a count weighs as if a single value had it.

    Example:
        >>> frequencies = Frequencies()
        >>> for title in ("the tree", "the house", "the sky", "the sea"):
        ...     frequencies.add(title.split())
        >>> tfidf = TfIdf(frequencies, (0.6, 0.2))
        >>> tfidf.level("the tree", "tree"), tfidf.level("the tree", "the sea")
        (1, 3)
    """

    def __init__(self, frequencies: Frequencies, thresholds: Sequence[float] = (0.8, 0.5)) -> None:
        check_thresholds("tfidf", thresholds)
        self.spec = spec_of("tfidf", thresholds)
        self.levels = ("equal", *(f"≥ {threshold:g}" for threshold in thresholds), "else")
        self._frequencies = frequencies
        self._cuts = [-threshold for threshold in thresholds]

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        left_words, right_words = set(left.split()), set(right.split())
        shared = left_words & right_words
        if not shared:
            return len(self._cuts) + 1
        squares = [sum(self._weight(word) for word in sorted(words)) for words in (shared, left_words, right_words)]
        return bisect_left(self._cuts, -squares[0] / (sqrt(squares[1] * squares[2]) or 1.0)) + 1

    def _weight(self, word: str) -> float:
        """The square of a word's weight; never 0, so that values of common words only are similar as well."""
        known = self._frequencies
        weight = log((known.total + 1) / max(1, known.count(word)))
        return max(weight, 0.1) ** 2
