"""States by partition: there where they are assigned, and nowhere else."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from faust.types import TP

from stream_lsh.config import parse
from stream_lsh.errors import DamagedBytes, DoubtError, InvariantError, StateError
from stream_lsh.kinds.record.kind import RecordKind
from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.model import Retirement
from stream_lsh.pipeline.batches import BEGINS, BandsFrame, EdgesFrame, Pass, Postings
from stream_lsh.pipeline.changelog.head import Extent
from stream_lsh.pipeline.changelog.ledger_rewrite import LogSizes
from stream_lsh.pipeline.changelog.records import LedgerRecord, LedgerSlice
from stream_lsh.records.reading import Reader
from stream_lsh.retention import BEGINNING_MS
from stream_lsh.wire.frames import encode_buckets
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.worker.maintenance import Maintenance
from stream_lsh.worker.monitoring.metrics import LagTimes, WorkerCollector
from stream_lsh.worker.state.changelogged import Applied, Changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState, Traffic
from stream_lsh.worker.storage.folder import DataFolder, Storage
from stream_lsh.worker.topology import topics
from tests.unit.worker.deliveries import Delivered

CONFIG = parse('[[pipeline]]\nname = "p"\nsource = "s"\n', "test.toml", {})
PIPELINE = CONFIG.pipelines[0]


def take(state: list[bytes], value: bytes, offset: int) -> Applied:
    if value == b"bad":
        raise DamagedBytes("got nonsense")
    state.append(value)
    return Applied(Extent(len(value)))


def changelogged() -> Changelogged[list[bytes]]:
    return Changelogged(lambda partition: [], take)


def test_a_lookup_where_nothing_is_assigned_raises_and_makes_nothing() -> None:
    states = changelogged()
    states.own(2)
    for _ in range(2):
        with pytest.raises(InvariantError, match=r"got partition 1, expected one that is assigned here: \[2\]"):
            states[1]
    assert states.owned() == {2: []}


def test_a_partition_keeps_its_state_when_it_is_assigned_again_and_loses_it_when_it_goes() -> None:
    states = changelogged()
    states.own(0)
    states.recover(0, b"one", 4)
    states.own(0)
    assert (states[0], states.offset(0)) == ([b"one"], 4)
    states.drop(0)
    states.recover(0, b"late", 5)  # of the recovery that the rebalance broke off
    assert (states.owned(), states.offset(0)) == ({}, None)
    states.own(0)
    assert (states[0], states.offset(0)) == ([], None)


def test_a_delivery_from_before_a_partition_went_does_not_move_its_new_state() -> None:
    states = changelogged()
    states.own(0)
    before = states.appended(0, Applied(Extent(1)))
    states.drop(0)
    states.own(0)
    before(Delivered(7))
    assert states.offset(0) is None
    states.appended(0, Applied(Extent(1)))(Delivered(7))
    assert states.offset(0) == 7


@pytest.mark.parametrize("first", [7, 9])
def test_a_log_that_was_trimmed_while_it_was_read_is_taken_in_from_where_it_begins_now(first: int) -> None:
    states = changelogged()
    states.own(0)
    for offset in (3, 4, 4, 5):
        states.recover(0, b"%d" % offset, offset)
    states.recover(0, b"later", first)
    assert (states[0], states.offset(0)) == ([b"later"], first)


def test_a_state_that_cannot_be_built_again_is_a_failure_that_is_kept() -> None:
    made = list[int]()

    def make(partition: int) -> list[bytes]:
        made.append(partition)
        if len(made) > 1:
            raise DoubtError("the disk is full")
        return []

    states = Changelogged(make, take)
    states.own(0)
    states.recover(0, b"3", 3)
    states.recover(0, b"9", 9)  # the engine goes on after whatever is raised here
    with pytest.raises(DoubtError, match="the disk is full"):
        states.owned()


def test_expected_states_are_made_in_a_thread_and_waited_for() -> None:
    threads = dict[int, str]()

    def make(partition: int) -> list[bytes]:
        threads[partition] = threading.current_thread().name
        if partition == 7:
            raise DoubtError("the disk is full")
        return [b"%d" % partition]

    here = threading.current_thread().name
    states = Changelogged(make, take, in_thread=True)
    states.own(1)
    states.expect([1, 2, 3, 7])
    for partition in (2, 3, 4):
        states.own(partition)
    with pytest.raises(DoubtError, match="the disk is full"):
        states.own(7)
    assert states.owned() == {partition: [b"%d" % partition] for partition in (1, 2, 3, 4)}
    assert (threads[1], threads[4]) == (here, here)
    assert here not in (threads[2], threads[3], threads[7])


def with_buckets(folder: DataFolder) -> PipelineState:
    """A worker's state with a partition of buckets, on disk."""
    state = PipelineState(PIPELINE, 1)
    state.storage = Storage(folder, "app", {})
    state.buckets.own(0)
    return state


def posting(ref: int, copied: Pass | None = None) -> BandsFrame:
    refs, times, rows = np.array([ref], np.uint64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    return BandsFrame(Postings(refs, times, np.zeros(1, np.bool_), rows, np.array([8], np.uint64)), copied=copied)


def test_a_table_is_saved_as_of_the_request(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    state = with_buckets(folder)
    state.buckets.recover(0, encode_buckets(posting(5), state.fingerprint), 3)
    saving, buckets = state.save_buckets(0, state.buckets[0]), state.buckets[0]
    buckets.is_ahead = True  # the agent goes on with its next batch
    zero = np.zeros(1, np.int64)
    buckets.table.insert(np.array([6], np.uint64), zero, zero, np.array([8], np.uint64))
    asyncio.run(saving)
    state.close()
    again = with_buckets(folder)
    assert (again.buckets.offset(0), len(again.buckets[0].table)) == (3, 1)
    again.close()
    folder.close()


@pytest.mark.parametrize("ended", [False, True])
def test_a_table_whose_recovery_is_in_the_middle_of_a_pass_is_not_saved(tmp_path: Path, ended: bool) -> None:
    folder = DataFolder(tmp_path)
    recovering = with_buckets(folder)
    log = [BandsFrame(copied=BEGINS), posting(5), posting(1, Pass(3, False)), BandsFrame(copied=Pass(3, True))]
    for offset, frame in enumerate(log[: 4 if ended else 3], 3):
        recovering.buckets.recover(0, encode_buckets(frame, recovering.fingerprint), offset)
    recovering.save_all()
    recovering.close()
    again = with_buckets(folder)
    assert again.buckets.offset(0) == (6 if ended else None)
    assert len(again.buckets[0].table) == (2 if ended else 0)
    assert again.buckets.head(0).entries == (2 if ended else 0), "the contents of the log are known after a restart"
    again.close()
    folder.close()


def test_metrics_that_are_read_in_the_middle_of_a_pass_do_not_end_it() -> None:
    state, app = PipelineState(PIPELINE, 1), SimpleNamespace()
    state.buckets.own(0)
    collector = WorkerCollector(app, {"p": state}, cast(Maintenance, app), {}, LagTimes())
    log = [BandsFrame(copied=BEGINS), posting(5), posting(1, Pass(3, False)), BandsFrame(copied=Pass(3, True))]
    held = list[float]()
    for offset, frame in enumerate(log, 3):
        state.buckets.recover(0, encode_buckets(frame, state.fingerprint), offset)
        ((_, value),) = next(values for name, _, _, values in collector._held() if name == "held_postings")
        held.append(value)
    assert held == [0, 0, 1, 2]
    found = state.buckets[0].table.probe(np.zeros(1, np.int64), np.array([8], np.uint64))
    assert found.old.tolist() == [5, 1], "the copied posting is older than the one behind the beginning of the pass"


def test_damage_is_kept_with_its_place_and_raised_at_every_use() -> None:
    states = changelogged()
    states.name = "news-ledger-changelog"
    states.own(0)
    states.own(1)
    states.recover(0, b"one", 0)
    states.recover(0, b"bad", 1)
    states.recover(0, b"two", 2)
    for use in (lambda: states[0], lambda: states[1], states.owned):
        with pytest.raises(DamagedBytes, match=r"^news-ledger-changelog, partition 0, offset 1: got nonsense$"):
            use()
    assert states.offset(0) == 0


@pytest.mark.parametrize("newest_ms", [-5, 0, 5])
def test_event_time_before_the_epoch_is_event_time(newest_ms: int) -> None:
    state = PipelineState(PIPELINE, 1)
    state.documents.own(0)
    assert state.documents[0].delivered_ms(None) == BEGINNING_MS
    state.documents[0].newest_ms = newest_ms
    assert state.documents[0].delivered_ms(None) == newest_ms


def test_bytes_under_way_follow_from_the_mean_size_of_what_was_read() -> None:
    traffic, tp = Traffic(), TP("bands", 1)
    assert traffic.bytes_before(tp, 1_000) == 0, "of a topic that was never read nothing is known"
    traffic.count(tp, [SimpleNamespace(offset=4, value=b"x" * 30), SimpleNamespace(offset=9, value=None)])
    assert traffic.bytes_before(tp, 10) == 0
    assert traffic.bytes_before(tp, 14) == 4 * 15
    assert traffic.bytes_before(TP("bands", 0), 14) == 0


def copied_ledger(state: PipelineState) -> list[LedgerRecord | LedgerSlice]:
    """A log that begins with a pass at offset 7, and has a record among its slices."""
    settler = state.ledger[0].settler
    settler.settle(EdgesFrame(retirements=(Retirement("a", 1, 0, 1, False, 9),)), 3)
    slices = [*settler.slices(10)]
    record = settler.settle(EdgesFrame(retirements=(Retirement("b", 2, 0, 1, False, 9),)), 4)
    assert record is not None
    log: list[LedgerRecord | LedgerSlice] = [
        LedgerSlice(BEGINS, 0, LedgerRecord(3, LedgerChanges(), ())),
        record.record,
    ]
    return log + [LedgerSlice(Pass(7, one is slices[-1]), at, one) for at, one in enumerate(slices)]


@pytest.mark.parametrize("ended", [False, True])
def test_a_ledger_whose_log_begins_with_half_a_copy_is_neither_saved_nor_settled_on(
    tmp_path: Path, ended: bool
) -> None:
    folder = DataFolder(tmp_path)
    writing, state = PipelineState(PIPELINE, 1), PipelineState(PIPELINE, 1)
    state.storage = Storage(folder, "app", {})
    for one in (writing, state):
        one.ledger.own(0)
    log = [part for one in copied_ledger(writing) for part in encode_ledger(one, state.fingerprint)]
    for offset, value in enumerate(log if ended else log[:-1], 7):
        state.ledger.recover(0, value, offset)
    ledger = state.ledger[0]
    state.save_all()
    store = ledger.store
    assert store is not None
    if ended:
        ledger.expect_all()
        assert ledger.settler.snapshot() == writing.ledger[0].settler.snapshot()
        assert ledger.rewriter.sizes == LogSizes(7, len(log[1]), sum(map(len, log)) - len(log[1]))
        assert store.offset == 6 + len(log)
    else:
        assert store.offset is None
        with pytest.raises(StateError, match="begins at offset 7 with a copy of the ledger that is not complete"):
            ledger.expect_all()
    folder.close()


def test_a_ledger_that_was_on_disk_needs_no_copy_whatever_its_log_begins_with(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    writing, first, again = (PipelineState(PIPELINE, 1) for _ in range(3))
    for one in (first, again):
        one.storage = Storage(folder, "app", {})
    for one in (writing, first):
        one.ledger.own(0)
    log = [part for one in copied_ledger(writing) for part in encode_ledger(one, writing.fingerprint)]
    for offset, value in enumerate(log, 7):
        first.ledger.recover(0, value, offset)
    first.save_all()
    again.ledger.own(0)
    again.ledger.recover(0, log[0], 6 + len(log))  # a pass begins: the engine reads the last record again
    assert again.ledger[0].is_whole
    assert again.ledger[0].settler.snapshot() == writing.ledger[0].settler.snapshot()
    folder.close()


def test_a_pass_is_ignored_by_the_worker_that_wrote_the_log() -> None:
    state = PipelineState(PIPELINE, 1)
    state.ledger.own(0)
    log = [part for one in copied_ledger(state) for part in encode_ledger(one, state.fingerprint)]
    state.ledger.appended(0, Applied(Extent()))(Delivered(6))
    for offset, value in enumerate(log, 7):  # a rebalance came before they were confirmed
        state.ledger.recover(0, value, offset)
        state.ledger[0].expect_all()
    assert state.ledger[0].rewriter.sizes == LogSizes(None, sum(map(len, log)), 0)


def test_the_largest_document_fits_among_the_dead_letters() -> None:
    huge = replace(PIPELINE, max_document_bytes=8 << 20)
    spec = {one.name: one for one in topics(CONFIG, huge, 4)}[huge.dead_letters_topic]
    assert int(spec.config["max.message.bytes"]) > spec.message_bytes > 8 << 20


def test_decisions_have_one_partition_and_exist_for_records_only() -> None:
    records = replace(PIPELINE, kind=RecordKind(reader=Reader(bundled("people"))))
    specs = {one.name: one for one in topics(CONFIG, records, 4)}
    assert specs[records.decisions_topic].partitions == 1
    assert PIPELINE.decisions_topic not in {one.name for one in topics(CONFIG, PIPELINE, 4)}


def test_a_pipeline_has_a_topic_for_copies_only_where_sources_are_rekeyed() -> None:
    rekeyed = replace(PIPELINE, sources=("s", "t"), rekey=True)
    specs = {one.name: one for one in topics(CONFIG, rekeyed, 4)}
    assert [specs[name].partitions for name in ("s", "t", rekeyed.documents_topic)] == [None, None, 4]
    assert specs[rekeyed.documents_topic].config == specs[rekeyed.internal_topic("bands")].config
    plain = {one.name: one for one in topics(CONFIG, PIPELINE, 4)}
    assert plain["s"].partitions == 4
    assert plain.keys() == specs.keys() - {"t", rekeyed.documents_topic}
