"""Hashes of every window of k neighbouring values: a polynomial, then a scramble.

    hash(i) = scramble( salt xor  sum over j < k of  value[i + j] * base^(k - 1 - j)   mod 2^64 )

The polynomial of a window of a + b values is that of its first a, times base^b, plus that of its last b; so windows
of k take some 2 log2 k passes, not k.  An attacker who knows the base can construct texts whose windows collide: keep
the seed secret if texts may be hostile.
"""

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import I64, U64
from stream_lsh.hashing import mix_in_place, odd_constants
from stream_lsh.text.hashing.groups import BLOCK

WORD_BITS = 64
_SECOND_FACTOR = np.uint64(0xC4CEB9FE1A85EC53)
_MODULUS = 1 << WORD_BITS


def polynomial_base(seed: int) -> int:
    """A random multiplier that is 5 modulo 8, the odd numbers whose powers repeat as late as possible (after 2^62)."""
    return int(odd_constants(1, seed)[0]) & ~7 | 5


def power(base: int, exponent: int) -> int:
    """`base` to the power of `exponent` modulo 2^64; a negative exponent is that of the inverse of an odd base."""
    return pow(base, exponent, _MODULUS)


def polynomial_windows(values: U64, k: int, base: int) -> U64:
    """The polynomials of all windows of k values: uint64[values.size - k + 1], never the argument itself.

    Example:
        >>> polynomial_windows(np.array([1, 2, 3, 4], dtype=np.uint64), 3, 10).tolist()
        [123, 234]
    """
    done, done_width = values, 0
    doubled, width = values, 1
    while True:
        if k & 1:
            if done_width:
                count = values.size - done_width - width + 1
                done = _joined(done[:count], doubled[done_width : done_width + count], power(base, width))
            else:
                done = doubled
            done_width += width
        k >>= 1
        if not k:
            return done.copy() if done is values else done
        doubled = _joined(doubled[:-width], doubled[width:], power(base, width))
        width *= 2


def _joined(left: U64, right: U64, shift: int) -> U64:
    windows = left * np.uint64(shift)
    windows += right
    return windows


def hash_windows(values: npt.NDArray[np.unsignedinteger], k: int, base: int, salt: int) -> U64:
    """The hashes of all windows of k values, in blocks whose temporaries are small: uint64[max(0, size - k + 1)].

    Args:
        values: unsigned integers of any width; the width does not change the hashes.
        k: values in a window, 1 or more.
        base: the odd multiplier.
        salt: is xored to the polynomial before it is scrambled.
    """
    hashes = np.empty(max(0, values.size - k + 1), np.uint64)
    for start in range(0, hashes.size, BLOCK):
        block = polynomial_windows(values[start : start + BLOCK + k - 1].astype(np.uint64), k, base)
        block ^= np.uint64(salt)
        hashes[start : start + BLOCK] = _scramble(block)
    return hashes


def _scramble(polynomials: U64) -> U64:
    """Overwrites polynomials with hashes.

    One multiplication is not enough: the polynomials of short windows over few characters (digits) lie on a lattice,
    which shows in the highest bits (chi-square of 1.9 a degree of freedom), and those choose the slot of a signature
    (docs/internals/adr/0004).
    """
    mix_in_place(polynomials)
    polynomials *= _SECOND_FACTOR
    return polynomials


def drop_straddling(hashes: U64, lengths: I64, k: int) -> U64:
    """Without the windows that begin in one text and end in another.

    Args:
        hashes: of all windows of k values of the joined texts.
        lengths: values of each text, int64[n], each 0 or at least k.
        k: values in a window.

    Returns:
        one hash per window that lies within its text, in order; may be the argument itself.
    """
    lengths = lengths[lengths > 0]
    if lengths.size <= 1:
        return hashes
    ends = np.cumsum(lengths)
    if hashes.size > _LONG_TEXT * ends.size:
        starts = (ends - lengths).tolist()
        return np.concatenate([hashes[a:b] for a, b in zip(starts, (ends - k + 1).tolist(), strict=True)])
    keep = np.ones(hashes.size, np.bool_)
    keep[(ends[:-1, None] - np.arange(1, k)).ravel()] = False
    return hashes[keep]


_LONG_TEXT = 600  # windows a text: from here on copying slices beats a mask
