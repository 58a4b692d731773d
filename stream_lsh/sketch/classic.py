"""Classic minhashing: as many hash functions as slots, and the minimum of each over the shingles.

    signature[j] = min over x of  (A_j fold(x) + B_j) mod 2^32,    fold(x) = (x ^ x >> 32) mod 2^32,  A_j odd

Reference: Broder, On the resemblance and containment of documents, 1997; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, section 3.3.  It is the reference for other schemes, because its slots are independent.
"""

import numpy as np

from stream_lsh.arrays import U32, U64
from stream_lsh.hashing import odd_constants
from stream_lsh.sketch.minima import minima_by_document
from stream_lsh.sketch.scheme import check_settings
from stream_lsh.text.shingles import Shingles

_S32 = np.uint64(32)
_SHORT = 64  # shingles: up to this number the minimum along the short axis of [shingles, slots] is faster


class ClassicMinHash:
    """k independent hash functions: exact textbook semantics, ten times the cost of the default for texts of 3 KB.

    Args:
        slots: length of a signature.
        seed: chooses the functions.

    Guarantees:
        P(slots agree) = J; variance of the estimate J(1-J)/slots.
    Cost:
        slots multiply-adds a shingle, some 75 ns at 128 slots.

    Example:
        >>> from stream_lsh.text.catalog import shingler
        >>> ClassicMinHash(slots=4)(shingler("word:1")(["to be or not to be", "be not or to", ""])).tolist()[2]
        [4294967295, 4294967295, 4294967295, 4294967295]
    """

    name = "classic"
    version = 1

    def __init__(self, slots: int = 128, seed: int = 1) -> None:
        check_settings(self.name, slots)
        self.slots = slots
        self.seed = seed
        self._factors = (odd_constants(slots, 7919 * seed + 11) >> _S32).astype(np.uint32) | np.uint32(1)
        self._terms = (odd_constants(slots, 104_729 * seed + 5) >> _S32).astype(np.uint32)

    def __call__(self, shingles: Shingles) -> U32:
        """One signature a document: uint32[n, slots]."""
        return minima_by_document(shingles, self.slots, self._minima)

    def _minima(self, hashes: U64) -> U32:
        folded = (hashes ^ (hashes >> _S32)).astype(np.uint32)
        if folded.size <= _SHORT:
            values = folded[:, None] * self._factors
            values += self._terms
            return np.asarray(values.min(axis=0))
        values = self._factors[:, None] * folded
        values += self._terms[:, None]
        return np.asarray(values.min(axis=1))
