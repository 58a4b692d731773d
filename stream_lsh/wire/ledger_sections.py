"""The sections of a record of the ledger's changelog, as listed in `ledger_parts`."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from struct import Struct
from typing import Any, TypeVar

import numpy as np

from stream_lsh.ledger.changes import (
    ClosedState,
    ClusterState,
    LedgerChanges,
    NewestState,
    NodeState,
    PairState,
    SiteCountState,
    SiteFirstState,
    SiteOriginState,
)
from stream_lsh.ledger.graph.columns import Table, columns_of
from stream_lsh.model import in_full
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.wire.layout import (
    F64,
    I64,
    INFLATE_LIMIT,
    U32,
    U64,
    Reader,
    Section,
    Writer,
    damaged,
    expect_no_more,
    open_sections,
    take,
)
from stream_lsh.wire.sections import (
    get_horizon,
    get_watermarks,
    put_abouts,
    put_horizon,
    put_mark_numbers,
    put_marks,
    take_abouts,
    take_mark_numbers,
)
from stream_lsh.wire.tables import (
    COUNTS,
    TEXT,
    Columns,
    get_columns,
    put_columns,
    put_decisions,
    put_evidence,
    put_sizes,
    take_decisions,
    take_evidence,
    take_sizes,
)

_LEDGER = Struct("<qqII")

_MOST_TIMES = 256
"""The largest ratio of evidence to the bytes of a record, if that exceeds one frame, as in a snapshot."""

_Row = TypeVar("_Row", bound=tuple[Any, ...])

# Tables whose rows are plain: the columns of each, None for strings.
_NODES_GONE: Columns = (TEXT,)
_PAIRS: Columns = (TEXT, TEXT, U64, U64, I64, I64, F64, U32, U32)
_PAIRS_GONE: Columns = (TEXT, TEXT)
_CLUSTERS: Columns = (TEXT, I64)
_CLUSTERS_GONE: Columns = (TEXT,)
_NEWEST: Columns = (TEXT, U64, I64)
_CLOSED: Columns = (TEXT, I64, U64)
_SITE_COUNTS: Columns = (U32, TEXT, U32, I64)
_SITE_ORIGINS: Columns = (U32, I64, I64, I64, I64)
_SITE_FIRSTS: Columns = (TEXT, TEXT, I64)


def encode_body(record: LedgerRecord) -> bytes:
    """The sections of a record."""
    changes = record.changes
    writer = Writer()
    writer.begin(Section.LEDGER, _LEDGER.pack(record.offset, changes.next_past, changes.complete, 0))
    put_horizon(writer, changes.horizon)
    if record.watermarks:
        writer.begin(Section.WATERMARK_TABLE, COUNTS.pack(len(record.watermarks), 0))
        for watermarks in record.watermarks:
            put_marks(writer, watermarks)
        put_mark_numbers(writer, record.watermarks)
    if changes.nodes:
        _put_nodes(writer, changes.nodes)
        put_abouts(writer, columns_of(changes.nodes)[-1])
    _put_table(writer, Section.NODES_GONE, _NODES_GONE, [(gone,) for gone in changes.nodes_gone])
    _put_pairs(writer, changes.pairs)
    _put_table(writer, Section.PAIRS_GONE, _PAIRS_GONE, changes.pairs_gone)
    _put_table(writer, Section.CLUSTERS, _CLUSTERS, changes.clusters)
    _put_table(writer, Section.CLUSTERS_GONE, _CLUSTERS_GONE, [(gone,) for gone in changes.clusters_gone])
    _put_table(writer, Section.NEWEST, _NEWEST, changes.newest)
    _put_table(writer, Section.CLOSED, _CLOSED, changes.closed)
    _put_table(writer, Section.SITE_COUNTS, _SITE_COUNTS, changes.site_counts)
    _put_table(writer, Section.SITE_ORIGINS, _SITE_ORIGINS, changes.site_origins)
    _put_table(writer, Section.SITE_FIRSTS, _SITE_FIRSTS, changes.site_firsts)
    _put_table(writer, Section.SITE_FIRSTS_GONE, _PAIRS_GONE, changes.site_firsts_gone)
    put_decisions(writer, changes.decisions)
    return writer.body()


def decode_body(body: bytes) -> LedgerRecord:
    """The record of these sections; raises DamagedBytes or FutureFormat."""
    sections = open_sections(body, 0)
    fixed = take(sections, Section.LEDGER, lambda reader: reader.fields(_LEDGER))
    horizon = take(sections, Section.HORIZON, get_horizon)
    if fixed is None or horizon is None:
        raise damaged("got a record without offset or horizon", "a faulty program wrote it")
    offset, next_past, complete, _ = fixed
    nodes = take(sections, Section.NODES, _get_nodes)
    abouts = take_abouts(sections, 0 if nodes is None else len(nodes[0]))
    changes = LedgerChanges(
        complete=complete != 0,
        nodes=() if nodes is None else Table(NodeState, (*nodes, in_full(abouts, len(nodes[0])))),
        nodes_gone=_names(sections, Section.NODES_GONE),
        pairs=_take_pairs(sections, max(INFLATE_LIMIT, _MOST_TIMES * len(body))),
        pairs_gone=_table(sections, Section.PAIRS_GONE, _PAIRS_GONE, _pair),
        clusters=_table(sections, Section.CLUSTERS, _CLUSTERS, ClusterState),
        clusters_gone=_names(sections, Section.CLUSTERS_GONE),
        newest=_table(sections, Section.NEWEST, _NEWEST, NewestState),
        closed=_table(sections, Section.CLOSED, _CLOSED, ClosedState),
        site_counts=_table(sections, Section.SITE_COUNTS, _SITE_COUNTS, SiteCountState),
        site_origins=_table(sections, Section.SITE_ORIGINS, _SITE_ORIGINS, SiteOriginState),
        site_firsts=_table(sections, Section.SITE_FIRSTS, _SITE_FIRSTS, SiteFirstState),
        site_firsts_gone=_table(sections, Section.SITE_FIRSTS_GONE, _PAIRS_GONE, _pair),
        decisions=take_decisions(sections),
        next_past=next_past,
        horizon=horizon,
    )
    watermarks = take(sections, Section.WATERMARK_TABLE, _get_watermark_table)
    watermarks = () if watermarks is None else take_mark_numbers(sections, watermarks)
    expect_no_more(sections)
    return LedgerRecord(offset, changes, watermarks)


def _get_watermark_table(reader: Reader) -> tuple[Any, ...]:
    n, _ = reader.fields(COUNTS)
    return tuple([get_watermarks(reader) for _ in range(n)])


def _pair(left: str, right: str) -> tuple[str, str]:
    return left, right


def _put_table(writer: Writer, kind: Section, types: Columns, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows as columns; nothing if there are no rows."""
    if rows:
        put_columns(writer, kind, types, columns_of(rows))


def _table(sections: dict[int, Reader], kind: Section, types: Columns, row: Callable[..., _Row]) -> Sequence[_Row]:
    return take(sections, kind, lambda reader: Table(row, get_columns(reader, types))) or ()


def _put_pairs(writer: Writer, pairs: Sequence[PairState]) -> None:
    """Write pairs; the shingles of left ends, and evidence, have sections of their own, if there are any."""
    if not pairs:
        return
    *columns, left_shingles, evidence = columns_of(pairs)
    _put_table(writer, Section.PAIRS, _PAIRS, Table(_plain, columns))
    if np.any(left_shingles):
        put_sizes(writer, left_shingles)
    put_evidence(writer, evidence)


def _take_pairs(sections: dict[int, Reader], inflate_limit: int) -> Sequence[PairState]:
    pairs = _table(sections, Section.PAIRS, _PAIRS, _plain)
    if not pairs:
        return ()
    left_shingles = take_sizes(sections, len(pairs))
    if left_shingles is None:
        left_shingles = np.zeros(len(pairs), U32)
    evidence = take_evidence(sections, len(pairs), inflate_limit) or [""] * len(pairs)
    return Table(PairState, [*columns_of(pairs), left_shingles, evidence])


def _plain(*row: Any) -> tuple[Any, ...]:
    return row


def _names(sections: dict[int, Reader], kind: Section) -> list[str]:
    """A table of one column of strings."""
    (names,) = take(sections, kind, lambda reader: get_columns(reader, (TEXT,))) or ([],)
    return names


def _put_nodes(writer: Writer, nodes: Sequence[NodeState]) -> None:
    n = len(nodes)
    ids, refs, times, digests, clusters, pasts, _ = columns_of(nodes)
    m = sum(map(len, pasts))
    writer.begin(Section.NODES, COUNTS.pack(n, m))
    writer.strings(ids, n)
    writer.numbers(refs, U64, n)
    writer.numbers(times, I64, n)
    writer.numbers(digests, U64, n)
    writer.strings(clusters, n)
    writer.numbers(list(map(len, pasts)), U32, n)
    writer.numbers(list(chain.from_iterable(pasts)), I64, m)


def _get_nodes(reader: Reader) -> tuple[Any, ...]:
    """The columns of nodes, without their metadata."""
    n, m = reader.fields(COUNTS)
    ids, refs, times = reader.strings(n), reader.numbers(U64, n), reader.numbers(I64, n)
    digests, clusters = reader.numbers(U64, n), reader.strings(n)
    bounds = list(accumulate(reader.numbers(U32, n).tolist(), initial=0))
    if bounds[-1] != m:
        reader.fail(f"got {m} past nodes where {bounds[-1]} are announced")
    flat = reader.numbers(I64, m).tolist()
    pasts: list[tuple[int, ...]] = [tuple(flat[start:stop]) for start, stop in pairwise(bounds)] if m else [()] * n
    return ids, refs, times, digests, clusters, pasts
