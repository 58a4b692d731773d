"""Components of the graph as clusters: they form, merge, split, lose members and close; the frame notes each change."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from stream_lsh.ledger.bulk_frame import BulkPairs
from stream_lsh.ledger.clusters.ids import NOWHERE, Cluster, ClusterIds, older
from stream_lsh.ledger.frame_diff import NodeDiff, moved_slots
from stream_lsh.ledger.frame_notes import GROWING, FrameNotes
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import view_f64
from stream_lsh.model import at_rows

_FEW = 16
"""A set that is this many times smaller than a cluster is added or removed one by one."""


class ComponentClusters:
    """The clusters of a ledger: the connected components of its graph.

    Args:
        graph: the live documents and pairs.
        ids: the live clusters, by id.

    Cost:
        O(size of the smaller part) for a new link, O(size of the separated part) for a removed one.
    """

    divides_components = False
    """Whether guards or decisions may divide a component into several clusters."""

    def __init__(self, graph: Graph, ids: ClusterIds) -> None:
        self._graph = graph
        self._ids = ids
        self._notes = FrameNotes(-1, graph)

    def begin(self, notes: FrameNotes) -> None:
        """Note all changes in this frame from now on."""
        self._notes = notes

    def regroup(self) -> None:
        """Update the clusters to the links; components are always up to date."""

    def expired(self, suspects: set[int]) -> None:
        """Handle the former neighbours of an expired document; here the past keeps them connected."""

    def in_same_cluster(self, cluster: Cluster, slots: list[int]) -> list[int]:
        """The identical documents of a member that are in its cluster; here all of them."""
        return slots

    def add_unlinked_pair(self, left: int, right: int) -> None:
        """Register a pair that does not link; here every pair links."""

    # -- new links

    def join_twins(self, slot: int) -> None:
        """Connect a node with its twins."""
        if self._graph.twins.groups:
            for twin in self._graph.twins.near(slot):
                self.join(slot, twin)

    def join(self, left: int, right: int) -> None:
        """Put two connected nodes into one cluster."""
        nodes = self._graph.nodes
        left_cluster, right_cluster = nodes.clusters[left], nodes.clusters[right]
        if left_cluster is right_cluster:
            if left_cluster is NOWHERE:
                members = nodes.by_age([left, right])
                cluster = self._ids.open(nodes.ids[members[0]], members, self._notes.offset)
                nodes.clusters[left] = nodes.clusters[right] = cluster
                self._notes.touch_new_cluster(cluster)
        elif left_cluster is NOWHERE or right_cluster is NOWHERE:
            new, cluster = (left, right_cluster) if left_cluster is NOWHERE else (right, left_cluster)
            self._notes.touch_cluster(cluster, "joined")
            self._graph.nodes.put_in(cluster, new)
            nodes.clusters[new] = cluster
        else:
            self._merge(*older(left_cluster, right_cluster))

    def _merge(self, kept: Cluster, absorbed: Cluster) -> None:
        notes, nodes = self._notes, self._graph.nodes
        notes.touch_cluster(kept, "merged")
        notes.touch_cluster(absorbed, "merged")
        notes.merged_into[absorbed.id] = kept.id
        notes.merged_from.setdefault(kept.id, set()).update(notes.merged_from.pop(absorbed.id, ()), {absorbed.id})
        self._carry(absorbed, absorbed, kept)
        newest = absorbed[-1]
        self._close(absorbed, nodes.times[newest], nodes.refs[newest])
        if _FEW * len(absorbed) < len(kept):
            for slot in absorbed:
                self._graph.nodes.put_in(kept, slot)
        else:
            kept.become(nodes.by_age(kept + absorbed))

    def _carry(self, slots: Iterable[int], from_: Cluster, to: Cluster) -> None:
        """Move nodes from one cluster to another."""
        clusters, moved, id = self._graph.nodes.clusters, self._notes.moved, from_.id
        for slot in slots:
            clusters[slot] = to
            moved.setdefault(slot, id)

    # -- new links in bulk

    def link_bulk(self, bulk: BulkPairs) -> NodeDiff:
        """Add the new documents and pairs of a bulk frame; returns the differences of its nodes."""
        ends, graph, nodes = bulk.ends, self._graph, self._graph.nodes
        digests = ends.digests[ends.first]
        abouts = at_rows(ends.abouts, ends.first.tolist())
        fresh = nodes.add_many(ends.new_ids, ends.refs[ends.first], ends.times[ends.first], digests, abouts)
        self._notes.nodes = dict.fromkeys(fresh)
        graph.pairs.grow()
        graph.expiry.watch(fresh)
        twins = graph.twins.add_all_alone(fresh, digests)
        lefts, rights = bulk.slots(fresh)
        left, right = np.array(lefts, np.int64), np.array(rights, np.int64)
        known_slots = ends.slots[ends.slots >= 0]
        best = view_f64(nodes.best)[known_slots]
        graph.pairs.add_many(left, right, bulk.counts)
        better = known_slots[view_f64(nodes.best)[known_slots] > best].tolist()
        self._join_rows(lefts, rights, twins)
        moved = moved_slots(self._notes, graph)
        unchanged = set(better).difference(moved)
        published = nodes.by_id([*fresh, *moved, *unchanged])
        changed = [slot for slot in published if slot not in unchanged] if unchanged else published
        return NodeDiff(published, changed, [], [])

    def _join_rows(self, left: list[int], right: list[int], twins: set[int]) -> None:
        """Call `join` for each row; documents in `twins` are connected with their twins at their first row."""
        nodes, graph, join = self._graph.nodes, self._graph, self.join
        clusters, ids, times = nodes.clusters, nodes.ids, nodes.times
        notes = self._notes
        noted, offset = notes.clusters, notes.offset
        for left_slot, right_slot in zip(left, right, strict=True):
            if left_slot in twins or right_slot in twins:
                for slot in (left_slot, right_slot):
                    if slot in twins:
                        twins.discard(slot)
                        graph.twins.add(slot)
                self.join_twins(left_slot)
                self.join_twins(right_slot)
                join(left_slot, right_slot)
                continue
            left_cluster, right_cluster = clusters[left_slot], clusters[right_slot]
            if left_cluster is not right_cluster:
                if left_cluster is not NOWHERE and right_cluster is not NOWHERE:
                    join(left_slot, right_slot)
                    continue
                new, cluster = (left_slot, right_cluster) if left_cluster is NOWHERE else (right_slot, left_cluster)
                note = noted.setdefault(cluster.id, GROWING)
                if note is GROWING:
                    notes.events.setdefault(cluster.id, set()).add("joined")
                elif note is not None:
                    notes.touch_cluster(cluster, "joined")
                if times[new] > times[cluster[-1]] and cluster.describer_state is None:
                    cluster.append(new)
                else:
                    nodes.put_in(cluster, new)
                clusters[new] = cluster
            elif left_cluster is NOWHERE:
                members = [left_slot, right_slot] if times[left_slot] <= times[right_slot] else [right_slot, left_slot]
                cluster = clusters[left_slot] = clusters[right_slot] = self._ids.open(ids[members[0]], members, offset)
                noted[cluster.id] = None

    # -- removed links

    def repair(self, suspects: set[int], reason: str) -> None:
        """Handle removed links of these nodes: drop nodes without links, and split disconnected clusters."""
        graph, nodes = self._graph, self._graph.nodes
        ordered = nodes.by_id(suspects)
        alone = [slot for slot in ordered if nodes.clusters[slot] is not NOWHERE and graph.alone(slot)]
        if alone:
            self.drop(alone, reason)
        by_cluster: dict[str, list[int]] = {}
        for slot in ordered:
            cluster = nodes.clusters[slot]
            if cluster is not NOWHERE:
                by_cluster.setdefault(cluster.id, []).append(slot)
        for id, slots in sorted(by_cluster.items()):
            if len(slots) > 1:
                parts = graph.parts(slots)
                if parts:
                    self._split(self._ids.live[id], parts)

    def _split(self, cluster: Cluster, parts: list[list[int]]) -> None:
        """Split `parts` off a cluster; its other members stay connected."""
        notes, nodes = self._notes, self._graph.nodes
        notes.touch_cluster(cluster, "split")
        origin = notes.split_from.get(cluster.id, cluster.id)
        pieces = self._pieces(cluster, parts)
        of_size = Counter(map(len, pieces))
        pieces.sort(key=lambda piece: (-len(piece), nodes.first_id(piece) if of_size[len(piece)] > 1 else ""))
        cluster.become(pieces[0])
        for piece in pieces[1:]:
            new = self._ids.open(nodes.ids[piece[0]], piece, notes.offset)
            notes.touch_new_cluster(new)
            notes.split_from[new.id] = origin
            self._carry(piece, cluster, new)

    def _pieces(self, cluster: Cluster, parts: list[list[int]]) -> list[list[int]]:
        """The members of a cluster in each part, then its other members; each in order.

        A part may reach into another cluster: an updated document has twins whose cluster it has not joined yet.
        """
        if _FEW * sum(map(len, parts)) < len(cluster):
            nodes = self._graph.nodes
            pieces = [nodes.by_age([slot for slot in part if nodes.clusters[slot] is cluster]) for part in parts]
            for piece in pieces:
                for slot in piece:
                    nodes.take_out(cluster, slot)
            return [*pieces, cluster]
        part_of = {slot: number for number, part in enumerate(parts) for slot in part}
        pieces = [[] for _ in range(len(parts) + 1)]
        for slot in cluster:
            pieces[part_of.get(slot, -1)].append(slot)
        return pieces

    def drop(self, slots: list[int], reason: str) -> None:
        """Remove nodes from their clusters and the graph."""
        self.leave(slots, reason)
        for slot in slots:
            self._graph.remove(slot)

    def leave(self, slots: list[int], reason: str) -> None:
        """Remove documents, in ascending order of ids, from their clusters; an empty cluster closes."""
        notes, nodes = self._notes, self._graph.nodes
        by_cluster: dict[str, list[int]] = {}
        for slot in slots:
            if nodes.clusters[slot] is NOWHERE:
                continue
            notes.touch_node(slot)
            notes.node_reasons[slot] = reason
            by_cluster.setdefault(nodes.clusters[slot].id, []).append(slot)
        for id, leaving in by_cluster.items():
            cluster = self._ids.live[id]
            notes.touch_cluster(cluster, "left")
            if _FEW * len(leaving) < len(cluster):
                for slot in leaving:
                    nodes.take_out(cluster, slot)
            else:
                gone = set(leaving)
                cluster.become([slot for slot in cluster if slot not in gone])
            if not cluster:
                last = leaving[-1]
                self._close(cluster, nodes.times[last], nodes.refs[last])

    def _close(self, cluster: Cluster, time_ms: int, ref: int) -> None:
        self._notes.closed[cluster.id] = self._ids.close(cluster.id, time_ms, ref)
