"""Copies many rows at once: from the columns of the ledger to those of a record, and back into an empty ledger."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.changes import NodeState, PairState
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.edges import written
from stream_lsh.ledger.graph.columns import Table, columns_of
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import view_f64, view_i64, view_u32, view_u64
from stream_lsh.model import or_empty

_NUMBERS = (np.uint64, np.uint64, np.int64, np.int64, np.float64, np.uint32, np.uint32, np.uint32)
"""The columns of pairs between their ids and their evidence."""


def node_rows(slots: list[int], graph: Graph) -> Table[NodeState]:
    """Nodes as rows of the changelog."""
    nodes, past = graph.nodes, graph.past
    at = np.array(slots, np.int64)
    numbers = view_u64(nodes.refs)[at], view_i64(nodes.times)[at], view_u64(nodes.digests)[at]
    ids, clusters = [nodes.ids[slot] for slot in slots], [nodes.clusters[slot].id for slot in slots]
    pasts = [past.of(slot) for slot in slots] if past.links else [()] * len(slots)
    return Table(NodeState, (ids, *numbers, clusters, pasts, [nodes.abouts[slot] for slot in slots]))


def pair_rows(slots: list[int], graph: Graph) -> Sequence[PairState]:
    """All pairs as rows of the changelog, in ascending order; `slots` are those of all nodes, by ascending id."""
    place = np.zeros(len(graph.nodes.ids), np.int64)
    place[slots] = np.arange(len(slots))
    numbers = graph.pairs.numbers()
    ends = view_u32(graph.pairs.ends).reshape(-1, 2)[numbers]
    return rows_of_pairs(numbers[(place[ends[:, 0]] << 32 | place[ends[:, 1]]).argsort()], graph)


def rows_of_pairs(numbers: I64, graph: Graph) -> Table[PairState]:
    """Pairs as rows of the changelog."""
    nodes, pairs = graph.nodes, graph.pairs
    left, right = view_u32(pairs.ends).reshape(-1, 2)[numbers].T
    refs, times = view_u64(nodes.refs), view_i64(nodes.times)
    named = refs[left], refs[right], times[left], times[right]
    if pairs.versions:
        for at, number in enumerate(numbers.tolist()):
            for column, value in zip(named, pairs.versions.get(number, ()), strict=False):
                column[at] = value
    whole = (view_u32(column)[numbers] for column in (pairs.shared, pairs.union, pairs.left_shingles))
    counts = view_f64(pairs.similarity)[numbers], *whole
    text_of, ids = pairs.evidence, nodes.ids
    evidence = [text_of.get(number, "") for number in numbers.tolist()] if text_of else [""] * numbers.size
    names = [ids[slot] for slot in left.tolist()], [ids[slot] for slot in right.tolist()]
    return Table(PairState, (*names, *named, *counts, evidence))


def fill_nodes(rows: Sequence[NodeState], graph: Graph, live: dict[str, Cluster]) -> None:
    """Put all nodes into an empty ledger that has all clusters.

    Cost: some 2 us a node.
    """
    if not rows:
        return
    nodes = graph.nodes
    ids, refs, times, digests, clusters, pasts, abouts = columns_of(rows)
    times = np.asarray(times, np.int64)
    digests = np.asarray(digests, np.uint64)
    slots = nodes.add_many([*ids], np.asarray(refs, np.uint64), times, digests, or_empty(abouts))
    graph.pairs.grow()
    nodes.clusters = [live[cluster] for cluster in clusters]
    order = times.argsort(kind="stable")
    for at in order.tolist():
        nodes.clusters[at].append(slots[at])
    in_order = times[order]
    tied = order[1:][in_order[1:] == in_order[:-1]]
    for cluster in {nodes.clusters[at].id: nodes.clusters[at] for at in tied.tolist()}.values():
        cluster.sort(key=nodes.age)
    for slot in sorted(graph.twins.add_all_alone(slots, digests)):
        graph.twins.add(slot)
    graph.expiry.watch(slots)
    for slot, past in zip(slots, pasts, strict=True) if any(pasts) else ():
        if past:
            graph.past.link(slot, past)


def fill_pairs(rows: Sequence[PairState], graph: Graph) -> None:
    """Put all pairs into a ledger that has all nodes, and no pairs."""
    if not rows:
        return
    nodes = graph.nodes
    left_ids, right_ids, *numbers, evidence = columns_of(rows)
    left, right = _slots(left_ids, graph), _slots(right_ids, graph)
    *named, similarity, shared, union, left_shingles = (
        np.asarray(column, dtype) for column, dtype in zip(numbers, _NUMBERS, strict=True)
    )
    graph.pairs.add_many(left, right, (similarity, shared, union, left_shingles, written(evidence)))
    refs, times = view_u64(nodes.refs), view_i64(nodes.times)
    other = (refs[left] != named[0]) | (refs[right] != named[1])
    other |= (times[left] != named[2]) | (times[right] != named[3])
    for number in other.nonzero()[0].tolist():
        left_ref, right_ref, left_ms, right_ms = (int(column[number]) for column in named)
        graph.pairs.versions[number] = (left_ref, right_ref, left_ms, right_ms)


def _slots(ids: Sequence[str], graph: Graph) -> I64:
    return np.fromiter(map(graph.nodes.slots.__getitem__, ids), np.int64, len(ids))
