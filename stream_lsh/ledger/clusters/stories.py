"""What clusters tell: a headline, the outlets in the order in which they published, who was first.

All of it is a function of the members, never of the order in which they came.
"""

from collections.abc import Iterable

from stream_lsh.ledger.changes import StorySummary
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import First, Outlet, Story

EARLY = 10
"""Members, the oldest, of which the longest represents the story."""
OUTLETS_LISTED = 100
_FEW = 32
"""The outlets of so many members are counted each time: to keep them would cost more memory than the members."""


class Outlets:
    """The members of each outlet of a cluster, kept as they come and go; those without one are passed over.

    Args:
        nodes: all of them.
        members: of the cluster, in ascending order of age.

    Attributes:
        members: of each outlet, in ascending order of age.
        firsts: the first of each, in ascending order of age.

    Cost:
        some comparisons for a member that comes or goes, however many there are.
    """

    __slots__ = ("_nodes", "firsts", "members")

    def __init__(self, nodes: Nodes, members: Iterable[int]) -> None:
        self._nodes = nodes
        self.members: dict[str, list[int]] = {}
        for slot in members:
            source = nodes.abouts[slot].source
            if source:
                self.members.setdefault(source, []).append(slot)
        self.firsts = [of[0] for of in self.members.values()]

    def put_in(self, slot: int) -> None:
        """A member more."""
        nodes = self._nodes
        source = nodes.abouts[slot].source
        if not source:
            return
        of = self.members.get(source)
        if of is None:
            self.members[source] = [slot]
            nodes.insert(self.firsts, slot)
            return
        first = of[0]
        nodes.insert(of, slot)
        if of[0] != first:
            nodes.delete(self.firsts, first)
            nodes.insert(self.firsts, slot)

    def take_out(self, slot: int) -> None:
        """A member less; its version is still the one that was put in."""
        nodes = self._nodes
        source = nodes.abouts[slot].source
        if not source:
            return
        of = self.members[source]
        first = of[0]
        nodes.delete(of, slot)
        if slot == first:
            nodes.delete(self.firsts, slot)
            if of:
                nodes.insert(self.firsts, of[0])
            else:
                del self.members[source]


def representative_of(cluster: Cluster, nodes: Nodes) -> int:
    """The fullest early version: the longest of the oldest members, the older one of two."""
    return max(cluster[:EARLY], key=lambda slot: nodes.abouts[slot].length)


def summary(cluster: Cluster, nodes: Nodes) -> StorySummary:
    """What a cluster tells.

    Cost:
        O(outlets that are listed); the first time, and where much has changed at once, O(members).
    """
    outlets = cluster.kept
    if not isinstance(outlets, Outlets):
        outlets = Outlets(nodes, cluster)
        if len(cluster) > _FEW:
            cluster.kept = outlets
    abouts, times, oldest = nodes.abouts, nodes.times, cluster[0]
    listed = []
    for slot in outlets.firsts[:OUTLETS_LISTED]:
        source = abouts[slot].source
        listed.append(Outlet(source, times[slot], len(outlets.members[source])))
    return StorySummary(
        headline=abouts[representative_of(cluster, nodes)].title,
        sources=tuple(listed),
        source_count=len(outlets.firsts),
        first=First(nodes.ids[oldest], abouts[oldest].source, times[oldest]),
    )


class Stories:
    """Clusters are stories."""

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The fullest early version."""
        return representative_of(cluster, nodes)

    def summary(self, cluster: Cluster, nodes: Nodes) -> StorySummary:
        """What a cluster tells."""
        return summary(cluster, nodes)


def story(cluster: Cluster, nodes: Nodes) -> Story:
    """A cluster and what it tells; O(members)."""
    cluster_summary, ids = summary(cluster, nodes), nodes.ids
    members = tuple(ids[slot] for slot in reversed(cluster))
    return Story(
        id=cluster.id,
        headline=cluster_summary.headline,
        representative=ids[representative_of(cluster, nodes)],
        sources=cluster_summary.sources,
        source_count=cluster_summary.source_count,
        first=cluster_summary.first,
        last_time_ms=nodes.times[cluster[-1]],
        members=members,
    )
