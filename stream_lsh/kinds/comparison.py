"""Detailed comparison of two documents, for `explain`: for kinds whose scores depend on these two documents alone."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.text.passages.shared import Passage


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two documents.

    Attributes:
        similarity: exact, by the measure; 0 if one of the documents has no shingles.
        shared: distinct shingles in both documents.
        union: distinct shingles in either document.
        near_in_size: whether the ratio of their sizes permits a match by the measure.
        matching: slots in which the signatures agree.
        slots: the length of the signatures; 0 without an estimate, as with the method `exact`, which has no bands.
        met: bands, or with the method `exact` prefix members, in which they share a bucket.
        bands: the number of bands, or of prefix members.
        probability: of two documents with their Jaccard similarity, to share a bucket of a band.
        identical: whether they have the same shingles with the same counts, and so share the digest bucket.
        distance: of vectors, which have no shingles; None for other kinds.
        greatest: the greatest distance of a match, for vectors.
    """

    similarity: float
    shared: int
    union: int
    near_in_size: bool
    matching: int
    slots: int
    met: int
    bands: int
    probability: float
    identical: bool
    distance: float | None = None
    greatest: float = 0.0

    @property
    def estimate(self) -> float:
        """The similarity as estimated from the signatures."""
        return self.matching / self.slots if self.slots else 0.0


class Explained(NamedTuple):
    """The detailed comparison of two documents by a scheme.

    Attributes:
        comparison: None unless both documents have content.
        sizes: distinct shingles of each document; None for a kind without shingles.
        passages: of each document, alternately shared and not shared; empty for a kind without shingles.
    """

    comparison: Comparison | None
    sizes: tuple[int | None, int | None] = (None, None)
    passages: tuple[list[Passage], list[Passage]] = ([], [])


class PairwiseScheme(Scheme, Protocol):
    """A scheme whose similarities depend on the two documents alone, not on other documents of the stream."""

    def similarity(self, left: str, right: str) -> float:
        """The exact similarity of two documents, as verify computes it."""

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two documents in detail; None stands for a document with unknown content."""
