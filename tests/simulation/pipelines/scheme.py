"""A scheme without chance: a text names its shingles, and any two that share one meet in a bucket."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.hashing import fmix64
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.kinds.shingled.prefix_buckets import Prefixes
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.firsts import first_members
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.scheme import SchemeDefaults
from stream_lsh.sketch.scheme import EMPTY_SLOT

MOST_SHINGLES = 6


class NamedShingles(SchemeDefaults):
    """Texts such as `3 1 5`: at most six small numbers; an empty text has none.

    The signature is the shingles themselves, so the recall is 1 and a test that fails, fails for the protocol.
    """

    slots: int = MOST_SHINGLES
    width: int = MOST_SHINGLES + 1

    def __init__(self, measure: Measure = JACCARD) -> None:
        self.measure = measure

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Everything that the bytes depend on."""
        return {"kind": "named shingles", "slots": self.slots}

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The shingles, padded with the first one."""
        values = np.full((len(texts), self.slots), EMPTY_SLOT, np.uint32)
        digests = np.zeros(len(texts), np.uint64)
        for row, text in enumerate(texts):
            shingles = sorted({int(word) for word in text.split()})
            if shingles:
                values[row] = (shingles + shingles[:1] * self.slots)[: self.slots]
                digests[row] = 1 + sum(1 << shingle for shingle in shingles)
        return Signatures(values, digests)

    def buckets(self, signatures: Signatures) -> U64:
        """One bucket a shingle, and that of the whole set."""
        bands = fmix64(signatures.values.astype(np.uint64) + np.uint64(1)) & ~np.uint64(1)
        keys = np.concatenate((bands, (fmix64(signatures.digests) | np.uint64(1))[:, None]), axis=1)
        keys[signatures.digests == 0] = 0
        return keys

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text, ascending."""
        return [np.array(sorted({int(word) for word in text.split()}), np.uint64) for text in texts]

    def comparer(self) -> ShingleSets:
        """Their sets."""
        return ShingleSets(self)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The signatures are no estimate: every candidate is compared."""
        return Criteria(threshold, retention_ms=retention_ms, measure=self.measure)


class ExactShingles(NamedShingles):
    """The same with the buckets of the method `exact`: two meet that may be a match, and others need not.

    Rows have room for three shingles, so that some texts are filed under them, some under their size.
    """

    slots = 4

    def __init__(self, threshold: float, measure: Measure = JACCARD) -> None:
        super().__init__(measure)
        self._prefixes = Prefixes(threshold, self.slots, measure)
        self.width = self._prefixes.width

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Everything that the bytes depend on."""
        return {"kind": "exact shingles", "least": self._prefixes.least}

    def sign(self, texts: Sequence[str]) -> Signatures:
        """Their sizes and first shingles."""
        return Signatures(first_members(self.shingle_sets(texts), self.slots), super().sign(texts).digests)

    def buckets(self, signatures: Signatures) -> U64:
        """Those of first shingles, of sizes, and of the whole set."""
        return self._prefixes.buckets(signatures)

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text as hashes, ascending."""
        return [np.sort(fmix64(numbers + np.uint64(1))) for numbers in super().shingle_sets(texts)]

    def comparer(self) -> ShingleSets:
        """Their sets, where the rows say that they may match."""
        return ShingleSets(self, prefilter=self._prefixes.may_match)
