"""Schedules with the scheme of a pipeline of sets.

Texts are those of the other schedules, words that are numbers; each word is an item.  There are at most six words, so
two sets that share one have a Jaccard similarity of 1/6 or more, and are missed with a probability of 2e-6.
"""

from collections.abc import Sequence

from stream_lsh.arrays import U64
from stream_lsh.kinds.set.content import items_text
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.measure.catalog import Measure
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria
from tests.simulation.pipelines.scheme import NamedShingles

SETS_FROM = 2_000_000
"""Seeds from here on are of sets."""
_LEAST, _RECALL = 0.15, 0.99999


class NamedItems(NamedShingles):
    """The scheme of sets, for texts such as `3 1 5`."""

    def __init__(self, measure: Measure) -> None:
        super().__init__(measure)
        self._sets = set_scheme("lsh", _LEAST, recall=_RECALL)
        self.slots = self._sets.slots
        self.width = self._sets.width

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Those of the scheme of sets."""
        return self._sets.settings

    def sign(self, texts: Sequence[str]) -> Signatures:
        """Those of the scheme of sets."""
        return self._sets.sign(_as_items(texts))

    def buckets(self, signatures: Signatures) -> U64:
        """Those of the scheme of sets."""
        return self._sets.buckets(signatures)

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """Those of the scheme of sets."""
        return self._sets.shingle_sets(_as_items(texts))

    def comparer(self) -> ShingleSets:
        """Their sets."""
        return ShingleSets(self)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """Every candidate is compared."""
        return Criteria(threshold, retention_ms=retention_ms, measure=self.measure)


def _as_items(texts: Sequence[str]) -> list[str]:
    return [items_text(text.split()) for text in texts]
