"""A changelog that is mostly dead is rewritten slice by slice, and the log behind a pass gives the whole table."""

import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from stream_lsh.index.table import BandTable
from stream_lsh.model import make_ref
from stream_lsh.pipeline.batches import BandsFrame, Pass, Postings
from stream_lsh.pipeline.changelog import rewrite
from stream_lsh.pipeline.changelog.head import LogHead, extent_of_buckets, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.changelog.rewrite import PACE, TIMES, BucketsRecovery, BucketsRewriter, DocumentsRewriter
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.index import index
from stream_lsh.retention import Horizon
from tests.unit.pipeline.makers import WIDTH, Row, plain, record_of

SLOTS = 4
LEAST = 6


class Log:
    """A table, its changelog, and deliveries that are confirmed late."""

    def __init__(self, slice_versions: int = 3) -> None:
        self.table = DocumentTable(SLOTS)
        self.rewriter = DocumentsRewriter(LEAST, slice_versions)
        self.records: list[DocumentsRecord] = []
        self.head = LogHead(together=2)
        self.under_way: deque[int] = deque()
        self.begins: list[int] = []
        self.copied = 0

    def write(self, rows: list[Row], horizon: Horizon | None = None, committed: int = 0) -> None:
        """A batch of sign: its record is delivered before anything else."""
        record = record_of(rows, SLOTS, horizon, self.rewriter.acknowledged(self.table, committed))
        self.table.apply(record)
        self._append(record)
        written = extent_of_documents(record).entries
        for copied in self.rewriter.slices(self.table, self.head, written, WIDTH):
            self.rewriter.sent(1)
            self.under_way.append(len(self.records))
            self.copied += len(copied)
            self._append(copied)
        self._look()

    def confirm(self) -> None:
        """One slice is confirmed."""
        if self.under_way:
            self.rewriter.delivered(self.under_way.popleft())
            self._look()

    def write_late(self, record: DocumentsRecord) -> None:
        """A record of an earlier owner gets into the log, and the present one does not notice."""
        self.records.append(record)

    def _append(self, record: DocumentsRecord) -> None:
        self.head.note(len(self.records), extent_of_documents(record))
        self.records.append(record)

    def _look(self) -> None:
        began = self.rewriter.completed_pass()
        if began is not None:
            assert not self.under_way, "a pass is over when all of it is delivered"
            self.begins.append(began)
            self.head.rewritten(began)

    def recovered(self) -> DocumentTable:
        """The table that is recovered from the rest of the log."""
        table = DocumentTable(SLOTS)
        for record in self.records[self.head.needed(Horizon()) or 0 :]:
            table.apply(record)
            table.expire(record.horizon)
        return table


@pytest.mark.parametrize("case", range(30))
def test_the_log_behind_the_beginning_of_a_pass_gives_the_whole_table(case: int) -> None:
    rng = random.Random(case)
    log, offset, horizon = Log(rng.choice((1, 3, 50))), 0, Horizon()
    ids = [f"d{number}" for number in range(rng.choice((1, 4, 20)))]
    for _ in range(150):
        rows = []
        for id in rng.sample(ids, rng.randint(1, min(3, len(ids)))):
            offset += 1
            known = log.table.version(id)
            time_ms = offset + rng.randint(-5, 5)
            keep_ms = max(time_ms, 0 if known is None else known.keep_until_ms)
            retired = (known.ref,) if known is not None and known.live else ()
            rows.append(Row(id, make_ref(0, offset), time_ms, keep_ms, rng.choice(("text", "other", None)), retired))
        log.write(rows, horizon)
        if rng.random() < 0.1:
            horizon = horizon.max(Horizon(offset - 30))
            log.table.expire(horizon)
        for _ in range(rng.choice((0, 1, 9))):
            log.confirm()
        recovered = log.recovered()
        recovered.expire(horizon)
        assert plain(recovered.snapshot(WIDTH)) == plain(log.table.snapshot(WIDTH))
    assert len(log.begins) > 2
    assert log.begins == sorted(log.begins)


def test_ten_thousand_versions_of_one_document_leave_a_log_of_a_few() -> None:
    log, longest = Log(), 0
    for offset in range(10_000):
        log.write([Row("a", make_ref(0, offset), offset, offset, "text", (offset - 1,) if offset else ())])
        log.confirm()
        longest = max(longest, log.head.entries)
    assert longest <= LEAST + TIMES + 2
    assert log.copied <= 10_000 / PACE
    assert plain(log.recovered().snapshot(WIDTH)) == plain(log.table.snapshot(WIDTH))


def test_at_most_half_of_what_is_written_is_copied_however_many_records_make_a_run() -> None:
    log = Log(slice_versions=50)
    log.head, written = LogHead(), 0
    for first in range(0, 20_000, 10):
        log.write([Row(f"d{at % 40}", make_ref(0, at), at, at, "text") for at in range(first, first + 10)])
        log.confirm()
        written += 10
    assert log.copied <= written / PACE
    assert log.head.entries <= (TIMES + 1) * 40 + LEAST


def test_documents_that_never_change_are_never_copied() -> None:
    log = Log()
    for offset in range(500):
        log.write([Row(f"d{offset}", make_ref(0, offset), offset, offset, "text")])
    assert log.copied == 0


def test_a_pass_goes_on_in_proportion_to_what_is_written() -> None:
    log = Log(slice_versions=3)
    log.write([Row(f"d{number}", make_ref(0, number), number, number, "text") for number in range(60)])
    for offset in range(60, 400):
        before = log.copied
        log.write([Row("d0", make_ref(0, offset), offset, offset, "text")])
        log.confirm()
        assert log.copied - before <= 3, "one slice at most behind one version"
    assert log.begins, "and it comes to its end"
    assert log.head.entries <= (TIMES + 1) * 60 + LEAST


def test_a_table_drops_markers_and_retired_refs_once_no_replay_needs_them() -> None:
    table = DocumentTable(SLOTS)
    rows = [Row("a", make_ref(1, 5), 1, 1, None, (2,)), Row("b", make_ref(1, 6), 1, 1, "y", (3,))]
    table.apply(record_of(rows, SLOTS))
    for acknowledged, ids, retired in ((5, "ab", [2, 3]), (6, "b", [3]), (7, "b", [])):
        table.apply(record_of([], SLOTS, acknowledged=acknowledged))
        snapshot = table.snapshot(WIDTH)
        assert ("".join(snapshot.ids), snapshot.retired_refs.tolist()) == (ids, retired)
        assert snapshot.acknowledged == table.acknowledged == acknowledged
    assert table.entries == 1
    table.apply(record_of([Row("c", make_ref(1, 9), 1, 1, "z")], SLOTS, acknowledged=7))
    assert (table.version("a"), table.entries) == (None, 2), "the row of the marker is used again"


def test_a_late_record_of_an_earlier_owner_does_not_bring_back_what_a_marker_replaced() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row("a", make_ref(0, 5), 1, 1, None)], SLOTS))
    table.apply(record_of([Row("b", make_ref(0, 8), 1, 1, "y")], SLOTS, acknowledged=6))
    late = record_of([Row("a", make_ref(0, 3), 1, 1, "x"), Row("c", make_ref(0, 7), 1, 1, "z")], SLOTS, acknowledged=2)
    assert table.apply(late).tolist() == [False, True], "a version that is not acknowledged is no late record"
    assert (table.version("a"), table.acknowledged) == (None, 6)
    again = record_of([Row("a", make_ref(0, 3), 1, 1, "x")], SLOTS, acknowledged=6)
    assert table.apply(again).tolist() == [True], "the present owner reads the source again from an earlier offset"


@pytest.mark.parametrize("case", range(40))
def test_late_records_of_an_earlier_owner_change_no_recovery(case: int) -> None:
    rng = random.Random(case)
    log, committed, late = Log(rng.choice((1, 3, 50))), 0, deque[DocumentsRecord]()
    ids = [f"d{number}" for number in range(rng.choice((2, 5, 20)))]
    for offset in range(300):
        id = rng.choice(ids)
        known, text = log.table.version(id), rng.choice(("text", None))
        retired = (known.ref,) if known is not None and known.live else ()
        if known is not None or text is not None:
            log.write([Row(id, make_ref(0, offset), offset, offset, text, retired)], committed=committed)
        for _ in range(rng.choice((0, 1, 9))):
            log.confirm()
        if rng.random() < 0.3:
            committed = rng.randint(committed, offset + 1)
        if rng.random() < 0.2:  # another worker takes over while records of this one are not in the log yet
            late.append(log.table.snapshot(WIDTH))
        if late and rng.random() < 0.2:
            log.write_late(late.popleft())
        assert plain(log.recovered().snapshot(WIDTH)) == plain(log.table.snapshot(WIDTH))
    assert len(log.begins) > 1


def test_the_acknowledged_offset_is_constant_during_a_pass() -> None:
    log = Log(slice_versions=1)
    for offset in range(20):
        log.write([Row(f"d{offset % 3}", make_ref(0, offset), offset, offset, "x")], committed=offset)
        if log.under_way:
            stated = {record.acknowledged for record in log.records[log.under_way[0] :]}
            assert len(stated) == 1
    assert log.copied


def test_a_version_that_was_replaced_since_a_pass_began_is_not_copied() -> None:
    table = DocumentTable(SLOTS)
    table.apply(record_of([Row("b", make_ref(0, 6), 1, 1, "y"), Row("a", make_ref(0, 5), 1, 1, "x")], SLOTS))
    refs, rows = table.in_order()
    assert [ref & 0xFF for ref in refs.tolist()] == [5, 6]
    table.apply(record_of([Row("a", make_ref(0, 7), 2, 2, "z")], SLOTS))
    assert table.copy(refs, rows, WIDTH).ids == ["b"]
    table.expire(Horizon(3))
    assert table.copy(refs, rows, WIDTH).ids == []


@pytest.mark.parametrize("offset", [0, 3, 4, 7, 9])
def test_a_log_that_was_rewritten_begins_at_the_run_in_which_the_pass_did(offset: int) -> None:
    head = LogHead(together=3)
    for at in range(9):
        head.note(at, extent_of_documents(record_of([Row("a", make_ref(0, at), at, at, "x")], SLOTS)))
    head.rewritten(offset)
    begins = min(6, offset - offset % 3)
    assert head.needed(Horizon()) == begins
    assert head.entries == 9 - begins
    head.note(9, extent_of_documents(record_of([], SLOTS)))
    head.note(10, extent_of_documents(record_of([], SLOTS)))
    assert head.needed(Horizon(9)) in (9, 10)


# -- buckets


def frame(ref: int, bucket: int, *, gone: bool = False, copied: Pass | None = None) -> BandsFrame:
    refs, times = np.array([ref], np.uint64), np.array([ref], np.int64)
    return BandsFrame(
        Postings(refs, times, np.array([gone]), np.zeros(1, np.int64), np.array([bucket], np.uint64)), copied=copied
    )


def order(recovery: BucketsRecovery, bucket: int) -> list[int]:
    """The refs of a bucket, newest first."""
    hits = recovery.table.probe(np.zeros(1, np.int64), np.array([bucket], np.uint64))
    return [int(ref) for ref in hits.old]


def recovered(records: dict[int, BandsFrame]) -> BucketsRecovery:
    recovery = BucketsRecovery(BandTable(first_capacity=64))
    for offset, record in records.items():
        recovery.take(offset, record)
    return recovery


BEGINS = BandsFrame(copied=Pass(-1, False))
REWRITTEN = {
    7: BEGINS,
    8: frame(50, 4),
    9: frame(1, 4, copied=Pass(7, False)),
    10: frame(3, 4, gone=True),
    11: frame(2, 4, copied=Pass(7, False)),
    12: BandsFrame(copied=Pass(7, True)),
    13: frame(60, 4),
}
"""A log in which 1, 2 and 3 came before the pass, 50 in the middle of it, and 60 behind it."""


def test_where_the_log_begins_with_a_pass_what_it_copies_comes_first() -> None:
    assert order(recovered(REWRITTEN), 4) == [60, 50, 2, 1]


def test_counting_the_postings_does_not_end_a_pass() -> None:
    recovery, sizes = BucketsRecovery(BandTable(first_capacity=64)), list[int]()
    for offset, record in REWRITTEN.items():
        recovery.take(offset, record)
        sizes.append(recovery.size)
    assert order(recovery, 4) == [60, 50, 2, 1]
    assert sizes == [0, 0, 1, 1, 2, 3, 4], "what waits for the end of the pass does not count yet"


def test_where_the_log_begins_before_a_pass_its_slices_do_not_count() -> None:
    before = {4: frame(1, 4), 5: frame(2, 4), 6: frame(3, 4)}
    assert order(recovered({**before, **REWRITTEN}), 4) == [60, 50, 2, 1]
    late = {**before, 7: frame(2, 4, gone=True), 8: frame(2, 4, copied=Pass(1, False))}
    assert order(recovered(late), 4) == [3, 1], "a zombie's slice brings nothing back"


def test_a_pass_that_was_cut_short_puts_nothing_off_for_ever() -> None:
    records = {offset: record for offset, record in REWRITTEN.items() if offset != 12}
    assert order(recovered(records), 4) == [60, 50, 2, 1]


def test_a_copy_that_ends_in_a_pass_that_died_waits_for_nothing() -> None:
    table = BandTable(first_capacity=64)
    first = np.zeros(1, np.int64)
    table.insert(np.array([1], np.uint64), np.array([1]), first, np.array([4], np.uint64))
    recovery = BucketsRecovery(table, is_copy=True)
    for offset, record in enumerate((BEGINS, frame(50, 4), frame(1, 4, copied=Pass(7, False)), frame(60, 4)), 7):
        recovery.take(offset, record)
        assert recovery.is_complete
    assert order(recovery, 4) == [60, 50, 1]


def test_a_later_pass_ends_what_waits_for_one_that_died() -> None:
    recovery = BucketsRecovery(BandTable(first_capacity=64))
    died = [BEGINS, frame(1, 4, copied=Pass(7, False)), frame(50, 4), BEGINS, frame(1, 4, copied=Pass(10, False))]
    for offset, record in enumerate(died, 7):
        recovery.take(offset, record)
        assert not recovery.is_complete
    recovery.take(12, BandsFrame(copied=Pass(3, True)))
    assert not recovery.is_complete, "the end of an earlier pass is a zombie's"
    recovery.take(13, BandsFrame(copied=Pass(10, True)))
    assert recovery.is_complete
    assert order(recovery, 4) == [50, 1]


def frames(rng: random.Random, count: int) -> Iterator[BandsFrame]:
    """New versions, some that replace older ones, some that only go, and horizons."""
    live = list[tuple[int, int]]()
    for number in range(count):
        if rng.random() < 0.05:
            yield BandsFrame(horizon=Horizon(number * 4 - rng.randint(20, 90)))
        gone = [live.pop(rng.randrange(len(live))) for _ in range(rng.choice((0, 0, 1, 2))) if live]
        come = [(4 * number + at, rng.randrange(3)) for at in range(rng.randrange(4))]
        live += come
        refs = np.array([ref for ref, _ in gone + come], np.uint64)
        retired = np.arange(refs.size) < len(gone)
        buckets = np.array([bucket for _, bucket in gone + come], np.uint64)
        yield BandsFrame(Postings(refs, refs.astype(np.int64), retired, np.arange(refs.size), buckets))


@pytest.mark.parametrize("together", [0, 5, 1 << 16])
def test_how_much_is_inserted_together_changes_nothing(
    together: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite, "_TOGETHER", together)
    settings: dict[str, Any] = {"segment_span_ms": 20, "first_capacity": 64, "most_documents": 7}
    live = 0
    for value in range(seed, seed + 20):
        print(f"seed {value}")
        recovery, table = BucketsRecovery(BandTable(**settings)), BandTable(**settings)
        for offset, record in enumerate(frames(random.Random(value), 60)):
            recovery.take(offset, record)
            if record.horizon is not None:
                table.expire(record.horizon.time_ms)
            if record.postings is not None:
                index(record.postings, table)
        for bucket in range(3):
            assert order(recovery, bucket) == order(BucketsRecovery(table), bucket)
        assert len(recovery.table) == len(table)
        live += len(table)
    assert live > 100


def test_a_pass_over_buckets_begins_goes_on_and_ends_with_its_deliveries() -> None:
    table, rewriter = BandTable(first_capacity=64), BucketsRewriter(least=4)
    refs, zeros = np.arange(3, dtype=np.uint64), np.zeros(3, np.int64)
    table.insert(refs, zeros, np.arange(3), np.array([4, 4, 8], np.uint64))
    assert [*rewriter.records(table, 4 + TIMES * 3, 1)] == [], "the log does not hold too much"
    assert [*rewriter.records(table, 5 + TIMES * 3, 1)] == [BEGINS]
    rewriter.sent(1)
    assert [*rewriter.records(table, 99, 9)] == [], "where it began is not known yet"
    rewriter.delivered(7)
    assert [*rewriter.records(table, 99, 0)] == [], "nothing was written that would have to be followed"
    (copied,) = rewriter.records(table, 99, 1)
    assert copied.postings is not None
    assert (copied.copied, copied.postings.refs.tolist()) == (Pass(7, False), [0, 1, 2])
    rewriter.sent(2)
    rewriter.delivered(8)
    assert [*rewriter.records(table, 99, 1)] == [], "one of its records is not in the log yet"
    rewriter.delivered(9)
    assert [*rewriter.records(table, 99, 0)] == [BandsFrame(copied=Pass(7, True))]
    rewriter.sent(1)
    assert [*rewriter.records(table, 99, 1)] == []
    rewriter.delivered(10)
    assert [*rewriter.records(table, 99, 0)] == [BEGINS], "the next one"


def test_no_log_begins_inside_of_a_pass_that_has_ended() -> None:
    head = LogHead(together=2)
    for offset, record in {5: frame(1, 4), 6: frame(2, 4), **REWRITTEN}.items():
        head.note(offset, extent_of_buckets(record))
    assert head.needed(Horizon()) == 7
    assert head.needed(Horizon(50)) == 7, "not 8, though 1 and 2 have expired"
    assert head.needed(Horizon(51)) == 13
    long = LogHead(together=64)
    for offset, record in {5: frame(1, 4), 6: frame(2, 4), **REWRITTEN}.items():
        long.note(offset, extent_of_buckets(record))
    assert (long.needed(Horizon()), long.entries) == (7, 5), "nothing from before a pass is kept or counted"
    earlier = LogHead(together=1)
    for offset, record in REWRITTEN.items():
        if offset > 7:
            earlier.note(offset, extent_of_buckets(record))
    assert earlier.needed(Horizon(3)) == 8, "a pass whose beginning is gone means nothing"
