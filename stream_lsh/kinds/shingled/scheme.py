"""Schemes of texts: the normaliser, shingler, signature scheme and bands of one pipeline."""

from collections.abc import Iterator, Sequence

import numpy as np

from stream_lsh.arrays import F64, U64
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.comparison import Explained
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.kinds.shingled.explain import explain_shingles
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.lsh.solver import Banding, choose_banding, pinned
from stream_lsh.measure.catalog import JACCARD, Measure, similarity_of
from stream_lsh.measure.filters import least_matching_slots
from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria, SignatureAgreement, common_buckets
from stream_lsh.pipeline.scheme import BandedScheme, SchemeDefaults
from stream_lsh.sketch.catalog import scheme as signature_scheme
from stream_lsh.sketch.estimate import matching_slots
from stream_lsh.text.catalog import DEFAULT, shingler
from stream_lsh.text.digest import bag_digest
from stream_lsh.text.hashing.groups import groups
from stream_lsh.text.normalise import UNICODE_VERSION, Normaliser
from stream_lsh.text.passages.copied import Copied, TracedText, passages_between, traced_text
from stream_lsh.text.passages.shared import Passage, passages
from stream_lsh.text.recent_shingles import RecentShingles
from stream_lsh.text.shingles import Shingler, Shingles

Settings = dict[str, str | int | float]


class ShingledTexts(SchemeDefaults):
    """The conversion of texts to sets of shingles, for all schemes of texts and other comparisons of texts.

    Args:
        shingles: such as `word:3` or `char:5`; or a shingler.
        normalise: the normal forms of a text.
        seed: of the hash functions.
        measure: of the threshold.
        min_characters: a shorter text has no shingles, and so no matches.
        kind_settings: further settings of the shingle sets of another kind; None: the kind is texts.
    """

    def __init__(
        self,
        shingles: str | Shingler,
        *,
        normalise: Sequence[str] = ("nfc",),
        seed: int = 1,
        measure: Measure = JACCARD,
        min_characters: int = 0,
        kind_settings: Settings | None = None,
    ) -> None:
        self.measure = measure
        self._kind_settings = kind_settings
        self._min_characters = min_characters
        self._recent = RecentShingles()
        self._normaliser = Normaliser(normalise)
        self._shingler = shingles if callable(shingles) else shingler(shingles, seed)

    @property
    def text_settings(self) -> Settings:
        """The settings that shingle sets depend on, without the seed."""
        of_texts: Settings = {
            "kind": "text",
            "normalise": ",".join(self._normaliser.forms),
            "normaliser_version": self._normaliser.version,
            "unicode": UNICODE_VERSION,
        }
        return {
            **(of_texts if self._kind_settings is None else self._kind_settings),
            "shingles": self._shingler.spec,
            "shingler_version": self._shingler.version,
            **({"shingler_library": self._shingler.library} if self._shingler.library else {}),
            **({"min_characters": self._min_characters} if self._min_characters else {}),
        }

    def shingles(self, texts: Sequence[str]) -> Shingles:
        """The shingles of each text, repetitions kept."""
        least = self._min_characters
        return self._shingler([self._normaliser(text) if len(text) >= least else "" for text in texts])

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text, ascending: uint64[m] each."""
        found = [*map(self._recent.get, texts)]
        missing = [text for text, hashes in zip(texts, found, strict=True) if hashes is None]
        made = self._shingle_sets(missing)
        return [next(made) if hashes is None else sorted_unique(hashes) for hashes in found]

    def _shingle_sets(self, texts: Sequence[str]) -> Iterator[U64]:
        for group in groups(texts):
            shingles = self.shingles(texts[group])
            yield from (sorted_unique(shingles.document(row)) for row in range(len(shingles)))

    def similarity(self, left: str, right: str) -> float:
        """The exact similarity of two texts, as verify computes it."""
        return similarity_of(self.measure, *self.shingle_sets([left, right]))

    def passages(self, text: str, shared: U64) -> list[Passage]:
        """The passages of a text that these shingles cover, ascending and each once, and the gaps between them."""
        return passages(text, self._normaliser.forms, self._shingler, shared)

    def traced(self, text: str) -> TracedText:
        """The shingles of a text with their places, for `copied`."""
        return traced_text(text, self._normaliser.forms, self._shingler)

    def copied(self, left: TracedText, right: TracedText, common: U64, least_units: int = 1) -> list[Copied]:
        """The passages that two texts share, with both places; `common` shingles, ascending, are ignored."""
        return passages_between(left, right, self._shingler.k, common, least_units=least_units)


class TextScheme(BandedScheme, ShingledTexts):
    """The scheme of a text pipeline.

    Args:
        threshold: the least similarity of a match, which determines the bands.
        shingles: such as `word:3` or `char:5`; or a shingler.
        recall: the probability that a pair at the threshold becomes a candidate.
        slots: the length of a signature.
        normalise: the normal forms of a text.
        sketch: the signature scheme.
        seed: of all hash functions.
        measure: of the threshold.
        min_characters: a shorter text has no shingles, and so no matches.
        kind_settings: of another kind than texts, as for `ShingledTexts`.
        banding: pinned bands and rows; None: threshold, recall and slots determine them.
    """

    def __init__(
        self,
        threshold: float,
        shingles: str | Shingler = DEFAULT,
        *,
        recall: float = 0.99,
        slots: int = 128,
        normalise: Sequence[str] = ("nfc",),
        sketch: str = "fast",
        seed: int = 1,
        measure: Measure = JACCARD,
        min_characters: int = 0,
        kind_settings: Settings | None = None,
        banding: Banding | None = None,
    ) -> None:
        self._set_bands(banding or banding_for(threshold, recall, slots, measure), seed)
        super().__init__(
            shingles,
            normalise=normalise,
            seed=seed,
            measure=measure,
            min_characters=min_characters,
            kind_settings=kind_settings,
        )
        self._sketch = signature_scheme(sketch, slots, seed)

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return self._sketch.slots

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that signatures, buckets and shingle sets depend on."""
        return {
            **self.text_settings,
            "sketch": self._sketch.name,
            "sketch_version": self._sketch.version,
            "slots": self._sketch.slots,
            "seed": self._sketch.seed,
            **self.band_settings,
        }

    def sign(self, texts: Sequence[str]) -> Signatures:
        """One signature and one digest for each text; some 25 us for 3 KB in batches."""
        values = np.empty((len(texts), self.slots), np.uint32)
        digests = np.empty(len(texts), np.uint64)
        for group in groups(texts):
            shingles = self.shingles(texts[group])
            values[group] = self._sketch(shingles)
            digests[group] = bag_digest(shingles)
            self._recent.add(texts[group], shingles)
        return Signatures(values, digests)

    def comparer(self) -> ShingleSets:
        """The comparer, with which verify compares pairs; it caches the sets of recently compared versions."""
        return ShingleSets(self)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The criteria of a match."""
        return Criteria(threshold, self.least_matching(threshold), retention_ms, self.measure)

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two documents by their shingles."""
        return explain_shingles(self, left, right)

    def agreement(self, signatures: Signatures, shared: int, union: int) -> SignatureAgreement:
        """The agreement of the signatures of two texts, given their shared and united shingles."""
        matching = int(matching_slots(signatures.values[:1], signatures.values[1:])[0])
        probability = self.banding.probability_at(shared / union) if shared else 0.0
        return SignatureAgreement(
            matching, self.slots, common_buckets(self.buckets(signatures)), self.banding.bands, probability
        )

    def promised(self, similarity: F64) -> F64:
        """The probability that pairs of these Jaccard similarities share a bucket: float64[n]."""
        return candidate_probability(similarity, self.banding.bands, self.banding.rows)

    def least_matching(self, threshold: float) -> int:
        """The slots in which the signatures of a match agree, except for one in 10,000 matches at the threshold."""
        return least_matching_slots(self.measure.least_jaccard(threshold), self.slots)


def banding_for(
    threshold: float, recall: float, slots: int, measure: Measure, *, bands: int = 0, rows: int = 0
) -> Banding:
    """The bands that find a pair at the threshold of a measure, with the least Jaccard similarity of such a pair.

    Args:
        threshold: of the measure.
        recall: the probability with which such a pair is found.
        slots: the length of a signature.
        measure: of the threshold.
        bands: pinned together with rows; 0: not pinned.
        rows: slots in each band.

    Raises:
        ConfigError: no banding is feasible with these arguments -> the change that the message proposes.
    """
    least = measure.least_jaccard(threshold) if 0 < threshold < 1 else threshold
    try:
        return pinned(least, recall, slots, bands, rows) if bands else choose_banding(least, recall, slots)
    except ConfigError as error:
        if least == threshold or not 0 < threshold < 1:
            raise
        context = (
            f"these are Jaccard similarities, of a {measure.name} of {threshold} at this `size_ratio`: or lower that"
        )
        raise ConfigError([f"{problem}; {context}" for problem in error.problems]) from None
