"""The documents of one partition in RocksDB: contents are looked up there, versions are read at the start.

    key                    value
    !identity              the identity of the state, as JSON
    !offset                i64: the last record of the changelog that is in here
    !horizon               JSON: the limit of what has expired
    !acknowledged          i64: the offset of the source below which no message is read again; absent: 0
    !file                  there while `versions.arrays` has the entries of v, but for those of the ids in c
    c + number u64         ids whose entries have changed since the file was written: a JSON list
    h + offset u64         a run of the changelog's records, by its first offset: newest time and entries i64, refs u64
    s + ref u64            the signature of a live version: u32 each
    t + ref u64            the place of its text (`contents`)
    b + offset u64 + u32   a block of texts (`wire.text_blocks`) of the changelog's record at this offset, by its number
    a + ref u64            its metadata: u32 length, u32 characters of the title; title and source in UTF-8
    v + id                 its `META`, then for each version that it retired the ref and the buckets: u64 each

Keys have their numbers big-endian, values little-endian.  One batch has all changes by a record of the changelog, and
its offset; batches reach the disk in their order, some 4 MB at a time, and are synced.  So any end of a process or
a machine leaves the state of some offset, and the changelog has the rest: RocksDB has no log of its own.  A record
is written once it is stored in the changelog; until then its contents are in memory.

Texts are here as they are in the changelog, and as long: the blocks of a record are deleted with it.  A live version
is always in some record of the changelog, and the last one has its text.

RocksDB keeps a checksum of every block and of every blob, and checks it with every read.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rocksdict import WriteBatch, WriteOptions

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.errors import DamagedBytes, InvariantError, StateError
from stream_lsh.model import NO_ABOUT, About, Abouts, in_full
from stream_lsh.pipeline.changelog.head import Extent, LogHead
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.observer import LiveObserver
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.documents.versions import LIVE, MARKER, META, Versions
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.contents import NO_METADATA, decode_metadata, encode_metadata, put_texts, texts_at
from stream_lsh.worker.storage.folder import Identity, reading, writing
from stream_lsh.worker.storage.partition import PartitionStore
from stream_lsh.worker.storage.recent import Contents, RecentContents
from stream_lsh.worker.storage.rocksdb import expect_end, open_rocksdb
from stream_lsh.worker.storage.versions import read_versions, retired_values, revised, versions_of, write_versions

_IDENTITY, _OFFSET, _HAS_FILE = b"!identity", b"!offset", b"!file"
_HORIZON, _ACKNOWLEDGED = b"!horizon", b"!acknowledged"
_FILE = "versions.arrays"
_FEW_CHANGES = 10_000  # are read one by one, however few versions there are
_log = logging.getLogger(__name__)


class DocumentStore(PartitionStore):
    """The copy on disk of the documents of one partition.

    Args:
        place, identity: see `PartitionStore`.
        slots: the length of a signature.
        width: buckets of a version.
        stories: keep the title, source and length of each version.
        partitions: of the source: a worker may have a store of each.

    Cost: some 10 us for each document written, and for each lookup that is not in a cache.
    """

    def __init__(
        self, place: Path, identity: Identity, slots: int, width: int, stories: bool = False, *, partitions: int = 1
    ) -> None:
        self._slots, self._width, self._stories, self._partitions = slots, width, stories, partitions
        self._under_way: dict[int, Contents] = {}
        self._replaced: dict[int, int] = {}
        self._recent = RecentContents()
        self._start: int | None = None
        self._changes: int | None = None  # noted since the file was written; None for no file
        self._changed_ids = self._most_changed = 0
        self._unlogged = WriteOptions()
        self._unlogged.disable_wal = True  # type: ignore[assignment,method-assign]  # a property, unlike in the stub
        self._db: Any = None
        super().__init__(place, identity)

    def _open(self) -> None:
        db = self._db = open_rocksdb(self._place, self._partitions)
        stored, offset = db.get(_IDENTITY), db.get(_OFFSET)
        if stored is not None:
            self._identity.check(stored.decode(errors="replace"), self._place)
        elif offset is not None:
            raise StateError(f"{self._place}: holds no identity of its state")
        else:
            db.put(_IDENTITY, self._identity.as_json().encode(), self._unlogged)
        time_ms, min_offsets = json.loads(db.get(_HORIZON) or "[null, []]")
        self.horizon = Horizon() if time_ms is None else Horizon(time_ms, tuple(min_offsets))
        self.acknowledged = int.from_bytes(db.get(_ACKNOWLEDGED) or b"")
        self.offset = None if offset is None else int.from_bytes(offset)
        self.head = LogHead() if self.offset is None else LogHead.restored(self._runs(), self.offset)
        self._start = self.head.start

    def _let_go(self) -> None:
        self.close()
        self._under_way.clear()
        self._replaced.clear()
        self._recent.clear()

    def close(self) -> None:
        """Release the files; raises DoubtError where the disk is full: they lack the last changes then."""
        db, self._db = self._db, None
        if db is not None:
            with writing(self._place):
                db.close()

    def table(self, pages: SitePages | None = None, counts: LiveObserver | None = None) -> DocumentTable:
        """The table with these contents; `pages` counts the documents of each site, `counts` the values of records."""
        try:
            versions = self.versions()
        except DamagedBytes as error:
            self.discard(error)
            versions = self.versions()
        return DocumentTable.restored(self._slots, self, versions, pages, counts)

    # -- reading

    def versions(self) -> Versions:
        """All columns of the versions except their contents.

        Cost: some 0.1 us a version, and 3 us for each that has changed since the file was written; without a file 2 us.

        Raises:
            DamagedBytes: an entry cannot be read.
        """
        if self._open_db.get(_HAS_FILE) is not None:
            try:
                return self._from_file()
            except (StateError, OSError, KeyError) as error:
                _log.warning("%s; the versions are read one by one", error)
        self._commit(self._without_file(WriteBatch(raw_mode=True)))
        entries = ((str(key[1:], "utf-8", "surrogatepass"), value) for key, value in self._items(b"v"))
        return versions_of(entries, self._width, self.horizon, self.acknowledged)

    def _from_file(self) -> Versions:
        """The versions of the file, with the changes since."""
        versions = read_versions(self._place / _FILE, self.horizon, self.acknowledged)
        noted = [json.loads(value) for _, value in self._items(b"c")]
        ids = sorted({id for of_note in noted for id in of_note})
        with reading(self._place):
            values = self._open_db[[_version_key(id) for id in ids]] if ids else []
        self._begin_changes(versions.meta.size, len(noted), len(ids))
        return revised(versions, dict(zip(ids, values, strict=True)), self._width)

    def _begin_changes(self, versions: int, notes: int = 0, ids: int = 0) -> None:
        """Note changes from now on: to a file with this number of versions, after some notes."""
        self._changes, self._changed_ids, self._most_changed = notes, ids, max(_FEW_CHANGES, versions // 2)

    def _note_changes(self, batch: Any, ids: Sequence[str]) -> None:
        """Note that the entries of these ids change with a batch; too many changes make the file useless."""
        if self._changes is None or not ids:
            return
        self._changed_ids += len(ids)
        if self._changed_ids > self._most_changed:
            self._without_file(batch)
            return
        batch.put(b"c" + self._changes.to_bytes(8), json.dumps(ids).encode())
        self._changes += 1

    def _without_file(self, batch: Any) -> Any:
        """The batch, with which the file becomes useless."""
        self._changes = None
        batch.delete(_HAS_FILE)
        batch.delete_range(b"c", b"d")
        return batch

    def _runs(self) -> Iterator[tuple[int, Extent]]:
        for key, value in self._items(b"h"):
            newest_ms, entries = np.frombuffer(value, "<i8", 2).tolist()
            refs = tuple(np.frombuffer(value, "<u8", offset=16).tolist())
            yield int.from_bytes(key[1:]), Extent(newest_ms, refs, entries)

    def _items(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries whose keys begin with one byte, in order; raises DamagedBytes if some cannot be read."""
        last, end = prefix, bytes([prefix[0] + 1])
        with reading(self._place):
            for key, value in self._open_db.items(from_key=prefix):
                if key >= end:
                    return
                yield key, value
                last = key
            expect_end(self._open_db, last)

    def texts(self, rows: I64, refs: U64) -> list[str]:
        """The text of each live version.

        Raises:
            DamagedBytes: a text cannot be read; the next start begins with an empty copy.
        """
        found = self._contents(b"t", 0, refs)
        try:
            texts = iter(texts_at([place for place in found if isinstance(place, bytes)], self._read))
        except DamagedBytes as error:
            raise self._damage(error) from error
        return [value if isinstance(value, str) else next(texts) for value in found]

    def signatures(self, rows: I64, refs: U64) -> U32:
        """uint32[n, slots]: the signature of each live version; raises as `texts`."""
        joined = b"".join(self._contents(b"s", 1, refs))
        return np.frombuffer(joined, "<u4").reshape(refs.size, self._slots)

    def abouts(self, rows: I64, refs: U64) -> Abouts:
        """Title, source and length of each live version; raises as `texts`."""
        if not self._stories:
            return ()
        return [
            value if isinstance(value, About) else decode_metadata(value)
            for value in self._contents(b"a", 2, refs, NO_METADATA)
        ]

    def _contents(self, prefix: bytes, number: int, refs: U64, default: bytes | None = None) -> list[Any]:
        waiting = [self._under_way.get(ref) or self._recent.get(ref) for ref in refs.tolist()]
        missing = [position for position, contents in enumerate(waiting) if contents is None]
        values = [None if contents is None else contents[number] for contents in waiting]
        if missing:
            stored = self._read([prefix + ref.to_bytes(8) for ref in refs[missing].tolist()])
            stored = [default if value is None else value for value in stored]
            if None in stored:
                raise self._damage(f"version {refs[missing[stored.index(None)]]:#x} has no contents")
            for position, value in zip(missing, stored, strict=True):
                values[position] = value
        return values

    def _read(self, keys: Sequence[bytes]) -> list[Any]:
        """The value of each key, None for a missing one."""
        try:
            return list(self._open_db[keys])
        except Exception as error:
            raise self._damage(error) from error

    def _damage(self, what: object) -> DamagedBytes:
        """The error for damage that a running worker finds: it halts, and the next start begins with an empty copy."""
        with writing(self._place):
            self._open_db.delete(_IDENTITY, self._unlogged)
            self._open_db.flush()
        return DamagedBytes(f"{self._place}: {what}: start the worker again, and it reads its state from the changelog")

    # -- writing

    def save(self, table: DocumentTable) -> None:
        """Write the versions to one file for a fast next start; called when the worker ends, with nothing under way.

        Raises:
            DoubtError: the disk is full, or does not work.
        """
        if self._changes == 0:
            return  # the file has these versions
        with writing(self._place):
            self._open_db.flush()  # the file must not be found with an older state
            write_versions(self._place / _FILE, table.versions(), self._width)
            batch = self._without_file(WriteBatch(raw_mode=True))
            batch.put(_HAS_FILE, b"1")
            self._open_db.write(batch, self._unlogged)
            self._begin_changes(table.entries)

    def put(self, rows: I64, record: DocumentsRecord, replaced: Mapping[int, int]) -> None:
        """Keep the contents of a record in memory, until it is written."""
        self._replaced |= replaced
        abouts = in_full(record.abouts, len(record))
        for position in np.flatnonzero((rows >= 0) & record.live).tolist():
            contents = record.texts[position], record.signatures[position].tobytes(), abouts[position]
            self._under_way[int(record.refs[position])] = contents

    def write(self, record: DocumentsRecord, stored: Bools, offset: int, head: LogHead) -> None:
        """Write a record that is stored in the changelog.

        Args:
            record: the whole record.
            stored: bool[n], which of its versions the table stored.
            offset: of the record.
            head: of the changelog, this record included.

        Raises:
            DoubtError: the disk is full, or does not work.
        """
        batch = WriteBatch(raw_mode=True)
        # Usually the same.  But an earlier owner may have stored a version that this record's writer did not know.
        replaced = [old for ref in record.refs.tolist() if (old := self._replaced.pop(ref, None)) is not None]
        for ref in {*record.retired_refs.tolist(), *replaced}:
            self._forget(batch, ref)
        self._put_versions(batch, record, stored)
        put_texts(batch, record, self._needed(record, stored), offset)
        for ref in record.refs.tolist():
            if (contents := self._under_way.pop(ref, None)) is not None:
                self._recent.add(ref, contents)
        self._commit_record(batch, offset, head)

    def write_copies(self, record: DocumentsRecord, offset: int, head: LogHead) -> None:
        """Write a record with copies of versions that are here: their texts move to its blocks.

        Args:
            record: of the changelog.
            offset: of the record.
            head: as for `write`, which has the same errors.
        """
        batch = WriteBatch(raw_mode=True)
        put_texts(batch, record, self._needed(record, record.live), offset)
        self._commit_record(batch, offset, head)

    def _commit_record(self, batch: WriteBatch, offset: int, head: LogHead) -> None:
        """Write the batch of a record, with its place in the changelog; the blocks of dropped records are deleted."""
        first, extent = head.last_run
        numbers = np.array((extent.newest_ms, extent.entries), "<i8").tobytes()
        batch.put(b"h" + first.to_bytes(8), numbers + np.array(extent.refs, "<u8").tobytes())
        if head.start != self._start:
            for prefix in (b"h", b"b"):
                batch.delete_range(prefix, prefix + (head.start or 0).to_bytes(8))
            self._start = head.start
        batch.put(_OFFSET, offset.to_bytes(8))
        batch.put(_ACKNOWLEDGED, self.acknowledged.to_bytes(8))
        self._commit(batch)
        self.offset = offset

    def _put_versions(self, batch: WriteBatch, record: DocumentsRecord, stored: Bools) -> None:
        """Write the versions that the table stored, and that have not expired since."""
        put, size, width = batch.put, META.itemsize, 4 * self._slots
        meta = np.empty(len(record), META)
        meta["ref"], meta["time"], meta["keep"] = record.refs, record.times, record.keep_until
        meta["digest"], meta["state"] = record.digests, np.where(record.live, LIVE, MARKER)
        metas, signatures = meta.tobytes(), record.signatures.astype("<u4", copy=False).tobytes()
        live = self._needed(record, stored)
        keys, retired = record.refs.astype(">u8").tobytes(), retired_values(record)
        abouts = in_full(record.abouts, len(record))
        entered = np.flatnonzero(stored & ~self._passed(record.keep_until, record.refs)).tolist()
        self._note_changes(batch, [record.ids[at] for at in entered])
        for at in entered:
            value = metas[at * size : (at + 1) * size] + retired.get(at, b"")
            put(_version_key(record.ids[at]), value)
            if live[at]:
                key = keys[8 * at : 8 * at + 8]
                put(b"s" + key, signatures[at * width : (at + 1) * width])
                if abouts[at] != NO_ABOUT:
                    put(b"a" + key, encode_metadata(abouts[at]))

    def _needed(self, record: DocumentsRecord, stored: Bools) -> Bools:
        """The stored live versions of a record that have not expired since: bool[n]."""
        return stored & record.live & ~self._passed(record.times, record.refs)

    def _passed(self, times: I64, refs: U64) -> Bools:
        """Whether the horizon has passed each version: bool[n]."""
        return np.fromiter(map(self.horizon.passed, times.tolist(), refs.tolist()), np.bool_, refs.size)

    def expire(self, rows: I64, refs: U64, ids: Sequence[str], horizon: Horizon) -> None:
        """Delete expired versions; raises as `write`."""
        batch = WriteBatch(raw_mode=True)
        for ref in refs.tolist():
            self._forget(batch, ref)
        self._delete_versions(batch, ids)
        self.horizon = horizon
        batch.put(_HORIZON, json.dumps([horizon.time_ms, horizon.min_offsets]).encode())
        self._commit(batch)

    def acknowledge(self, offset: int, ids: Sequence[str]) -> None:
        """Delete the markers of these ids; raises as `write`."""
        self.acknowledged = offset
        if not ids:
            return  # the record that states the offset writes it, once it is stored
        batch = WriteBatch(raw_mode=True)
        self._delete_versions(batch, ids)
        batch.put(_ACKNOWLEDGED, offset.to_bytes(8))
        self._commit(batch)

    def _delete_versions(self, batch: WriteBatch, ids: Sequence[str]) -> None:
        self._note_changes(batch, ids)
        for id in ids:
            batch.delete(_version_key(id))

    def _forget(self, batch: WriteBatch, ref: int) -> None:
        self._under_way.pop(ref, None)
        self._recent.drop(ref)
        key = ref.to_bytes(8)
        batch.delete(b"t" + key)
        batch.delete(b"s" + key)
        if self._stories:
            batch.delete(b"a" + key)

    def _commit(self, batch: WriteBatch) -> None:
        with writing(self._place):
            self._open_db.write(batch, self._unlogged)

    @property
    def _open_db(self) -> Any:
        if self._db is None:
            raise InvariantError(f"{self._place} is closed")
        return self._db


def _version_key(id: str) -> bytes:
    return b"v" + id.encode("utf-8", "surrogatepass")
