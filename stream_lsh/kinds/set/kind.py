"""The kind of sets that are given as such, fingerprints on a grid among them."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stream_lsh.files.discover import TABLES, Input, find_inputs
from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.kind import FeedPart, KeyValue, KindDefaults, Setting, StoredSize
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.set.settings import GRID, SetSettings
from stream_lsh.kinds.single_field import parse_valued, valued_message
from stream_lsh.kinds.single_field_files import feed_values, of_values
from stream_lsh.model import Document
from stream_lsh.pipeline.local import Limits
from stream_lsh.wire.field_names import FieldNames


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKind(SetSettings, KindDefaults):
    """Sets, with what a pipeline sets of them."""

    name: ClassVar[str] = "set"
    plural: ClassVar[str] = "sets"

    def scheme(self) -> PairwiseScheme:
        """What makes signatures and buckets and compares."""
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
        """What the scheme depends on."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """How large the stored versions get; raises ConfigError where the settings do not fit."""
        if self.family != GRID:
            return SetSettings.stored_size(self)
        scheme = self.grid_scheme()
        return StoredSize(scheme.slots, scheme.width)

    def limits(self, limits: Limits) -> Limits:
        """Without caps where the method has none."""
        return SetSettings.limits(self, limits)

    def parse(self, value: bytes | None, key: bytes | None, **rules: Any) -> Document:
        """The set in a message."""
        return parse_valued(value, key, form=self.form, **rules)

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a set."""
        return valued_message(document, self.form, names)

    def results(self, pipeline: str) -> Results:
        """Pairs, members, clusters."""
        return TextResults(pipeline, self.measure)

    def find_files(self, options: Namespace) -> list[Input]:
        """JSON lines, and tables with a column of items."""
        of_values(options, self.form)
        return find_inputs(options.file, options.format, TABLES)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The sets of the files as messages."""
        return feed_values(inputs, options, self.form, names, now_ms)
