"""Random numbers from a seed, the same on every machine, for the functions of families.

A sequence of n numbers is the beginning of every longer sequence of its seed.
"""

import numpy as np

from stream_lsh.arrays import F64, I64, U64
from stream_lsh.hashing import fmix64, odd_constants

_S11, _S32 = np.uint64(11), np.uint64(32)


def random_words(count: int, seed: int, salt: int) -> U64:
    """Random words of 64 bits, uint64[count]; different salts keep the uses of one seed apart."""
    mixed = fmix64(np.array([int(seed) & 0xFFFFFFFFFFFFFFFF], np.uint64)) + np.uint64(salt)
    return fmix64(odd_constants(count, int(fmix64(mixed)[0])))


def uniforms(count: int, seed: int, salt: int) -> F64:
    """Uniform numbers above 0 and below 1, float64[count]."""
    numbers = (random_words(count, seed, salt) >> _S11).astype(np.float64)
    numbers += 0.5
    numbers *= 2.0**-53
    return np.minimum(numbers, 1 - 2.0**-53)


def below(limit: int, count: int, seed: int, salt: int) -> I64:
    """Uniform whole numbers from 0 on, below a limit of at most 2^32: int64[count]."""
    numbers = ((random_words(count, seed, salt) >> _S32) * np.uint64(limit)) >> _S32
    return numbers.astype(np.int64)


def gaussians(rows: int, columns: int, seed: int, salt: int) -> F64:
    """Standard normal numbers, float64[rows, columns], by the transform of Box and Muller (1958); each below 9."""
    pairs = uniforms(2 * rows * columns, seed, salt).reshape(rows, columns, 2)
    numbers: F64 = np.sqrt(-2 * np.log(pairs[:, :, 0])) * np.cos(2 * np.pi * pairs[:, :, 1])
    return numbers


def signs(rows: int, columns: int, seed: int, salt: int) -> F64:
    """-1 or 1 with a probability of one half each, float64[rows, columns]."""
    bits = random_words(rows * columns, seed, salt).reshape(rows, columns) >> np.uint64(63)
    return 2.0 * bits.astype(np.float64) - 1.0
