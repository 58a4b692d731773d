"""The state of the ledger, its snapshot, and its recovery."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.bulk_rows import fill_nodes, fill_pairs, node_rows, pair_rows
from stream_lsh.ledger.changes import LedgerChanges, NewestState, NodeState, PairState
from stream_lsh.ledger.cluster_columns import ClusterColumns
from stream_lsh.ledger.clusters.ids import Cluster, ClusterIds
from stream_lsh.ledger.decisions import Decision, Decisions
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.sites.live import Mirrors
from stream_lsh.retention import ExpiryQueue, Horizon

_LEAST_DROPPED = 10_000
"""Clusters that may change between two lists before the columns are dropped."""


class LedgerState:
    """Live documents and pairs, clusters, the newest refs of ids with retired versions, decisions, and the horizon.

    Recovery rebuilds the queues from the other state.  `mirrors` is set if the ledger watches sites, `columns` if lists
    of its clusters are in use.
    """

    def __init__(self, retention_ms: int | None, link_from: float = 0.0, *, chosen: bool = False) -> None:
        self.graph = Graph(retention_ms, link_from, chosen=chosen)
        self.ids = ClusterIds()
        self.newest: dict[str, NewestState] = {}
        self.horizon = Horizon()
        self.decisions = Decisions()
        self.mirrors: Mirrors | None = None
        self.columns: ClusterColumns | None = None
        self._newest_queue = ExpiryQueue()

    # -- queries

    @property
    def least_published(self) -> int:
        """The smallest size of a published cluster: where pairs may be reviews, not that of a single document."""
        return 2 if self.graph.pairs.link_from else 1

    def newest_ref(self, id: str) -> int:
        """The newest ref of a document, -1 if none is known."""
        slot, entry = self.graph.nodes.slots.get(id), self.newest.get(id)
        return max(-1 if slot is None else self.graph.nodes.refs[slot], -1 if entry is None else entry.ref)

    def members(self, cluster: str) -> list[str]:
        """The members of a live cluster, oldest first."""
        return [self.graph.nodes.ids[slot] for slot in self.ids.live[cluster]]

    def cluster_of(self, id: str) -> str | None:
        """The cluster of a document, None if it is in none."""
        slot = self.graph.nodes.slots.get(id)
        return None if slot is None else self.graph.nodes.clusters[slot].id

    def published_cluster_of(self, id: str) -> str | None:
        """The cluster of a document, None if it is in none that is published."""
        cluster = self.cluster_of(id)
        return cluster if cluster is not None and len(self.ids.live[cluster]) >= self.least_published else None

    def pairs_of(self, id: str) -> list[PairState]:
        """The live pairs of a document."""
        slot, pairs = self.graph.nodes.slots.get(id), self.graph.pairs
        return [] if slot is None else [pairs.state(pair) for _, pair in pairs.partners(slot)]

    # -- lists

    def cluster_columns(self) -> ClusterColumns:
        """The clusters in columns, which the ledger keeps from now on."""
        if self.columns is None:
            self.columns = ClusterColumns(self.ids, self.graph.nodes)
        return self.columns

    def note_changed(self, clusters: Iterable[str]) -> None:
        """Note clusters that have changed.  The columns are dropped if no list has used them for long."""
        if self.columns is not None:
            self.columns.changed.update(clusters)
            if len(self.columns.changed) > max(_LEAST_DROPPED, len(self.ids.live)):
                self.columns = None

    # -- newest refs

    def remember(self, entry: NewestState) -> None:
        """Keep the newest ref of an id until its retired versions have expired."""
        self.newest[entry.id] = entry
        self._newest_queue.push(entry.id, entry.keep_until_ms, entry.ref)

    def forget_expired(self) -> None:
        """Drop closed ids and newest refs that the horizon has passed."""
        self.ids.expire(self.horizon)
        for id in self._newest_queue.pop_due(self.horizon):
            del self.newest[id]

    # -- snapshot and recovery

    def snapshot(self) -> LedgerChanges:
        """The whole ledger as one record, in ascending order of keys; equal ledgers have equal snapshots."""
        slots = [*self.graph.nodes.in_order()]
        sites = LedgerChanges() if self.mirrors is None else self.mirrors.rows()
        return replace(
            sites,
            complete=True,
            nodes=node_rows(slots, self.graph),
            pairs=pair_rows(slots, self.graph),
            clusters=[self.ids.live[id].state() for id in sorted(self.ids.live)],
            newest=[self.newest[id] for id in sorted(self.newest)],
            closed=[self.ids.closed[id] for id in sorted(self.ids.closed)],
            decisions=self.decisions.rows(),
            next_past=self.graph.past.next,
            horizon=self.horizon,
        )

    def apply(self, changes: LedgerChanges) -> None:
        """Apply a changelog record during recovery: the changes of one frame, or a snapshot to an empty ledger.

        Records are applied in the order of the frames.  After the last one the ledger equals the one that wrote them.

        Raises:
            InvariantError: the record is of another ledger: it removes a pair that this one does not have.
        """
        graph, slots = self.graph, self.graph.nodes.slots
        for left, right in changes.pairs_gone:
            gone = graph.pairs.find(slots[left], slots[right])
            if gone < 0:
                raise InvariantError(
                    f"got a record that removes the pair {left!r}, {right!r}, expected one that the ledger has: the "
                    "record is of another ledger, or an earlier one is missing"
                )
            graph.pairs.drop(gone)
        for id in changes.nodes_gone:
            slot = slots[id]
            graph.past.link(slot, ())
            self._leave_cluster(slot)
            graph.remove(slot)
        self._apply_decisions(changes.decisions)
        for id, created in changes.clusters:
            self.ids.live[id] = Cluster(id, created, [])
        if changes.complete:
            fill_nodes(changes.nodes, self.graph, self.ids.live)
            self.columns = None
            fill_pairs(changes.pairs, self.graph)
            self._decide_pairs(self.decisions.of.values())
        else:
            for state in changes.nodes:
                self._apply_node(state)
            for pair in changes.pairs:
                self._apply_pair(pair)
        for id in changes.clusters_gone:
            del self.ids.live[id]
        self.note_changed(changes.clusters_gone)
        for newest in changes.newest:
            self.remember(newest)
        for closed in changes.closed:
            self.ids.restore_closed(closed)
        if self.mirrors is not None:
            self.mirrors.apply(changes)
        graph.past.next = changes.next_past
        self.horizon = self.horizon.max(changes.horizon)
        self.forget_expired()
        graph.nodes.release()

    def _apply_node(self, state: NodeState) -> None:
        graph, nodes = self.graph, self.graph.nodes
        id, ref, time_ms, digest, cluster_id, pasts, about = state
        slot = nodes.slots.get(id)
        if slot is None:
            slot = graph.add(id, ref, time_ms, digest, about)
        else:
            self._leave_cluster(slot)
            if (nodes.refs[slot], nodes.times[slot], nodes.digests[slot]) != (ref, time_ms, digest):
                graph.replace(slot, ref, time_ms, digest, about)
        cluster = nodes.clusters[slot] = self.ids.live[cluster_id]
        nodes.put_in(cluster, slot)
        self.note_changed((cluster_id,))
        graph.past.link(slot, pasts)

    def _apply_decisions(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            self.decisions.put(decision)
        self._decide_pairs(decisions)

    def _decide_pairs(self, decisions: Iterable[Decision]) -> None:
        """Apply decisions to the pairs of their ids that are in the ledger."""
        slots, pairs = self.graph.nodes.slots, self.graph.pairs
        for decision in decisions:
            if decision.left in slots and decision.right in slots:
                pair = pairs.find(slots[decision.left], slots[decision.right])
                if pair >= 0:
                    pairs.decide(pair, self.decisions.verdict(decision.left, decision.right))

    def _apply_pair(self, state: PairState) -> None:
        nodes, pairs = self.graph.nodes, self.graph.pairs
        left, right = nodes.slots[state.left], nodes.slots[state.right]
        pair = pairs.find(left, right)
        if pair < 0:
            pair = pairs.add(left, right, state[6:], self.decisions.verdict(state.left, state.right))
        else:
            pairs.replace(pair, state[6:])
        named = state[2:6]
        if named != pairs.versions_of(pair):
            pairs.versions[pair] = named

    def _leave_cluster(self, slot: int) -> None:
        cluster = self.graph.nodes.clusters[slot]
        self.graph.nodes.take_out(cluster, slot)
        self.note_changed((cluster.id,))
