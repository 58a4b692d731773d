"""Shingles in four bytes, and their probability of collisions.

A shingle of nine characters stored as a number of four bytes takes less than half the space, and distinguishes far more
shingles than four characters do: text contains few of the 2^32 groups of four bytes, while the hashes are spread over
all numbers.  The price is accidental equality: two different shingles become equal with a probability of 2^-32, and n
different ones contain

    n (n - 1) / 2^33

such pairs on average (the birthday bound): one at 93,000 shingles, and 1e-2 at 9,000.  With 8 bytes it takes 6 billion.

Hashes are 64 bits wide throughout, and the signature uses the high bits for the slot and the low ones for the value, so
a bijection, which adds no collisions, spreads the 32 stored bits over 64 again.

Source: J. Leskovec, A. Rajaraman and J. Ullman, Mining of Massive Datasets, section 3.2.3.
"""

import math
from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import fmix64
from stream_lsh.text.shingles import Shingler, Shingles, Units

FOUR_BYTES, EIGHT_BYTES = "/4", "/8"
"""The suffixes of names: shingles in 4 bytes, and in 8, which is the default and omitted from `spec`."""

_BITS_OF_A_BYTE = 8
_S32 = np.uint64(32)


class NarrowShingler:
    """The shingles of another shingler, stored in 4 bytes.

    Args:
        inner: makes the shingles.

    Guarantees:
        equal shingles stay equal; different ones become equal with a probability of 2^-32 a pair.
    Cost:
        some 20 ns a shingle beside the inner shingler's.

    Example:
        >>> from stream_lsh.text.shinglers.char import CharShingler
        >>> NarrowShingler(CharShingler(9)).spec
        'char:9/4'
    """

    def __init__(self, inner: Shingler) -> None:
        self._inner = inner
        self.spec = f"{inner.spec}{FOUR_BYTES}"
        self.version = inner.version
        self.k = inner.k
        self.library = inner.library

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        shingles = self._inner(texts)
        return Shingles(spread(four_bytes(shingles.hashes)), shingles.offsets)

    def units(self, text: str) -> Units:
        """The units of the inner shingler."""
        return self._inner.units(text)


def four_bytes(hashes: U64) -> U64:
    """The 32 stored bits of each hash: uint64, below 2^32."""
    return hashes >> _S32


def spread(values: U64) -> U64:
    """A bijection of the 64-bit numbers that makes all bits of a hash depend on the 32 stored ones."""
    return fmix64(values)


def expected_collisions(shingles: int, width: int = 8) -> float:
    """The mean number of pairs with equal hashes among `shingles` different shingles in `width` bytes.

    Example:
        >>> round(expected_collisions(92_682, width=4), 3), expected_collisions(1_000_000) < 3e-8
        (1.0, True)
    """
    return shingles * (shingles - 1) / 2 / 2.0 ** (_BITS_OF_A_BYTE * width)


def collision_probability(shingles: int, width: int = 8) -> float:
    """The probability of at least one collision among `shingles` different shingles in `width` bytes.

    Guarantees:
        1 - exp(-expected_collisions), which is the birthday problem to a relative error of some n³ / 2^(16 width).

    Example:
        >>> round(collision_probability(77_163, width=4), 3), collision_probability(1, width=4)
        (0.5, 0.0)
    """
    return -math.expm1(-expected_collisions(shingles, width))


def expected_shared(left: int, right: int, width: int = 8) -> float:
    """The mean number of shingles that two documents without a common one share by collision.

    Example:
        >>> expected_shared(5_000, 5_000, width=4) < 0.006
        True
    """
    return left * right / 2.0 ** (_BITS_OF_A_BYTE * width)
