"""What one frame touches: the state before is noted at the first touch, and compared with the state after at the end.

So a frame publishes a value once, however often it changed on the way, and nothing that ended as it began.
"""

from typing import NamedTuple

from stream_lsh.ledger.changes import ClosedState, NewestState, PairState, Telling
from stream_lsh.ledger.clusters import NEWEST_LISTED, Cluster
from stream_lsh.ledger.graph import Graph
from stream_lsh.ledger.stories import representative_of, telling

UPDATED, DELETED, EXPIRED = "updated", "deleted", "expired"
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


Seen = tuple[int, tuple[str, ...], str, int, int, Telling | None]
"""What the public sees of a cluster, apart from what happened to it: size, newest members, representative, times,
and what it tells."""


GROWING: Seen = (0, (), "", 0, 0, None)
"""Stands for a cluster as it was that nothing leaves in the frame: whatever it was, it has become another."""


class Frame:
    """The notes of one frame; `offset` is that of its message on `edges`.

    `nodes`, `pairs` and `clusters` hold what was before the first touch, None for what was not there; `moved` the
    clusters in which nodes were that were carried into another one; `put` the numbers of the pairs that are there now,
    of those in `pairs`; `asked` the documents for which a retirement came; `expired` the pairs that an expired end took
    along.
    """

    def __init__(self, offset: int, graph: Graph, stories: bool = False) -> None:
        self.offset = offset
        self.graph = graph
        self._stories = stories
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

    def touch_pair(self, key: PairKey, before: PairState | None) -> None:
        """A pair is about to change."""
        self.pairs.setdefault(key, before)

    def touch_cluster(self, cluster: Cluster, event: str) -> None:
        """Something is about to happen to a cluster that is there."""
        if cluster.id not in self.clusters:
            self.clusters[cluster.id] = self.seen(cluster)
            self.events[cluster.id] = {event}
        else:
            self.events.setdefault(cluster.id, set()).add(event)

    def touch_new_cluster(self, cluster: Cluster) -> None:
        """A cluster has appeared."""
        self.clusters.setdefault(cluster.id, None)

    def seen(self, cluster: Cluster) -> Seen:
        """What the public sees of a cluster that is there."""
        nodes = self.graph.nodes
        ids, times = nodes.ids, nodes.times
        oldest, newest = cluster[0], cluster[-1]
        members = tuple(map(ids.__getitem__, cluster[: -NEWEST_LISTED - 1 : -1]))
        if not self._stories:
            return len(cluster), members, ids[oldest], times[oldest], times[newest], None
        representative = ids[representative_of(cluster, nodes)]
        return len(cluster), members, representative, times[oldest], times[newest], telling(cluster, nodes)

    def heir(self, id: str) -> str:
        """The cluster that a cluster ended up in, itself if it was not merged away."""
        while id in self.merged_into:
            id = self.merged_into[id]
        return id
