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
from stream_lsh.ledger.frame_notes import DECIDED, UNSEEN, UPDATED, Frame, NodeNote, PairKey
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


def node_news(frame: Frame, graph: Graph, live: dict[str, Cluster]) -> NodeDiff:
    """Compare the nodes that a frame touched with their state before it."""
    clusters, notes = graph.nodes.clusters, frame.nodes
    fresh, published, changed, gone = list[int](), list[int](), list[int](), list[int]()
    for slot, before in notes.items():
        cluster = clusters[slot]
        if before is None:
            if cluster is not NOWHERE:
                fresh.append(slot)
        elif cluster is NOWHERE:
            gone.append(slot)
        else:
            now = frame.note(slot, cluster)
            if now[:-1] != before[:-1]:
                changed.append(slot)
            if _public_view(now) != _public_view(before):
                published.append(slot)
    fresh += moved_slots(frame, graph)
    touched = {*published, *changed}
    ordered = graph.nodes.by_id([*touched, *fresh])
    unchanged, unpublished = touched.difference(changed), touched.difference(published)
    changed_now = [slot for slot in ordered if slot not in unchanged] if unchanged else ordered
    gone = graph.nodes.by_id(gone)
    if frame.least > 1:
        published, left = _published_nodes(frame, graph, live)
        return NodeDiff(published, changed_now, gone, left)
    return NodeDiff(
        [slot for slot in ordered if slot not in unpublished] if unpublished else ordered, changed_now, gone, gone
    )


def _published_nodes(frame: Frame, graph: Graph, live: dict[str, Cluster]) -> tuple[list[int], list[int]]:
    """`published` and `left` of `NodeDiff` for a ledger that does not publish clusters of one."""
    clusters, published, left = graph.nodes.clusters, list[int](), list[int]()
    touched = {*frame.nodes, *frame.moved, *frame.singles.values()}
    touched.update(live[id][0] for id in frame.clusters if id in live and not frame.is_published(live[id]))
    for slot in touched:
        before = frame.nodes[slot] if slot in frame.nodes else frame.before(slot)
        was = before is not None and _was_published(before.cluster, frame, live)
        cluster = clusters[slot]
        if not frame.is_published(cluster):
            if was:
                left.append(slot)
        elif not was or before is None or _public_view(frame.note(slot, cluster)) != _public_view(before):
            published.append(slot)
    return graph.nodes.by_id(published), graph.nodes.by_id(left)


def _was_published(cluster: str, frame: Frame, live: dict[str, Cluster]) -> bool:
    return frame.was_published(cluster) if cluster in frame.clusters else frame.is_published(live[cluster])


def moved_slots(frame: Frame, graph: Graph) -> list[int]:
    """The nodes whose cluster changed and that were not touched otherwise."""
    clusters, notes = graph.nodes.clusters, frame.nodes
    return [
        slot
        for slot, was in frame.moved.items()
        if slot not in notes and clusters[slot] is not NOWHERE and clusters[slot].id != was
    ]


def _public_view(node: NodeNote) -> tuple[str, float, int]:
    """The columns of a node that the topic `members` publishes."""
    return node.cluster, node.best, node.time_ms


def member_changes(news: NodeDiff, frame: Frame, graph: Graph) -> Sequence[MemberChange]:
    """The changes for the topic `members`: documents with a new cluster, similarity or time, and those that left."""
    nodes, published = graph.nodes, news.published
    at = np.array(published, np.int64)
    best: list[float | None]
    best = [*map(graph.pairs.best, published)] if graph.pairs.chosen else view_f64(nodes.best)[at].tolist()
    if NO_PAIR in best:
        best = [None if pair == NO_PAIR else pair for pair in best]
    ids, clusters = [nodes.ids[slot] for slot in published], [nodes.clusters[slot].id for slot in published]
    columns = (ids, clusters, best, view_i64(nodes.times)[at], [None] * len(published))
    if news.left:
        left = [MemberChange(nodes.ids[slot], reason=frame.node_reasons.get(slot, UPDATED)) for slot in news.left]
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


def pair_news(frame: Frame, graph: Graph) -> PairDiff:
    """Compare the pairs that a frame touched with their state before it."""
    ids = graph.nodes.ids
    states = {key: graph.pairs.state(pair) for key, pair in frame.put.items()}
    pair_reasons = frame.pair_reasons  # they may have moved (see `copying`)
    rows = [state for key, state in states.items() if key in pair_reasons or state != frame.pairs[key]]
    gone = [key for key, before in frame.pairs.items() if before is not None and key not in states]
    return PairDiff(sorted(rows, key=_ends), sorted((ids[left], ids[right]) for left, right in gone), states)


def match_changes(news: PairDiff, frame: Frame, graph: Graph, place: int = MATCH) -> Sequence[MatchChange]:
    """The changes for the topic `matches` or the topic of reviews: new public views of pairs, and withdrawals."""
    ids, changes = graph.nodes.ids, list[MatchChange]()
    for key, first in frame.pairs.items():
        before = first if frame.places.get(key, MATCH) == place else None
        # A pair that left with an expired end keeps its last public state, even one from this frame.
        last = news.states.get(key) or frame.expired.get(key)
        after = last if last is not None and _place(key, frame, graph) == place else None
        if after is not None and (before is None or _seen(before) != _seen(after)):
            changes.append(_seen(after))
        elif after is None and before is not None:
            left, right = ids[key[0]], ids[key[1]]
            moved = DECIDED if (left, right) in frame.decisions else UPDATED
            changes.append(MatchChange(left, right, reason=frame.pair_reasons[key] if last is None else moved))
    changes.sort(key=_ends)
    return changes


def _place(key: PairKey, frame: Frame, graph: Graph) -> int:
    """The topic (matches or reviews) on which this pair is, or was last, published."""
    return graph.pairs.place(frame.put[key]) if key in frame.put else frame.left_as.get(key, MATCH)


def _seen(pair: PairState) -> MatchChange:
    """The public view of a pair."""
    left, right, _, _, left_ms, right_ms, similarity, shared, union, left_shingles, evidence = pair
    return MatchChange(left, right, similarity, shared, union, left_ms, right_ms, None, left_shingles, evidence)


def _ends(row: tuple[object, ...]) -> tuple[object, ...]:
    return row[:2]


def cluster_changes(frame: Frame, live: dict[str, Cluster]) -> Sequence[ClusterChange]:
    """One change for each cluster with a new public view; none for a cluster that opened and closed in the frame."""
    changes, rooted = list[tuple[object, ...]](), bool(frame.merged_from or frame.split_from)
    for id in sorted(frame.clusters):
        before, cluster = frame.clusters[id], live.get(id)
        now = None if cluster is None else frame.seen(cluster)
        if now is not None and now is not UNSEEN:
            if now != before:
                size, members, representative, first_ms, last_ms, summary = now
                if not rooted and before is None:
                    event, merged_from, split_from = _CREATED
                elif not rooted and before is not UNSEEN and frame.events[id] == _ONLY_JOINED:
                    event, merged_from, split_from = _JOINED
                else:
                    event, merged_from, split_from = _happened(id, frame, live)
                rest = (first_ms, last_ms, None, summary)
                changes.append((id, event, size, members, representative, merged_from, split_from, *rest))
        elif frame.was_published(id):
            successor = frame.successor(id)
            is_merged = successor != id and successor in live and frame.is_published(live[successor])
            changes.append(ClusterChange(id, merged_into=successor if is_merged else None))
    return Table(ClusterChange, [*zip(*changes, strict=True)]) if changes else []


def _happened(id: str, frame: Frame, live: dict[str, Cluster]) -> _Happened:
    """The event of a cluster, and the published clusters that were merged into it or that it was split from."""
    if not frame.was_published(id):
        split_from = frame.split_from.get(id)
        if split_from is not None and not frame.was_published(split_from):
            split_from = None
        return "created" if split_from is None else "split", (), split_from
    merged_from = tuple(sorted(one for one in frame.merged_from.get(id, ()) if frame.was_published(one)))
    happened = set(frame.events[id])
    if not merged_from and "merged" in happened:
        happened.remove("merged")
        happened |= {"joined"} if frame.least > 1 else set()
    parts = [one for one, origin in frame.split_from.items() if origin == id and one in live]
    if not any(frame.is_published(live[part]) for part in parts):
        happened.discard("split")
    # An id that is free again in the frame in which its cluster ended continues: for consumers it was never gone.
    return next((name for name in _EVENTS if name in happened), "changed"), merged_from, None


def changes_of(
    news: NodeDiff, pairs: PairDiff, frame: Frame, live: dict[str, Cluster], horizon: Horizon
) -> LedgerChanges:
    """The changelog record of a frame: the new state of every row that it changed."""
    clusters, graph = frame.clusters, frame.graph
    opened = sorted(id for id, before in clusters.items() if before is None and id in live)
    return LedgerChanges(
        nodes=node_rows(news.changed, graph),
        nodes_gone=[graph.nodes.ids[slot] for slot in news.gone],
        pairs=pairs.rows,
        pairs_gone=pairs.gone,
        clusters=Table(ClusterState, (opened, [live[id].created for id in opened])),
        clusters_gone=sorted(id for id, before in clusters.items() if before is not None and id not in live),
        newest=[frame.newest[id] for id in sorted(frame.newest)],
        closed=[frame.closed[id] for id in sorted(frame.closed)],
        decisions=[frame.decisions[key] for key in sorted(frame.decisions)],
        next_past=graph.past.next,
        horizon=horizon,
    )


def settled_rows(frame: Frame, state: LedgerState, rechecks: list[tuple[int, int]]) -> Settled:
    """The outcome of a frame that was settled row by row."""
    graph, live = state.graph, state.ids.live
    news, pairs = node_news(frame, graph, live), pair_news(frame, graph)
    return Settled(
        matches=match_changes(pairs, frame, graph),
        members=member_changes(news, frame, graph),
        clusters=cluster_changes(frame, live),
        rechecks=rechecks,
        changes=changes_of(news, pairs, frame, live, state.horizon),
        reviews=match_changes(pairs, frame, graph, REVIEW) if graph.pairs.link_from else (),
        capped_rechecks=frame.capped_rechecks,
    )


def settled_bulk(frame: Frame, state: LedgerState, news: NodeDiff, bulk: BulkPairs) -> Settled:
    """The outcome of a frame with new pairs only."""
    matches, pairs = pair_tables(bulk)
    return Settled(
        matches=matches,
        members=member_changes(news, frame, state.graph),
        clusters=cluster_changes(frame, state.ids.live),
        rechecks=[],
        changes=changes_of(news, PairDiff(pairs, [], {}), frame, state.ids.live, state.horizon),
    )
