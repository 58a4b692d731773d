"""The record of the ledger as bytes: one body of sections, divided over numbered parts.

A record can be far larger than a Kafka message may be (a snapshot holds the whole ledger).  So the body is cut, and
every part says what it is a part of: the offset, how many parts there are, the size and the checksum of the whole.  By
these four, two writers of one offset (a zombie and its successor) are told apart.  A slice of a pass over the changelog
is a record too, whose parts have its number in place of the offset.

    message LEDGER   LEDGER_PART, and in what belongs to a pass PASS
    LEDGER_PART      i64 offset, u32 index, u32 count, u64 size of the body, u32 its CRC-32, u32 size here | bytes
    PASS             as in `sections`

    body: sections (LEDGER and HORIZON always, the others where they have rows)
    LEDGER           i64 offset, i64 next_past, u32 complete, u32 0
    HORIZON          as in `sections`
    WATERMARK_TABLE  u32 n, u32 0 | n times what WATERMARKS in `sections` holds
    NODES            u32 n, u32 m | ids strings[n] | refs u64[n] | times i64[n] | digests u64[n] | clusters strings[n] |
                     pasts per node u32[n] | pasts i64[m]
    NODES_GONE       u32 n, u32 0 | ids strings[n]
    PAIRS            u32 n, u32 0 | left strings[n] | right strings[n] | left refs u64[n] | right refs u64[n] |
                     left times i64[n] | right times i64[n] | similarity f64[n] | shared u32[n] | union u32[n]
    SIZES            as in `sections`, of the pairs
    PAIRS_GONE       u32 n, u32 0 | left strings[n] | right strings[n]
    CLUSTERS         u32 n, u32 0 | ids strings[n] | created i64[n]
    CLUSTERS_GONE    u32 n, u32 0 | ids strings[n]
    NEWEST           u32 n, u32 0 | ids strings[n] | refs u64[n] | keep_until i64[n]
    CLOSED           u32 n, u32 0 | ids strings[n] | times i64[n] | refs u64[n]
    ABOUTS           as in `sections`, of NODES
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from struct import Struct
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from stream_lsh.abouts import in_full
from stream_lsh.ledger.changes import ClosedState, ClusterState, LedgerChanges, NewestState, NodeState, PairState
from stream_lsh.ledger.table import Table, columns_of
from stream_lsh.pipeline.batches import BEGINS, Pass
from stream_lsh.pipeline.records import LedgerRecord, LedgerSlice
from stream_lsh.wire.layout import (
    F64,
    HEADER_BYTES,
    I64,
    U32,
    U64,
    Message,
    Reader,
    Section,
    Writer,
    damaged,
    expect_no_more,
    open_message,
    open_sections,
    take,
)
from stream_lsh.wire.sections import (
    get_horizon,
    get_pass,
    get_watermarks,
    put_abouts,
    put_horizon,
    put_marks,
    put_pass,
    put_sizes,
    take_abouts,
    take_sizes,
)

_PART = Struct("<qIIQII")
_OVERHEAD = HEADER_BYTES + 8 + _PART.size + 7 + 24
_LEAST_PIECE = 64
_COUNTS = Struct("<II")
_LEDGER = Struct("<qqII")

_TEXT: np.dtype[Any] | None = None
_Columns = tuple["np.dtype[Any] | None", ...]
_Row = TypeVar("_Row", bound=tuple[Any, ...])

# Tables whose rows are plain: the columns of each, None for strings.
_NODES_GONE: _Columns = (_TEXT,)
_PAIRS: _Columns = (_TEXT, _TEXT, U64, U64, I64, I64, F64, U32, U32)
_PAIRS_GONE: _Columns = (_TEXT, _TEXT)
_CLUSTERS: _Columns = (_TEXT, I64)
_CLUSTERS_GONE: _Columns = (_TEXT,)
_NEWEST: _Columns = (_TEXT, U64, I64)
_CLOSED: _Columns = (_TEXT, I64, U64)


def encode_ledger(record: LedgerRecord | LedgerSlice, fingerprint: int, limit: int = 256 * 1024) -> list[bytes]:
    """The messages of a record, in the order in which they are to be written.

    Args:
        record: what one frame changed, a snapshot, or a slice of a pass.
        fingerprint: the scheme.
        limit: the most bytes of a message; below some 128 the least that makes progress.

    Returns:
        a single message where it fits.
    Guarantees:
        the same bytes for equal records, so that a part that is written again is the same part.
    Cost:
        0.5 us per pair or node, and two copies of the bytes.
    """
    copied = None
    offset = record.number if isinstance(record, LedgerSlice) else record.offset
    if isinstance(record, LedgerSlice):
        copied, record = record.copied, record.record
    body = _encode_body(record)
    piece = max(limit - _OVERHEAD, _LEAST_PIECE)
    checksum, count = crc32(body), -(-len(body) // piece)
    messages = []
    for index in range(count):
        data = body[index * piece : (index + 1) * piece]
        writer = Writer()
        writer.begin(Section.LEDGER_PART)
        writer.raw(_PART.pack(offset, index, count, len(body), checksum, len(data)))
        writer.raw(data)
        writer.end()
        if copied is not None:
            put_pass(writer, copied)
        messages.append(writer.message(Message.LEDGER, fingerprint))
    return messages


class _Set(NamedTuple):
    """What the parts of one record have in common; those of a slice its number for the offset."""

    offset: int
    parts: int
    size: int
    checksum: int
    copied: Pass | None


@dataclass(slots=True)
class LedgerAssembler:
    """Puts the parts of the changelog together again: complete records only, offsets never falling.

    Guarantees:
        a set that never becomes complete yields nothing; a part that comes again changes nothing; parts of two writers
        of one offset do not mix; a part that a zombie wrote late, between the parts of a later record, harms neither.
        A whole record that comes again, and one of an offset below the last one, yields None.
    Cost:
        holds the parts of incomplete sets: at most one set per crash in the middle of a record, and only until a
        complete one of a later offset has come.

    Slices count where the log begins with their pass, and nowhere else: where it begins earlier it has what they copy,
    and those of another pass are late or were never completed.

    Args:
        fingerprint: the scheme.

    Attributes:
        begun: something is known of what the log holds, so what comes next is not the record with which it begins.
        began: where the pass lies with which the log begins; None if it begins with none.
        copied: the bytes of that pass that have come.
    """

    fingerprint: int
    begun: bool
    began: int | None
    copied: int
    _open: "dict[_Set, dict[int, bytes]]"
    _slices: "dict[_Set, dict[int, bytes] | None]"
    _done: "set[_Set]"
    _last: int | None

    def __init__(self, fingerprint: int) -> None:
        self.fingerprint = fingerprint
        self.begun, self.began, self.copied = False, None, 0
        self._open, self._slices, self._done, self._last = {}, {}, set(), None

    @property
    def waits(self) -> bool:
        """Whether parts of a record are here whose others are not."""
        return bool(self._open)

    def add(self, data: bytes | None) -> LedgerRecord | None:
        """The record that this message completes, where there are no slices.

        Raises:
            DamagedBytes, FutureFormat, FingerprintMismatch: as `frames.decode_bands`.
        """
        found = self.take(data, -1)
        return None if isinstance(found, LedgerSlice) else found

    def take(self, data: bytes | None, at: int) -> LedgerRecord | LedgerSlice | None:
        """The record, or the slice that counts, which the message at this offset of the changelog completes.

        Raises: as `add`.
        """
        whole, index, piece = _decode_part(data, self.fingerprint)
        is_first, self.begun = not self.begun, True
        if whole.copied is None:
            return self._record(whole, index, piece)
        if is_first and whole.copied == BEGINS:
            self.began = at
        elif self.began is None or whole.copied.began != self.began:
            return None
        self.copied += len(data or b"")
        return self._slice(whole, whole.copied, index, piece)

    def _slice(self, whole: _Set, copied: Pass, index: int, piece: bytes) -> LedgerSlice | None:
        pieces = self._slices.setdefault(whole, {})
        if pieces is None:
            return None
        pieces[index] = piece
        if len(pieces) < whole.parts:
            return None
        self._slices[whole] = None
        return LedgerSlice(copied, whole.offset, _join(whole, pieces))

    def _record(self, whole: _Set, index: int, piece: bytes) -> LedgerRecord | None:
        if (self._last is not None and whole.offset < self._last) or whole in self._done:
            return None
        pieces = self._open.setdefault(whole, {})
        pieces[index] = piece
        if len(pieces) < whole.parts:
            return None
        if whole.offset != self._last:
            self._last = whole.offset
            self._done.clear()
        self._done.add(whole)
        # Of two writers of one offset the other set may still be coming.
        del self._open[whole]
        for other in [other for other in self._open if other.offset < whole.offset]:
            del self._open[other]
        return _join(whole, pieces)


def _decode_part(data: bytes | None, fingerprint: int) -> tuple[_Set, int, bytes]:
    found = open_message(data, Message.LEDGER, fingerprint)
    copied, part = take(found, Section.PASS, get_pass), take(found, Section.LEDGER_PART, _get_part)
    expect_no_more(found)
    if part is None:
        raise damaged("got a message without a part of a record", "a faulty program wrote it")
    (offset, count, size, checksum), index, piece = part
    return _Set(offset, count, size, checksum, copied), index, piece


def _get_part(reader: Reader) -> tuple[tuple[int, int, int, int], int, bytes]:
    offset, index, count, size, checksum, size_here = reader.fields(_PART)
    if index >= count:
        reader.fail(f"got part {index} of {count}")
    return (offset, count, size, checksum), index, reader.raw(size_here)


def _join(whole: _Set, pieces: dict[int, bytes]) -> LedgerRecord:
    body = b"".join([pieces[index] for index in range(whole.parts)])
    if len(body) != whole.size or crc32(body) != whole.checksum:
        raise damaged(f"the {whole.parts} parts of offset {whole.offset} do not fit each other", "some were altered")
    record = _decode_body(body)
    if whole.copied is None and record.offset != whole.offset:
        raise damaged(f"the parts of offset {whole.offset} hold offset {record.offset}", "a faulty program wrote them")
    return record


def _encode_body(record: LedgerRecord) -> bytes:
    changes = record.changes
    writer = Writer()
    writer.begin(Section.LEDGER)
    writer.raw(_LEDGER.pack(record.offset, changes.next_past, changes.complete, 0))
    writer.end()
    put_horizon(writer, changes.horizon)
    if record.watermarks:
        writer.begin(Section.WATERMARK_TABLE)
        writer.raw(_COUNTS.pack(len(record.watermarks), 0))
        for watermarks in record.watermarks:
            put_marks(writer, watermarks)
        writer.end()
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
    return writer.body()


def _decode_body(body: bytes) -> LedgerRecord:
    found = open_sections(body, 0)
    fixed = take(found, Section.LEDGER, lambda reader: reader.fields(_LEDGER))
    horizon = take(found, Section.HORIZON, get_horizon)
    if fixed is None or horizon is None:
        raise damaged("got a record without offset or horizon", "a faulty program wrote it")
    offset, next_past, complete, _ = fixed
    nodes = take(found, Section.NODES, _get_nodes)
    abouts = take_abouts(found, 0 if nodes is None else len(nodes[0]))
    changes = LedgerChanges(
        complete=complete != 0,
        nodes=() if nodes is None else Table(NodeState, (*nodes, in_full(abouts, len(nodes[0])))),
        nodes_gone=_names(found, Section.NODES_GONE),
        pairs=_take_pairs(found),
        pairs_gone=_table(found, Section.PAIRS_GONE, _PAIRS_GONE, _pair),
        clusters=_table(found, Section.CLUSTERS, _CLUSTERS, ClusterState),
        clusters_gone=_names(found, Section.CLUSTERS_GONE),
        newest=_table(found, Section.NEWEST, _NEWEST, NewestState),
        closed=_table(found, Section.CLOSED, _CLOSED, ClosedState),
        next_past=next_past,
        horizon=horizon,
    )
    watermarks = take(found, Section.WATERMARK_TABLE, _get_watermark_table) or ()
    expect_no_more(found)
    return LedgerRecord(offset, changes, watermarks)


def _get_watermark_table(reader: Reader) -> tuple[Any, ...]:
    n, _ = reader.fields(_COUNTS)
    return tuple([get_watermarks(reader) for _ in range(n)])


def _pair(left: str, right: str) -> tuple[str, str]:
    return left, right


def _put_table(writer: Writer, kind: Section, columns: _Columns, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows as columns; nothing where there are no rows."""
    if not rows:
        return
    n = len(rows)
    writer.begin(kind)
    writer.raw(_COUNTS.pack(n, 0))
    for dtype, values in zip(columns, columns_of(rows), strict=True):
        if dtype is None:
            writer.strings(values, n)
        else:
            writer.numbers(values, dtype, n)
    writer.end()


def _table(found: dict[int, Reader], kind: Section, columns: _Columns, row: Callable[..., _Row]) -> Sequence[_Row]:
    def get(reader: Reader) -> Sequence[_Row]:
        n, _ = reader.fields(_COUNTS)
        return Table(row, [reader.strings(n) if dtype is None else reader.numbers(dtype, n) for dtype in columns])

    return take(found, kind, get) or ()


def _put_pairs(writer: Writer, pairs: Sequence[PairState]) -> None:
    """The shingles of left ends are in a section of their own, where the measure tells them."""
    if not pairs:
        return
    *columns, left_shingles = columns_of(pairs)
    _put_table(writer, Section.PAIRS, _PAIRS, Table(_plain, columns))
    if np.any(left_shingles):
        put_sizes(writer, left_shingles, len(pairs))


def _take_pairs(found: dict[int, Reader]) -> Sequence[PairState]:
    pairs = _table(found, Section.PAIRS, _PAIRS, _plain)
    if not pairs:
        return ()
    left_shingles = take_sizes(found, len(pairs))
    if left_shingles is None:
        left_shingles = np.zeros(len(pairs), U32)
    return Table(PairState, [*columns_of(pairs), left_shingles])


def _plain(*row: Any) -> tuple[Any, ...]:
    return row


def _names(found: dict[int, Reader], kind: Section) -> list[str]:
    """A table of one column of strings."""

    def get(reader: Reader) -> list[str]:
        n, _ = reader.fields(_COUNTS)
        return reader.strings(n)

    return take(found, kind, get) or []


def _put_nodes(writer: Writer, nodes: Sequence[NodeState]) -> None:
    n = len(nodes)
    ids, refs, times, digests, clusters, pasts, _ = columns_of(nodes)
    m = sum(map(len, pasts))
    writer.begin(Section.NODES)
    writer.raw(_COUNTS.pack(n, m))
    writer.strings(ids, n)
    writer.numbers(refs, U64, n)
    writer.numbers(times, I64, n)
    writer.numbers(digests, U64, n)
    writer.strings(clusters, n)
    writer.numbers(list(map(len, pasts)), U32, n)
    writer.numbers(list(chain.from_iterable(pasts)), I64, m)
    writer.end()


def _get_nodes(reader: Reader) -> tuple[Any, ...]:
    """The columns of nodes, but for what stories tell of them."""
    n, m = reader.fields(_COUNTS)
    ids, refs, times = reader.strings(n), reader.numbers(U64, n), reader.numbers(I64, n)
    digests, clusters = reader.numbers(U64, n), reader.strings(n)
    bounds = list(accumulate(reader.numbers(U32, n).tolist(), initial=0))
    if bounds[-1] != m:
        reader.fail(f"got {m} past nodes where {bounds[-1]} are announced")
    flat = reader.numbers(I64, m).tolist()
    pasts = [tuple(flat[start:stop]) for start, stop in pairwise(bounds)]
    return ids, refs, times, digests, clusters, pasts
