r"""Hashes of the tokens of many texts at once, without a string for each token.

A `Tokeniser` defines the tokens; that of words finds runs of `\w` of the lower-cased text, with their marks: vowel
signs of Hindi, vowel points of Arabic and Hebrew, accents without a composed letter.  The hash of a token depends on
its characters alone:

    hash = mix( salt xor  sum over i of  c[i] * base^i   mod 2^64 )

In a block of joined texts every character is multiplied by the power of its place; a token's polynomial is a difference
of the running sum, times the inverse power of its start (the base is odd, so it has an inverse).  The parts of a token
that crosses the end of a block are combined.

Source: Unicode Standard Annex 29, Unicode Text Segmentation, rules WB4 (marks and joiners belong to their base
character), WB5, WB8 to WB10 and WB13a (letters, digits and connectors stay together).  Unlike there, an apostrophe or a
full stop within a word or a number separates tokens.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import I64, U8, U64, Bools
from stream_lsh.hashing import mix_in_place
from stream_lsh.text.hashing.groups import BLOCK
from stream_lsh.text.hashing.windows import WORD_BITS, power
from stream_lsh.text.origins import lowered, unchanged
from stream_lsh.text.shinglers.char import code_points
from stream_lsh.text.shingles import offsets_of

_MASK = (1 << WORD_BITS) - 1


NOTHING, WORD, SINGLE, MARK = 0, 1, 2, 3
"""Classes of characters: between tokens; part of a token with its neighbours; a token of its own; part of the preceding
token, if there is one."""


class Tokeniser(NamedTuple):
    """The definition of tokens by a class for every character.

    Attributes:
        classes: returns the class of each code point, of plane 0 or, with True, of all; booleans if `apart`.
        ascii: for `bytes.translate`, the hashed code of each ASCII character, or 0 for NOTHING; all others are WORD.
        lower: converts a text outside ASCII to lower case, as `str.lower` does or in the same length; None: texts keep
            their case.
        apart: tokens are always separated, because the only classes are NOTHING and WORD.
        shift: added to a code point before hashing, so that no character of a token counts as 0.
    """

    classes: Callable[[bool], Bools | U8]
    ascii: bytes
    lower: Callable[[str], str] | None
    apart: bool = True
    shift: int = 0


# For bytes.translate, which is faster than an array as a table: the lower-cased character, or 0 between tokens.
_ASCII = bytes(ord(chr(code).lower()) if code < 128 and re.match(r"\w", chr(code)) else 0 for code in range(256))
PLANE_0, UNICODE = 0x10000, 0x110000
"""The number of code points of the first plane, which suffices for most texts, and of all planes."""


JOINERS = (0x200C, 0x200D)
"""The zero-width non-joiner and joiner: within words of Persian and of Indic scripts, and no category M."""
_MARK_RANGES = ((0x300, 0x20000), (0xE0100, 0xE01F0))
"""All characters of category M."""


@functools.cache
def marks() -> tuple[int, ...]:
    """The code points of category M: characters that belong to the one before them."""
    codes = (code for first, end in _MARK_RANGES for code in range(first, end))
    return tuple(code for code in codes if unicodedata.category(chr(code))[0] == "M")


@functools.cache
def word_characters(all_planes: bool) -> Bools:
    r"""For each code point, of plane 0 or of all, whether `\w` matches it."""
    size = UNICODE if all_planes else PLANE_0
    table = np.zeros(size, np.bool_)
    for run in re.finditer(r"\w+", "".join(map(chr, range(size)))):
        table[run.start() : run.end()] = True
    return table


@functools.cache
def _word_classes(all_planes: bool) -> U8:
    """The class of each code point, of plane 0 or of all."""
    table = word_characters(all_planes).astype(np.uint8)
    code_points_of_marks = np.array([*marks(), *JOINERS])
    table[code_points_of_marks[code_points_of_marks < table.size]] = MARK
    return table


_DOTTED = "\u0130"


def lower_words(text: str) -> str:
    """The text in lower case; the dot that `str.lower` makes of U+0130 is a space.

    It would be the only mark in a text without marks, and change the tokens that such texts have always had.
    """
    lower = text.lower()
    if _DOTTED not in text:
        return lower
    characters = list(lower)
    for earlier, dotted in enumerate(re.finditer(_DOTTED, text)):  # no other letter becomes longer
        characters[dotted.start() + earlier + 1] = " "
    return "".join(characters)


@functools.cache
def word_pattern() -> re.Pattern[str]:
    """The expression for the tokens of WORDS in a text of `lower_words`, for shinglers that need them as strings."""
    return re.compile(rf"\w[\w{''.join(map(chr, (*JOINERS, *marks())))}]*")


WORDS = Tokeniser(_word_classes, _ASCII, lower_words, apart=False)
r"""A token is a run of `\w` of the lower-cased text (letters, digits, the underscore), with marks and joiners after the
first character."""

WORDS_1 = Tokeniser(word_characters, _ASCII, str.lower)
r"""Version 1: a token is a run of `\w`, so marks and joiners separate tokens."""


class Tokens(NamedTuple):
    r"""The tokens of many texts, one text after the other.

    Attributes:
        hashes: uint64[tokens].
        starts: int64[texts + 1]; text i owns the tokens from `starts[i]` to before `starts[i + 1]`.
        places: int64[tokens], the start of each in `"\n".join(texts)`, after lower-casing if the tokeniser does so.
    """

    hashes: U64
    starts: I64
    places: I64


def token_hashes(texts: Sequence[str], base: int, salt: int, tokeniser: Tokeniser = WORDS) -> tuple[U64, I64]:
    """The hashes of the tokens of all texts, and the position of each text's first token.

    Args:
        texts: any strings, including lone surrogates and NULs.
        base: the odd multiplier.
        salt: xored with the polynomial before mixing.
        tokeniser: defines the tokens.

    Returns:
        uint64[tokens] in order, and int64[texts + 1].
    Cost:
        some 5 ns a character; temporaries of a few megabytes beside the joined and lower-cased text.
    """
    tokens = _find(texts, base, salt, tokeniser, with_places=len(texts) > 1)
    return tokens.hashes, tokens.starts


def placed_tokens(texts: Sequence[str], base: int, salt: int, tokeniser: Tokeniser = WORDS) -> Tokens:
    """The words of all texts with their places; cost as for `token_hashes`, and 8 bytes more for two characters."""
    return _find(texts, base, salt, tokeniser, with_places=True)


def _find(texts: Sequence[str], base: int, salt: int, tokeniser: Tokeniser, *, with_places: bool) -> Tokens:
    text = "\n".join(texts)
    if tokeniser.lower and not text.isascii():
        # lower() may change the length (U+0130 becomes two characters), so it comes before every count.
        texts = [tokeniser.lower(document) for document in texts]
        text = "\n".join(texts)
    tokens = _Found(len(text), base, tokeniser, with_starts=with_places)
    for start in range(0, len(text), BLOCK):
        tokens.add(text[start : start + BLOCK], start)
    hashes, places = tokens.polynomials[: tokens.count], tokens.starts[: tokens.count]
    for start in range(0, hashes.size, BLOCK):
        block = hashes[start : start + BLOCK]
        block ^= np.uint64(salt)
        mix_in_place(block)
    if len(texts) == 1:
        return Tokens(hashes, np.array([0, hashes.size]), places)
    bounds = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return Tokens(hashes, np.searchsorted(places, bounds).astype(np.int64, copy=False), places)


def token_places(text: str, tokeniser: Tokeniser = WORDS) -> tuple[I64, I64]:
    """The start and the end of each token of a text: int64[tokens] each; in one pass, for texts to display."""
    lower, origins = lowered(text, tokeniser.lower) if tokeniser.lower else unchanged(text)
    if not lower:
        return origins.starts, origins.ends
    starts, ends, _ = _cut(_classes(code_points(lower), tokeniser).view(np.uint8), NOTHING)
    return origins.starts[starts], origins.ends[ends - 1]


class _Found:
    """The tokens found so far; the last one may continue in the next block.

    The arrays have space for the most tokens that a text can have; the unused part takes no memory for a long text.
    """

    def __init__(self, characters: int, base: int, tokeniser: Tokeniser, *, with_starts: bool) -> None:
        most = characters // 2 + 1 if tokeniser.apart else characters
        self.count = 0
        self.polynomials = np.empty(most, np.uint64)
        self.starts = np.empty(most if with_starts else 0, np.int64)
        self._base = base
        self._tokeniser = tokeniser
        self._open = 0  # characters so far of the unfinished token of the last block
        self._kind = NOTHING  # its class: WORD or SINGLE

    def add(self, block: str, position: int) -> None:
        """Find the tokens of the next block of text."""
        polynomials, starts, ends, kinds = _block_tokens(block, self._base, self._tokeniser, self._kind)
        before, self._open = self._open, 0
        continues, self._kind = kinds
        if not starts.size:
            return
        if ends[-1] == len(block):
            self._open = int(ends[-1] - starts[-1])
        if before and continues and starts[0] == 0:
            whole = int(self.polynomials[self.count - 1]) + int(polynomials[0]) * power(self._base, before)
            self.polynomials[self.count - 1] = whole & _MASK
            if starts.size == 1 and self._open:
                self._open += before
            polynomials, starts = polynomials[1:], starts[1:]
        new = slice(self.count, self.count + starts.size)
        self.polynomials[new] = polynomials
        if self.starts.size:
            self.starts[new] = starts + position
        self.count = new.stop


def _block_tokens(block: str, base: int, tokeniser: Tokeniser, kind: int) -> tuple[U64, I64, I64, tuple[bool, int]]:
    """Polynomials, starts and ends of the tokens of at most BLOCK characters, lower-cased if the tokeniser does so.

    Also returns whether a token at the start continues the last token of the previous block, which has the class
    `kind`, and the class of the last token of this block.
    """
    continues = kind != SINGLE
    if block.isascii():
        codes = np.frombuffer(block.encode("ascii").translate(tokeniser.ascii), np.uint8).astype(np.uint64)
        edges = _edges(codes != 0)
        starts, ends = edges[0::2], edges[1::2]
        kind = WORD if codes[-1] else NOTHING
    else:
        points = code_points(block)
        codes = points.astype(np.uint64)
        classes = _classes(points, tokeniser)
        if tokeniser.apart or classes.max() <= WORD:
            edges = _edges(classes.view(np.bool_))
            starts, ends = edges[0::2], edges[1::2]
            kind = int(classes[-1])
        else:
            before = kind
            starts, ends, kind = _cut(classes.view(np.uint8), before)
            continues = classes[0] == MARK or before == WORD == classes[0]
        if tokeniser.shift:
            codes += np.uint64(tokeniser.shift)
    powers, inverses = _powers(base)
    codes *= powers[: codes.size]
    sums = np.zeros(codes.size + 1, np.uint64)
    np.cumsum(codes, out=sums[1:])
    polynomials = sums[ends]
    polynomials -= sums[starts]
    polynomials *= inverses[starts]
    return polynomials, starts, ends, (bool(continues), kind)


def _classes(codes: npt.NDArray[np.unsignedinteger], tokeniser: Tokeniser) -> Bools | U8:
    """The class of each of these characters."""
    table = tokeniser.classes(bool(codes.max() >= PLANE_0))
    classes: Bools | U8 = table[codes]
    return classes


def _cut(classes: U8, before: int) -> tuple[I64, I64, int]:
    """The starts and ends of tokens, and the class of the last character; `before` is the class before the first one.

    A mark has the class of its base character.  The caller decides whether a token at 0 is a new one.
    """
    own = classes
    places = (classes == MARK).nonzero()[0]
    if places.size:
        firsts = np.flatnonzero(np.diff(places, prepend=-2) > 1)  # of each run of marks
        bases = places[firsts] - 1
        owners = np.where(bases < 0, np.uint8(before), classes[bases])
        own = classes.copy()
        own[places] = np.repeat(owners, np.diff(firsts, append=places.size))
    inside, word = own != NOTHING, own == WORD
    new = inside.copy()
    new[1:] &= ~(word[1:] & word[:-1])
    new[places] = False
    new[0] = inside[0]
    last = inside.copy()
    last[:-1] &= new[1:] | ~inside[1:]
    return new.nonzero()[0], last.nonzero()[0] + 1, int(own[-1])


def _edges(mask: Bools) -> I64:
    """The starts and ends of the runs of True, alternating."""
    padded = np.zeros(mask.size + 2, np.bool_)
    padded[1:-1] = mask
    edges: I64 = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges


@functools.lru_cache(maxsize=8)
def _powers(base: int) -> tuple[U64, U64]:
    """base^i and base^-i for every place of a block."""
    powers, inverses = np.ones(BLOCK, np.uint64), np.ones(BLOCK, np.uint64)
    powers[1:], inverses[1:] = np.uint64(base), np.uint64(power(base, -1))
    return np.cumprod(powers), np.cumprod(inverses)
