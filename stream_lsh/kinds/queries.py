"""Queries for similar documents: their values, and the matches in their answers."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from stream_lsh.ledger.edges import Edges


class Queries(Protocol):
    """The queries of a pipeline of one kind."""

    @property
    def member(self) -> str:
        """The member of a query that has the value, such as `text`."""

    def message(self, value: Any) -> dict[str, Any]:
        """The fields of a message of the source with this value; raises InputError, or `parse` does."""

    def matches(self, edges: Edges) -> list[dict[str, Any]]:
        """The matches for an answer, the best first.

        Args:
            edges: from the query to stored documents.
        """


class FieldQueries(NamedTuple):
    """Queries by the value of one field, of pipelines that compare nothing else.

    Attributes:
        member: of a query.
        name: of the field in the source.
    """

    member: str
    name: str

    def message(self, value: Any) -> dict[str, Any]:
        """The field with this value."""
        return {self.name: value}

    def matches(self, edges: Edges) -> list[dict[str, Any]]:
        """Similarities, with the numbers of shared members and of members of either."""
        columns = (edges.similarity.tolist(), edges.shared.tolist(), edges.union.tolist())
        rows = zip(edges.right.ids, *columns, strict=True)
        found = [
            {"id": id, "similarity": similarity, "shared": shared, "union": union}
            for id, similarity, shared, union in rows
        ]
        return sorted(found, key=best_first)


def best_first(match: Mapping[str, Any]) -> tuple[float, str]:
    """The order of matches: the most similar first, equally similar ones by their ids."""
    return -match["similarity"], match["id"]
