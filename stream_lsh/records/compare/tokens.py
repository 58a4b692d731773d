"""Compares words in any order: the ratios of sorted words, and of shared words.

The ratio of two texts is 1 - distance / the sum of their lengths, for the distance without replacements.  `token-sort`
compares the words in alphabetical order; `token-set` takes the best ratio of the shared words and either text, so that
a text with all words of the other one is equal to it.
Reference: Cohen, The fuzzywuzzy library, 2011; `rapidfuzz` documents the form used here.
"""

from collections.abc import Sequence

from rapidfuzz import fuzz

from stream_lsh.records.compare.comparator import Cut

_PERCENT = 100.0


class TokenSort(Cut):
    """Levels of the ratio of sorted words.

    Example:
        >>> TokenSort((0.99,)).level("robert john smith", "smith john robert")
        1
    """

    def __init__(self, thresholds: Sequence[float] = (0.9, 0.7)) -> None:
        super().__init__("token-sort", fuzz.token_sort_ratio, thresholds, scale=_PERCENT)


class TokenSet(Cut):
    """Levels of the ratio of the shared words; one text may have more words.

    Example:
        >>> TokenSet((0.99,)).level("john smith", "smith john robert")
        1
    """

    def __init__(self, thresholds: Sequence[float] = (0.9, 0.7)) -> None:
        super().__init__("token-set", fuzz.token_set_ratio, thresholds, scale=_PERCENT)
