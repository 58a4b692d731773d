"""Levenshtein distance: letters to insert, drop or replace.

Reference: Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966.
"""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein as Library

from stream_lsh.records.compare.comparator import Cut
from stream_lsh.records.compare.edits import Edits


def levenshtein(levels: Sequence[float] = (1, 2)) -> Cut | Edits:
    """Levels of Levenshtein distance, or of 1 - distance / the longer length where the levels are below 1.

    Example:
        >>> levenshtein((1, 2)).level("kitten", "sitting"), levenshtein((0.8, 0.5)).level("kitten", "sitting")
        (3, 2)
    """
    if any(level >= 1 for level in levels):
        return Edits("levenshtein", Library.distance, levels)
    return Cut("levenshtein", Library.normalized_similarity, levels)
