"""The documents on disk: the same table after every restart, and nothing that is not theirs."""

import random
import resource
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_lsh.errors import DamagedBytes, DoubtError
from stream_lsh.kinds.record.frequencies import RecordCounts
from stream_lsh.model import NO_ABOUT, About, in_full, make_ref
from stream_lsh.pipeline.agents.effects import Append
from stream_lsh.pipeline.changelog.head import LogHead, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.changelog.rewrite import DocumentsRewriter
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.records.model import as_text
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.wire import text_blocks
from stream_lsh.wire.frames import decode_documents
from stream_lsh.wire.outgoing import parts_of
from stream_lsh.worker.storage import documents, folder
from stream_lsh.worker.storage.documents import DocumentStore
from stream_lsh.worker.storage.folder import Identity
from tests.simulation.pipelines.entities import PROFILE, miscounted
from tests.unit.pipeline.makers import AWKWARD_IDS, WIDTH, Row, plain, record_of

SLOTS = 4
LONG = "".join(map(chr, random.Random(1).choices(range(32, 127), k=3_000)))
"""A text that stays long when it is compressed."""
IDS = [*AWKWARD_IDS, *(str(n % 9) for n in range(60))]
IDENTITY = Identity("app", "news", "documents", 0, 4, f"{1:016x}", "an id")


def store_of(place: Path, identity: Identity = IDENTITY) -> DocumentStore:
    return DocumentStore(place, identity, SLOTS, WIDTH)


@dataclass
class Log:
    """A changelog of documents: its records."""

    records: list[DocumentsRecord] = field(default_factory=list)

    def recover(self, table: DocumentTable, store: DocumentStore | None, first: int = 0) -> None:
        """Recover a table, and its store, from the records."""
        head = LogHead() if store is None else store.head
        for offset, record in enumerate(self.records[first:], first):
            stored = table.apply(record)
            table.expire(record.horizon)
            head.note(offset, extent_of_documents(record))
            if store is not None:
                store.write(record, stored, offset, head)


@pytest.mark.parametrize("case", range(30))
def test_after_every_restart_the_table_is_that_of_the_changelog(case: int, tmp_path: Path) -> None:
    rng = random.Random(case)
    log, store = Log(), store_of(tmp_path / "d")
    table, confirmed = store.table(), 0
    ids = [*AWKWARD_IDS, *map(str, range(rng.choice((3, 30))))]
    under_way: list[tuple[DocumentsRecord, Any]] = []
    for offset in range(5, 5 + 80 * 6, 6):
        rows, now = list[Row](), offset * 10
        for place, id in enumerate(rng.sample(ids, rng.randint(0, 6))):
            known = table.version(id)
            time_ms = now - rng.choice((0, 50, 400))
            keep = max(time_ms, BEGINNING_MS if known is None else known.keep_until_ms)
            retired = (known.ref,) if known is not None and known.live else ()
            text = rng.choice((None, "", f"text \ud800 {offset}"))
            rows.append(Row(id, make_ref(0, offset + place), time_ms, keep, text, retired))
        stored_up_to = int(under_way[0][0].refs.min(initial=offset)) & 0xFFFF if under_way else offset
        acknowledged = rng.randint(table.acknowledged, max(table.acknowledged, stored_up_to))
        record = record_of(rows, SLOTS, table.horizon, acknowledged)
        under_way.append((record, table.apply(record)))
        while under_way and rng.random() < 0.6:
            record, stored = under_way.pop(0)
            log.records.append(record)
            store.head.note(confirmed, extent_of_documents(record))
            store.write(record, stored, confirmed, store.head)
            confirmed += 1
        if rng.random() < 0.3:
            table.expire(Horizon(now - rng.choice((100, 300, 2_000)), (rng.randrange(offset),)))
        if rng.random() < 0.1:  # what was not confirmed is lost, here and in the changelog
            horizon, runs = table.horizon, store.head.runs
            if not under_way:
                store.save(table)
            store.close()
            store, under_way = store_of(tmp_path / "d"), []
            assert (store.offset, store.head.runs) == (confirmed - 1 if confirmed else None, runs)
            table = store.table()
            fresh = DocumentTable(SLOTS)
            log.recover(fresh, None)
            fresh.expire(horizon)
            assert table.acknowledged >= fresh.acknowledged
            statement = record_of([], SLOTS, horizon, max(table.acknowledged, fresh.acknowledged))
            for one in (table, fresh):  # what is lost of the log may have been stated on disk
                one.apply(statement)
            assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    store.close()


@pytest.mark.parametrize("case", range(10))
def test_records_whose_event_time_falls_are_counted_as_before_after_every_crash(case: int, tmp_path: Path) -> None:
    rng, log = random.Random(case), Log()
    store = store_of(tmp_path / "d")
    table = store.table(counts=RecordCounts(PROFILE))
    for offset in range(60):
        id = rng.choice("abcdef")
        known = table.version(id)
        time_ms = 10 * offset - rng.choice((0, 200))
        keep_ms = max(time_ms, BEGINNING_MS if known is None else known.keep_until_ms)
        retired = (known.ref,) if known is not None and known.live else ()
        text = as_text((rng.choice("xyz"),), id)
        record = record_of([Row(id, make_ref(0, offset), time_ms, keep_ms, text, retired)], SLOTS, table.horizon)
        stored = table.apply(record)
        if rng.random() < 0.2:  # some before their record is confirmed
            table.expire(Horizon(10 * offset - 150))
        log.records.append(record)
        store.head.note(offset, extent_of_documents(record))
        store.write(record, stored, offset, store.head)
        if rng.random() < 0.2:
            horizon = table.horizon
            store.close()
            store = store_of(tmp_path / "d")
            table = store.table(counts=RecordCounts(PROFILE))
            fresh = DocumentTable(SLOTS, counts=RecordCounts(PROFILE))
            log.recover(fresh, None)
            fresh.expire(horizon)
            assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
            assert miscounted(table) == ""
    store.close()


@dataclass
class RewrittenLog:
    """A changelog that its owner rewrites and trims, and the copy on disk beside it."""

    store: DocumentStore
    records: dict[int, DocumentsRecord] = field(default_factory=dict)
    rewriter: DocumentsRewriter = field(default_factory=lambda: DocumentsRewriter(least=8, slice_versions=3))
    end: int = 0

    def append(self, record: DocumentsRecord, *, is_copy: bool = False) -> None:
        """Store a record in the log, and then on disk."""
        parts = parts_of(Append("documents", 0, record, self.rewriter if is_copy else None), 1)
        for part in parts:
            assert part.record is not None
            self.records[self.end] = decode_documents(part.value, 1)
            self.store.head.note(self.end, part.extent)
            if is_copy:
                self.rewriter.sent(1)
                self.store.write_copies(part.record, self.end, self.store.head)
                self.rewriter.delivered(self.end)
            else:
                self.store.write(part.record, np.ones(len(part.record), np.bool_), self.end, self.store.head)
            self.end += 1

    def rewrite(self, table: DocumentTable, written: int) -> None:
        """Append the slices that are due, and trim the log."""
        head = self.store.head
        for copied in self.rewriter.slices(table, head, written, WIDTH):
            self.append(copied, is_copy=True)
        if (until := self.rewriter.completed_pass()) is not None:
            head.rewritten(until)
        first = head.needed(table.horizon) or 0
        self.records = {offset: record for offset, record in self.records.items() if offset >= first}

    def recover(self, table: DocumentTable, store: DocumentStore | None = None, behind: int = -1) -> None:
        """Recover a table, and its store, from the records behind an offset."""
        for offset, record in self.records.items():
            if offset <= behind:
                continue
            stored = table.apply(record)
            table.expire(record.horizon)
            if store is not None:
                store.head.note(offset, extent_of_documents(record))
                store.write(record, stored, offset, store.head)


@pytest.mark.parametrize("case", range(40))
def test_texts_move_with_their_copies_in_a_rewritten_changelog(
    case: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 30)
    monkeypatch.setattr("stream_lsh.worker.storage.recent._MOST_BYTES", 0)
    monkeypatch.setattr("stream_lsh.pipeline.changelog.head._TOGETHER", 2)
    rng, place = random.Random(case), tmp_path / "d"
    log = RewrittenLog(store_of(place))
    table, kept, passes = log.store.table(), None, 0
    for step in range(120):
        rows = list[Row]()
        for n, id in enumerate(rng.sample([*AWKWARD_IDS, "a", "b"], rng.randint(1, 4))):
            known, now = table.version(id), 10 * step
            keep_ms = max(now, BEGINNING_MS if known is None else known.keep_until_ms)
            retired = (known.ref,) if known is not None and known.live else ()
            text = rng.choice((None, "", f"text \ud800 {step}", LONG))
            rows.append(Row(id, make_ref(0, 5 * step + n), now, keep_ms, text, retired))
        record = record_of(rows, SLOTS, table.horizon)
        table.apply(record)
        log.append(record)
        log.rewrite(table, extent_of_documents(record).entries)
        if rng.random() < 0.05:
            table.expire(Horizon(10 * step - rng.choice((50, 300))))
        if rng.random() < 0.15:  # the worker ends; the next one may have an older copy, and reads the rest of the log
            log.store.close()
            read = log.end - 1
            if kept is not None and kept[0] >= min(log.records) - 1 and rng.random() < 0.5:
                shutil.rmtree(place)
                shutil.copytree(kept[1], place)
                read = kept[0]
            else:
                kept = read, shutil.copytree(place, tmp_path / f"at {step}")
            log.store = store_of(place)
            table = log.store.table()
            log.store.head.rewritten(min(log.records))
            log.recover(table, log.store, read)
            log.rewriter = DocumentsRewriter(least=8, slice_versions=3)
        fresh = DocumentTable(SLOTS)
        log.recover(fresh)
        fresh.expire(table.horizon)
        assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
        offsets = [int.from_bytes(key[1:9]) for key, _ in log.store._items(b"b")]
        assert set(offsets) <= set(range(log.store._start or 0, log.end))
        passes += 0 not in log.records
    assert passes
    log.store.close()


def test_a_copy_behind_its_changelog_continues_from_its_offset(tmp_path: Path) -> None:
    rows = [[Row(str(n % 7), make_ref(0, n), n, n, f"text {n}", (n - 7,) if n >= 7 else ())] for n in range(40)]
    log = Log([record_of(of_record, SLOTS) for of_record in rows])
    store = store_of(tmp_path / "d")
    Log(log.records[:20]).recover(store.table(), store)
    store.close()
    store = store_of(tmp_path / "d")
    assert store.offset == 19
    table, fresh = store.table(), DocumentTable(SLOTS)
    log.recover(table, store, first=19)  # the engine reads the last record again
    log.recover(fresh, None)
    assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    assert contents(store) == 7
    store.close()


def only_changes(store: DocumentStore, prefix: bytes) -> Any:
    """Items of a store that does not read its versions one by one."""
    assert prefix != b"v"
    return all_items(store, prefix)


all_items = DocumentStore._items


def test_a_file_with_too_many_changes_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_FEW_CHANGES", 5)
    log = Log([record_of([Row(str(n), make_ref(0, n), n, n, f"text {n}")], SLOTS) for n in range(20)])
    store = store_of(tmp_path / "d")
    table = store.table()
    Log(log.records[:4]).recover(table, store)
    store.save(table)
    Log(log.records[:9]).recover(table, store, first=4)
    assert len([*store._items(b"c")]) == 5
    log.recover(table, store, first=9)
    assert [*store._items(b"c")] == []
    store.close()
    store = store_of(tmp_path / "d")
    assert plain(store.table().snapshot(WIDTH)) == plain(table.snapshot(WIDTH))
    store.close()


@pytest.mark.parametrize("case", range(10))
def test_a_table_that_is_read_shard_by_shard_is_as_one_that_was_read_at_once(case: int, tmp_path: Path) -> None:
    rng, log = random.Random(case), Log()
    ids = [*AWKWARD_IDS, *map(str, range(300))]
    store = store_of(tmp_path / "d")
    table, fresh = store.table(), DocumentTable(SLOTS)
    for offset in range(0, 4_000, 40):
        rows = [Row(id, make_ref(0, offset + n), offset, offset, id) for n, id in enumerate(rng.sample(ids, 20))]
        rows = [row._replace(text=None) if rng.random() < 0.2 else row for row in rows]
        log.records.append(record_of(rows, SLOTS, Horizon(rng.randrange(offset + 1) // 2)))
        first = len(log.records) - 1
        log.recover(table, store, first)
        log.recover(fresh, None, first)
        asked = np.array([make_ref(0, rng.randrange(offset + 40)) for _ in range(5)], np.uint64)
        found, expected = table.rows(asked), fresh.rows(asked)
        assert table.ids(found[found >= 0]) == fresh.ids(expected[expected >= 0])
        assert len(table) == len(fresh)
        if rng.random() < 0.3:
            if rng.random() < 0.7:
                store.save(table)
            store.close()
            store = store_of(tmp_path / "d")
            table = store.table()
    assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    store.close()


def test_versions_in_a_file_are_used_with_those_that_have_changed_since(tmp_path: Path) -> None:
    before = {n: tuple(at for at in range(n) if IDS[at] == id)[-1:] for n, id in enumerate(IDS)}
    rows = [[Row(id, make_ref(0, n), n, n, f"text {n}", before[n])] for n, id in enumerate(IDS)]
    log = Log([record_of(of_record, SLOTS) for of_record in rows])
    store = store_of(tmp_path / "d")
    table = store.table()
    Log(log.records[:20]).recover(table, store)
    as_saved = plain(table.snapshot(WIDTH))
    store.save(table)
    store.close()
    store = store_of(tmp_path / "d")
    table = store.table()
    assert plain(table.snapshot(WIDTH)) == as_saved
    crashed = tmp_path / "crashed"
    shutil.copytree(tmp_path / "d", crashed)  # a machine that goes down now has the file, and its state
    log.recover(table, store, first=20)
    store.close()  # as after a crash: the versions are not saved
    fresh = DocumentTable(SLOTS)
    log.recover(fresh, None)
    store = store_of(tmp_path / "d")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DocumentStore, "_items", only_changes)
        table = store.table()
    assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    store.close()
    store = store_of(crashed)
    table = store.table()
    log.recover(table, store, first=20)
    assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    store.close()


@pytest.mark.parametrize("harm", ["flipped", "cut", "gone"])
def test_versions_in_a_damaged_file_are_read_one_by_one(
    harm: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = store_of(tmp_path / "d")
    table = store.table()
    Log([record_of([Row(id, make_ref(0, n), n, n, id) for n, id in enumerate(sorted(set(IDS)))], SLOTS)]).recover(
        table, store
    )
    as_saved = plain(table.snapshot(WIDTH))
    store.save(table)
    store.close()
    (file,) = tmp_path.glob("d/*.arrays")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.unlink()
    if harm != "gone":
        file.write_bytes(data if harm == "flipped" else data[: len(data) // 2])
    store = store_of(tmp_path / "d")
    assert plain(store.table().snapshot(WIDTH)) == as_saved
    assert "the versions are read one by one" in caplog.text
    store.close()


def contents(store: DocumentStore) -> int:
    """How many texts are on disk."""
    return sum(1 for _ in store._items(b"t"))


def filled(place: Path) -> None:
    store = store_of(place)
    Log([record_of([Row(str(n), make_ref(0, n), n, n, LONG) for n in range(50)], SLOTS)]).recover(store.table(), store)
    store.close()


@pytest.mark.slow
def test_ten_thousand_versions_of_a_document_leave_the_contents_of_one(tmp_path: Path) -> None:
    store = store_of(tmp_path / "d")
    table = store.table()
    Log([record_of([Row("a", n, n, n, f"text {n}", (n - 1,) if n else ())], SLOTS) for n in range(10_000)]).recover(
        table, store
    )
    assert (contents(store), len(table)) == (1, 1)
    store.close()


@pytest.mark.parametrize("successor", [Row("a", 7, 7, 7, "text 7", (3,)), Row("a", 5, 5, 7, None, (3,))])
def test_contents_that_an_earlier_owner_stored_late_are_deleted_with_their_version(
    successor: Row, tmp_path: Path
) -> None:
    # The successor rejects or expires version 5, by another clock or horizon, so it does not retire that version.
    rows = [Row("a", 3, 3, 3, "text 3"), Row("a", 5, 5, 5, "text 5", (3,)), successor]
    store = store_of(tmp_path / "d")
    table = store.table()
    Log([record_of([row], SLOTS) for row in rows]).recover(table, store)
    live = 0 if successor.text is None else 1
    assert [sum(1 for _ in store._items(prefix)) for prefix in (b"t", b"s")] == [live, live] == [len(table)] * 2
    assert not store._replaced
    store.close()


@pytest.mark.parametrize(
    "identity",
    [
        replace(IDENTITY, fingerprint=f"{2:016x}"),
        replace(IDENTITY, changelog="another id"),
        replace(IDENTITY, partition=1),
        replace(IDENTITY, application="other"),
    ],
)
def test_the_state_of_something_else_is_removed(
    identity: Identity, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path / "d")
    store = store_of(tmp_path / "d", identity)
    assert (store.offset, len(store.table())) == (None, 0)
    assert "belongs to another state" in caplog.text
    store.close()


@pytest.mark.parametrize("suffix", [".sst", ".blob", "CURRENT", "MANIFEST"])
@pytest.mark.parametrize("harm", ["flipped", "cut", "gone"])
def test_damage_is_found_and_nothing_of_it_is_read(suffix: str, harm: str, tmp_path: Path) -> None:
    filled(tmp_path / "d")
    (file,) = [
        path for path in (tmp_path / "d").iterdir() if path.name.endswith(suffix) or path.name.startswith(suffix)
    ]
    data = bytearray(file.read_bytes())
    if harm == "gone":
        file.unlink()
    else:
        for at in range(0, len(data), 50):
            data[at] ^= 0x55
        file.write_bytes(data if harm == "flipped" else data[: len(data) // 2])
    store = store_of(tmp_path / "d")
    table = store.table()
    assert len(table) == 0 or harm == "flipped" or suffix == ".blob"
    rows = table.rows(np.arange(50, dtype=np.uint64))
    if len(table):  # what is not looked at before it is needed
        with pytest.raises(DamagedBytes, match="start the worker again"):
            table.texts(rows[rows >= 0])
        store.close()
        store = store_of(tmp_path / "d")
        assert len(store.table()) == 0
    store.close()


@pytest.mark.parametrize("has_file", [True, False])
def test_a_damaged_block_of_versions_is_found_at_the_start(
    has_file: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [Row(f"{n}", make_ref(0, n), n, n, "text") for n in range(2_000)]
    changes = [Row(f"{n}", make_ref(0, 5_000 + n), n, n, "text", (n,)) for n in range(500)]
    log = Log([record_of(rows, SLOTS), record_of(changes, SLOTS)])
    store = store_of(tmp_path / "d")
    table = store.table()
    Log(log.records[:1]).recover(table, store)
    if has_file:
        store.save(table)
    log.recover(table, store, first=1)
    store.close()
    newest = max(tmp_path.glob("d/*.sst"))
    data = bytearray(newest.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    newest.write_bytes(data)
    store = store_of(tmp_path / "d")
    assert len(store.table()) == 0
    assert "block checksum mismatch" in caplog.text
    store.close()


def test_a_copy_in_an_earlier_format_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setitem(folder._FORMATS, "documents", 1)
        filled(tmp_path / "d")
    store = store_of(tmp_path / "d")
    assert (store.offset, len(store.table())) == (None, 0)
    assert "(format: ours 2, its 1); it is removed, and the state read from the changelog" in caplog.text
    store.close()


def test_a_missing_block_ends_the_worker_and_the_next_one_starts_from_the_changelog(tmp_path: Path) -> None:
    filled(tmp_path / "d")
    store = store_of(tmp_path / "d")
    table = store.table()
    store._open_db.delete(b"b" + (0).to_bytes(8) + (1).to_bytes(4))
    rows = table.rows(np.arange(50, dtype=np.uint64))
    assert table.texts(rows[:3]) == [LONG] * 3
    with pytest.raises(DamagedBytes, match="block 1 of the record at offset 0 is missing: start the worker again"):
        table.texts(rows)
    store.close()
    store = store_of(tmp_path / "d")
    assert store.offset is None
    store.close()


def test_missing_contents_end_the_worker_and_the_next_one_starts_from_the_changelog(tmp_path: Path) -> None:
    filled(tmp_path / "d")
    store = store_of(tmp_path / "d")
    table = store.table()
    store._open_db.delete(b"t" + (7).to_bytes(8))
    rows = table.rows(np.array([6, 7], np.uint64))
    assert table.texts(rows[:1]) == [LONG]
    with pytest.raises(DamagedBytes, match="version 0x7 has no contents: start the worker again"):
        table.texts(rows)
    store.close()
    store = store_of(tmp_path / "d")
    assert store.offset is None
    store.close()


def test_a_folder_that_cannot_be_made_is_the_surroundings_fault(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a file")
    with pytest.raises(DoubtError, match=r"cannot be written .*: free some space"):
        store_of(tmp_path / "d" / "e")


@pytest.mark.parametrize("case", range(5))
def test_the_story_metadata_of_a_version_are_stored_and_dropped_with_its_text(case: int, tmp_path: Path) -> None:
    rng, log, place = random.Random(case), Log(), tmp_path / "d"
    store = DocumentStore(place, IDENTITY, SLOTS, WIDTH, stories=True)
    table, head = store.table(), LogHead()
    for offset in range(60):
        id = rng.choice(AWKWARD_IDS)
        known = table.version(id)
        retired = (known.ref,) if known is not None and known.live else ()
        text = rng.choice((None, "", f"text {offset}"))
        about = (
            NO_ABOUT
            if text is None or rng.random() < 0.2
            else About(f"\ud800 {offset}", rng.choice(AWKWARD_IDS), offset)
        )
        row = Row(id, make_ref(0, offset), offset, offset, text, retired)
        record = replace(record_of([row], SLOTS, table.horizon), abouts=() if about == NO_ABOUT else [about])
        stored = table.apply(record)
        rows = table.rows(record.refs)
        assert text is None or list(in_full(table.abouts(rows), 1)) == [about], "before it is written"
        log.records.append(record)
        head.note(offset, extent_of_documents(record))
        store.write(record, stored, offset, head)
        assert text is None or list(table.abouts(rows)) == [about]
        if rng.random() < 0.1:
            table.expire(Horizon(offset - 10))
        if rng.random() < 0.1:
            store.close()
            store = DocumentStore(place, IDENTITY, SLOTS, WIDTH, stories=True)
            table = store.table()
    fresh = DocumentTable(SLOTS)
    log.recover(fresh, None)
    fresh.expire(table.horizon)
    assert plain(table.snapshot(WIDTH)) == plain(fresh.snapshot(WIDTH))
    kept = {key[1:] for key in store._open_db.keys() if key[:1] == b"t"}
    assert {key[1:] for key in store._open_db.keys() if key[:1] == b"a"} <= kept
    store.close()


def test_the_contents_written_last_are_in_memory_until_they_are_retired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream_lsh.worker.storage.recent._MOST_BYTES", 4 * 3_400)
    store, head = store_of(tmp_path / "d"), LogHead()

    def write(offset: int, rows: list[Row]) -> None:
        record = record_of(rows, SLOTS)
        store.put(np.arange(len(rows)), record, {})
        head.note(offset, extent_of_documents(record))
        store.write(record, np.ones(len(rows), np.bool_), offset, head)

    def readable(*refs: int) -> list[int]:
        found = list[int]()
        for ref in refs:
            with suppress(DamagedBytes):
                store.texts(np.zeros(1, np.int64), np.array([ref], np.uint64))
                found.append(ref)
        return found

    write(0, [Row(str(ref), ref, ref, ref, "x" * 3_000) for ref in range(1, 8)])
    for ref in range(1, 8):
        store._open_db.delete(b"t" + ref.to_bytes(8))
    assert readable(*range(1, 8)) == [4, 5, 6, 7]  # four fit
    write(1, [Row("5", 10, 10, 10, None, (5,))])
    store.expire(np.zeros(1, np.int64), np.array([7], np.uint64), ["7"], Horizon())
    assert readable(4, 5, 6, 7) == [4, 6]
    store.close()


def test_contents_that_cannot_be_read_for_want_of_files_end_the_worker(tmp_path: Path) -> None:
    filled(tmp_path / "d")
    store = store_of(tmp_path / "d")
    table = store.table()
    rows = table.rows(np.array([7], np.uint64))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(DoubtError, match=r"cannot be written .*Too many open files"):
            table.texts(rows)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with suppress(DoubtError):
        store.close()
