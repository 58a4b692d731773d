"""What one frame touches: the state before is noted at the first touch, and compared with the state after at the end.

So a frame publishes a value once, however often it changed on the way, and nothing that ended as it began.
"""

from typing import NamedTuple, Protocol

from stream_lsh.ledger.changes import ClosedState, EntitySummary, NewestState, PairState, StorySummary
from stream_lsh.ledger.clusters.ids import NEWEST_LISTED, Cluster
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.ledger.graph.pairs import MATCH

UPDATED, DELETED, EXPIRED, DECIDED = "updated", "deleted", "expired", "decided"
"""Reasons for a withdrawal."""

PairKey = tuple[int, int]
"""The slots of both ends, that with the smaller id first."""


class NodeNote(NamedTuple):
    """A node at one moment, with its cluster's id and the similarity of its best pair."""

    ref: int
    time_ms: int
    digest: int
    cluster: str
    pasts: tuple[int, ...]
    best: float


Seen = tuple[int, tuple[str, ...], str, int, int, StorySummary | EntitySummary | None]
"""What the public sees of a cluster, apart from what happened to it: size, newest members, representative, times,
and its summary."""


UNSEEN: Seen = (-1, (), "", 0, 0, None)
"""Stands for a live cluster that is not published."""

GROWING: Seen = (0, (), "", 0, 0, None)
"""Stands for a cluster as it was that nothing leaves in the frame: whatever it was, it has become another."""


class ClusterDescriber(Protocol):
    """Makes the summary of a cluster, a function of its members (`stories`, `entities`)."""

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The slot of the member that stands for a cluster."""

    def summary(self, cluster: Cluster, nodes: Nodes) -> StorySummary | EntitySummary:
        """The summary of a cluster."""


class Frame:
    """The notes of one frame; `offset` is that of its message on `edges`.

    `nodes`, `pairs` and `clusters` hold what was before the first touch, None for what was not there; `moved` the
    clusters in which nodes were that were carried into another one; `put` the numbers of the pairs that are there now,
    of those in `pairs`; `asked` the documents for which a retirement came, `capped_rechecks` how many of their pairs in
    doubt exceeded the cap; `expired` the pairs that an expired end took
    along.

    `least` is how many members a published cluster has; `singles` are the only members of clusters that were not
    published.  `places` says on which topic pairs were published, `left_as` on which those in `expired` stay, where it
    is not `matches`.  `decisions` are those that are new.
    """

    def __init__(self, offset: int, graph: Graph, describer: ClusterDescriber | None = None, least: int = 1) -> None:
        self.offset = offset
        self.graph = graph
        self.least = least
        self.singles: dict[str, int] = {}
        self.places: dict[PairKey, int] = {}
        self.left_as: dict[PairKey, int] = {}
        self._describer = describer
        self.nodes: dict[int, NodeNote | None] = {}
        self.moved: dict[int, str] = {}
        self.pairs: dict[PairKey, PairState | None] = {}
        self.put: dict[PairKey, int] = {}
        self.expired: dict[PairKey, PairState] = {}
        self.node_reasons: dict[int, str] = {}
        self.pair_reasons: dict[PairKey, str] = {}
        self.clusters: dict[str, Seen | None] = {}
        self.events: dict[str, set[str]] = {}
        self.merged_into: dict[str, str] = {}
        self.merged_from: dict[str, set[str]] = {}
        self.split_from: dict[str, str] = {}
        self.newest: dict[str, NewestState] = {}
        self.closed: dict[str, ClosedState] = {}
        self.asked: set[str] = set()
        self.capped_rechecks = 0
        self.decisions: dict[tuple[str, str], Decision] = {}

    def touch_new_node(self, slot: int) -> None:
        """A node has just appeared."""
        self.nodes.setdefault(slot, None)

    def touch_node(self, slot: int) -> None:
        """A node is about to change."""
        if slot not in self.nodes:
            self.nodes[slot] = self.before(slot)

    def before(self, slot: int) -> NodeNote:
        """A node that was not touched yet, as it was before the frame: only its cluster may be another."""
        cluster = self.graph.nodes.clusters[slot]
        now = self.note(slot, cluster)
        was = self.moved.get(slot) if self.moved else None
        return now if was is None else now._replace(cluster=was)

    def note(self, slot: int, cluster: Cluster) -> NodeNote:
        """A node as it is."""
        nodes, past = self.graph.nodes, self.graph.past
        return NodeNote(
            nodes.refs[slot], nodes.times[slot], nodes.digests[slot], cluster.id, past.of(slot), nodes.best[slot]
        )

    def touch_pair(self, key: PairKey, before: PairState | None, place: int = MATCH) -> None:
        """A pair is about to change, which was published on the topic `place`."""
        if key not in self.pairs:
            self.pairs[key] = before
            if place != MATCH:
                self.places[key] = place

    def touch_cluster(self, cluster: Cluster, event: str) -> None:
        """Something is about to happen to a cluster that is there."""
        if cluster.id not in self.clusters:
            self.clusters[cluster.id] = self.seen(cluster)
            self.events[cluster.id] = {event}
            if len(cluster) < self.least:
                self.singles[cluster.id] = cluster[0]
        else:
            self.events.setdefault(cluster.id, set()).add(event)

    def touch_new_cluster(self, cluster: Cluster) -> None:
        """A cluster has appeared."""
        self.clusters.setdefault(cluster.id, None)

    def is_published(self, cluster: Cluster) -> bool:
        """Whether a cluster has enough members to be published."""
        return len(cluster) >= self.least

    def was_published(self, id: str) -> bool:
        """Whether a cluster that was touched was live and published before."""
        before = self.clusters[id]
        return before is not None and before is not UNSEEN

    def seen(self, cluster: Cluster) -> Seen:
        """What the public sees of a cluster that is there."""
        if len(cluster) < self.least:
            return UNSEEN
        nodes = self.graph.nodes
        ids, times = nodes.ids, nodes.times
        oldest, newest = cluster[0], cluster[-1]
        members = tuple(map(ids.__getitem__, cluster[: -NEWEST_LISTED - 1 : -1]))
        describer = self._describer
        if describer is None:
            return len(cluster), members, ids[oldest], times[oldest], times[newest], None
        representative = ids[describer.representative(cluster, nodes)]
        return len(cluster), members, representative, times[oldest], times[newest], describer.summary(cluster, nodes)

    def successor(self, id: str) -> str:
        """The cluster that a cluster ended up in, itself if it was not merged away."""
        while id in self.merged_into:
            id = self.merged_into[id]
        return id
