"""The kind of vectors within a distance."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stream_lsh.files.discover import TABLES, Input, find_inputs
from stream_lsh.kinds.kind import FeedPart, KeyValue, KindDefaults, Setting, StoredSize
from stream_lsh.kinds.results import Results
from stream_lsh.kinds.single_field import parse_valued, valued_message
from stream_lsh.kinds.single_field_files import feed_values, of_values
from stream_lsh.kinds.vector.results import VectorResults
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.kinds.vector.settings import VectorSettings
from stream_lsh.model import Document
from stream_lsh.wire.field_names import FieldNames


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorKind(VectorSettings, KindDefaults):
    """Vectors, with what a pipeline sets of them."""

    name: ClassVar[str] = "vector"
    plural: ClassVar[str] = "vectors"

    def pairwise(self) -> VectorScheme:
        """The scheme."""
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        """What the scheme depends on."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """How large the stored versions get; the scheme, which is slow to make, has at most as many bands as slots."""
        return StoredSize(self.slots, self.slots + 1)

    def parse(self, value: bytes | None, key: bytes | None, **rules: Any) -> Document:
        """The vector in a message."""
        return parse_valued(value, key, form=self.form, **rules)

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a vector."""
        return valued_message(document, self.form, names)

    def results(self, pipeline: str) -> Results:
        """Pairs with their distance, members, clusters."""
        return VectorResults(pipeline, self.measure)

    def find_files(self, options: Namespace) -> list[Input]:
        """JSON lines, and tables with a column of vectors."""
        of_values(options, self.form)
        return find_inputs(options.file, options.format, TABLES)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The vectors of the files as messages."""
        return feed_values(inputs, options, self.form, names, now_ms)
