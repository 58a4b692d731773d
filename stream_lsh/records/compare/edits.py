"""The comparators of spelling: edit distances, and Jaro-Winkler similarity for names.

The restricted form of Damerau-Levenshtein distance (optimal string alignment) counts two neighbouring letters in the
wrong order as one mistake; no part is edited twice.  Jaro-Winkler similarity counts the letters in common at about the
same place, and more if the first four agree.

References: Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966; Damerau, A
technique for computer detection and correction of spelling errors, 1964; Winkler, String comparator metrics and
enhanced decision rules in the Fellegi-Sunter model of record linkage, 1990.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA, JaroWinkler, Levenshtein
from rapidfuzz.process import cpdist

from stream_lsh.arrays import U8
from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.comparator import AT_ONCE, Cut, OneByOne, spec_of


class Edits(OneByOne):
    """Levels of a distance, divided at whole numbers.

    Args:
        name: of the comparator.
        scorer: of `rapidfuzz`, from two texts to a distance.
        most: ascending, from 1 on: level i is a distance of at most `most[i - 1]`.

    Raises:
        ConfigError: distances that are not integers or out of order.
    """

    def __init__(self, name: str, scorer: Callable[..., Any], most: Sequence[float]) -> None:
        ordered = all(left < right for left, right in pairwise(most))
        if not most or not ordered or any(distance < 1 or distance % 1 != 0 for distance in most):
            shown = ", ".join(f"{distance:g}" for distance in most) or "none"
            raise ConfigError(
                f"{name}: got the levels {shown}, expected distances in whole numbers from 1 on, ascending, or "
                "similarities below 1, descending"
            )
        self.spec = spec_of(name, most)
        self.levels = ("equal", *(f"≤ {distance:g} edits" for distance in most), "else")
        self._scorer = scorer
        self._most = [int(distance) for distance in most]

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        return bisect_left(self._most, self._scorer(left, right, score_cutoff=self._most[-1])) + 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        distances = cpdist(left, right, scorer=self._scorer, score_cutoff=self._most[-1], dtype=np.int32, workers=1)
        return (np.searchsorted(self._most, distances, side="left") + 1).astype(np.uint8)


_DISTANCES = {"levenshtein": Levenshtein, "damerau": OSA}


def edit_distance(name: str, levels: Sequence[float]) -> Cut | Edits:
    """Levels of an edit distance, or of 1 - distance / the longer length for levels below 1.

    Args:
        name: of the comparator, `levenshtein` or `damerau`.
        levels: its thresholds.

    Example:
        >>> levenshtein = edit_distance("levenshtein", (1, 2))
        >>> levenshtein.level("kitten", "sitting"), edit_distance("levenshtein", (0.8, 0.5)).level("kitten", "sitting")
        (3, 2)
        >>> damerau = edit_distance("damerau", (1, 2))
        >>> damerau.level("1804974", "1840974"), damerau.level("1804974", "2840974")
        (1, 2)
    """
    library = _DISTANCES[name]
    if any(level >= 1 for level in levels):
        return Edits(name, library.distance, levels)
    return Cut(name, library.normalized_similarity, levels)


def jaro_winkler(levels: Sequence[float] = (0.92, 0.8)) -> Cut:
    """Levels of Jaro-Winkler similarity.

    Example:
        >>> jaro_winkler((0.92, 0.8)).level("martha", "marhta"), jaro_winkler((0.97, 0.8)).level("martha", "marhta")
        (1, 2)
    """
    return Cut("jaro-winkler", JaroWinkler.similarity, levels)
