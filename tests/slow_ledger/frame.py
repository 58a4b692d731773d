"""What one frame touches: the state before is noted at the first touch, and compared with the state after at the end.

So a frame publishes a value once, however often it changed on the way, and nothing that ended as it began.
"""

from stream_lsh.ledger.changes import (
    ClosedState,
    ClusterChange,
    MatchChange,
    MemberChange,
    NewestState,
    NodeState,
    PairState,
)
from tests.slow_ledger.clusters import Cluster
from tests.slow_ledger.graph import Node

Told = tuple[str, float | None, int]
"""What `members` says of a document: cluster, best similarity, event time."""

UPDATED, DELETED, EXPIRED = "updated", "deleted", "expired"
"""Reasons for a withdrawal."""


class Frame:
    """The notes of one frame; `offset` is that of its message on `edges`.

    `nodes`, `members`, `pairs` and `clusters` hold what was before the first touch, None for what was not there;
    `asked` are the documents for which a retirement came; `expired` are the pairs that an expired end took along.
    """

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.nodes: dict[str, NodeState | None] = {}
        self.members: dict[str, Told | None] = {}
        self.pairs: dict[tuple[str, str], PairState | None] = {}
        self.expired: dict[tuple[str, str], PairState] = {}
        self.reasons: dict[str | tuple[str, str], str] = {}
        self.clusters: dict[str, ClusterChange | None] = {}
        self.events: dict[str, set[str]] = {}
        self.merged_into: dict[str, str] = {}
        self.merged_from: dict[str, set[str]] = {}
        self.split_from: dict[str, str] = {}
        self.newest: dict[str, NewestState] = {}
        self.closed: dict[str, ClosedState] = {}
        self.asked: set[str] = set()

    def touch_new_node(self, id: str) -> None:
        """A node is about to appear."""
        self.nodes.setdefault(id, None)
        self.members.setdefault(id, None)

    def touch_node(self, node: Node) -> None:
        """A node is about to change."""
        if node.id not in self.nodes:
            self.nodes[node.id] = node.state()
            self.members[node.id] = _told(node)

    def touch_pair(self, left: str, right: str, before: PairState | None) -> None:
        """A pair is about to change."""
        self.pairs.setdefault((left, right), before)

    def touch_cluster(self, cluster: Cluster, event: str) -> None:
        """Something is about to happen to a cluster that is there."""
        if cluster.id not in self.clusters:
            self.clusters[cluster.id] = cluster.seen()
        self.events.setdefault(cluster.id, set()).add(event)

    def touch_new_cluster(self, cluster: Cluster) -> None:
        """A cluster has appeared."""
        self.clusters.setdefault(cluster.id, None)
        self.events.setdefault(cluster.id, set())

    def match_changes(self, now: dict[tuple[str, str], PairState | None]) -> list[MatchChange]:
        """What the topic `matches` has to say: pairs that look different from before, and withdrawals."""
        changes = []
        for key in sorted(now):
            # A pair that an expired end took along stays as it was last, be it from this very frame.
            before, after = self.pairs[key], now[key] or self.expired.get(key)
            if after is None and before is not None:
                changes.append(MatchChange(*key, reason=self.reasons[key]))
            elif after is not None and (before is None or _seen(before) != _seen(after)):
                changes.append(_seen(after))
        return changes

    def member_changes(self, nodes: dict[str, Node]) -> list[MemberChange]:
        """What the topic `members` has to say: documents whose cluster, similarity or time changed, and who left."""
        changes = []
        for id in sorted(self.members):
            before, node = self.members[id], nodes.get(id)
            if node is not None:
                now = _told(node)
                if now != before:
                    changes.append(MemberChange(id, *now))
            elif before is not None:
                changes.append(MemberChange(id, reason=self.reasons[id]))
        return changes

    def heir(self, id: str) -> str:
        """The cluster that a cluster ended up in, itself if it was not merged away."""
        while id in self.merged_into:
            id = self.merged_into[id]
        return id


def _told(node: Node) -> Told:
    """What `members` has to say of a node."""
    return node.cluster, node.best_similarity(), node.time_ms


def _seen(pair: PairState) -> MatchChange:
    """What the public sees of a pair."""
    return MatchChange(
        pair.left,
        pair.right,
        pair.similarity,
        pair.shared,
        pair.union,
        pair.left_time_ms,
        pair.right_time_ms,
        left_shingles=pair.left_shingles,
        evidence=pair.evidence,
    )
