"""Entities, the summaries of clusters of records: the members with their sources, and the golden record."""

from collections.abc import Callable, Mapping, Sequence

from stream_lsh.ledger.changes import EntitySummary
from stream_lsh.ledger.clusters.ids import NEWEST_LISTED, Cluster
from stream_lsh.ledger.graph.nodes import Nodes

Members = Sequence[tuple[str, str, int, str]]
"""All members of a cluster, oldest first: (id, source, event time, fields as JSON)."""
Golden = Callable[[Members], str]
"""Builds a golden record."""
Origins = Callable[[Members], Mapping[str, str]]
"""Finds the id of the member that each value of a golden record comes from, by field."""


class _CachedSummary:
    """The last summary of a cluster, valid while its members and their versions stay the same."""

    __slots__ = ("summary",)

    def __init__(self, summary: EntitySummary) -> None:
        self.summary: EntitySummary | None = summary

    def put_in(self, slot: int) -> None:
        """Discard the summary: a member was added."""
        self.summary = None

    def take_out(self, slot: int) -> None:
        """Discard the summary: a member was removed."""
        self.summary = None


class Entities:
    """Describes clusters as entities.

    Args:
        golden: builds the golden record from the members alone.
        origins: finds where its values come from.

    Guarantees:
        the summary is a function of the members, independent of their order of arrival.
    Cost:
        `golden` over all members, once for each cluster and frame that changes it, and once more the first time after
        a start.  The cluster caches its last summary.

    Example:
        >>> entities = Entities(lambda members: members[0][3])
        >>> nodes = Nodes()
        >>> from stream_lsh.model import About
        >>> slots = [nodes.add(id, 1, 5, 0, About(f'{{"name":"{id}"}}', "crm")) for id in "ab"]
        >>> entities.summary(Cluster("a", 0, slots), nodes)
        EntitySummary(members=(('b', 'crm'), ('a', 'crm')), golden='{"name":"a"}')
    """

    def __init__(self, golden: Golden, origins: Origins = lambda members: {}) -> None:
        self._golden, self._origins = golden, origins

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The oldest member."""
        return cluster[0]

    def summary(self, cluster: Cluster, nodes: Nodes) -> EntitySummary:
        """The summary of an entity."""
        cached = cluster.describer_state
        if isinstance(cached, _CachedSummary) and cached.summary is not None:
            return cached.summary
        ids, abouts = nodes.ids, nodes.abouts
        newest = cluster[: -NEWEST_LISTED - 1 : -1]
        summary = EntitySummary(
            members=tuple([(ids[slot], abouts[slot].source) for slot in newest]),
            golden=self._golden(_members(cluster, nodes)),
        )
        cluster.describer_state = _CachedSummary(summary)
        return summary

    def origins(self, cluster: Cluster, nodes: Nodes) -> Mapping[str, str]:
        """The id of the member that each value of the golden record comes from, by field; not cached."""
        return self._origins(_members(cluster, nodes))


def _members(cluster: Cluster, nodes: Nodes) -> Members:
    ids, times, abouts = nodes.ids, nodes.times, nodes.abouts
    return [(ids[slot], abouts[slot].source, times[slot], abouts[slot].title) for slot in cluster]
