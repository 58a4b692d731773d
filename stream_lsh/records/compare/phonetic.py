"""Compares the sound of English words: the codes of Soundex, Metaphone and NYSIIS, one for each word.

References: Russell, US patent 1,261,167, 1918 (Soundex); Philips, Hanging on the Metaphone, 1990; Taft, Name search
techniques, New York State Identification and Intelligence System, 1970.  Letters of other scripts have no code: such
words are unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import jellyfish

from stream_lsh.records.compare.comparator import OneByOne

CODES: Mapping[str, Callable[[str], str]] = {
    "soundex": jellyfish.soundex,
    "metaphone": jellyfish.metaphone,
    "nysiis": jellyfish.nysiis,
}
"""Phonetic codes by name."""
_LONGEST_WORD = 40


@lru_cache(maxsize=1 << 16)
def phonetic_code(text: str, code: str = "soundex") -> str:
    """The code of each word of a standardised text.

    Example:
        >>> [phonetic_code(name) for name in ("robert smith", "rupert smyth", "王杰")]
        ['R163 S530', 'R163 S530', '王杰']
        >>> phonetic_code("mary", "metaphone")
        'MR'
    """
    coded = CODES[code]
    return " ".join([(_coded(word, coded) or word) for word in text.split()])


def _coded(word: str, code: Callable[[str], str]) -> str:
    return code(word[:_LONGEST_WORD]) if word.isascii() and word.isalpha() else word


class Phonetic(OneByOne):
    """Three levels: equal, alike in sound by one of the codes, else.

    Example:
        >>> Phonetic(("soundex",)).level("robert", "rupert"), Phonetic(("metaphone",)).level("robert", "rupert")
        (1, 2)
    """

    levels = ("equal", "sounds alike", "else")

    def __init__(self, codes: Sequence[str] = ("soundex", "metaphone")) -> None:
        self._codes = tuple(codes)
        self.spec = " ".join(("phonetic", *self._codes))

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        return 1 if any(phonetic_code(left, code) == phonetic_code(right, code) for code in self._codes) else 2
