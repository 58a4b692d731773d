"""Minhashing, for the Jaccard distance: a function is the minimum of a set under a random permutation.

    P(agree) = 1 - d                      d: 1 - Jaccard similarity

Reference: Broder, On the resemblance and containment of documents, 1997; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, section 3.6.2.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, U32, U64
from stream_lsh.hashing import fmix64
from stream_lsh.lsh.families.draws import random_words
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import Hashes, Items
from stream_lsh.sketch.catalog import scheme
from stream_lsh.sketch.fast_similarity import FastSimilarity
from stream_lsh.sketch.scheme import SignatureScheme
from stream_lsh.text.shingles import Shingles


@dataclass(frozen=True)
class MinHash(Family):
    """Items are shingles (`text.shingles`); a function is a slot of a signature scheme.

    The shingles are hashed again with the seed, because a scheme's first round may use them unchanged: the values are
    not the signatures of a pipeline, whose shingler uses its seed too.

    Args:
        scheme: name of the signature scheme.

    Guarantees:
        (d1, d2, 1 - d1, 1 - d2)-sensitive.  The slots of `classic` are independent; those of `fast` are nearly so, and
        composed families are steeper with it than their curves, by at most some hundredths.

    Example:
        >>> MinHash().sensitivity(0.2, 0.8).p1
        0.8
    """

    scheme: str = FastSimilarity.name

    name: ClassVar[str] = "minhash"
    unit: ClassVar[str] = "Jaccard distance"

    def __post_init__(self) -> None:
        scheme(self.scheme)

    @property
    def farthest(self) -> float:
        """The distance of disjoint sets."""
        return 1.0

    def curve(self, distances: F64) -> F64:
        """1 - d."""
        return np.maximum(0.0, 1 - distances)

    def draw(self, count: int, seed: int) -> Hashes:
        """Draw one slot for each function; documents without shingles have `NOTHING` in all."""
        return _Minima(scheme(self.scheme, count, seed), random_words(1, seed, salt=601))


class _Minima:
    def __init__(self, signer: SignatureScheme, salt: U64) -> None:
        self._signer = signer
        self._salt = salt

    def __call__(self, items: Items) -> U32:
        return self._signer(Shingles(fmix64(items.hashes ^ self._salt), items.offsets))
