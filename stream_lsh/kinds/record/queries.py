"""Queries for the records that may be one entity with a record, with their evidence."""

from typing import Any

from stream_lsh.errors import MalformedMessage
from stream_lsh.kinds.record.messages import NESTED
from stream_lsh.kinds.record.results import measure_of
from stream_lsh.ledger.edges import Edges
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.evidence import Named
from stream_lsh.records.profile import Profile
from stream_lsh.wire.message import shown, typed

_SOURCE = "source"


class RecordQueries:
    """The queries of a pipeline of records.

    Args:
        profile: of the records.
    """

    member = "record"

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._named = Named.of(profile, blocker_of(profile).names)

    def message(self, value: Any) -> dict[str, Any]:
        """The columns of a record `{"fields": {...}, "source": "..."}`.

        Raises:
            MalformedMessage: record, source.
        """
        fields = value.get(NESTED) if isinstance(value, dict) else None
        if not isinstance(fields, dict):
            got = shown(value)
            raise MalformedMessage(self.member, f"got {got} as `{self.member}`, expected an object with `{NESTED}`")
        if other := sorted(value.keys() - {NESTED, _SOURCE}):
            raise MalformedMessage(
                self.member, f"got {other[0]!a:.60} in `{self.member}`, expected `{NESTED}` and `{_SOURCE}`"
            )
        source = typed(value, _SOURCE, (str,), _SOURCE, "a string")
        columns = {column: source for column in self._profile.source_columns[:1] if source}
        return {**columns, NESTED: fields}

    def matches(self, edges: Edges) -> list[dict[str, Any]]:
        """Probabilities with their evidence, and whether a pair is one to review; the best first."""
        found, measure = [], measure_of(self._profile)
        for id, probability, text in zip(edges.right.ids, edges.similarity.tolist(), edges.evidence, strict=True):
            score, weights, rules = self._named.read(text)
            evidence = {"measure": measure, "score": score, "weights": weights, "rules": rules}
            review = probability < self._profile.match
            found.append({"id": id, "probability": probability, "review": review, "evidence": evidence})
        return sorted(found, key=lambda match: (-match["evidence"]["score"], match["id"]))
