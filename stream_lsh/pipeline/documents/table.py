"""The documents of one source partition: ref -> version, id -> newest ref.  Columns in chunks; nothing is ever copied.

`contents` holds texts and signatures, in memory or on disk.

Only the newest version of an id is here, so a ref that is not found is stale.  Beside live versions the table keeps
*markers*, which hold no text: tombstones, and versions that have expired while an older one of their id has not.  They
are dropped once a record states that their messages are acknowledged and not read again (docs/internals/adr/0029).
"""

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.model import MAX_OFFSET, NO_ABOUT, About, Abouts, in_full, make_ref, or_empty, ref_offset, ref_partition
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.content_store import CHUNK, CHUNK_BITS, Contents, MemoryContents, gather
from stream_lsh.pipeline.documents.id_column import IdColumn
from stream_lsh.pipeline.documents.observer import LiveObserver
from stream_lsh.pipeline.documents.oldest_refs import OldestRefs
from stream_lsh.pipeline.documents.replayable import Replayable
from stream_lsh.pipeline.documents.sharded_dict import ShardedDict, ShardedIds, ShardedRefs, text_shard
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.versions import FREE, LIVE, MARKER, META, Retired, Version, Versions, refs_in_order
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.sketch.scheme import EMPTY_SLOT

_OFFSET_MASK = np.uint64(MAX_OFFSET)
_NEVER_MS, _NO_REF = (1 << 63) - 1, (1 << 64) - 1


class DocumentTable:
    """Newest versions by id and by ref.

    Args:
        slots: the length of a signature.
        contents: holds texts and signatures; in memory by default.
        pages: counts the live versions of each site, where sites are watched.
        counts: counts the values of live versions, where they are records.

    Attributes:
        horizon: the limit of what has expired.
        acknowledged: the offset of the source below which no message is read again, as the records state it.
        pages, counts: as above.

    Cost:
        33 bytes of columns a version and some 200 for two dictionary entries and the id, beside its contents.  A
        look-up is one dictionary access; columns are read for many rows at once.
    """

    def __init__(
        self,
        slots: int,
        contents: Contents | None = None,
        pages: SitePages | None = None,
        counts: LiveObserver | None = None,
    ) -> None:
        self._slots = slots
        self.pages = pages
        self.counts = counts
        self._watching = [watching for watching in (pages, counts) if watching is not None]
        self._contents = MemoryContents(slots) if contents is None else contents
        self._meta: list[np.ndarray] = []
        self._least: list[tuple[int, int]] = []  # of each chunk: no row is due before this time, none has a lower ref
        self._ids = IdColumn()
        self._free: list[int] = []
        self._row_by_id = ShardedDict(text_shard)
        self._row_by_ref = ShardedRefs()
        self._oldest = OldestRefs()
        self._replayable = Replayable()
        self.horizon = Horizon()
        self.acknowledged = 0

    def __len__(self) -> int:
        """Live versions."""
        return len(self._row_by_ref)

    # -- reading

    def version(self, id: str) -> Version | None:
        """The newest version of an id, None if it is not known (any more)."""
        row = self._row_by_id.get(id)
        if row is None:
            return None
        meta = self._meta[row >> CHUNK_BITS][row & (CHUNK - 1)]
        return Version(row, int(meta["ref"]), int(meta["time"]), int(meta["keep"]), meta["state"] == LIVE)

    def rows(self, refs: U64) -> I64:
        """The row of each ref, -1 where it is not the newest live version of its id: int64[n]."""
        return self._row_by_ref.find(refs)

    def ids(self, rows: I64) -> list[str]:
        """The id of each row."""
        return self._ids.of(rows.tolist())

    def texts(self, rows: I64) -> list[str]:
        """The text of each row."""
        return self._contents.texts(rows, self._refs(rows))

    def abouts(self, rows: I64) -> Abouts:
        """The metadata of each row, for stories."""
        return self._contents.abouts(rows, self._refs(rows))

    def content(self, row: int) -> tuple[str, About]:
        """The text and the metadata of one row."""
        rows = np.array([row], np.int64)
        return self.texts(rows)[0], in_full(self.abouts(rows), 1)[0]

    def refs_times(self, rows: I64) -> tuple[U64, I64]:
        """The ref and the event time of each row: uint64[n], int64[n]."""
        meta = gather(self._meta, np.empty(rows.size, META), rows)
        return meta["ref"], meta["time"]

    def _refs(self, rows: I64) -> U64:
        return gather([meta["ref"] for meta in self._meta], np.empty(rows.size, np.uint64), rows)

    def signatures(self, rows: I64) -> Signatures:
        """The signature and the digest of each row, copied."""
        return Signatures(self._contents.signatures(rows, self._refs(rows)), self.digests(rows))

    def digests(self, rows: I64) -> U64:
        """The digest of each row: uint64[n]."""
        return gather([meta["digest"] for meta in self._meta], np.empty(rows.size, np.uint64), rows)

    def retired_by(self, row: int) -> Retired | None:
        """The versions that the version of a row retired, None if it was the first of its id."""
        return self._replayable.retired.get(row)

    def newest_ms(self, offset: int) -> int:
        """The greatest event time of the live versions below an offset of the source."""
        # Sign reports this after a restart: bands of versions from that offset on may not have been sent.
        of_chunks = (m["time"][(m["state"] == LIVE) & ((m["ref"] & _OFFSET_MASK) < offset)] for m in self._meta)
        return max((int(times.max(initial=BEGINNING_MS)) for times in of_chunks), default=BEGINNING_MS)

    def newest_offset(self) -> int:
        """The highest offset of the source with a version in the table; -1 for none."""
        known = (meta["ref"][meta["state"] != FREE] & _OFFSET_MASK for meta in self._meta)
        return max((int(refs.max()) for refs in known if refs.size), default=-1)

    # -- writing

    @classmethod
    def restored(
        cls,
        slots: int,
        contents: Contents,
        versions: Versions,
        pages: SitePages | None = None,
        counts: LiveObserver | None = None,
    ) -> "DocumentTable":
        """The table of these versions, whose contents are stored already.

        Cost: some 0.1 us a version, and 0.3 us when its shard is first used; 1 us more where the ids do not lie shard
        by shard; some 10 us where sites are watched, some 30 us where values are counted.
        """
        table, count = cls(slots, contents, pages, counts), versions.meta.size
        for start in range(0, count, CHUNK):
            stored = versions.meta[start : start + CHUNK]
            meta = np.zeros(CHUNK, META)
            meta[: stored.size] = stored
            table._meta.append(meta)
            due = np.where(stored["state"] == LIVE, stored["time"], stored["keep"])
            table._least.append((int(due.min()), int(stored["ref"].min())))
        table._ids = IdColumn.of_all(versions.ids, table._row_by_id)
        live = np.flatnonzero(versions.meta["state"] == LIVE)
        table._row_by_ref.fill_refs(versions.meta["ref"][live], live)
        for start in range(0, live.size, CHUNK):
            rows = live[start : start + CHUNK]
            if pages is not None:
                pages.restore(rows, table.abouts(rows))
            if counts is not None:
                counts.restore(rows, table.texts(rows))
        rows = np.union1d(np.flatnonzero(versions.meta["state"] == MARKER), np.array([*versions.retired], np.int64))
        at = zip(versions.meta["ref"][rows].tolist(), rows.tolist(), strict=True)
        table._replayable = Replayable(versions.retired, at)
        table._acknowledge(versions.acknowledged)
        table.expire(versions.horizon)
        return table

    def apply(self, record: DocumentsRecord) -> Bools:
        """Store versions, each in place of the lower refs of its id; a stored higher ref stays.

        All refs of a table belong to one source partition, and an id is in a record once.  A record with a lower
        acknowledged offset than an earlier one is of an earlier owner, and may have deleted versions.

        Returns:
            bool[n], true for each version that was stored.
        """
        rows = np.empty(len(record), np.int64)
        live, is_late = record.live.tolist(), record.acknowledged < self.acknowledged
        replaced = dict[int, int]()
        for position, (id, ref) in enumerate(zip(record.ids, record.refs.tolist(), strict=True)):
            if is_late and ref_offset(ref) < self.acknowledged:
                rows[position] = -1
                continue
            row = self._row_by_id.get(id)
            if row is None:
                row = self._new_row(id)
            else:
                known = int(self._meta[row >> CHUNK_BITS]["ref"][row & (CHUNK - 1)])
                if known > ref:
                    rows[position] = -1
                    continue
                if self._row_by_ref.pop(known) is not None and (known < ref or not live[position]):
                    replaced[ref] = known
                self._replayable.retired.pop(row, None)
            if not live[position]:
                self._replayable.add(ref, row)
            else:
                self._row_by_ref[ref] = row
                self._oldest.add(ref)
            rows[position] = row
        self._write(record, rows)
        self._contents.put(rows, record, replaced)
        for watching in self._watching:
            watching.put(rows, record)
        self._replayable.add_retired(record, rows)
        self._oldest.tidy(len(self))
        if record.acknowledged > self.acknowledged:
            self._acknowledge(record.acknowledged)
        return rows >= 0

    def _new_row(self, id: str) -> int:
        if self._free:
            row = self._free.pop()
            self._ids[row] = id
        else:
            row = len(self._ids)
            self._ids.append(id)
            if row >> CHUNK_BITS == len(self._meta):
                self._meta.append(np.zeros(CHUNK, META))
                self._least.append((_NEVER_MS, _NO_REF))
        self._row_by_id[id] = row
        return row

    def _write(self, record: DocumentsRecord, rows: I64) -> None:
        chunk_of = rows >> CHUNK_BITS
        for chunk in sorted(set(chunk_of[rows >= 0].tolist())):  # np.unique takes several times as long
            at = np.flatnonzero(chunk_of == chunk)
            inside = rows[at] & (CHUNK - 1)
            meta = self._meta[chunk]
            meta["ref"][inside] = record.refs[at]
            meta["time"][inside] = record.times[at]
            meta["keep"][inside] = record.keep_until[at]
            meta["digest"][inside] = record.digests[at]
            meta["state"][inside] = np.where(record.live[at], LIVE, MARKER)
            time_ms, ref = self._least[chunk]
            self._least[chunk] = min(time_ms, int(record.times[at].min())), min(ref, int(record.refs[at].min()))

    # -- forgetting

    def _acknowledge(self, offset: int) -> None:
        """Drop the markers below this offset of the source, and the retired versions of versions below it."""
        self.acknowledged, ids = offset, list[str]()
        for ref, row in self._replayable.take_below(offset):
            meta, at = self._meta[row >> CHUNK_BITS], row & (CHUNK - 1)
            if int(meta["ref"][at]) != ref or meta["state"][at] == FREE:
                continue
            self._replayable.retired.pop(row, None)
            if meta["state"][at] == MARKER:
                ids.append(self._free_row(row))
                meta["state"][at] = FREE
        self._contents.acknowledge(offset, ids)

    def _free_row(self, row: int) -> str:
        """Free the row for another id; returns its former id."""
        [id] = self._ids.of([row])
        self._ids[row] = ""
        self._row_by_id.pop(id)
        self._replayable.retired.pop(row, None)
        self._free.append(row)
        return id

    def expire(self, horizon: Horizon) -> int:
        """Drop expired versions; returns the number of versions that are no longer live.

        Cost: one pass over the chunks with expired versions, 0.1 ms each.
        """
        before, joined = len(self), self.horizon.max(horizon)
        moved, self.horizon = joined != self.horizon, joined
        rows, ids = [np.empty(0, np.int64)], list[str]()
        refs = [np.empty(0, np.uint64)]
        for chunk, (time_ms, ref) in enumerate(self._least):
            if joined.passed(time_ms, ref):
                at = self._expire_chunk(chunk, ids)
                rows.append(at + (chunk << CHUNK_BITS))
                refs.append(self._meta[chunk]["ref"][at])
        if moved or ids or len(rows) > 1:
            gone = np.concatenate(rows)
            self._contents.expire(gone, np.concatenate(refs), ids, joined)
            for watching in self._watching:
                watching.expire(gone)
        return before - len(self)

    def _expire_chunk(self, chunk: int, ids: list[str]) -> I64:
        """The rows of a chunk that are no longer live; `ids` gets those that have left the table."""
        meta, start, time_ms = self._meta[chunk], chunk << CHUNK_BITS, self.horizon.time_ms
        used, live = meta["state"] != FREE, meta["state"] == LIVE
        gone = used & ((meta["keep"] < time_ms) | (meta["ref"] < self._min_ref(self._least[chunk][1])))
        gone |= live & (meta["time"] < time_ms) & ((meta["ref"] & _OFFSET_MASK) < self.acknowledged)
        fading = live & ~gone & (meta["time"] < time_ms)
        at = np.flatnonzero((gone & live) | fading)
        for ref in meta["ref"][at].tolist():
            self._row_by_ref.pop(ref)
        ids += map(self._free_row, (np.flatnonzero(gone) + start).tolist())
        for row in np.flatnonzero(fading).tolist():
            self._replayable.add(int(meta["ref"][row]), start + row)
        meta["state"][gone] = FREE
        meta["state"][fading] = MARKER
        used &= ~gone
        due = np.where(live & ~fading, meta["time"], meta["keep"])
        self._least[chunk] = int(due[used].min(initial=_NEVER_MS)), int(meta["ref"][used].min(initial=_NO_REF))
        return at

    def _min_ref(self, ref: int) -> int:
        """The lowest ref that is kept on the partition of a ref."""
        partition, min_offsets = ref_partition(ref), self.horizon.min_offsets
        return make_ref(partition, min_offsets[partition]) if partition < len(min_offsets) else 0

    def min_offset(self, limit: int) -> int:
        """The lowest offset to keep if only the `limit` newest live versions are kept; 0 if there are no more.

        Args:
            limit: at least 1.

        Cost: O(log n) for each version beyond the limit; one pass over all of them the first time.
        """
        excess = len(self) - limit
        return 0 if excess <= 0 else ref_offset(self._oldest.after(excess, self._row_by_ref))

    # -- copies

    @property
    def entries(self) -> int:
        """Live versions and markers."""
        return len(self._row_by_id)

    def in_order(self) -> tuple[U64, I64]:
        """The refs of live versions and markers, ascending, and the row of each: uint64[n], int64[n].

        Cost: 30 ns each.
        """
        if not self.entries:
            return np.empty(0, np.uint64), np.empty(0, np.int64)
        return refs_in_order(self._meta)

    def versions(self) -> Versions:
        """All columns of the versions except their contents; equal to the argument of `restored`, but for the order."""
        by_id, rows = self._row_by_id, np.fromiter(self._row_by_id.values(), np.int64, self.entries)
        at = np.empty(len(self._ids), np.int64)
        at[rows] = np.arange(rows.size)
        retired = {int(at[row]): retired for row, retired in self._replayable.retired.items()}
        ids = ShardedIds(by_id.sizes, by_id.keys_of)
        return Versions(ids, self._meta_of(rows), retired, self.horizon, self.acknowledged)

    def snapshot(self, bands: int) -> DocumentsRecord:
        """The whole table as one record, ascending by ref; equal tables have equal snapshots; arguments: see `copy`."""
        return self.copy(*self.in_order(), bands)

    def copy(self, refs: U64, rows: I64, bands: int) -> DocumentsRecord:
        """Versions and markers as a record that can replace the records that they came in.

        Args:
            refs: uint64[n], as returned by `in_order`, now or earlier.
            rows: int64[n], the row of each; a row with another ref by now is omitted.
            bands: width of the retired buckets, for a table that has none.
        """
        meta = self._meta_of(rows)
        same = (meta["ref"] == refs) & (meta["state"] != FREE)
        rows, meta = rows[same], meta[same]
        live: Bools = meta["state"] == LIVE
        texts, signatures = [""] * rows.size, np.full((rows.size, self._slots), EMPTY_SLOT, np.uint32)
        abouts = [NO_ABOUT] * rows.size
        if live.any():
            signatures[live] = self._contents.signatures(rows[live], meta["ref"][live])
            at, live_abouts = np.flatnonzero(live).tolist(), in_full(self.abouts(rows[live]), int(live.sum()))
            for position, text, about in zip(at, self.texts(rows[live]), live_abouts, strict=True):
                texts[position], abouts[position] = text, about
        retired = [(i, r) for i, row in enumerate(rows.tolist()) if (r := self.retired_by(row)) is not None]
        return DocumentsRecord(
            ids=self.ids(rows),
            refs=meta["ref"],
            times=meta["time"],
            keep_until=meta["keep"],
            digests=meta["digest"],
            live=live,
            texts=texts,
            signatures=signatures,
            retired_rows=np.repeat([i for i, _ in retired], [r.refs.size for _, r in retired]).astype(np.int64),
            retired_refs=np.concatenate([r.refs for _, r in retired] or [np.empty(0, np.uint64)]),
            retired_buckets=np.concatenate([r.buckets for _, r in retired] or [np.empty((0, bands), np.uint64)]),
            horizon=self.horizon,
            abouts=or_empty(abouts),
            acknowledged=self.acknowledged,
        )

    def _meta_of(self, rows: I64) -> np.ndarray:
        out = np.empty(rows.size, META)
        return gather(self._meta, out, rows) if rows.size else out
