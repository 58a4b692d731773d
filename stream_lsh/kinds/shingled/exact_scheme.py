"""The scheme of a text pipeline that misses no pair: `method = "exact"`.

A signature stores the size of a text's set of shingles and its first members; the buckets are those of
`prefix_buckets`.  Candidates are filtered by bounds from the signatures of both ends; the remaining ones are compared.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.kinds.comparison import Explained
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.kinds.shingled.explain import explain_shingles
from stream_lsh.kinds.shingled.prefix_buckets import Prefixes
from stream_lsh.kinds.shingled.scheme import Settings, ShingledTexts
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.firsts import first_members
from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria, SignatureAgreement, common_buckets
from stream_lsh.text.catalog import DEFAULT
from stream_lsh.text.digest import bag_digest
from stream_lsh.text.hashing.groups import groups
from stream_lsh.text.shingles import Shingler


class ExactScheme(ShingledTexts):
    """The scheme of a text pipeline in which every pair at or above the threshold shares a bucket.

    Args:
        threshold: the least similarity of a match, above 0 and at most 1.
        shingles, normalise, seed, measure, min_characters, kind_settings: as for `TextScheme`.
        slots: the length of a signature.  The matches do not depend on it: a text of more than some (slots - 1) /
            (1 - threshold) shingles becomes a candidate of all texts of about its size.

    Guarantees:
        every pair at or above the threshold becomes a candidate and is compared, unless a cap excludes it: hash
        collisions only add candidates.

    Raises:
        ConfigError: invalid settings.

    Example:
        >>> scheme = ExactScheme(0.8, "word:1")
        >>> one, other, third = scheme.buckets(scheme.sign(["a b c d e f", "b c d e f", "x y z"]))
        >>> bool(np.isin(one[one != 0], other).any()), bool(np.isin(one[one != 0], third).any())
        (True, False)
    """

    banding = None

    def __init__(
        self,
        threshold: float,
        shingles: str | Shingler = DEFAULT,
        *,
        slots: int = 128,
        normalise: Sequence[str] = ("nfc",),
        seed: int = 1,
        measure: Measure = JACCARD,
        min_characters: int = 0,
        kind_settings: Settings | None = None,
    ) -> None:
        super().__init__(
            shingles,
            normalise=normalise,
            seed=seed,
            measure=measure,
            min_characters=min_characters,
            kind_settings=kind_settings,
        )
        self.prefixes = Prefixes(threshold, slots, measure)
        self.slots, self.width, self._seed = slots, self.prefixes.width, seed

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that signatures, buckets and shingle sets depend on."""
        return {
            **self.text_settings,
            "method": "exact",
            "least_jaccard": self.prefixes.least,
            "prefixes_version": self.prefixes.version,
            "slots": self.slots,
            "seed": self._seed,
        }

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The size and the first shingles of each text, and its digest."""
        values = np.empty((len(texts), self.slots), np.uint32)
        digests = np.empty(len(texts), np.uint64)
        for group in groups(texts):
            shingles = self.shingles(texts[group])
            sets = [sorted_unique(shingles.document(row)) for row in range(len(shingles))]
            values[group] = first_members(sets, self.slots)
            digests[group] = bag_digest(shingles)
        return Signatures(values, digests)

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each text, that of the digest last: uint64[n, width]; all 0 without shingles."""
        return self.prefixes.buckets(signatures)

    def comparer(self) -> ShingleSets:
        """The comparer, with which verify compares pairs, filtered by the signatures of both ends."""
        return ShingleSets(self, prefilter=self.prefixes.may_match)

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two documents by their shingles."""
        return explain_shingles(self, left, right)

    def agreement(self, signatures: Signatures, shared: int, union: int) -> SignatureAgreement:
        """The number of buckets that two texts share; there are no bands and no probabilities."""
        return SignatureAgreement(0, 0, common_buckets(self.buckets(signatures)), 0, 0.0)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The criteria of a match: there are no estimates."""
        return Criteria(threshold, retention_ms=retention_ms, measure=self.measure)
