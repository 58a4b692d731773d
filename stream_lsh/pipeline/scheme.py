"""The interface between the steps and a kind of data: signatures, buckets, comparison.

Two versions can be compared only if the same scheme made both, so `settings` - everything that their bytes depend on -
travels with every frame and changelog record as a fingerprint.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from stream_lsh.arrays import F64, U64
from stream_lsh.lsh.banding import Bands, digest_buckets
from stream_lsh.lsh.solver import Banding
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.documents.observer import LiveObserver


class Scheme(Protocol):
    """What the steps need to know of a pipeline's kind of data."""

    @property
    def slots(self) -> int:
        """The length of a signature."""

    @property
    def width(self) -> int:
        """How many buckets a version is in at most."""

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Everything that signatures, buckets and similarities depend on."""

    def sign(self, texts: Sequence[str]) -> Signatures:
        """One signature and one digest a text."""

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each text: uint64[n, width], 0 for none; one that nothing else has may come last."""

    def comparer(self) -> Comparer:
        """What verify compares pairs with; it remembers what it met."""

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """What makes a pair a match."""

    def block(self, bucket: int) -> str:
        """What the rule is called that a bucket is of; "" where rules have no names."""

    def counts(self) -> LiveObserver | None:
        """What a table of documents has to count of its live versions, if anything."""

    def promised(self, similarity: F64) -> F64:
        """The probability that pairs of these Jaccard similarities share a bucket; 0 where a kind promises nothing."""


class SchemeDefaults:
    """The methods of a scheme whose buckets have no names, which counts nothing and promises nothing."""

    def block(self, bucket: int) -> str:
        """No name."""
        return ""

    def counts(self) -> LiveObserver | None:
        """None: nothing is counted."""
        return None

    def promised(self, similarity: F64) -> F64:
        """Zeros."""
        return np.zeros_like(similarity)


class BandedScheme(SchemeDefaults):
    """The buckets of a scheme with bands: one for each band, and one for the digest.

    Attributes:
        banding: bands and rows, and what they promise.
    """

    banding: Banding
    _bands: Bands

    def _set_bands(self, banding: Banding, seed: int) -> None:
        self.banding = banding
        self._bands = Bands(banding.bands, banding.rows, seed)

    @property
    def width(self) -> int:
        """How many buckets a version is in: the bands, and that of its digest."""
        return self.banding.bands + 1

    @property
    def band_settings(self) -> dict[str, str | int | float]:
        """Everything that the buckets depend on beside the signatures."""
        return {"bands": self.banding.bands, "rows": self.banding.rows, "bands_version": self._bands.version}

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each version, that of the digest last: uint64[n, bands + 1]; all 0 for the digest 0."""
        keys = np.concatenate((self._bands(signatures.values), digest_buckets(signatures.digests)[:, None]), axis=1)
        keys[signatures.digests == 0] = 0
        return keys
