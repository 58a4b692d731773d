"""The one place that decides what is true about pairs and clusters.

A frame (one message of `edges`) is settled as a whole: retirements, then edges, then the horizon, each with all its
consequences, and then what changed is told once.  The result depends on the state and the frame alone - no clock, no
randomness, no order of a hash table - so that a frame settled again after a crash says the same.

    update      the pairs of the older version stay, in doubt; rechecks are asked for; the answer keeps or withdraws
    delete      the pairs below the tombstone are withdrawn at once, and the membership
    expiry      withdraws nothing and never splits: the node becomes part of the past (see `graph`); only a pair in
                doubt goes, for nobody can answer for an expired version

A pair is *in doubt* while a version that it was confirmed for is not the newest known of its document.
"""

from collections.abc import Iterable

from stream_lsh.ledger.changes import NewestState, PairState, Settled
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.model import Retirement
from stream_lsh.retention import Horizon
from tests.slow_ledger.clusters import Cluster, older
from tests.slow_ledger.frame import DELETED, EXPIRED, UPDATED, Frame
from tests.slow_ledger.graph import Node
from tests.slow_ledger.outcome import changes_of, cluster_changes
from tests.slow_ledger.state import LedgerState


class Ledger(LedgerState):
    """Live pairs, their components, and what must be remembered to keep them right.

    Args:
        threshold: pairs below it are not true.
        retention_ms: how far apart in event time two documents may be; None: any distance.

    Guarantees:
        Edges may come again, late, and in any order between documents; the end is the same.
    Cost:
        O(size of the part that changes) for an edge, a retirement or an expiry; memory for live members, live pairs,
        and one entry for each id that was updated or deleted within the retention.
    """

    def __init__(self, threshold: float, retention_ms: int | None = None) -> None:
        super().__init__(retention_ms)
        self._threshold = threshold
        self._frame = Frame(-1)

    # -- one frame

    def settle(
        self,
        offset: int,
        *,
        retirements: Iterable[Retirement] = (),
        edges: Iterable[Edge] = (),
        horizon: Horizon | None = None,
    ) -> Settled:
        """Apply one frame and return what there is to publish, to ask again, and to log.

        Args:
            offset: the offset of the frame on its topic; greater than that of any frame before.
            retirements: documents whose older versions are no longer true.
            edges: confirmed pairs and answers to rechecks.
            horizon: what has expired now, if it has moved.
        """
        self._frame = Frame(offset)
        for retirement in retirements:
            self._retire(retirement)
        for edge in edges:
            self._link(edge)
        if horizon is not None:
            self._expire(self.horizon.joined(horizon))
        return self._settled()

    # -- retirements

    def _retire(self, retired: Retirement) -> None:
        self._frame.asked.add(retired.id)
        entry = self.newest.get(retired.id)
        ref, keep_until_ms = retired.ref, retired.keep_until_ms
        if entry is not None:
            ref, keep_until_ms = max(ref, entry.ref), max(keep_until_ms, entry.keep_until_ms)
        self._remember(NewestState(retired.id, ref, keep_until_ms))
        node = self.graph.nodes.get(retired.id)
        if node is None:
            return
        if retired.ref > node.ref:
            if retired.deleted or self.horizon.passed(retired.time_ms, retired.ref):
                self._remove(node, DELETED if retired.deleted else UPDATED)
            else:
                self._replace_version(node, retired.ref, retired.time_ms, retired.digest)
        elif retired.deleted:
            self._withdraw_below(node, retired.ref)

    def _withdraw_below(self, node: Node, tombstone: int) -> None:
        """Withdraw the pairs that name a version from before a delete; the node is of a version after it."""
        suspects = {node.id}
        for pair in tuple(node.pairs.values()):
            if (pair.left_ref if pair.left == node.id else pair.right_ref) < tombstone:
                suspects |= self._withdraw(pair, DELETED)
        self._repair(suspects, DELETED)

    def _remove(self, node: Node, reason: str) -> None:
        """A document is gone, with its pairs, its membership and its link to the past."""
        suspects = self.graph.past_company(node).union(node.pairs, self.graph.twins(node))
        for partner in sorted(node.pairs):
            self._withdraw(node.pairs[partner], reason)
        self._frame.touch_node(node)
        self.graph.forget_past(node)
        self._drop_node(node, reason)
        self._repair(suspects, reason)

    def _replace_version(self, node: Node, ref: int, time_ms: int, digest: int) -> None:
        """A node names a newer version: its pairs stay, in doubt; its twins are others, and it has no past.

        What its old company has lost is settled before the new twins are joined, or an update would merge two clusters
        only to split them.
        """
        self._frame.touch_node(node)
        self._remember(NewestState(node.id, ref, max(node.time_ms, self._keep_until(node.id, node.time_ms))))
        suspects = self.graph.past_company(node).union(self.graph.twins(node), {node.id})
        self.graph.forget_past(node)
        cluster = self.ids.live[node.cluster]
        self._frame.touch_cluster(cluster, "changed")
        cluster.remove(node.time_ms, node.id)
        cluster.add(time_ms, node.id)
        self.graph.replace(node, ref, time_ms, digest)
        self.watch(node)
        self._repair(suspects, UPDATED)
        if node.id in self.graph.nodes:
            self._join_twins(node)

    def _keep_until(self, id: str, default: int) -> int:
        entry = self.newest.get(id)
        return default if entry is None else entry.keep_until_ms

    def _remember(self, entry: NewestState) -> None:
        if self.newest.get(entry.id) != entry and not self.horizon.passed(entry.keep_until_ms, entry.ref):
            self.remember(entry)
            self._frame.newest[entry.id] = entry

    # -- edges

    def _link(self, edge: Edge) -> None:
        one, other, similarity, shared, union, shingles, evidence = edge
        if one.id == other.id:
            return
        if any(self._is_stale(end) or self._has_expired(end) for end in (one, other)):
            return
        for end in (one, other):
            node = self.graph.nodes.get(end.id)
            if node is not None and end.ref > node.ref:
                self._replace_version(node, end.ref, end.time_ms, end.digest)
        left, right = (one, other) if one.id < other.id else (other, one)
        if similarity >= self._threshold:
            if left is not one and shingles:
                shingles = shared + union - shingles
            ends = (left.id, right.id, left.ref, right.ref, left.time_ms, right.time_ms)
            self._confirm(left, right, PairState(*ends, similarity, shared, union, shingles, evidence))
        else:
            node = self.graph.nodes.get(left.id)
            pair = None if node is None else node.pairs.get(right.id)
            if pair is not None:
                self._repair(self._withdraw(pair, UPDATED), UPDATED)

    def _is_stale(self, end: End) -> bool:
        return end.ref < self.newest_ref(end.id)

    def _has_expired(self, end: End) -> bool:
        return self.horizon.passed(end.time_ms, end.ref)

    def _confirm(self, left: End, right: End, pair: PairState) -> None:
        nodes = [self._node(end) for end in (left, right)]
        before = nodes[0].pairs.get(right.id)
        if before == pair:
            return
        for node in nodes:
            self._frame.touch_node(node)
        self._frame.touch_pair(left.id, right.id, before)
        self.graph.put_pair(pair)
        for node in nodes:
            self._join_twins(node)
        self._join(nodes[0], nodes[1])

    def _node(self, end: End) -> Node:
        node = self.graph.nodes.get(end.id)
        if node is None:
            self._frame.touch_new_node(end.id)
            node = Node(end.id, end.ref, end.time_ms, end.digest)
            self.graph.add(node)
            self.watch(node)
        return node

    def _withdraw(self, pair: PairState, reason: str) -> set[str]:
        """Take a pair out; returns both ends, whose connection is to be looked at."""
        for id in (pair.left, pair.right):
            self._frame.touch_node(self.graph.nodes[id])
        self._frame.touch_pair(pair.left, pair.right, pair)
        self._frame.reasons[pair.left, pair.right] = reason
        self.graph.drop_pair(pair)
        return {pair.left, pair.right}

    def _in_doubt(self, pair: PairState) -> bool:
        nodes = self.graph.nodes
        return pair.left_ref != nodes[pair.left].ref or pair.right_ref != nodes[pair.right].ref

    # -- the past

    def _expire(self, horizon: Horizon) -> None:
        self.horizon = horizon
        expired = self.expired_nodes()
        self._withdraw_doubts(expired)
        for id in expired:
            node = self.graph.nodes.get(id)
            if node is not None:
                self._contract(node)
        self.forget_expired()
        self._frame.newest = {id: self.newest[id] for id in self._frame.newest if id in self.newest}

    def _withdraw_doubts(self, expired: list[str]) -> None:
        """Nobody can answer for an expired version, so its pairs in doubt go, and leave no link."""
        suspects: set[str] = set()
        for id in expired:
            for pair in tuple(self.graph.nodes[id].pairs.values()):
                if self._in_doubt(pair):
                    suspects |= self._withdraw(pair, UPDATED)
        self._repair(suspects, UPDATED)

    def _contract(self, node: Node) -> None:
        """An expired document leaves its cluster and lives on as a link between those that it was connected with."""
        for pair in node.pairs.values():
            self._frame.touch_pair(pair.left, pair.right, pair)
            self._frame.expired[pair.left, pair.right] = pair
        self._leave(node, EXPIRED)
        self.graph.contract(node, self._frame.touch_node)

    # -- components

    def _join_twins(self, node: Node) -> None:
        for twin in self.graph.twins(node):
            self._join(node, self.graph.nodes[twin])

    def _join(self, one: Node, other: Node) -> None:
        """Two nodes are connected now: they are of one cluster."""
        if not one.cluster and not other.cluster:
            cluster = self.ids.open(((one.time_ms, one.id), (other.time_ms, other.id)), self._frame.offset)
            one.cluster = other.cluster = cluster.id
            self._frame.touch_new_cluster(cluster)
        elif not one.cluster or not other.cluster:
            new, there = (one, other) if not one.cluster else (other, one)
            cluster = self.ids.live[there.cluster]
            self._frame.touch_cluster(cluster, "joined")
            cluster.add(new.time_ms, new.id)
            new.cluster = cluster.id
        elif one.cluster != other.cluster:
            self._merge(*older(self.ids.live[one.cluster], self.ids.live[other.cluster]))

    def _merge(self, stays: Cluster, goes: Cluster) -> None:
        self._frame.touch_cluster(stays, "merged")
        self._frame.touch_cluster(goes, "merged")
        self._frame.merged_into[goes.id] = stays.id
        self._frame.merged_from.setdefault(stays.id, set()).update(self._frame.merged_from.pop(goes.id, ()), {goes.id})
        for _, id in goes.members:
            node = self.graph.nodes[id]
            self._frame.touch_node(node)
            node.cluster = stays.id
        time_ms, newest = goes.members[-1]
        self._close(goes, time_ms, self.graph.nodes[newest].ref)
        stays.absorb(goes)

    def _repair(self, suspects: set[str], reason: str) -> None:
        """Links of these nodes were taken away: let go of who is alone, and split clusters that have come apart."""
        for id in sorted(suspects):
            node = self.graph.nodes.get(id)
            if node is not None and self.graph.alone(node):
                self._drop_node(node, reason)
        by_cluster: dict[str, list[str]] = {}
        for id in sorted(suspects & self.graph.nodes.keys()):
            by_cluster.setdefault(self.graph.nodes[id].cluster, []).append(id)
        for cluster_id, ids in sorted(by_cluster.items()):
            parts = self.graph.parts(ids)
            if parts:
                self._split(self.ids.live[cluster_id], parts)

    def _split(self, cluster: Cluster, parts: list[set[str]]) -> None:
        """`parts` have come off a cluster; what is in none of them has stayed together."""
        part_of = {id: number for number, part in enumerate(parts) for id in part}
        pieces: list[list[tuple[int, str]]] = [[] for _ in range(len(parts) + 1)]
        for member in cluster.members:
            pieces[part_of.get(member[1], -1)].append(member)
        pieces.sort(key=lambda piece: (-len(piece), min(id for _, id in piece)))
        self._frame.touch_cluster(cluster, "split")
        origin = self._frame.split_from.get(cluster.id, cluster.id)
        cluster.members = pieces[0]
        for piece in pieces[1:]:
            new = self.ids.open(piece, self._frame.offset)
            self._frame.touch_new_cluster(new)
            self._frame.split_from[new.id] = origin
            for _, id in piece:
                node = self.graph.nodes[id]
                self._frame.touch_node(node)
                node.cluster = new.id

    def _drop_node(self, node: Node, reason: str) -> None:
        self._leave(node, reason)
        self.remove_node(node)

    def _leave(self, node: Node, reason: str) -> None:
        """A document leaves its cluster, which closes with its last one."""
        self._frame.touch_node(node)
        self._frame.reasons[node.id] = reason
        cluster = self.ids.live[node.cluster]
        self._frame.touch_cluster(cluster, "left")
        cluster.remove(node.time_ms, node.id)
        if not cluster.members:
            self._close(cluster, node.time_ms, node.ref)

    def _close(self, cluster: Cluster, time_ms: int, ref: int) -> None:
        self._frame.closed[cluster.id] = self.ids.retire(cluster.id, time_ms, ref)

    # -- what came of it

    def _settled(self) -> Settled:
        frame, nodes = self._frame, self.graph.nodes
        pairs_now = {key: self._pair(*key) for key in frame.pairs}
        return Settled(
            matches=frame.match_changes(pairs_now),
            members=frame.member_changes(nodes),
            clusters=cluster_changes(frame, self.ids.live),
            rechecks=self._rechecks(),
            changes=changes_of(frame, pairs_now, self.graph, self.ids.live, self.horizon),
        )

    def _rechecks(self) -> list[tuple[int, int]]:
        """One for each pair in doubt of a document that a retirement came for, in the newest versions of both ends."""
        nodes = self.graph.nodes
        rechecks: dict[tuple[str, str], tuple[int, int]] = {}
        for id in sorted(self._frame.asked & nodes.keys()):
            for partner, pair in nodes[id].pairs.items():
                if self._in_doubt(pair):
                    rechecks.setdefault((pair.left, pair.right), (nodes[id].ref, nodes[partner].ref))
        return sorted(rechecks.values())

    def _pair(self, left: str, right: str) -> PairState | None:
        node = self.graph.nodes.get(left)
        return None if node is None else node.pairs.get(right)
