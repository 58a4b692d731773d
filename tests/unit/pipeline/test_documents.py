"""The table of documents against a dict: its refs, ids and times."""

import random
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from stream_lsh.model import make_ref, ref_offset
from stream_lsh.pipeline.documents import content_store, table
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.sketch.scheme import EMPTY_SLOT
from tests.unit.pipeline.makers import AWKWARD_IDS, WIDTH, Row, plain, record_of

SLOTS = 4


@dataclass
class Oracle:
    """id -> newest version and whether it is live still."""

    rows: dict[str, tuple[Row, bool]] = field(default_factory=dict)
    horizon: Horizon = field(default_factory=Horizon)

    def apply(self, rows: list[Row]) -> None:
        for row in rows:
            if row.id not in self.rows or self.rows[row.id][0].ref <= row.ref:
                self.rows[row.id] = row, row.text is not None

    def expire(self, horizon: Horizon) -> int:
        before = len(self.live())
        self.horizon = self.horizon.max(horizon)
        for id, (row, live) in list(self.rows.items()):
            below = self.horizon.passed(1 << 62, row.ref)
            if below or row.keep_ms < self.horizon.time_ms:
                del self.rows[id]
            elif live and row.time_ms < self.horizon.time_ms:
                self.rows[id] = row, False
        return before - len(self.live())

    def live(self) -> list[Row]:
        return [row for row, live in self.rows.values() if live]

    def min_offset(self, limit: int) -> int:
        offsets = sorted((ref_offset(row.ref) for row in self.live()), reverse=True)
        return offsets[limit - 1] if len(offsets) > limit else 0

    def newest_ms(self, offset: int) -> int:
        return max((row.time_ms for row in self.live() if ref_offset(row.ref) < offset), default=BEGINNING_MS)


def assert_equal(table: DocumentTable, oracle: Oracle) -> None:
    ordered = sorted(oracle.rows.values(), key=lambda entry: entry[0].ref)
    expected = plain(record_of([row for row, _ in ordered], SLOTS, oracle.horizon))
    expected["live"] = [live for _, live in ordered]
    expected["texts"] = [row.text or "" if live else "" for row, live in ordered]
    expected["signatures"] = [row.signature(SLOTS) if live else [EMPTY_SLOT] * SLOTS for row, live in ordered]
    assert plain(table.snapshot(WIDTH)) == expected
    live = oracle.live()
    assert len(table) == len(live)
    rows = table.rows(np.array([row.ref for row in live], np.uint64))
    assert (rows >= 0).all()
    assert table.ids(rows) == [row.id for row in live]
    assert table.texts(rows) == [row.text for row in live] == [table.content(row)[0] for row in rows.tolist()]
    refs, times = table.refs_times(rows)
    assert list(zip(refs.tolist(), times.tolist(), strict=True)) == [(row.ref, row.time_ms) for row in live]
    signatures = table.signatures(rows)
    assert signatures.values.tolist() == [row.signature(SLOTS) for row in live]
    assert signatures.digests.tolist() == table.digests(rows).tolist() == [row.digest for row in live]
    for row, is_live in oracle.rows.values():
        version = table.version(row.id)
        assert version is not None
        assert version[1:] == (row.ref, row.time_ms, row.keep_ms, is_live)
        retired = table.retired_by(version.row)
        assert (() if retired is None else tuple(retired.refs.tolist())) == row.retired
        if not is_live:
            assert table.rows(np.array([row.ref], np.uint64)).tolist() == [-1]


def chunks_of(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (table, content_store):
        monkeypatch.setattr(module, "CHUNK_BITS", bits)
        monkeypatch.setattr(module, "CHUNK", 1 << bits)


@pytest.mark.parametrize("case", range(60))
def test_the_table_is_a_dict_of_newest_versions(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(case)
    bits = rng.choice((0, 1, 3, 14))
    chunks_of(bits, monkeypatch)
    partition = rng.choice((0, 3, 40_000, 65_535))
    by_floor, ids = rng.random() < 0.5, [*AWKWARD_IDS, *map(str, range(rng.choice((2, 10, 40))))]
    table, oracle, written, used = DocumentTable(SLOTS), Oracle(), [], set[int]()
    for offset in range(5, 5 + 40 * 6, 6):
        rows, now = list[Row](), offset * 10
        for id in rng.sample(ids, rng.randint(0, 6)):
            known = oracle.rows[id][0].keep_ms if id in oracle.rows else BEGINNING_MS
            ref = make_ref(partition, rng.choice((offset + len(rows), rng.randrange(offset))))
            if ref in used:
                continue
            used.add(ref)
            time_ms = now - rng.choice((0, 0, 50, 400))
            text = rng.choice((None, "", f"text {offset}"))
            retired = tuple(ref - n for n in range(1, rng.randint(1, 3)) if ref_offset(ref) >= 3)
            rows.append(Row(id, ref, time_ms, max(known, time_ms), text, retired))
        written.append((rows, table.horizon))
        table.apply(record_of(rows, SLOTS))
        oracle.apply(rows)
        if written and rng.random() < 0.3:
            again = rng.choice(written)[0]
            table.apply(record_of(again, SLOTS))
            oracle.apply(again)
        limit = rng.randint(1, 12)
        assert table.min_offset(limit) == oracle.min_offset(limit)
        if rng.random() < 0.4:
            min_offsets = (0,) * partition + (table.min_offset(limit),) if by_floor and partition < 10 else ()
            horizon = Horizon(now - rng.choice((100, 300, 2_000)), min_offsets)
            assert table.expire(horizon) == oracle.expire(horizon)
        assert table.newest_ms(offset) == oracle.newest_ms(offset)
        assert_equal(table, oracle)


@pytest.mark.parametrize("case", range(20))
def test_recovery_from_the_records_in_order_gives_an_equal_snapshot(case: int) -> None:
    rng = random.Random(case)
    table, recovered, from_snapshot = DocumentTable(SLOTS), DocumentTable(SLOTS), DocumentTable(SLOTS)
    log = []
    for offset in range(60):
        if rng.random() < 0.3:
            table.expire(Horizon(offset * 10 - 150, (max(0, offset - 40),)))
        version = table.version(id := str(rng.randrange(12)))
        time_ms = offset * 10 - rng.choice((0, 100))
        keep = max(time_ms, BEGINNING_MS if version is None else version.keep_until_ms)
        row = Row(id, make_ref(0, offset), time_ms, keep, rng.choice((None, "x", "y")))
        log.append(record_of([row], SLOTS, table.horizon))
        table.apply(log[-1])
    for record in log:
        recovered.apply(record)
        recovered.expire(record.horizon)
    table.expire(log[-1].horizon)
    snapshot = table.snapshot(WIDTH)
    assert plain(recovered.snapshot(WIDTH)) == plain(snapshot)
    from_snapshot.apply(snapshot)
    from_snapshot.expire(snapshot.horizon)
    assert plain(from_snapshot.snapshot(WIDTH)) == plain(snapshot)


def test_columns_are_right_across_the_borders_of_chunks_and_freed_rows_are_used_again() -> None:
    count = 2 * 16_384 + 10
    rows = [Row(str(n), n, n, n, f"t{n}") for n in range(count)]
    table = DocumentTable(SLOTS)
    for start in range(0, count, 5_000):
        table.apply(record_of(rows[start : start + 5_000], SLOTS))
    chosen = [0, 16_383, 16_384, 16_385, 32_767, 32_768, count - 1]
    refs = np.array([*chosen, count], np.uint64)
    found = table.rows(refs)
    assert found.tolist() == [*chosen, -1]
    assert table.signatures(found[:-1]).values.tolist() == [rows[n].signature(SLOTS) for n in chosen]
    assert table.texts(found[:-1]) == [f"t{n}" for n in chosen]
    assert table.min_offset(10) == count - 10
    assert table.expire(Horizon(20_000)) == 20_000
    newer = [Row(f"n{n}", count + n, count + n, count + n, "new") for n in range(20_000)]
    table.apply(record_of(newer, SLOTS))
    assert len(table) == count
    assert table.rows(np.array([row.ref for row in newer], np.uint64)).max() < count, "no new rows are needed"
    assert table.min_offset(100) == count + 20_000 - 100


def test_a_look_up_copies() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row("a", 1, 2, 3, "x")], SLOTS))
    rows = np.array([0], np.int64)
    table.signatures(rows).values[:] = 0
    table.digests(rows)[:] = 0
    table.refs_times(rows)[0][:] = 9
    assert plain(table.snapshot(WIDTH)) == plain(record_of([Row("a", 1, 2, 3, "x")], SLOTS))


def test_nothing_is_kept_of_an_empty_table_or_an_empty_record() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([], SLOTS))
    none = np.empty(0, np.int64)
    assert len(table) == table.expire(Horizon(5)) == table.min_offset(1) == 0
    assert table.version("a") is None
    assert table.rows(np.array([7], np.uint64)).tolist() == [-1]
    assert table.signatures(none).values.shape == (0, SLOTS)
    assert table.newest_ms(1 << 48) == BEGINNING_MS
    assert len(table.snapshot(WIDTH)) == 0


def test_an_expired_version_stays_as_a_marker_while_one_that_it_replaced_has_not_expired() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row("a", 9, 10, 100, "late", (4,))], SLOTS))
    assert table.expire(Horizon(50)) == 1
    version = table.version("a")
    assert version is not None
    assert version[1:] == (9, 10, 100, False)
    assert table.retired_by(version.row) is not None
    assert table.expire(Horizon(100)) == 0
    assert table.version("a") is not None
    assert table.expire(Horizon(101)) == 0
    assert table.version("a") is None


def test_only_chunks_in_which_something_is_due_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks_of(2, monkeypatch)
    read, expire_chunk = list[int](), DocumentTable._expire_chunk

    def noting(table: DocumentTable, chunk: int, ids: list[str]) -> Any:
        read.append(chunk)
        return expire_chunk(table, chunk, ids)

    monkeypatch.setattr(DocumentTable, "_expire_chunk", noting)
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row(str(n), n, n, 30 if n == 1 else n, "x") for n in range(12)], SLOTS))
    for horizon, chunks in [
        (Horizon(0), []),
        (Horizon(1), [0]),
        (Horizon(1), []),
        (Horizon(3), [0]),
        (Horizon(3), []),
        (Horizon(5), [0, 1]),
        (Horizon(5), []),
        (Horizon(5, (2,)), [0]),
        (Horizon(5, (9,)), [1, 2]),
        (Horizon(5, (9,)), []),
        (Horizon(40), [2]),
        (Horizon(50), []),
    ]:
        read.clear()
        table.expire(horizon)
        assert read == chunks


def test_extreme_times_expire_in_order() -> None:
    table = DocumentTable(SLOTS)
    times = [-(1 << 62), -1, 0, (1 << 63) - 1]
    table.apply(record_of([Row(str(n), n, t, t, "x") for n, t in enumerate(times)], SLOTS))
    assert table.expire(Horizon(-1)) == 1
    assert table.expire(Horizon((1 << 63) - 1)) == 2
    assert len(table) == 1


def test_the_memory_of_floor_does_not_grow_with_updates() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row(str(n), n, 0, 0, "x") for n in range(100)], SLOTS))
    for round_ in range(1, 400):
        rows = [Row(str(n), round_ * 100 + n, 0, 0, "x") for n in range(100)]
        table.apply(record_of(rows, SLOTS))
        assert table.min_offset(30) == round_ * 100 + 70
        assert table._oldest._heap is None or len(table._oldest._heap) <= 200 + 16_384 + 100


def test_a_record_is_not_changed_and_not_shared() -> None:
    record = record_of([Row("a", 5, 1, 1, "x", (3,))], SLOTS)
    before = plain(record)
    table = DocumentTable(SLOTS)
    table.apply(record)
    record.retired_buckets[:] = 0
    record.signatures[:] = 0
    assert plain(table.snapshot(WIDTH)) == before
    table.apply(replace(record, refs=record.refs - np.uint64(1)))
    assert plain(table.snapshot(WIDTH)) == before, "a lower ref is ignored"
