"""Jaro-Winkler similarity: letters in common at about the same place, more if the first four agree.  For names.

Reference: Winkler, String comparator metrics and enhanced decision rules in the Fellegi-Sunter model of record
linkage, 1990.
"""

from collections.abc import Sequence

from rapidfuzz.distance import JaroWinkler as Library

from stream_lsh.records.compare.comparator import Cut


class JaroWinkler(Cut):
    """Levels of Jaro-Winkler similarity.

    Example:
        >>> JaroWinkler((0.92, 0.8)).level("martha", "marhta"), JaroWinkler((0.97, 0.8)).level("martha", "marhta")
        (1, 2)
    """

    def __init__(self, thresholds: Sequence[float] = (0.92, 0.8)) -> None:
        super().__init__("jaro-winkler", Library.similarity, thresholds)
