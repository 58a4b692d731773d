"""Many rows at once: from the columns of the ledger to those of a record, and back into an empty ledger."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.changes import NodeState, PairState
from stream_lsh.ledger.clusters import Cluster
from stream_lsh.ledger.graph import Graph
from stream_lsh.ledger.nodes import view_f64, view_i64, view_u32, view_u64
from stream_lsh.ledger.table import Table, columns_of


def node_rows(slots: list[int], graph: Graph) -> Table[NodeState]:
    """Nodes as rows of the changelog."""
    nodes, past = graph.nodes, graph.past
    at = np.array(slots, np.int64)
    numbers = view_u64(nodes.refs)[at], view_i64(nodes.times)[at], view_u64(nodes.digests)[at]
    ids, clusters = [nodes.ids[slot] for slot in slots], [nodes.clusters[slot].id for slot in slots]
    pasts = [past.of(slot) for slot in slots] if past.links else [()] * len(slots)
    return Table(NodeState, (ids, *numbers, clusters, pasts))


def pair_rows(slots: list[int], graph: Graph) -> Sequence[PairState]:
    """All pairs as rows of the changelog, in ascending order, given the slots of all nodes in that of their ids."""
    nodes, pairs = graph.nodes, graph.pairs
    place = np.zeros(len(nodes.ids), np.int64)
    place[slots] = np.arange(len(slots))
    numbers = pairs.numbers()
    ends = view_u32(pairs.ends).reshape(-1, 2)[numbers]
    order = (place[ends[:, 0]] << 32 | place[ends[:, 1]]).argsort()
    numbers, left, right = numbers[order], ends[order, 0], ends[order, 1]
    refs, times = view_u64(nodes.refs), view_i64(nodes.times)
    named = refs[left], refs[right], times[left], times[right]
    if pairs.versions:
        for at, number in enumerate(numbers.tolist()):
            for column, value in zip(named, pairs.versions.get(number, ()), strict=False):
                column[at] = value
    counts = view_f64(pairs.similarity)[numbers], view_u32(pairs.shared)[numbers], view_u32(pairs.union)[numbers]
    ids = nodes.ids
    return Table(
        PairState, ([ids[slot] for slot in left.tolist()], [ids[slot] for slot in right.tolist()], *named, *counts)
    )


def fill_nodes(rows: Sequence[NodeState], graph: Graph, live: dict[str, Cluster]) -> None:
    """Put all nodes of a snapshot into an empty ledger that has its clusters.

    Cost: some 2 us a node.
    """
    if not rows:
        return
    nodes = graph.nodes
    ids, refs, times, digests, clusters, pasts = columns_of(rows)
    times = np.asarray(times, np.int64)
    digests = np.asarray(digests, np.uint64)
    slots = nodes.add_many([*ids], np.asarray(refs, np.uint64), times, digests)
    graph.pairs.grow()
    nodes.clusters = [live[cluster] for cluster in clusters]
    for at in times.argsort(kind="stable").tolist():  # a snapshot is in the order of ids, so equal times are too
        nodes.clusters[at].append(slots[at])
    for slot in sorted(graph.twins.add_all_alone(slots, digests)):
        graph.twins.add(slot)
    graph.expiry.watch(slots)
    for slot, past in zip(slots, pasts, strict=True):
        if past:
            graph.past.link(slot, past)


def fill_pairs(rows: Sequence[PairState], graph: Graph) -> None:
    """Put all pairs into a ledger that has all nodes, and no pairs."""
    if not rows:
        return
    nodes = graph.nodes
    left_ids, right_ids, *named, similarity, shared, union = columns_of(rows)
    left, right = _slots(left_ids, graph), _slots(right_ids, graph)
    graph.pairs.add_many(
        left,
        right,
        np.asarray(similarity, np.float64),
        np.asarray(shared, np.uint32),
        np.asarray(union, np.uint32),
    )
    refs, times = view_u64(nodes.refs), view_i64(nodes.times)
    other = (refs[left] != np.asarray(named[0], np.uint64)) | (refs[right] != np.asarray(named[1], np.uint64))
    other |= (times[left] != np.asarray(named[2], np.int64)) | (times[right] != np.asarray(named[3], np.int64))
    for number in other.nonzero()[0].tolist():
        left_ref, right_ref, left_ms, right_ms = (int(column[number]) for column in named)
        graph.pairs.versions[number] = (left_ref, right_ref, left_ms, right_ms)


def _slots(ids: Sequence[str], graph: Graph) -> I64:
    return np.fromiter(map(graph.nodes.slots.__getitem__, ids), np.int64, len(ids))
