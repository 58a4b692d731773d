"""The notes of one frame: the state of a row before its first change, for the comparison with the final state.

A frame therefore publishes a value once, even after several changes, and nothing if the value ends as it began.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from stream_lsh.ledger.changes import ClosedState, EntitySummary, NewestState, PairState, StorySummary
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.ledger.graph.pairs import MATCH

UPDATED, DELETED, EXPIRED, DECIDED = "updated", "deleted", "expired", "decided"
"""Reasons for a withdrawal."""

PairKey = tuple[int, int]
"""The slots of both ends, the end with the smaller id first."""


class NodeNote(NamedTuple):
    """A node at one moment, with its cluster's id and the similarity of its best pair."""

    ref: int
    time_ms: int
    digest: int
    cluster: str
    pasts: tuple[int, ...]
    best: float


ClusterView = tuple[int, Sequence[str], str, int, int, StorySummary | EntitySummary | None]
"""The public view of a cluster without its event: size, newest members, representative, times, and its summary."""


UNPUBLISHED_VIEW: ClusterView = (-1, (), "", 0, 0, None)
"""The view of a live cluster that is not published."""

GROWING: ClusterView = (0, (), "", 0, 0, None)
"""The earlier view of a cluster that only gains members in the frame: it differs from every later view."""


class ClusterDescriber(Protocol):
    """Makes the summary of a cluster, a function of its members (`stories`, `entities`)."""

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The slot of the representative of a cluster."""

    def summary(self, cluster: Cluster, nodes: Nodes) -> StorySummary | EntitySummary:
        """The summary of a cluster."""


class FrameNotes:
    """The notes of one frame.

    Args:
        offset: that of its message on `edges`.
        graph: of the ledger.
        describer: makes the summaries of clusters; None for clusters without one.
        least: the smallest size of a published cluster.

    Attributes:
        offset, graph, least: as above.
        nodes, pairs, clusters: the state of each changed row before its first change; None for a row that did not
            exist.
        moved: the previous clusters of nodes that moved to another one.
        live_pairs: the numbers of the pairs in `pairs` that exist now.
        expired: the last state of the pairs that left with an expired end.
        topics: the topic on which a pair in `pairs` was published, if it is not `matches`.
        expired_topics: the topic on which a pair in `expired` stays published, if it is not `matches`.
        node_reasons, pair_reasons: the reasons for withdrawals.
        single_members: the only members of clusters that were too small to be published.
        events: of each cluster in `clusters`.
        merged_into, merged_from, split_from: the mergers and splits of clusters.
        newest, closed, decisions: the new rows of these tables.
        retired_ids: the documents with a retirement.
        capped_rechecks: the number of their pairs in doubt above the cap.
    """

    def __init__(self, offset: int, graph: Graph, describer: ClusterDescriber | None = None, least: int = 1) -> None:
        self.offset = offset
        self.graph = graph
        self.least = least
        self.single_members: dict[str, int] = {}
        self.topics: dict[PairKey, int] = {}
        self.expired_topics: dict[PairKey, int] = {}
        self._describer = describer
        self.nodes: dict[int, NodeNote | None] = {}
        self.moved: dict[int, str] = {}
        self.pairs: dict[PairKey, PairState | None] = {}
        self.live_pairs: dict[PairKey, int] = {}
        self.expired: dict[PairKey, PairState] = {}
        self.node_reasons: dict[int, str] = {}
        self.pair_reasons: dict[PairKey, str] = {}
        self.clusters: dict[str, ClusterView | None] = {}
        self.events: dict[str, set[str]] = {}
        self.merged_into: dict[str, str] = {}
        self.merged_from: dict[str, set[str]] = {}
        self.split_from: dict[str, str] = {}
        self.newest: dict[str, NewestState] = {}
        self.closed: dict[str, ClosedState] = {}
        self.retired_ids: set[str] = set()
        self.capped_rechecks = 0
        self.decisions: dict[tuple[str, str], Decision] = {}

    def touch_new_node(self, slot: int) -> None:
        """Note a new node."""
        self.nodes.setdefault(slot, None)

    def touch_node(self, slot: int) -> None:
        """Note a node before it changes."""
        if slot not in self.nodes:
            self.nodes[slot] = self.before(slot)

    def before(self, slot: int) -> NodeNote:
        """The state before the frame of a node without a note: only its cluster may have changed."""
        cluster = self.graph.nodes.clusters[slot]
        now = self.note(slot, cluster)
        was = self.moved.get(slot) if self.moved else None
        return now if was is None else now._replace(cluster=was)

    def note(self, slot: int, cluster: Cluster) -> NodeNote:
        """The current state of a node."""
        nodes, past, best = self.graph.nodes, self.graph.past, self.graph.pairs.best(slot)
        return NodeNote(nodes.refs[slot], nodes.times[slot], nodes.digests[slot], cluster.id, past.of(slot), best)

    def touch_pair(self, key: PairKey, before: PairState | None, topic: int = MATCH) -> None:
        """Note a pair before it changes; it was published on the topic `place`."""
        if key not in self.pairs:
            self.pairs[key] = before
            if topic != MATCH:
                self.topics[key] = topic

    def touch_cluster(self, cluster: Cluster, event: str) -> None:
        """Note a live cluster before an event."""
        if cluster.id not in self.clusters:
            self.clusters[cluster.id] = self.public_view(cluster)
            self.events[cluster.id] = {event}
            if len(cluster) < self.least:
                self.single_members[cluster.id] = cluster[0]
        else:
            self.events.setdefault(cluster.id, set()).add(event)

    def touch_new_cluster(self, cluster: Cluster) -> None:
        """Note a new cluster."""
        self.clusters.setdefault(cluster.id, None)

    def is_published(self, cluster: Cluster) -> bool:
        """Whether a cluster has enough members to be published."""
        return len(cluster) >= self.least

    def was_published(self, id: str) -> bool:
        """Whether a noted cluster was live and published before the frame."""
        before = self.clusters[id]
        return before is not None and before is not UNPUBLISHED_VIEW

    def public_view(self, cluster: Cluster) -> ClusterView:
        """The public view of a live cluster."""
        if len(cluster) < self.least:
            return UNPUBLISHED_VIEW
        nodes = self.graph.nodes
        ids, times = nodes.ids, nodes.times
        oldest, newest = cluster[0], cluster[-1]
        members = cluster.newest(ids)
        describer = self._describer
        if describer is None:
            return len(cluster), members, ids[oldest], times[oldest], times[newest], None
        representative = ids[describer.representative(cluster, nodes)]
        return len(cluster), members, representative, times[oldest], times[newest], describer.summary(cluster, nodes)

    def successor(self, id: str) -> str:
        """The cluster into which a cluster was merged, directly or through others; itself if it was not merged."""
        while id in self.merged_into:
            id = self.merged_into[id]
        return id
