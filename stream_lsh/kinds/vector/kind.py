"""The kind of vectors within a distance."""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.kinds.examples import TIME_MS, example_id
from stream_lsh.kinds.kind import KeyValue, Setting, StoredSize
from stream_lsh.kinds.queries import Queries
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.single_field import valued_message
from stream_lsh.kinds.single_field_files import SingleFieldKind
from stream_lsh.kinds.vector.example import example_vector
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.queries import VectorQueries
from stream_lsh.kinds.vector.results import vector_matches
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.kinds.vector.settings import VectorSettings
from stream_lsh.model import Document
from stream_lsh.wire.field_names import FieldNames


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorKind(VectorSettings, SingleFieldKind):
    """The kind of vectors, with the settings of one pipeline."""

    name: ClassVar[str] = "vector"
    plural: ClassVar[str] = "vectors"

    def pairwise(self) -> VectorScheme:
        """The scheme."""
        return self.scheme()

    def stored_settings(self) -> dict[str, Setting]:
        """The settings of the scheme."""
        return self.scheme().settings

    def stored_size(self) -> StoredSize:
        """The greatest size of a stored version, without the scheme, which is slow to construct: one band per slot."""
        return StoredSize(self.slots, self.slots + 1)

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        """A vector near those of its group."""
        text = self.form.text(example_vector(self.metric, group, member), VectorForm.field)
        return valued_message(Document(example_id(group, member), text, TIME_MS), self.form, names)

    def queries(self, names: FieldNames) -> Queries:
        """Queries by a vector."""
        return VectorQueries(names.vector)

    def results(self, pipeline: str) -> Results:
        """Pairs with their distance, members, clusters."""
        return TextResults(pipeline, self.measure, matches=vector_matches)
