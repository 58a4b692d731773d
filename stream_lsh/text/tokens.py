r"""Hashes of the tokens of many texts at once, without making a string per token.

A token is what `re.findall(r"\w+", text.lower())` finds; its hash depends on its characters alone:

    hash = mix( salt xor  sum over i of  c[i] * base^i   mod 2^64 )

In a block of joined texts every character is multiplied by the power of its place; the running sum gives each token's
polynomial as a difference, times the inverse power of its start (the base is odd, so it has an inverse).  A token that
runs over the end of a block is put together from its parts.
"""

import functools
import re
from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.hashing import mix_in_place
from stream_lsh.text.char import code_points
from stream_lsh.text.groups import BLOCK
from stream_lsh.text.origins import lowered
from stream_lsh.text.shingles import offsets_of
from stream_lsh.text.windows import WORD_BITS, power

_TOKEN = re.compile(r"\w+")
_MASK = (1 << WORD_BITS) - 1


def token_hashes(texts: Sequence[str], base: int, salt: int) -> tuple[U64, I64]:
    r"""The hashes of the lower-cased `\w+` tokens of all texts, and where each text's tokens start.

    Args:
        texts: any strings, lone surrogates and NULs included.
        base: the odd multiplier.
        salt: is xored to the polynomial before it is mixed.

    Returns:
        uint64[tokens] in order, and int64[texts + 1].
    Cost:
        some 5 ns a character; temporaries of a few megabytes beside the joined and lower-cased text.
    """
    text = "\n".join(texts)
    if not text.isascii():
        # Here lower() may change the length (U+0130 becomes two), so it comes before every count.
        texts = [one.lower() for one in texts]
        text = "\n".join(texts)
    found = _Found(len(text), base, with_starts=len(texts) > 1)
    for start in range(0, len(text), BLOCK):
        found.add(text[start : start + BLOCK], start)
    hashes = found.polynomials[: found.count]
    for start in range(0, hashes.size, BLOCK):
        block = hashes[start : start + BLOCK]
        block ^= np.uint64(salt)
        mix_in_place(block)
    if len(texts) == 1:
        return hashes, np.array([0, hashes.size])
    bounds = offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return hashes, np.searchsorted(found.starts[: found.count], bounds).astype(np.int64, copy=False)


def token_places(text: str) -> tuple[I64, I64]:
    """Where each token of a text starts and ends in it: int64[tokens] each; the slow way, for texts that are shown."""
    lower, origins = lowered(text)
    spans = np.array([found.span() for found in _TOKEN.finditer(lower)], np.int64).reshape(-1, 2)
    return origins.starts[spans[:, 0]], origins.ends[spans[:, 1] - 1]


class _Found:
    """The tokens found so far; the last one may go on in the next block.

    The arrays have room for the most tokens that a text can have; what a long text does not use of it takes no memory.
    """

    def __init__(self, characters: int, base: int, *, with_starts: bool) -> None:
        most = characters // 2 + 1
        self.count = 0
        self.polynomials = np.empty(most, np.uint64)
        self.starts = np.empty(most if with_starts else 0, np.int64)
        self._base = base
        self._open = 0  # characters so far of the token that the last block ended in

    def add(self, block: str, position: int) -> None:
        """Finds the tokens of the next block of text."""
        polynomials, starts, ends = _block_tokens(block, self._base)
        before, self._open = self._open, 0
        if not starts.size:
            return
        if ends[-1] == len(block):
            self._open = int(ends[-1] - starts[-1])
        if before and starts[0] == 0:
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


def _block_tokens(block: str, base: int) -> tuple[U64, I64, I64]:
    """Polynomials, starts and ends of the tokens of at most BLOCK lower-cased or ASCII characters."""
    if block.isascii():
        codes = np.frombuffer(block.encode("ascii").translate(_ASCII), np.uint8).astype(np.uint64)
        edges = _edges(codes != 0)
    else:
        codes = code_points(block).astype(np.uint64)
        edges = _edges(_word_characters(bool(codes.max() > _LAST_OF_PLANE_0))[codes.view(np.int64)])
    starts, ends = edges[0::2], edges[1::2]
    powers, inverses = _powers(base)
    codes *= powers[: codes.size]
    sums = np.zeros(codes.size + 1, np.uint64)
    np.cumsum(codes, out=sums[1:])
    polynomials = sums[ends]
    polynomials -= sums[starts]
    polynomials *= inverses[starts]
    return polynomials, starts, ends


def _edges(mask: Bools) -> I64:
    """Where runs of True start and end, alternating."""
    padded = np.zeros(mask.size + 2, np.bool_)
    padded[1:-1] = mask
    edges: I64 = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges


# For bytes.translate, which is faster than an array as a table: the lower-cased character, or 0 where no token has one.
_ASCII = bytes(ord(chr(code).lower()) if code < 128 and re.match(r"\w", chr(code)) else 0 for code in range(256))
_LAST_OF_PLANE_0 = 0xFFFF


@functools.cache
def _word_characters(all_planes: bool) -> Bools:
    r"""For each code point, of plane 0 or of all, whether `\w` matches it."""
    size = 0x110000 if all_planes else _LAST_OF_PLANE_0 + 1
    table = np.zeros(size, np.bool_)
    for run in re.finditer(r"\w+", "".join(map(chr, range(size)))):
        table[run.start() : run.end()] = True
    return table


@functools.lru_cache(maxsize=8)
def _powers(base: int) -> tuple[U64, U64]:
    """base^i and base^-i for every place of a block."""
    powers, inverses = np.ones(BLOCK, np.uint64), np.ones(BLOCK, np.uint64)
    powers[1:], inverses[1:] = np.uint64(base), np.uint64(power(base, -1))
    return np.cumprod(powers), np.cumprod(inverses)
