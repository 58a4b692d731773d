"""Copies the ledger in slices between frames, and assembles a whole ledger from them.

A slice holds the state of its rows at the time of the copy; earlier slices are not updated.  The records of the frames
in between hold every changed row in full.  So a row is current in the last record that contains it, or, without such a
record, in its slice.  A row without a record has not moved: documents keep their slots, and the record contains a pair
that was removed and added again in one frame even if its values are the same.  Only the lists of clusters, newest refs,
closed ids and decisions, and the page counts of sites, are each copied at once: some 10 ms for 250,000 entries.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from stream_lsh.ledger.bulk_rows import node_rows, rows_of_pairs
from stream_lsh.ledger.changes import (
    ClosedState,
    ClusterState,
    DecisionState,
    LedgerChanges,
    NewestState,
    NodeState,
    PairState,
    SiteCountState,
    SiteFirstState,
    SiteOriginState,
)
from stream_lsh.ledger.clusters.ids import NOWHERE
from stream_lsh.ledger.graph.columns import Table, columns_of
from stream_lsh.ledger.state import LedgerState

_T = TypeVar("_T")
_Row = TypeVar("_Row", bound=tuple[Any, ...])


def slices(ledger: LedgerState, rows: int) -> Iterator[LedgerChanges]:
    """The whole ledger in slices of at most `rows` rows; the first one has the horizon, `next_past` and few rows.

    The ledger may settle frames between two slices.
    """
    graph = ledger.graph
    nodes, pairs = len(graph.nodes.ids), len(graph.pairs.similarity)  # later rows are in the records of frames
    sites = LedgerChanges() if ledger.mirrors is None else ledger.mirrors.rows()
    yield LedgerChanges(next_past=graph.past.next, horizon=ledger.horizon, site_origins=sites.site_origins)
    for live in _cut([*ledger.ids.live.values()], rows):
        columns = [cluster.id for cluster in live], [cluster.created for cluster in live]
        yield LedgerChanges(clusters=Table(ClusterState, columns))
    for newest in _cut([*ledger.newest.values()], rows):
        yield LedgerChanges(newest=newest)
    for closed in _cut([*ledger.ids.closed.values()], rows):
        yield LedgerChanges(closed=closed)
    for decisions in _cut([*ledger.decisions.of.values()], rows):
        yield LedgerChanges(decisions=decisions)
    for counts in _cut([*sites.site_counts], rows):
        yield LedgerChanges(site_counts=counts)
    for firsts in _cut([*sites.site_firsts], rows):
        yield LedgerChanges(site_firsts=firsts)
    for start in range(0, nodes, rows):
        slots = [slot for slot in range(start, min(start + rows, nodes)) if graph.nodes.clusters[slot] is not NOWHERE]
        if slots:
            yield LedgerChanges(nodes=node_rows(slots, graph))
    for start in range(0, pairs, rows):
        numbers = graph.pairs.numbers(start, min(start + rows, pairs))
        if numbers.size:
            yield LedgerChanges(pairs=rows_of_pairs(numbers, graph))


def _cut(rows: list[_T], size: int) -> Iterator[list[_T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def merged(taken: Sequence[LedgerChanges], later: Iterable[LedgerChanges]) -> LedgerChanges:
    """The whole ledger; the order of rows is undefined.

    Args:
        taken: all slices, in the order of copying.
        later: the changes of all frames since the first slice, at least up to the last slice.
    """
    nodes, pairs = dict[Any, NodeState | None](), dict[Any, PairState | None]()
    clusters, newest, closed = dict[Any, ClusterState | None](), dict[Any, NewestState](), dict[Any, ClosedState]()
    counts, origins, firsts = (
        dict[Any, SiteCountState](),
        dict[Any, SiteOriginState](),
        dict[Any, SiteFirstState | None](),
    )
    decisions = dict[Any, DecisionState]()
    next_past, horizon = taken[0].next_past, taken[0].horizon
    for changes in later:
        nodes |= {**dict.fromkeys(changes.nodes_gone), **{row.id: row for row in changes.nodes}}
        pairs |= {**dict.fromkeys(changes.pairs_gone), **{(row.left, row.right): row for row in changes.pairs}}
        clusters |= {**dict.fromkeys(changes.clusters_gone), **{row.id: row for row in changes.clusters}}
        newest |= {row.id: row for row in changes.newest}
        closed |= {row.id: row for row in changes.closed}
        decisions |= {(row.left, row.right): row for row in changes.decisions}
        counts |= {(row.partition, row.site): row for row in changes.site_counts}
        origins |= {row.partition: row for row in changes.site_origins}
        firsts |= {
            **dict.fromkeys(changes.site_firsts_gone),
            **{(row.left, row.right): row for row in changes.site_firsts},
        }
        next_past, horizon = changes.next_past, horizon.max(changes.horizon)
    return LedgerChanges(
        complete=True,
        nodes=_over(NodeState, [changes.nodes for changes in taken], nodes),
        pairs=_over(PairState, [changes.pairs for changes in taken], pairs, keys=2),
        clusters=_over(ClusterState, [changes.clusters for changes in taken], clusters),
        newest=_over(NewestState, [changes.newest for changes in taken], newest),
        closed=_over(ClosedState, [changes.closed for changes in taken], closed),
        decisions=_over(DecisionState, [changes.decisions for changes in taken], decisions, keys=2),
        site_counts=_over(SiteCountState, [changes.site_counts for changes in taken], counts, keys=2),
        site_origins=_over(SiteOriginState, [changes.site_origins for changes in taken], origins),
        site_firsts=_over(SiteFirstState, [changes.site_firsts for changes in taken], firsts, keys=2),
        next_past=next_past,
        horizon=horizon,
    )


def _over(
    row: Callable[..., _Row], taken: Iterable[Sequence[_Row]], later: dict[Any, Any], keys: int = 1
) -> Sequence[_Row]:
    """All rows; those of `later` replace those of `taken`, and None there marks a removed row."""
    pieces = [_without(columns_of(rows), later, keys) for rows in taken if rows]
    if remaining := [one for one in later.values() if one is not None]:
        pieces.append(columns_of(remaining))
    return Table(row, [_one_column(column) for column in zip(*pieces, strict=True)]) if pieces else ()


def _without(columns: Sequence[Any], later: dict[Any, Any], keys: int) -> Sequence[Any]:
    if not later:
        return columns
    named = columns[0] if keys == 1 else zip(*columns[:keys], strict=True)
    kept = [at for at, key in enumerate(named) if key not in later]
    if len(kept) == len(columns[0]):
        return columns
    return [column[kept] if isinstance(column, np.ndarray) else [column[at] for at in kept] for column in columns]


def _one_column(pieces: Sequence[Any]) -> Any:
    """Concatenate pieces of a column; the result is an array if a piece is one."""
    array = next((piece for piece in pieces if isinstance(piece, np.ndarray)), None)
    if array is None:
        return [*chain.from_iterable(pieces)]
    return np.concatenate([np.asarray(piece, array.dtype) for piece in pieces])
