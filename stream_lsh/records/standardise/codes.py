"""Extracts the tokens of a text that identify: model numbers, versions, sizes, and all other tokens with a digit."""

import re

from stream_lsh.records.standardise.characters import LONGEST, fold_words

_MOST = 32
_ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12",
}  # fmt: skip
_LEADING_ZEROS = re.compile("^0+(?=[0-9])")


def codes(text: str) -> str:
    """The distinct tokens with a digit, in order, at most 32; "" if there is none.

    Roman numbers from 2 on are numbers, except those of one letter; leading zeros are dropped.

    Example:
        >>> codes("Bose Acoustimass 5 Series III - AM53BK"), codes("pp. 322-331"), codes("Office Suite")
        ('3 5 am53bk', '322 331', '')
    """
    words = (_ROMAN.get(word, word) for word in fold_words(text, 4 * LONGEST).split())
    found = {_LEADING_ZEROS.sub("", word) for word in words if any(map(_is_digit, word))}
    return " ".join(sorted(found)[:_MOST])


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"
