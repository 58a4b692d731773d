"""Damerau-Levenshtein distance: two neighbouring letters in the wrong order are one mistake.

The restricted form (optimal string alignment): no part is edited twice.
Reference: Damerau, A technique for computer detection and correction of spelling errors, 1964.
"""

from collections.abc import Sequence

from rapidfuzz.distance import OSA

from stream_lsh.records.compare.comparator import Cut
from stream_lsh.records.compare.edits import Edits


def damerau(levels: Sequence[float] = (1, 2)) -> Cut | Edits:
    """Levels of the distance, or of 1 - distance / the longer length where the levels are below 1.

    Example:
        >>> damerau((1, 2)).level("1804974", "1840974"), damerau((1, 2)).level("1804974", "2840974")
        (1, 2)
    """
    if any(level >= 1 for level in levels):
        return Edits("damerau", OSA.distance, levels)
    return Cut("damerau", OSA.normalized_similarity, levels)
