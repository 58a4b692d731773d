"""Bulk frames: frames with nothing but new pairs between the newest known versions of documents.

Nearly every frame is a bulk frame.  Its rows are written to the columns at once; only clusters are joined row by row,
because cluster ids depend on the order.  `ledger` settles all other frames and short ones row by row, with the same
result.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, repeat
from operator import eq, gt
from typing import Any

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.graph.columns import Table
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import view_i64, view_u64
from stream_lsh.ledger.graph.pairs import Columns
from stream_lsh.ledger.state import LedgerState
from stream_lsh.model import NO_ABOUT, Abouts, in_full, ref_offset, ref_partition
from stream_lsh.retention import Horizon

LEAST_ROWS = 6
"""Fewer rows are settled faster one by one."""


@dataclass(slots=True)
class InterleavedEnds:
    """Both ends of some edges in one list, for each edge the end with the smaller id first; by position.

    Attributes:
        ids, refs, times, digests, abouts: of the version that was compared; abouts are empty without stories.
        slots: the slot of each end in the ledger, -1 if it has none.
        missing: int64[m], the positions of the ends that are not in the ledger.
        new_ids: the ids that are not in the ledger, in order of appearance.
        numbers: int64[m], the position in `new_ids` of each missing end.
        first: int64, the first position of each new id.
    """

    ids: list[str]
    refs: U64
    times: I64
    digests: U64
    abouts: Abouts
    slots: I64
    missing: I64
    new_ids: list[str]
    numbers: I64
    first: I64


@dataclass(slots=True)
class BulkPairs:
    """The pairs of a bulk frame that are not in the ledger, each once, in order of appearance.

    Attributes:
        ends: of all edges of the frame.
        rows: int64[m], the edge of each pair; its ends are at 2 x row and 2 x row + 1.
        counts: of each pair.
    """

    ends: InterleavedEnds
    rows: I64
    counts: Columns

    def slots(self, new: list[int]) -> tuple[list[int], list[int]]:
        """Both ends of each pair, from the slots of the new documents.

        Equal slots share one int object: a million separate objects would take 32 MB.
        """
        ends = self.ends
        named = map(new.__getitem__, ends.numbers.tolist())
        if ends.missing.size == ends.slots.size:
            slots = [*named]
        else:
            slots = ends.slots.tolist()
            for at, slot in zip(ends.missing.tolist(), named, strict=True):
                slots[at] = slot
        left, right = slots[::2], slots[1::2]
        if self.rows.size == len(left):
            return left, right
        rows = self.rows.tolist()
        return [left[row] for row in rows], [right[row] for row in rows]


def bulk_pairs(edges: Edges, state: LedgerState, threshold: float) -> BulkPairs | None:
    """The new pairs of a frame, None if it is not a bulk frame.  The ledger stays unchanged."""
    left, right = edges.left, edges.right
    if edges.similarity.min() < threshold or any(map(eq, left.ids, right.ids)):
        return None
    ends = _ends(edges, state.graph.nodes.slots)
    if _expired(ends, state.horizon) or not _newest(ends, state):
        return None
    similarity, shared, union = edges.similarity, edges.shared, edges.union
    counts: Columns = similarity, shared, union, _shingles(edges), edges.evidence
    rows = _new_rows(ends, counts, state.graph)
    if rows is None:
        return None
    if rows.size < len(edges):
        evidence = [edges.evidence[row] for row in rows.tolist()] if edges.evidence else ()
        counts = similarity[rows], shared[rows], union[rows], counts[3][rows], evidence
    return BulkPairs(ends, rows, counts)


def _shingles(edges: Edges) -> U32:
    """The numbers of shingles of the ends with the smaller ids; 0 if the measure does not report them."""
    if edges.shingles is None:
        return np.zeros(len(edges), np.uint32)
    turned = np.fromiter(map(gt, edges.left.ids, edges.right.ids), np.bool_, len(edges))
    return np.where(turned, edges.shared + edges.union - edges.shingles, edges.shingles)


def _ends(edges: Edges, slots: dict[str, int]) -> InterleavedEnds:
    left, right = edges.left, edges.right
    swapped = [row for row, swap in enumerate(map(gt, left.ids, right.ids)) if swap]
    ids = [""] * (2 * len(edges))
    ids[::2], ids[1::2] = left.ids, right.ids
    for row in swapped:
        ids[2 * row], ids[2 * row + 1] = ids[2 * row + 1], ids[2 * row]
    slots_of_ids = np.fromiter(map(slots.get, ids, repeat(-1)), np.int64, len(ids))
    missing = (slots_of_ids < 0).nonzero()[0]
    names = ids if missing.size == slots_of_ids.size else [ids[at] for at in missing.tolist()]
    number = defaultdict[str, int](count().__next__)
    numbers = np.fromiter(map(number.__getitem__, names), np.int64, len(names))
    first = np.empty(len(number), np.int64)
    first[numbers[::-1]] = missing[::-1]
    return InterleavedEnds(
        ids,
        _interleaved(left.refs, right.refs, swapped),
        _interleaved(left.times, right.times, swapped),
        _interleaved(left.digests, right.digests, swapped),
        _abouts(edges, swapped),
        slots_of_ids,
        missing,
        [*number],
        numbers,
        first,
    )


def _interleaved(left: Any, right: Any, swapped: list[int]) -> Any:
    """The columns of both ends as one, row by row; the ends of the rows in `swapped` change places."""
    both = np.empty(2 * len(left), left.dtype)
    both[::2], both[1::2] = left, right
    if swapped:
        both[::2][swapped], both[1::2][swapped] = right[swapped], left[swapped]
    return both


def _abouts(edges: Edges, swapped: list[int]) -> Abouts:
    left, right, rows = edges.left.abouts, edges.right.abouts, len(edges)
    if not left and not right:
        return ()
    both = [NO_ABOUT] * (2 * rows)
    both[::2], both[1::2] = in_full(left, rows), in_full(right, rows)
    for row in swapped:
        both[2 * row], both[2 * row + 1] = both[2 * row + 1], both[2 * row]
    return both


def _expired(ends: InterleavedEnds, horizon: Horizon) -> bool:
    """Whether the horizon has passed any of the ends."""
    if int(ends.times.min()) < horizon.time_ms:
        return True
    if not any(horizon.min_offsets):
        return False
    return any(
        ref_offset(ref) < horizon.min_offsets[ref_partition(ref)]
        for ref in ends.refs.tolist()
        if ref_partition(ref) < len(horizon.min_offsets)
    )


def _newest(ends: InterleavedEnds, state: LedgerState) -> bool:
    """Whether all ends are the newest known versions, and each new document occurs in one version only."""
    nodes = state.graph.nodes
    if ends.missing.size < ends.slots.size:
        rows = (ends.slots >= 0).nonzero()[0]
        at = ends.slots[rows]
        if (view_u64(nodes.refs)[at] != ends.refs[rows]).any():
            return False
        if (view_i64(nodes.times)[at] != ends.times[rows]).any():
            return False
    first = ends.first[ends.numbers]
    for column in (ends.refs, ends.times, ends.digests):
        if (column[ends.missing] != column[first]).any():
            return False
    if not state.newest or state.newest.keys().isdisjoint(ends.ids):
        return True
    newest = state.newest
    return not any(id in newest and newest[id].ref > ref for id, ref in zip(ends.ids, ends.refs.tolist(), strict=True))


def _new_rows(ends: InterleavedEnds, counts: Columns, graph: Graph) -> I64 | None:
    """The edges whose pair is not in the ledger, one for each pair; None if an edge changes a pair of the ledger."""
    names = ends.slots.copy()
    names[ends.missing] = -1 - ends.numbers
    left, right = names[::2], names[1::2]
    keys = (left << 32 | right & 0xFFFFFFFF).tolist()
    last = dict(zip(keys, range(len(keys)), strict=True))
    rows = np.arange(len(keys)) if len(last) == len(keys) else np.array([*last.values()])
    asked = ((left[rows] >= 0) & (right[rows] >= 0)).nonzero()[0]
    if not asked.size:
        return rows
    pairs, existing = graph.pairs, list[int]()
    text_of = counts[4].__getitem__ if counts[4] else _no_text
    for at, row in zip(asked.tolist(), rows[asked].tolist(), strict=True):
        pair = pairs.find(int(left[row]), int(right[row]))
        if pair < 0:
            continue
        if pair in pairs.versions or pairs.counts_of(pair) != (*[column[row] for column in counts[:4]], text_of(row)):
            return None
        existing.append(at)
    return np.delete(rows, existing)


def _no_text(row: int) -> str:
    return ""


def pair_tables(bulk: BulkPairs) -> tuple[Sequence[MatchChange], Sequence[PairState]]:
    """New pairs as rows for the topic `matches` and for the changelog, in ascending order."""
    ends, rows = bulk.ends, bulk.rows.tolist()
    if not rows:
        return [], []
    left, right = [ends.ids[2 * row] for row in rows], [ends.ids[2 * row + 1] for row in rows]
    order = sorted(range(len(rows)), key=right.__getitem__)
    order.sort(key=left.__getitem__)
    at = np.array(order)
    left, right = [left[row] for row in order], [right[row] for row in order]
    places = 2 * bulk.rows[at]
    times = ends.times[places], ends.times[places + 1]
    *counts, sizes = (column[at] for column in bulk.counts[:4])
    evidence = [bulk.counts[4][row] for row in order] if bulk.counts[4] else [""] * len(rows)
    matches = Table(MatchChange, (left, right, *counts, *times, [None] * len(rows), sizes, evidence))
    refs = ends.refs[places], ends.refs[places + 1]
    return matches, Table(PairState, (left, right, *refs, *times, *counts, sizes, evidence))
