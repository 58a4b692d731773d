"""Components of the graph as clusters: they form, merge, split, lose members and close, and a frame notes it."""

from collections import Counter
from collections.abc import Iterable

from stream_lsh.ledger.clusters import NOWHERE, Cluster, older
from stream_lsh.ledger.frame import Frame
from stream_lsh.ledger.state import LedgerState

_FEW = 16
"""What is so many times smaller is put in, or taken out, one by one."""


class Components(LedgerState):
    """The state of a ledger, with the clusters kept as the components of its graph."""

    def __init__(self, retention_ms: int | None) -> None:
        super().__init__(retention_ms)
        self._frame = Frame(-1, self.graph)

    # -- links that come

    def _join_twins(self, slot: int) -> None:
        if self.graph.twins.groups:
            for twin in self.graph.twins.near(slot):
                self._join(slot, twin)

    def _join(self, one: int, other: int) -> None:
        """Two nodes are connected now: they are of one cluster."""
        nodes = self.graph.nodes
        its, others = nodes.clusters[one], nodes.clusters[other]
        if its is others:
            if its is NOWHERE:
                members = nodes.by_age([one, other])
                cluster = self.ids.open(nodes.ids[members[0]], members, self._frame.offset)
                nodes.clusters[one] = nodes.clusters[other] = cluster
                self._frame.touch_new_cluster(cluster)
        elif its is NOWHERE or others is NOWHERE:
            new, there = (one, others) if its is NOWHERE else (other, its)
            self._frame.touch_cluster(there, "joined")
            self.graph.nodes.put_in(there, new)
            nodes.clusters[new] = there
        else:
            self._merge(*older(its, others))

    def _merge(self, stays: Cluster, goes: Cluster) -> None:
        frame, nodes = self._frame, self.graph.nodes
        frame.touch_cluster(stays, "merged")
        frame.touch_cluster(goes, "merged")
        frame.merged_into[goes.id] = stays.id
        frame.merged_from.setdefault(stays.id, set()).update(frame.merged_from.pop(goes.id, ()), {goes.id})
        self._carry(goes, goes, stays)
        newest = goes[-1]
        self._close(goes, nodes.times[newest], nodes.refs[newest])
        if _FEW * len(goes) < len(stays):
            for slot in goes:
                self.graph.nodes.put_in(stays, slot)
        else:
            stays[:] = nodes.by_age(stays + goes)

    def _carry(self, slots: Iterable[int], from_: Cluster, to: Cluster) -> None:
        """Nodes go from one cluster to another."""
        clusters, moved, id = self.graph.nodes.clusters, self._frame.moved, from_.id
        for slot in slots:
            clusters[slot] = to
            moved.setdefault(slot, id)

    # -- links that go

    def _repair(self, suspects: set[int], reason: str) -> None:
        """Links of these nodes were taken away: let go of who is alone, and split clusters that have come apart."""
        graph, nodes = self.graph, self.graph.nodes
        ordered = nodes.by_id(suspects)
        for slot in ordered:
            if nodes.clusters[slot] is not NOWHERE and graph.alone(slot):
                self._drop_node(slot, reason)
        by_cluster: dict[str, list[int]] = {}
        for slot in ordered:
            cluster = nodes.clusters[slot]
            if cluster is not NOWHERE:
                by_cluster.setdefault(cluster.id, []).append(slot)
        for id, slots in sorted(by_cluster.items()):
            if len(slots) > 1:
                parts = graph.parts(slots)
                if parts:
                    self._split(self.ids.live[id], parts)

    def _split(self, cluster: Cluster, parts: list[set[int]]) -> None:
        """`parts` have come off a cluster; what is in none of them has stayed together."""
        frame, nodes = self._frame, self.graph.nodes
        frame.touch_cluster(cluster, "split")
        origin = frame.split_from.get(cluster.id, cluster.id)
        # A document that was updated may have twins in a cluster that it has not joined yet: that one does not split.
        pieces = [nodes.by_age([slot for slot in part if nodes.clusters[slot] is cluster]) for part in parts]
        pieces.append(self._left(cluster, pieces))
        of_size = Counter(map(len, pieces))
        pieces.sort(key=lambda piece: (-len(piece), nodes.first_id(piece) if of_size[len(piece)] > 1 else ""))
        cluster[:] = pieces[0]
        for piece in pieces[1:]:
            new = self.ids.open(nodes.ids[piece[0]], piece, frame.offset)
            frame.touch_new_cluster(new)
            frame.split_from[new.id] = origin
            self._carry(piece, cluster, new)

    def _left(self, cluster: Cluster, pieces: list[list[int]]) -> list[int]:
        """The members of a cluster that are in no piece."""
        if _FEW * sum(map(len, pieces)) < len(cluster):
            for piece in pieces:
                for slot in piece:
                    self.graph.nodes.take_out(cluster, slot)
            return cluster
        gone = set().union(*pieces)
        return [slot for slot in cluster if slot not in gone]

    def _drop_node(self, slot: int, reason: str) -> None:
        self._leave(slot, reason)
        self.graph.remove(slot)

    def _leave(self, slot: int, reason: str) -> None:
        """A document leaves its cluster, which closes with its last one."""
        frame, nodes = self._frame, self.graph.nodes
        frame.touch_node(slot)
        frame.node_reasons[slot] = reason
        cluster = nodes.clusters[slot]
        frame.touch_cluster(cluster, "left")
        self.graph.nodes.take_out(cluster, slot)
        if not cluster:
            self._close(cluster, nodes.times[slot], nodes.refs[slot])

    def _close(self, cluster: Cluster, time_ms: int, ref: int) -> None:
        self._frame.closed[cluster.id] = self.ids.retire(cluster.id, time_ms, ref)
