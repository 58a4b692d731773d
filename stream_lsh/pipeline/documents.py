"""The documents of one source partition: ref -> version, id -> newest ref.  Columns in chunks; nothing is ever copied.

Only the newest version of an id is here, so a ref that is not found is stale.  Beside live versions the table keeps
*markers*, which hold no text: tombstones, and versions that have expired while an older one of their id has not; both
until no replay can bring back a version that they replaced.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.pipeline.records import DocumentsRecord
from stream_lsh.pipeline.scheme import Signatures
from stream_lsh.retention import BEGINNING_MS, Horizon

_CHUNK_BITS = 14
_CHUNK = 1 << _CHUNK_BITS
_FREE, _MARKER, _LIVE = 0, 1, 2
_META = np.dtype([("ref", "<u8"), ("time", "<i8"), ("keep", "<i8"), ("digest", "<u8"), ("state", "u1")])
_OFFSET_MASK = np.uint64((1 << 48) - 1)


class Version(NamedTuple):
    """The newest version of an id: where it stands, and what sign needs of it."""

    row: int
    ref: int
    time_ms: int
    keep_until_ms: int
    live: bool


class Retired(NamedTuple):
    """What a version retired: uint64[m] refs and uint64[m, bands + 1] buckets."""

    refs: U64
    buckets: U64


class DocumentTable:
    """Newest versions by id and by ref.

    Args:
        slots: the length of a signature.

    Attributes:
        horizon: what has been dropped.

    Cost:
        4 bytes a slot and 33 bytes of columns a version, its text, and some 200 bytes for two dictionary entries and
        the id.  A look-up is one dictionary access; columns are read for many rows at once.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._meta: list[np.ndarray] = []
        self._signatures: list[np.ndarray] = []
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._free: list[int] = []
        self._row_by_id: dict[str, int] = {}
        self._row_by_ref: dict[int, int] = {}
        self._retired: dict[int, Retired] = {}
        self.horizon = Horizon()

    def __len__(self) -> int:
        """Live versions."""
        return len(self._row_by_ref)

    # -- reading

    def version(self, id: str) -> Version | None:
        """The newest version of an id, None if it is not known (any more)."""
        row = self._row_by_id.get(id)
        if row is None:
            return None
        meta = self._meta[row >> _CHUNK_BITS][row & (_CHUNK - 1)]
        return Version(row, int(meta["ref"]), int(meta["time"]), int(meta["keep"]), meta["state"] == _LIVE)

    def rows(self, refs: U64) -> I64:
        """The row of each ref, -1 where it is not the newest live version of its id: int64[n]."""
        find = self._row_by_ref.get
        return np.fromiter((find(ref, -1) for ref in refs.tolist()), np.int64, refs.size)

    def ids(self, rows: I64) -> list[str]:
        """The id of each row."""
        return [self._ids[row] for row in rows.tolist()]

    def texts(self, rows: I64) -> list[str]:
        """The text of each row."""
        return [self._texts[row] for row in rows.tolist()]

    def text(self, row: int) -> str:
        """The text of one row."""
        return self._texts[row]

    def refs_times(self, rows: I64) -> tuple[U64, I64]:
        """The ref and the event time of each row: uint64[n], int64[n]."""
        meta = self._gather(self._meta, np.empty(rows.size, _META), rows)
        return meta["ref"], meta["time"]

    def signatures(self, rows: I64) -> Signatures:
        """The signature and the digest of each row, copied."""
        values = self._gather(self._signatures, np.empty((rows.size, self._slots), np.uint32), rows)
        digests = self._gather([meta["digest"] for meta in self._meta], np.empty(rows.size, np.uint64), rows)
        return Signatures(values, digests)

    def retired_by(self, row: int) -> Retired | None:
        """What the version of a row retired, None if it was the first of its id."""
        return self._retired.get(row)

    @staticmethod
    def _gather(chunks: Sequence[np.ndarray], out: np.ndarray, rows: I64) -> np.ndarray:
        if len(chunks) == 1:
            return chunks[0][rows]
        chunk_of = rows >> _CHUNK_BITS
        for chunk in np.unique(chunk_of).tolist():
            at = np.flatnonzero(chunk_of == chunk)
            out[at] = chunks[chunk][rows[at] & (_CHUNK - 1)]
        return out

    def newest_ms(self, offset: int) -> int:
        """The greatest event time of the live versions below an offset of the source.

        After a restart this is what sign may say of event time: versions from there on are stored, but their bands may
        not have been sent.
        """
        newest = BEGINNING_MS
        for meta in self._meta:
            sent = (meta["state"] == _LIVE) & ((meta["ref"] & _OFFSET_MASK) < offset)
            newest = max(newest, int(meta["time"][sent].max(initial=BEGINNING_MS)))
        return newest

    # -- writing

    def apply(self, record: DocumentsRecord) -> None:
        """Store versions, each in place of the lower refs of its id; a higher ref that is there stays."""
        if not len(record):
            return
        rows = np.empty(len(record), np.int64)
        live = record.live.tolist()
        for position, (id, ref, text) in enumerate(zip(record.ids, record.refs.tolist(), record.texts, strict=True)):
            row = self._row_by_id.get(id)
            if row is None:
                row = self._new_row(id)
            else:
                known = int(self._meta[row >> _CHUNK_BITS]["ref"][row & (_CHUNK - 1)])
                if known > ref:
                    rows[position] = -1
                    continue
                self._row_by_ref.pop(known, None)
                self._retired.pop(row, None)
            self._texts[row] = text
            if live[position]:
                self._row_by_ref[ref] = row
            rows[position] = row
        self._write(record, rows)
        self._keep_retired(record, rows)

    def _new_row(self, id: str) -> int:
        if self._free:
            row = self._free.pop()
            self._ids[row] = id
        else:
            row = len(self._ids)
            self._ids.append(id)
            self._texts.append("")
            if row >> _CHUNK_BITS == len(self._meta):
                self._meta.append(np.zeros(_CHUNK, _META))
                self._signatures.append(np.empty((_CHUNK, self._slots), np.uint32))
        self._row_by_id[id] = row
        return row

    def _write(self, record: DocumentsRecord, rows: I64) -> None:
        chunk_of = rows >> _CHUNK_BITS
        for chunk in np.unique(chunk_of[rows >= 0]).tolist():
            at = np.flatnonzero(chunk_of == chunk)
            inside = rows[at] & (_CHUNK - 1)
            meta = self._meta[chunk]
            meta["ref"][inside] = record.refs[at]
            meta["time"][inside] = record.times[at]
            meta["keep"][inside] = record.keep_until[at]
            meta["digest"][inside] = record.digests[at]
            meta["state"][inside] = np.where(record.live[at], _LIVE, _MARKER)
            self._signatures[chunk][inside] = record.signatures[at]

    def _keep_retired(self, record: DocumentsRecord, rows: I64) -> None:
        of = record.retired_rows
        if not of.size:
            return
        for position in np.unique(of).tolist():
            if rows[position] >= 0:
                first, last = np.searchsorted(of, (position, position + 1))
                self._retired[int(rows[position])] = Retired(
                    record.retired_refs[first:last].copy(), record.retired_buckets[first:last].copy()
                )

    # -- forgetting

    def expire(self, horizon: Horizon) -> int:
        """Drop what the horizon has passed; returns how many versions are not live any more.

        Cost: one pass over the columns, 2 ms a million versions.
        """
        before = len(self)
        self.horizon = self.horizon.joined(horizon)
        horizon = self.horizon
        for chunk, meta in enumerate(self._meta):
            used = meta["state"] != _FREE
            below = _below_floor(meta["ref"], horizon)
            gone = used & (below | (meta["keep"] < horizon.time_ms))
            fading = (meta["state"] == _LIVE) & ~gone & (meta["time"] < horizon.time_ms)
            for row in (np.flatnonzero(gone | fading) + (chunk << _CHUNK_BITS)).tolist():
                self._row_by_ref.pop(int(meta["ref"][row & (_CHUNK - 1)]), None)
                self._texts[row] = ""
            for row in (np.flatnonzero(gone) + (chunk << _CHUNK_BITS)).tolist():
                del self._row_by_id[self._ids[row]]
                self._ids[row] = ""
                self._retired.pop(row, None)
                self._free.append(row)
            meta["state"][gone] = _FREE
            meta["state"][fading] = _MARKER
        return before - len(self)

    def floor(self, limit: int) -> int:
        """The lowest offset that is kept if only the `limit` newest live versions are; 0 while there are no more."""
        excess = len(self) - limit
        if excess <= 0:
            return 0
        offsets = np.fromiter(self._row_by_ref, np.uint64, len(self)) & _OFFSET_MASK
        return int(np.partition(offsets, excess)[excess])

    def snapshot(self, bands: int) -> DocumentsRecord:
        """Everything as one record, ascending by ref; equal tables have equal snapshots.

        Args:
            bands: width of the retired buckets, for a table that has none.
        """
        rows = np.array(sorted(self._row_by_id.values(), key=self._ref_of), np.int64)
        meta = self._gather(self._meta, np.empty(rows.size, _META), rows) if rows.size else np.empty(0, _META)
        live: Bools = meta["state"] == _LIVE
        values = np.empty((rows.size, self._slots), np.uint32)
        retired = [(i, r) for i, row in enumerate(rows.tolist()) if (r := self._retired.get(row)) is not None]
        return DocumentsRecord(
            ids=self.ids(rows),
            refs=meta["ref"],
            times=meta["time"],
            keep_until=meta["keep"],
            digests=meta["digest"],
            live=live,
            texts=self.texts(rows),
            signatures=self._gather(self._signatures, values, rows) if rows.size else values,
            retired_rows=np.repeat([i for i, _ in retired], [r.refs.size for _, r in retired]).astype(np.int64),
            retired_refs=np.concatenate([r.refs for _, r in retired] or [np.empty(0, np.uint64)]),
            retired_buckets=np.concatenate([r.buckets for _, r in retired] or [np.empty((0, bands), np.uint64)]),
            horizon=self.horizon,
        )

    def _ref_of(self, row: int) -> int:
        return int(self._meta[row >> _CHUNK_BITS]["ref"][row & (_CHUNK - 1)])


def _below_floor(refs: U64, horizon: Horizon) -> Bools:
    below = np.zeros(refs.size, np.bool_)
    for partition, floor in enumerate(horizon.floors):
        if floor:
            here = (refs >> np.uint64(48)) == partition
            below |= here & ((refs & _OFFSET_MASK) < floor)
    return below
