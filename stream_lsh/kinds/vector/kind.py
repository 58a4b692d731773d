"""The kind of vectors within a distance."""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.kinds.kind import Setting, StoredSize
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.single_field_files import SingleFieldKind
from stream_lsh.kinds.vector.results import vector_matches
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.kinds.vector.settings import VectorSettings


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

    def results(self, pipeline: str) -> Results:
        """Pairs with their distance, members, clusters."""
        return TextResults(pipeline, self.measure, matches=vector_matches)
