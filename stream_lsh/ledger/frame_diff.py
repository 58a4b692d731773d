"""Computes the published changes and the changelog record of a frame from its notes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.ledger.bulk_frame import BulkPairs, pair_tables
from stream_lsh.ledger.bulk_rows import node_rows
from stream_lsh.ledger.changes import (
    ClusterChange,
    ClusterState,
    LedgerChanges,
    MatchChange,
    MemberChange,
    PairState,
    Settled,
)
from stream_lsh.ledger.clusters.ids import NOWHERE, Cluster
from stream_lsh.ledger.frame_notes import DECIDED, UNPUBLISHED_VIEW, UPDATED, FrameNotes, NodeNote, PairKey
from stream_lsh.ledger.graph.columns import Table
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import NO_PAIR, view_f64, view_i64
from stream_lsh.ledger.graph.pairs import MATCH, REVIEW
from stream_lsh.ledger.state import LedgerState
from stream_lsh.retention import Horizon

_EVENTS = ("merged", "split", "joined", "left", "changed")
"""A cluster publishes one event for each frame: the first of these that happened."""
_Happened = tuple[str, tuple[str, ...], str | None]
_CREATED: _Happened = ("created", (), None)
_JOINED: _Happened = ("joined", (), None)
_ONLY_JOINED = {"joined"}


class NodeDiff(NamedTuple):
    """The differences of the nodes that a frame touched, as slots by ascending id.

    `published` have a new public view, `changed` have a new row, `gone` were removed, `left` were published and are no
    longer in a published cluster.
    """

    published: list[int]
    changed: list[int]
    gone: list[int]
    left: list[int]


def diff_nodes(notes: FrameNotes, graph: Graph, live: dict[str, Cluster]) -> NodeDiff:
    """Compare the nodes that a frame touched with their state before it."""
    clusters, noted = graph.nodes.clusters, notes.nodes
    fresh, published, changed, gone = list[int](), list[int](), list[int](), list[int]()
    for slot, before in noted.items():
        cluster = clusters[slot]
        if before is None:
            if cluster is not NOWHERE:
                fresh.append(slot)
        elif cluster is NOWHERE:
            gone.append(slot)
        else:
            now = notes.note(slot, cluster)
            if now[:-1] != before[:-1]:
                changed.append(slot)
            if _public_view(now) != _public_view(before):
                published.append(slot)
    fresh += moved_slots(notes, graph)
    touched = {*published, *changed}
    ordered = graph.nodes.by_id([*touched, *fresh])
    unchanged, unpublished = touched.difference(changed), touched.difference(published)
    changed_now = [slot for slot in ordered if slot not in unchanged] if unchanged else ordered
    gone = graph.nodes.by_id(gone)
    if notes.least > 1:
        published, left = _published_nodes(notes, graph, live)
        return NodeDiff(published, changed_now, gone, left)
    return NodeDiff(
        [slot for slot in ordered if slot not in unpublished] if unpublished else ordered, changed_now, gone, gone
    )


def _published_nodes(notes: FrameNotes, graph: Graph, live: dict[str, Cluster]) -> tuple[list[int], list[int]]:
    """`published` and `left` of `NodeDiff` for a ledger that does not publish clusters of one."""
    clusters, published, left = graph.nodes.clusters, list[int](), list[int]()
    touched = {*notes.nodes, *notes.moved, *notes.single_members.values()}
    touched.update(live[id][0] for id in notes.clusters if id in live and not notes.is_published(live[id]))
    for slot in touched:
        before = notes.nodes[slot] if slot in notes.nodes else notes.before(slot)
        was = before is not None and _was_published(before.cluster, notes, live)
        cluster = clusters[slot]
        if not notes.is_published(cluster):
            if was:
                left.append(slot)
        elif not was or before is None or _public_view(notes.note(slot, cluster)) != _public_view(before):
            published.append(slot)
    return graph.nodes.by_id(published), graph.nodes.by_id(left)


def _was_published(cluster: str, notes: FrameNotes, live: dict[str, Cluster]) -> bool:
    return notes.was_published(cluster) if cluster in notes.clusters else notes.is_published(live[cluster])


def moved_slots(notes: FrameNotes, graph: Graph) -> list[int]:
    """The nodes whose cluster changed and that were not touched otherwise."""
    clusters, noted = graph.nodes.clusters, notes.nodes
    return [
        slot
        for slot, was in notes.moved.items()
        if slot not in noted and clusters[slot] is not NOWHERE and clusters[slot].id != was
    ]


def _public_view(node: NodeNote) -> tuple[str, float, int]:
    """The columns of a node that the topic `members` publishes."""
    return node.cluster, node.best, node.time_ms


def member_changes(node_diff: NodeDiff, notes: FrameNotes, graph: Graph) -> Sequence[MemberChange]:
    """The changes for the topic `members`: documents with a new cluster, similarity or time, and those that left."""
    nodes, published = graph.nodes, node_diff.published
    at = np.array(published, np.int64)
    best: list[float | None]
    best = [*map(graph.pairs.best, published)] if graph.pairs.chosen else view_f64(nodes.best)[at].tolist()
    if NO_PAIR in best:
        best = [None if pair == NO_PAIR else pair for pair in best]
    ids, clusters = [nodes.ids[slot] for slot in published], [nodes.clusters[slot].id for slot in published]
    columns = (ids, clusters, best, view_i64(nodes.times)[at], [None] * len(published))
    if node_diff.left:
        left = [MemberChange(nodes.ids[slot], reason=notes.node_reasons.get(slot, UPDATED)) for slot in node_diff.left]
        return sorted([*Table(MemberChange, columns), *left], key=lambda change: change.id)
    return Table(MemberChange, columns)


class PairDiff(NamedTuple):
    """The differences of the pairs that a frame touched.

    `states` are the touched pairs that are in the ledger now.  `rows`, in ascending order, are the new and changed ones
    of these, and those that were removed and added again.  `gone` holds the ids of removed pairs.
    """

    rows: Sequence[PairState]
    gone: list[tuple[str, str]]
    states: dict[PairKey, PairState]


def diff_pairs(notes: FrameNotes, graph: Graph) -> PairDiff:
    """Compare the pairs that a frame touched with their state before it."""
    ids = graph.nodes.ids
    states = {key: graph.pairs.state(pair) for key, pair in notes.live_pairs.items()}
    pair_reasons = notes.pair_reasons  # they may have moved (see `incremental_snapshot`)
    rows = [state for key, state in states.items() if key in pair_reasons or state != notes.pairs[key]]
    gone = [key for key, before in notes.pairs.items() if before is not None and key not in states]
    return PairDiff(sorted(rows, key=_ends), sorted((ids[left], ids[right]) for left, right in gone), states)


def match_changes(pair_diff: PairDiff, notes: FrameNotes, graph: Graph, topic: int = MATCH) -> Sequence[MatchChange]:
    """The changes for the topic `matches` or the topic of reviews: new public views of pairs, and withdrawals."""
    ids, changes = graph.nodes.ids, list[MatchChange]()
    for key, first in notes.pairs.items():
        before = first if notes.topics.get(key, MATCH) == topic else None
        # A pair that left with an expired end keeps its last public state, even one from this frame.
        last = pair_diff.states.get(key) or notes.expired.get(key)
        after = last if last is not None and _last_topic(key, notes, graph) == topic else None
        if after is not None and (before is None or before.change() != after.change()):
            changes.append(after.change())
        elif after is None and before is not None:
            left, right = ids[key[0]], ids[key[1]]
            moved = DECIDED if (left, right) in notes.decisions else UPDATED
            changes.append(MatchChange(left, right, reason=notes.pair_reasons[key] if last is None else moved))
    changes.sort(key=_ends)
    return changes


def _last_topic(key: PairKey, notes: FrameNotes, graph: Graph) -> int:
    """The topic (matches or reviews) on which this pair is, or was last, published."""
    return graph.pairs.topic(notes.live_pairs[key]) if key in notes.live_pairs else notes.expired_topics.get(key, MATCH)


def _ends(row: tuple[object, ...]) -> tuple[object, ...]:
    return row[:2]


def cluster_changes(notes: FrameNotes, live: dict[str, Cluster]) -> Sequence[ClusterChange]:
    """One change for each cluster with a new public view; none for a cluster that opened and closed in the frame."""
    changes, rooted = list[tuple[object, ...]](), bool(notes.merged_from or notes.split_from)
    for id in sorted(notes.clusters):
        before, cluster = notes.clusters[id], live.get(id)
        now = None if cluster is None else notes.public_view(cluster)
        if now is not None and now is not UNPUBLISHED_VIEW:
            if now != before:
                size, members, representative, first_ms, last_ms, summary = now
                if not rooted and before is None:
                    event, merged_from, split_from = _CREATED
                elif not rooted and before is not UNPUBLISHED_VIEW and notes.events[id] == _ONLY_JOINED:
                    event, merged_from, split_from = _JOINED
                else:
                    event, merged_from, split_from = _happened(id, notes, live)
                rest = (first_ms, last_ms, None, summary)
                changes.append((id, event, size, members, representative, merged_from, split_from, *rest))
        elif notes.was_published(id):
            successor = notes.successor(id)
            is_merged = successor != id and successor in live and notes.is_published(live[successor])
            changes.append(ClusterChange(id, merged_into=successor if is_merged else None))
    return Table(ClusterChange, [*zip(*changes, strict=True)]) if changes else []


def _happened(id: str, notes: FrameNotes, live: dict[str, Cluster]) -> _Happened:
    """The event of a cluster, and the published clusters that were merged into it or that it was split from."""
    if not notes.was_published(id):
        split_from = notes.split_from.get(id)
        if split_from is not None and not notes.was_published(split_from):
            split_from = None
        return "created" if split_from is None else "split", (), split_from
    merged_from = tuple(sorted(one for one in notes.merged_from.get(id, ()) if notes.was_published(one)))
    happened = set(notes.events[id])
    if not merged_from and "merged" in happened:
        happened.remove("merged")
        happened |= {"joined"} if notes.least > 1 else set()
    parts = [one for one, origin in notes.split_from.items() if origin == id and one in live]
    if not any(notes.is_published(live[part]) for part in parts):
        happened.discard("split")
    # An id that is free again in the frame in which its cluster ended continues: for consumers it was never gone.
    return next((name for name in _EVENTS if name in happened), "changed"), merged_from, None


def changes_of(
    node_diff: NodeDiff, pair_diff: PairDiff, notes: FrameNotes, live: dict[str, Cluster], horizon: Horizon
) -> LedgerChanges:
    """The changelog record of a frame: the new state of every row that it changed."""
    clusters, graph = notes.clusters, notes.graph
    opened = sorted(id for id, before in clusters.items() if before is None and id in live)
    return LedgerChanges(
        nodes=node_rows(node_diff.changed, graph),
        nodes_gone=[graph.nodes.ids[slot] for slot in node_diff.gone],
        pairs=pair_diff.rows,
        pairs_gone=pair_diff.gone,
        clusters=Table(ClusterState, (opened, [live[id].created for id in opened])),
        clusters_gone=sorted(id for id, before in clusters.items() if before is not None and id not in live),
        newest=[notes.newest[id] for id in sorted(notes.newest)],
        closed=[notes.closed[id] for id in sorted(notes.closed)],
        decisions=[notes.decisions[key] for key in sorted(notes.decisions)],
        next_past=graph.past.next,
        horizon=horizon,
    )


def settled_rows(notes: FrameNotes, state: LedgerState, rechecks: list[tuple[int, int]]) -> Settled:
    """The outcome of a frame that was settled row by row."""
    graph, live = state.graph, state.ids.live
    node_diff, pair_diff = diff_nodes(notes, graph, live), diff_pairs(notes, graph)
    return Settled(
        matches=match_changes(pair_diff, notes, graph),
        members=member_changes(node_diff, notes, graph),
        clusters=cluster_changes(notes, live),
        rechecks=rechecks,
        changes=changes_of(node_diff, pair_diff, notes, live, state.horizon),
        reviews=match_changes(pair_diff, notes, graph, REVIEW) if graph.pairs.link_from else (),
        capped_rechecks=notes.capped_rechecks,
    )


def settled_bulk(notes: FrameNotes, state: LedgerState, node_diff: NodeDiff, bulk: BulkPairs) -> Settled:
    """The outcome of a bulk frame."""
    matches, pairs = pair_tables(bulk)
    return Settled(
        matches=matches,
        members=member_changes(node_diff, notes, state.graph),
        clusters=cluster_changes(notes, state.ids.live),
        rechecks=[],
        changes=changes_of(node_diff, PairDiff(pairs, [], {}), notes, state.ids.live, state.horizon),
    )
