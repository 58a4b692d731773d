"""Queries for the vectors within the distance of one."""

from typing import Any, NamedTuple

from stream_lsh.kinds.vector.comparer import distance_of
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.ledger.edges import Edges


class VectorQueries(NamedTuple):
    """The queries of a pipeline of vectors.

    Attributes:
        name: of the field in the source.
    """

    name: str

    @property
    def member(self) -> str:
        """`vector`."""
        return VectorForm.field

    def message(self, value: Any) -> dict[str, Any]:
        """The field with this vector."""
        return {self.name: value}

    def matches(self, edges: Edges) -> list[dict[str, Any]]:
        """Similarities and distances, the nearest first."""
        rows = zip(edges.right.ids, edges.similarity.tolist(), edges.evidence, strict=True)
        found = [
            {"id": id, "similarity": similarity, "distance": distance_of(evidence)} for id, similarity, evidence in rows
        ]
        return sorted(found, key=lambda match: (match["distance"], match["id"]))
