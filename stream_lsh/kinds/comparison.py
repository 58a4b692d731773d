"""Two documents compared for a reader: what `explain` asks of a kind whose scores depend on the two alone."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.text.passages import Passage


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts held against each other.

    Attributes:
        similarity: exact, by the measure; 0 where one of them has no shingles.
        shared: distinct shingles that both have.
        union: distinct shingles that they have together.
        near_in_size: whether the measure compares sets whose sizes are so unlike.
        matching: slots in which the signatures agree.
        slots: all of these; 0 where nothing is estimated, with the method `exact`, and so with what follows from bands.
        met: bands, or with the method `exact` beginnings, in which they share a bucket.
        bands: all of these.
        probability: that two documents of their Jaccard similarity meet in a band.
        identical: whether they have the same shingles in the same numbers, and so meet whatever their bands.
        distance: of vectors, which have no shingles; None for others.
        greatest: distance of a match, of vectors.
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
        """What the signatures tell of it."""
        return self.matching / self.slots if self.slots else 0.0


class Explained(NamedTuple):
    """What a scheme finds in two documents.

    Attributes:
        comparison: None unless both documents have content.
        sizes: distinct shingles of each document; None for a kind without shingles.
        passages: of each document, shared and others in turn; none for a kind without shingles.
    """

    comparison: Comparison | None
    sizes: tuple[int | None, int | None] = (None, None)
    passages: tuple[list[Passage], list[Passage]] = ([], [])


class PairwiseScheme(Scheme, Protocol):
    """A scheme whose similarities depend on the two documents alone, and on no other document of the stream."""

    def similarity(self, left: str, right: str) -> float:
        """The exact similarity of two documents, as verify computes it."""

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two documents in detail; None is a document whose content is not known."""
