"""The mixers and constants that every kernel shares: 64-bit arithmetic that wraps.

Sources: Appleby, MurmurHash3 finaliser (public domain); Steele, Lea and Flood, Fast splittable pseudorandom number
generators, 2014, for the golden-ratio sequence that the constants are drawn from.
"""

import numpy as np

from stream_lsh.arrays import U32, U64

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_S29, _S32, _S33 = np.uint64(29), np.uint64(32), np.uint64(33)


def fmix64(values: U64) -> U64:
    """A bijective scramble of every value, as a new array of the same shape: any bit depends on every bit.

    Example:
        >>> [hex(v) for v in fmix64(np.array([0, 1], dtype=np.uint64)).tolist()]
        ['0x0', '0xb456bcfc34c2cb2c']
    """
    h = values ^ (values >> _S33)
    h *= _M1
    h ^= h >> _S33
    h *= _M2
    h ^= h >> _S33
    return h


def fmix32(values: U32) -> U32:
    """A bijective scramble of every 32-bit value, as a new array of the same shape.

    Example:
        >>> [hex(v) for v in fmix32(np.array([0, 1], dtype=np.uint32)).tolist()]
        ['0x0', '0x514e28b7']
    """
    h = values ^ (values >> np.uint32(16))
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h


def mix_in_place(values: U64) -> U64:
    """A cheaper bijective scramble that overwrites its argument and returns it; enough behind a polynomial hash."""
    values ^= values >> _S32
    values *= _M1
    values ^= values >> _S29
    return values


def odd_constants(count: int, seed: int) -> U64:
    """`count` fixed odd multipliers for a seed: uint64[count], the same on every machine."""
    sequence = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN + np.uint64(int(seed) & 0xFFFFFFFFFFFFFFFF)
    return fmix64(sequence) | np.uint64(1)
