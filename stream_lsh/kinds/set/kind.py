"""The kind of sets of items, including fingerprints on a grid."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.examples import TIME_MS, WORD_BYTES, draws, example_id, with_another_end, words
from stream_lsh.kinds.kind import KeyValue, Setting, StoredSize
from stream_lsh.kinds.queries import FieldQueries, Queries
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.set.settings import GRID, SetSettings
from stream_lsh.kinds.single_field import valued_message
from stream_lsh.kinds.single_field_files import SingleFieldKind
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.wire.field_names import FieldNames

_ITEM_BYTES = WORD_BYTES + 2.6
"""The length of a word with a number behind it, in a text with one item in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKind(SetSettings, SingleFieldKind):
    """The kind of sets, with the settings of one pipeline."""

    name: ClassVar[str] = "set"
    plural: ClassVar[str] = "sets"

    def scheme(self) -> PairwiseScheme:
        """The scheme, which computes signatures and buckets and compares pairs."""
        if self.family == GRID:
            return self.grid_scheme()
        return set_scheme(
            self.method,
            self.threshold,
            recall=self.recall,
            slots=self.slots,
            seed=self.seed,
            measure=self.similarity,
            bag=self.bag,
            banding=self.banding(),
        )

    def pairwise(self) -> PairwiseScheme:
        """The scheme."""
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        """The settings of the scheme."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """The greatest size of a stored version; raises ConfigError if the settings contradict each other."""
        if self.family != GRID:
            return SetSettings.stored_size(self)
        scheme = self.grid_scheme()
        return StoredSize(scheme.slots, scheme.width)

    def limits(self, limits: Limits) -> Limits:
        """The limits, without caps if the method has none."""
        return SetSettings.limits(self, limits)

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        """A set of words; of the family `grid`, of two fifths of the squares."""
        items: list[str] | list[int]
        if self.family == GRID:
            shared = np.argsort(draws(group, 0, self.grid.squares))[: max(1, self.grid.squares * 2 // 5)].tolist()
            items = [square for at, square in enumerate(shared) if at != member % 4 or len(shared) < 8]
        else:
            numbered = [f"{word}{at}" for at, word in enumerate(words(group, 0, max(4, round(size / _ITEM_BYTES))))]
            items = with_another_end(numbered, group, member, self.threshold)
        return valued_message(Document(example_id(group, member), self.form.text(items, ""), TIME_MS), self.form, names)

    def queries(self, names: FieldNames) -> Queries:
        """Queries by items."""
        return FieldQueries("items", names.items)

    def results(self, pipeline: str) -> Results:
        """Pairs, members, clusters."""
        return TextResults(pipeline, self.measure)
