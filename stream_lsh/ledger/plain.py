"""Plain frames: new pairs between documents in the versions that are known, and nothing else.

Nearly every frame is one.  What it brings is put into the columns at once; only who joins whom goes row by row, for
cluster ids depend on it.  Whatever else a frame holds, or one with few rows, is left to `ledger`, row by row: the
result is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import eq, gt
from typing import Any

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.graph import Graph
from stream_lsh.ledger.nodes import Nodes, view_i64, view_u64
from stream_lsh.ledger.state import LedgerState
from stream_lsh.ledger.table import Table
from stream_lsh.model import ref_offset, ref_partition
from stream_lsh.retention import Horizon

LEAST_ROWS = 6
"""Fewer are settled faster one by one."""


@dataclass(slots=True)
class Ends:
    """Both ends of some edges, one behind the other, that with the smaller id first; by position.

    Attributes:
        ids, refs, times, digests: of the version that was compared.
        slots: of those that are in the ledger, else -1.
        new: ids that are not in the ledger, in the order in which they come, with their first position.
    """

    ids: list[str]
    refs: U64
    times: I64
    digests: U64
    slots: I64
    new: dict[str, int]


@dataclass(slots=True)
class PlainPairs:
    """The pairs of a plain frame that are not in the ledger, each once, in the order in which they come.

    Attributes:
        ends: of all edges of the frame.
        rows: int64[m], the edge of each pair; its ends are at 2 x row and 2 x row + 1.
        similarity, shared, union: of each pair.
    """

    ends: Ends
    rows: I64
    similarity: F64
    shared: U32
    union: U32

    def slots(self, nodes: Nodes) -> tuple[list[int], list[int]]:
        """Both ends of each pair, once all are in the ledger.

        A slot is the object that stands for it everywhere: a million others of the same value would be 32 MB.
        """
        slots, ids = self.ends.slots.tolist(), self.ends.ids
        for at in (self.ends.slots < 0).nonzero()[0].tolist():
            slots[at] = nodes.slots[ids[at]]
        rows = self.rows.tolist()
        return [slots[2 * row] for row in rows], [slots[2 * row + 1] for row in rows]


def plain_pairs(edges: Edges, state: LedgerState, threshold: float) -> PlainPairs | None:
    """What is new in a frame, None if it is not plain.  Nothing is changed."""
    left, right = edges.left, edges.right
    if not (edges.similarity >= threshold).all() or any(map(eq, left.ids, right.ids)):
        return None
    ends = _ends(edges, state.graph.nodes.slots)
    if _expired(ends, state.horizon) or not _newest(ends, state):
        return None
    rows = _new_rows(ends, edges, state.graph)
    if rows is None:
        return None
    return PlainPairs(ends, rows, edges.similarity[rows], edges.shared[rows], edges.union[rows])


def _ends(edges: Edges, slots: dict[str, int]) -> Ends:
    left, right = edges.left, edges.right
    swapped = np.fromiter(map(gt, left.ids, right.ids), np.bool_, len(edges))
    ids = [""] * (2 * len(edges))
    ids[::2], ids[1::2] = left.ids, right.ids
    for row in swapped.nonzero()[0].tolist():
        ids[2 * row], ids[2 * row + 1] = ids[2 * row + 1], ids[2 * row]
    known = np.fromiter(map(slots.get, ids, repeat(-1)), np.int64, len(ids))
    missing = (known < 0).nonzero()[0].tolist()
    new = dict.fromkeys([ids[at] for at in missing], -1)
    for at in reversed(missing):
        new[ids[at]] = at
    return Ends(
        ids,
        _beside(left.refs, right.refs, swapped),
        _beside(left.times, right.times, swapped),
        _beside(left.digests, right.digests, swapped),
        known,
        new,
    )


def _beside(left: Any, right: Any, swapped: Bools) -> Any:
    """Two columns as one, row by row."""
    both = np.empty(2 * len(left), left.dtype)
    both[::2], both[1::2] = left, right
    if swapped.any():
        both[::2][swapped], both[1::2][swapped] = right[swapped], left[swapped]
    return both


def _expired(ends: Ends, horizon: Horizon) -> bool:
    """Whether the horizon has passed any of them."""
    if int(ends.times.min()) < horizon.time_ms:
        return True
    if not any(horizon.floors):
        return False
    return any(
        ref_offset(ref) < horizon.floors[ref_partition(ref)]
        for ref in ends.refs.tolist()
        if ref_partition(ref) < len(horizon.floors)
    )


def _newest(ends: Ends, state: LedgerState) -> bool:
    """Whether all name the newest version that is known, and documents that are new are named in one version only."""
    known = ends.slots >= 0
    at, nodes = ends.slots[known], state.graph.nodes
    if (view_u64(nodes.refs)[at] != ends.refs[known]).any() or (view_i64(nodes.times)[at] != ends.times[known]).any():
        return False
    if ends.new:
        others = np.flatnonzero(~known)
        first = np.fromiter(map(ends.new.__getitem__, [ends.ids[at] for at in others.tolist()]), np.int64, others.size)
        for column in (ends.refs, ends.times, ends.digests):
            if (column[others] != column[first]).any():
                return False
    if not state.newest or state.newest.keys().isdisjoint(ends.ids):
        return True
    newest = state.newest
    return not any(id in newest and newest[id].ref > ref for id, ref in zip(ends.ids, ends.refs.tolist(), strict=True))


def _new_rows(ends: Ends, edges: Edges, graph: Graph) -> I64 | None:
    """The edges with a pair that is not in the ledger, one for each; None if there is a pair that becomes another."""
    names = ends.slots
    if ends.new:
        names, missing = names.copy(), np.flatnonzero(names < 0)
        firsts = map(ends.new.__getitem__, [ends.ids[at] for at in missing.tolist()])
        names[missing] = -1 - np.fromiter(firsts, np.int64, missing.size)
    keys = zip(names[::2].tolist(), names[1::2].tolist(), strict=True)
    last = dict(zip(keys, range(len(edges)), strict=True))
    pairs = graph.pairs
    rows = []
    for (left, right), row in last.items():
        pair = -1 if left < 0 or right < 0 else pairs.find(left, right)
        if pair < 0:
            rows.append(row)
        elif pair in pairs.versions or edges.similarity[row] != pairs.similarity[pair]:
            return None
        elif edges.shared[row] != pairs.shared[pair] or edges.union[row] != pairs.union[pair]:
            return None
    return np.array(rows, np.int64)


def pair_tables(found: PlainPairs) -> tuple[Sequence[MatchChange], Sequence[PairState]]:
    """New pairs as the topic `matches` and as the changelog has them, in ascending order."""
    ends, rows = found.ends, found.rows.tolist()
    if not rows:
        return [], []
    left, right = [ends.ids[2 * row] for row in rows], [ends.ids[2 * row + 1] for row in rows]
    order = sorted(range(len(rows)), key=right.__getitem__)
    order.sort(key=left.__getitem__)
    at = np.array(order)
    left, right = [left[row] for row in order], [right[row] for row in order]
    places = 2 * found.rows[at]
    times = ends.times[places], ends.times[places + 1]
    counts = found.similarity[at], found.shared[at], found.union[at]
    matches = Table(MatchChange, (left, right, *counts, *times, [None] * len(rows)))
    return matches, Table(PairState, (left, right, ends.refs[places], ends.refs[places + 1], *times, *counts))
