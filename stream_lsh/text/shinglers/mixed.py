r"""Shingles of words, and of single characters in the scripts that write without spaces.

Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words, so a token of `word:k` is a whole clause.
Here each letter of these scripts is a token, with its marks; in other scripts a
token is a run of letters, digits and underscores, including marks.  So one setting suits a stream of many languages,
and a text in several.

Source: Unicode Standard Annex 29, Unicode Text Segmentation, section 4: default word boundaries are on both sides of an
ideograph, and marks stay with their base character.  Unlike there, each Katakana is a token as well; digits of all
scripts stay together, as there.
"""

import functools
import re

import numpy as np

from stream_lsh.arrays import U8
from stream_lsh.text.hashing.tokens import (
    JOINERS,
    NOTHING,
    PLANE_0,
    SINGLE,
    UNICODE,
    WORDS,
    Tokeniser,
)
from stream_lsh.text.shinglers.runs import TokenShingler

UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Burmese and other languages of Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x303C),  # marks of iteration, ideographic numbers
    (0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F),  # Hiragana and Katakana
    (0x3100, 0x312F), (0x31A0, 0x31BF),  # Bopomofo
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),  # ideographs
)  # fmt: skip
"""First and last code points of the blocks of scripts that write without spaces."""


@functools.cache
def _classes(all_planes: bool) -> U8:
    """The class of each code point, of plane 0 or of all."""
    characters = "".join(map(chr, range(UNICODE if all_planes else PLANE_0)))
    table = WORDS.classes(all_planes).astype(np.uint8)
    for first, last in UNSPACED:
        for match in re.finditer(r"[^\W\d_]", characters[first : last + 1]):
            table[first + match.start()] = SINGLE
    return table


@functools.cache
def _classes_1(all_planes: bool) -> U8:
    """Those of version 1: joiners separate tokens."""
    table = _classes(all_planes).copy()
    table[[*JOINERS]] = NOTHING
    return table


MIXED = Tokeniser(_classes, WORDS.ascii, str.lower, apart=False)
MIXED_1 = Tokeniser(_classes_1, WORDS.ascii, str.lower, apart=False)
"""Version 1."""


class MixedShingler(TokenShingler):
    """Every run of k tokens of a text, hashed, where a letter of an unspaced script is a token.

    Arguments and guarantees are those of `WordShingler`.

    Guarantees:
        texts of spaced scripts have the shingles of `word:k`, except for the letter U+0130, which `word:k` separates
        from the dot that lower case gives it.
    Cost:
        that of `word:k`; texts of unspaced scripts have a token for each letter.

    Example:
        >>> MixedShingler(1)(["東京 2020 Olympics", "ที่นี่"]).counts.tolist()
        [4, 2]
    """

    kind = "mixed"
    tokeniser = MIXED
    first_tokeniser = MIXED_1
