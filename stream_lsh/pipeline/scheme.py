"""The interface between the steps and a kind of data: signatures, buckets, comparison.

Two versions can be compared only if the same scheme made both, so `settings` - all values that their bytes depend on -
is in every frame and changelog record, as a fingerprint.
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
    """The interface of a pipeline's kind of data for the steps."""

    @property
    def slots(self) -> int:
        """The length of a signature."""

    @property
    def width(self) -> int:
        """The largest number of buckets of a version."""

    @property
    def settings(self) -> dict[str, str | int | float]:
        """All values that signatures, buckets and similarities depend on."""

    def sign(self, texts: Sequence[str]) -> Signatures:
        """One signature and one digest for each text."""

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each text: uint64[n, width], 0 for none; a unique one may come last."""

    def comparer(self) -> Comparer:
        """The comparer of verify; it remembers compared versions."""

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The conditions of a match."""

    def block(self, bucket: int) -> str:
        """The name of the rule of a bucket; "" where rules have no names."""

    def counts(self) -> LiveObserver | None:
        """An observer that counts live versions of a table of documents, if the kind needs one."""

    def promised(self, similarity: F64) -> F64:
        """The probability that pairs of these Jaccard similarities share a bucket; 0 without a promise."""


class SchemeDefaults:
    """The methods of a scheme without names of buckets, without counts and without a promise."""

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
        banding: bands and rows, and their recall.
    """

    banding: Banding
    _bands: Bands

    def _set_bands(self, banding: Banding, seed: int) -> None:
        self.banding = banding
        self._bands = Bands(banding.bands, banding.rows, seed)

    @property
    def width(self) -> int:
        """The number of buckets of a version: the bands, and that of its digest."""
        return self.banding.bands + 1

    @property
    def band_settings(self) -> dict[str, str | int | float]:
        """All values that the buckets depend on, beside the signatures."""
        return {"bands": self.banding.bands, "rows": self.banding.rows, "bands_version": self._bands.version}

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each version, that of the digest last: uint64[n, bands + 1]; all 0 for the digest 0."""
        keys = np.concatenate((self._bands(signatures.values), digest_buckets(signatures.digests)[:, None]), axis=1)
        keys[signatures.digests == 0] = 0
        return keys
