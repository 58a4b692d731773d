"""The scheme of a pipeline of vectors: signatures are the values of functions from the family of its distance.

The text of a vector is base64 of its bytes (`kinds.vector.content`).  Banding is that of texts: a function agrees about
two vectors with a probability that decreases with their distance, and the probability at the greatest distance of a
match takes the place of the threshold.

Reference: Indyk and Motwani, Approximate nearest neighbors: towards removing the curse of dimensionality, 1998;
Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.7.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.comparison import Comparison, Explained
from stream_lsh.kinds.vector.comparer import VectorPairs
from stream_lsh.kinds.vector.content import vector_digests
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.lsh.solver import Banding, choose_banding
from stream_lsh.measure.filters import least_matching_slots
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria, SignatureAgreement, common_buckets
from stream_lsh.pipeline.scheme import BandedScheme

SLOTS = 256
"""The default number of functions; each has less information about a pair than a minhash slot, hence more of them."""
_VERSION = 1
_BINS = 1_000


class VectorScheme(BandedScheme):
    """The scheme of a pipeline of vectors.

    Args:
        measure: of distance, with the greatest distance of a match, which determines the bands.
        recall: the probability that a pair at that distance becomes a candidate; it is greater for nearer pairs.
        slots: the number of functions, which is the length of a signature.
        seed: of all functions.

    Raises:
        ConfigError: no banding has this recall -> the change that the message proposes.
    """

    def __init__(self, measure: VectorMeasure, *, recall: float = 0.99, slots: int = SLOTS, seed: int = 1) -> None:
        self.measure = measure
        self.slots = slots
        self._seed = seed
        family = measure.family()
        self.probability = family.probability(measure.distance)
        self._set_bands(_banding(measure, self.probability, recall, slots), seed)
        self._hashes = family.draw(slots, seed)

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that signatures, buckets and distances depend on."""
        return {
            "kind": "vector",
            "vectors_version": _VERSION,
            **self.measure.settings,
            "slots": self.slots,
            "seed": self._seed,
            **self.band_settings,
        }

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The value of each function for each vector, and a digest of its bytes."""
        if not texts:
            return Signatures(np.empty((0, self.slots), np.uint32), np.empty(0, np.uint64))
        return Signatures(self._hashes(self.measure.vectors(texts)), vector_digests(texts))

    def comparer(self) -> VectorPairs:
        """The comparer, with which verify computes distances."""
        return VectorPairs(self.measure)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The criteria of a match: the threshold is the least similarity (`VectorMeasure.least`)."""
        return Criteria(threshold, self.least_matching, retention_ms)

    @property
    def least_matching(self) -> int:
        """The slots in which the signatures of a match agree, except for one in 10,000 at the greatest distance."""
        return least_matching_slots(self.probability, self.slots)

    def similarity(self, left: str, right: str) -> float:
        """The exact similarity of two vectors, as verify computes it."""
        vectors = self.measure.vectors([left, right])
        return float(self.measure.similarity(self.measure.between(vectors[:1], vectors[1:]))[0])

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two vectors; they have neither shingles nor passages."""
        return Explained(None if left is None or right is None else self._compare(left, right))

    def _compare(self, left: str, right: str) -> Comparison:
        vectors, signatures = self.measure.vectors([left, right]), self.sign([left, right])
        distances = self.measure.between(vectors[:1], vectors[1:])
        matching, slots, met, bands, probability = self.agreement(signatures, float(distances[0]))
        return Comparison(
            similarity=float(self.measure.similarity(distances)[0]),
            shared=0,
            union=0,
            near_in_size=True,
            matching=matching,
            slots=slots,
            met=met,
            bands=bands,
            probability=probability,
            identical=left == right,
            distance=float(distances[0]),
            greatest=self.measure.distance,
        )

    def agreement(self, signatures: Signatures, distance: float) -> SignatureAgreement:
        """The agreement of the signatures of two vectors at this distance."""
        left, right = signatures.values
        probability = self.banding.probability_at(self.measure.family().probability(distance))
        met = common_buckets(self.buckets(signatures))
        return SignatureAgreement(int((left == right).sum()), self.slots, met, self.banding.bands, probability)


def _banding(measure: VectorMeasure, probability: float, recall: float, slots: int) -> Banding:
    try:
        return choose_banding(probability, recall, slots, histogram=_background())
    except ConfigError as error:
        context = f"these are probabilities that a function agrees, at the distance {measure.distance:g}: or lower that"
        raise ConfigError([f"{problem}; {context}" for problem in error.problems]) from None


def _background() -> F64:
    """The probability that a function agrees about an unrelated pair: one half, as for vectors at right angles."""
    middles = (np.arange(_BINS) + 0.5) / _BINS
    return np.asarray((middles * (1 - middles)) ** 20)
