"""Stories, the summaries of clusters: a headline, the outlets in the order of publication, the first outlet.

A story is a function of the members, independent of their order of arrival.
"""

from collections.abc import Iterable

from stream_lsh.ledger.changes import StorySummary
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import First, Outlet, Story

EARLY = 10
"""The number of oldest members, of which the longest represents the story."""
OUTLETS_LISTED = 100
_FEW = 32
"""The outlets of up to this many members are counted each time: a cache would take more memory than the members."""


class Outlets:
    """The members of each outlet of a cluster, kept current; members without an outlet are ignored.

    Args:
        nodes: the live documents.
        members: of the cluster, in ascending order of age.

    Attributes:
        members: of each outlet, in ascending order of age.
        firsts: the first member of each outlet, in ascending order of age.

    Cost:
        a few comparisons to add or remove a member, independent of the number of members.
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
        """Add a member."""
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
        """Remove a member; its version is still the added one."""
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
    """The fullest early version: the longest of the oldest members, the older one of equals."""
    return max(cluster[:EARLY], key=lambda slot: nodes.abouts[slot].length)


def summary(cluster: Cluster, nodes: Nodes) -> StorySummary:
    """The summary of a story.

    Cost:
        O(listed outlets); the first time, and after many changes at once, O(members).
    """
    outlets = cluster.describer_state
    if not isinstance(outlets, Outlets):
        outlets = Outlets(nodes, cluster)
        if len(cluster) > _FEW:
            cluster.describer_state = outlets
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
    """Describes clusters as stories."""

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The fullest early version."""
        return representative_of(cluster, nodes)

    def summary(self, cluster: Cluster, nodes: Nodes) -> StorySummary:
        """The summary of a story."""
        return summary(cluster, nodes)


def story(cluster: Cluster, nodes: Nodes) -> Story:
    """A cluster with its summary as a story; O(members)."""
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
