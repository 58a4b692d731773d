"""Minhashing by random permutations: one permutation of all 64-bit hashes for each slot, and its first shingle.

    signature[j] = min over x of  fmix64(A_j x + B_j)  >> 32,    A_j odd, all arithmetic modulo 2^64

The map x to A_j x + B_j is a permutation of the 64-bit numbers, fmix64 is another one, and so is their composition.
The stored 32 bits determine the least value, except for a tie in a slot with a probability of n / 2^32.

Reference: Broder, Charikar, Frieze and Mitzenmacher, Min-wise independent permutations, 2000.  Permutations drawn from
all possible ones would take 2^70 bits each; these have no known structure, and are the closest that can be computed.
"""

import numpy as np

from stream_lsh.arrays import U32, U64
from stream_lsh.hashing import fmix64, odd_constants
from stream_lsh.sketch.minima import minima_by_document
from stream_lsh.sketch.scheme import check_settings
from stream_lsh.text.shingles import Shingles

_S32 = np.uint64(32)


class PermutedMinHash:
    """k scrambled permutations: the most expensive scheme, without any structure; a reference, not for streams.

    Args:
        slots: length of a signature.
        seed: chooses the permutations.

    Guarantees:
        P(slots agree) = J; variance of the estimate J(1-J)/slots.
    Cost:
        a 64-bit scramble a slot and shingle, some forty times the cost of classic minhashing.

    Example:
        >>> from stream_lsh.text.catalog import shingler
        >>> texts = ["the quick brown fox jumps over the lazy dog", "the quick brown fox jumped over the lazy dog"]
        >>> left, right = PermutedMinHash(slots=128)(shingler("char:3")(texts))
        >>> float((left == right).mean())  # exactly 36 / 43
        0.8046875
    """

    name = "permuted"
    version = 1

    def __init__(self, slots: int = 128, seed: int = 1) -> None:
        check_settings(self.name, slots)
        self.slots = slots
        self.seed = seed
        self._factors = odd_constants(slots, 7919 * seed + 11)
        self._terms = odd_constants(slots, 104_729 * seed + 5)

    def __call__(self, shingles: Shingles) -> U32:
        """One signature a document: uint32[n, slots]."""
        return minima_by_document(shingles, self.slots, self._minima)

    def _minima(self, hashes: U64) -> U32:
        values = self._factors[:, None] * hashes
        values += self._terms[:, None]
        return np.asarray(fmix64(values).min(axis=1) >> _S32, np.uint32)
