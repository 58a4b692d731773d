"""Standby states: they apply new records, no agent reads them, and each continues as an own state at its offset."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP
from mode.utils.queues import FlowControlEvent

from stream_lsh.errors import DamagedBytes, DoubtError, InvariantError
from stream_lsh.ledger.changes import NewestState
from stream_lsh.pipeline.batches import BEGINS, BandsFrame, Pass
from stream_lsh.pipeline.changelog.head import Extent
from stream_lsh.pipeline.settle import Settler
from stream_lsh.wire.frames import encode_buckets
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.worker.engine.reading.ordered_recovery import CurrentQueue
from stream_lsh.worker.state import pipeline_state as state_module
from stream_lsh.worker.state.changelogged import Applied, Changelogged
from stream_lsh.worker.state.engine_tables import _ChangelogStore
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.storage.folder import DataFolder, Storage
from tests.unit.worker.deliveries import Delivered
from tests.unit.worker.state.test_state import PIPELINE, changelogged, posting


def test_a_followed_state_applies_records_and_is_not_owned() -> None:
    states = changelogged()
    states.own(0)
    states.follow(1)
    states.recover(1, b"one", 0)
    with pytest.raises(InvariantError, match=r"got partition 1, expected one that is assigned here: \[0\]"):
        states[1]
    assert (states.owned(), states.followed(), states.partitions()) == ({0: []}, {1: [b"one"]}, [0])
    assert states.offset(1) == 0


def test_a_state_that_was_followed_goes_on_where_it_is_when_its_partition_comes() -> None:
    states = changelogged()
    states.follow(1)
    states.recover(1, b"one", 0)
    followed = states.followed()[1]
    states.follow(1)
    states.own(1)
    states.recover(1, b"two", 1)
    assert states[1] is followed
    assert (states[1], states.offset(1), states.followed()) == ([b"one", b"two"], 1, {})


def test_an_own_state_that_another_worker_takes_over_starts_again_empty() -> None:
    states = changelogged()
    states.own(0)
    states.recover(0, b"one", 0)
    states[0].append(b"never delivered")
    under_way = states.appended(0, Applied(Extent()))
    states.follow(0)
    assert (states.owned(), states.followed(), states.offset(0)) == ({}, {0: []}, None)
    under_way(Delivered(5))  # the state would be read from behind a record that it does not have
    assert states.offset(0) is None


def test_a_late_delivery_to_a_followed_log_does_not_move_the_offset_of_its_state() -> None:
    states = changelogged()
    states.follow(0)
    late = states.appended(0, Applied(Extent()))
    states.own(0)
    late(Delivered(5))
    assert (states.offset(0), states.under_way(0)) == (None, 0)


def test_a_state_that_is_followed_no_more_is_forgotten() -> None:
    states = changelogged()
    states.follow(0)
    states.recover(0, b"one", 0)
    states.drop(0)
    assert (states.followed(), states.offset(0)) == ({}, None)
    states.own(0)
    assert states.owned() == {0: []}


def test_a_log_that_is_trimmed_under_a_standby_is_read_from_its_new_beginning_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    states = changelogged()
    states.follow(0)
    for offset in (3, 4, 9):
        states.recover(0, b"%d" % offset, offset)
    assert (states.owned(), states.followed(), states.offset(0)) == ({}, {0: [b"9"]}, 9)
    assert "changelog, partition 0: the log was trimmed up to offset 9 while it was read" in caplog.text


def test_a_standby_forgets_the_records_that_the_owner_has_trimmed() -> None:
    states = changelogged()
    states.follow(0)
    for offset in range(200):
        states.recover(0, b"x", offset)
    assert (len(states.head(0).runs), states.head(0).start) == (4, 0)
    states.fit(0, 130, 200)
    assert (len(states.head(0).runs), states.head(0).start) == (2, 128)


def test_a_state_that_begins_behind_its_log_is_in_doubt() -> None:
    states = changelogged()
    for partition in (0, 1, 2):
        states.follow(partition)
        states.recover(partition, b"one", 4 + partition)
    states.recover(2, b"two", 9)  # of a log that was trimmed, or of which the engine has lost three records
    states.fit(0, 4, 5)
    states.begins(1, 7)
    states.begins(2, 9)
    assert sorted(states.followed()) == [0, 1, 2]
    states.begins(2, 6)
    with pytest.raises(DoubtError, match="changelog, partition 2: the log begins at offset 6, and the state with 9"):
        states.followed()


def test_a_copy_of_a_state_in_doubt_is_removed(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    state = following(folder, posting(5))
    state.save_all()
    state.buckets.begins(0, 2)
    state.close()
    assert stored(folder) == (None, 0)
    folder.close()


def test_a_damaged_record_of_a_partition_that_is_followed_ends_the_following_and_not_the_worker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    states = changelogged()
    states.own(0)
    for partition in (1, 2):
        states.follow(partition)
    for offset, value in enumerate((b"one", b"bad", b"two", b"three")):
        states.recover(1, value, offset)
        states.recover(2, b"fine", offset)
    states.recover(0, b"mine", 0)
    assert (states[0], states.followed(), states.offset(1)) == ([b"mine"], {2: [b"fine"] * 4}, None)
    (logged,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert logged.getMessage() == "changelog, partition 1: not followed until the next rebalance"
    assert "changelog, partition 1, offset 1: got nonsense" in caplog.text


@pytest.mark.parametrize("again", [False, True], ids=["at once", "followed once more before"])
@pytest.mark.parametrize("damaged", [False, True])
def test_a_partition_that_was_followed_up_to_damage_is_read_from_the_beginning_when_it_comes(
    damaged: bool, again: bool
) -> None:
    states = changelogged()
    states.own(0)
    states.follow(1)
    states.recover(1, b"one", 3)
    states.recover(1, b"bad", 4)
    if again:
        states.follow(1)
        states.fit(1, 3, 5)
        assert (states.followed(), states.offset(1)) == ({1: []}, None)
        states.recover(1, b"bad", 4)
    states.own(1)
    states.fit(1, 3, 5)
    assert (states[1], states.offset(1)) == ([], None)
    states.recover(1, b"one", 3)
    states.recover(1, b"bad" if damaged else b"two", 4)
    if damaged:
        with pytest.raises(DamagedBytes, match="changelog, partition 1, offset 4: got nonsense"):
            states[0]
    else:
        assert states[1] == [b"one", b"two"]


def test_a_copy_of_a_partition_that_was_followed_up_to_damage_is_removed(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    state = following(folder, posting(5))
    state.save_all()
    state.buckets.recover(0, b"nonsense", 4)
    assert state.buckets.followed() == {}
    state.save_all()
    state.close()
    assert stored(folder) == (None, 0)
    folder.close()


def test_a_disk_that_does_not_work_ends_the_worker_that_follows_on_it() -> None:
    def full(state: list[bytes], value: bytes, offset: int) -> Applied:
        raise DoubtError("no room")

    states: Changelogged[list[bytes]] = Changelogged(lambda partition: [], full)
    states.follow(1)
    states.recover(1, b"one", 0)
    with pytest.raises(DoubtError, match="no room"):
        states.followed()


def test_a_ledger_that_is_followed_is_saved_between_two_records_only(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)

    def ledger() -> PipelineState:
        state = PipelineState(PIPELINE, 1)
        state.storage = Storage(folder, "app", {})
        state.ledger.follow(0)
        return state

    state = ledger()
    empty = Settler(0.8, 1, None, 0).snapshot()
    changes = replace(empty.changes, newest=[NewestState("x" * 300, 1, 1)])
    parts = encode_ledger(replace(empty, offset=3, changes=changes), state.fingerprint, 1)
    assert len(parts) > 1
    for offset, part in enumerate(parts[:-1]):
        state.ledger.recover(0, part, offset)
    state.save_all()
    state.close()
    state = ledger()
    assert state.ledger.offset(0) is None
    for offset, part in enumerate(parts):
        state.ledger.recover(0, part, offset)
    state.save_all()
    state.close()
    state = ledger()
    assert state.ledger.offset(0) == len(parts) - 1
    state.close()
    folder.close()


def test_a_partition_is_owned_if_the_group_has_made_it_active() -> None:
    states, ours, other = changelogged(), TP("log", 0), TP("log", 1)
    store = object.__new__(_ChangelogStore)
    store.table = SimpleNamespace(changelog_topic=SimpleNamespace(topics=["log"]), states=states)  # type: ignore[assignment]
    store.app = SimpleNamespace(assignor=SimpleNamespace(assigned_actives=lambda: {ours}))  # type: ignore[assignment]
    asyncio.run(store.on_rebalance({ours, other, TP("source", 1)}, set(), set()))
    assert (states.partitions(), list(states.followed())) == ([0], [1])
    asyncio.run(store.on_rebalance({ours}, {other}, set()))
    assert (states.partitions(), list(states.followed())) == ([0], [])


def test_only_records_from_before_a_rebalance_are_dropped_from_the_recovery_queue() -> None:
    async def run() -> Any:
        app = SimpleNamespace(
            conf=SimpleNamespace(stream_buffer_maxsize=8), flow_control=FlowControlEvent(), consumer_generation_id=2
        )
        queue = CurrentQueue(app)
        for number, generation in enumerate((1, 2, 1, 2)):
            message = SimpleNamespace(generation_id=generation, number=number)
            queue.put_nowait(SimpleNamespace(message=message))
        app.flow_control.resume()  # the end of a recovery, while followed records come in
        return [(await queue.get()).message.number for _ in range(2)], queue.qsize()

    assert asyncio.run(run()) == ([1, 3], 0)


def following(folder: DataFolder, *log: BandsFrame) -> PipelineState:
    """A worker's state that follows a partition of buckets, on disk."""
    state = PipelineState(PIPELINE, 1)
    state.storage = Storage(folder, "app", {})
    state.buckets.follow(0)
    for offset, frame in enumerate(log, 3):
        state.buckets.recover(0, encode_buckets(frame, state.fingerprint), offset)
    return state


def stored(folder: DataFolder) -> tuple[int | None, int]:
    """The offset of the copy on disk, and its contents."""
    again = following(folder)
    found = again.buckets.offset(0), len(again.buckets.followed()[0].table)
    again.close()
    return found


@pytest.mark.parametrize(
    "save", [lambda state: asyncio.run(state.save_followed()), PipelineState.save_all], ids=["meanwhile", "end"]
)
def test_a_table_that_is_followed_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[PipelineState], None]
) -> None:
    monkeypatch.setattr(state_module, "_LEAST_SAVED", 1)
    folder = DataFolder(tmp_path)
    state = following(folder, posting(5), posting(6))
    save(state)
    state.close()
    assert stored(folder) == (4, 2)
    folder.close()


def test_who_follows_a_log_in_the_middle_of_its_pass_waits_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "_LEAST_SAVED", 0)
    folder = DataFolder(tmp_path)
    state = following(folder, BandsFrame(copied=BEGINS), posting(5), posting(1, Pass(3, False)))
    asyncio.run(state.save_followed())
    assert not state.buckets.followed()[0].recovery.is_complete, "to look at the table would have ended the wait"
    ended = encode_buckets(BandsFrame(copied=Pass(3, True)), state.fingerprint)
    state.buckets.recover(0, ended, 6)
    asyncio.run(state.save_followed())
    state.close()
    assert stored(folder) == (6, 2)
    folder.close()


def test_a_worker_reports_the_partitions_that_it_follows() -> None:
    state = PipelineState(PIPELINE, 3)
    state.documents.follow(2)
    state.documents.follow(1)
    assert state.line() == "p, no partition: standing by, others have all 3; follows 1, 2"
    state.documents.own(1)
    assert state.line() == "p, partitions 1 with 0 documents; follows 2"
    assert {(tp.topic, tp.partition) for tp in state.followed()} == {("stream-lsh-p-documents-changelog", 2)}


def test_records_behind_an_abandoned_pass_are_applied_once_the_log_was_read_to_its_end() -> None:
    state = PipelineState(PIPELINE, 1)
    state.buckets.follow(0)
    log = iter([BandsFrame(copied=BEGINS), *(posting(ref) for ref in range(8))])
    complete = list[bool]()
    for offset in range(3, 9):
        state.buckets.recover(0, encode_buckets(next(log), state.fingerprint), offset)
        state.end_waiting(lambda tp: 7 if tp == TP("stream-lsh-p-buckets-changelog", 0) else None)
        complete.append(state.buckets.followed()[0].recovery.is_complete)
    assert complete == [False] * 3 + [True] * 3, "the log ended at 7 when the follower began"


def test_a_copy_on_disk_waits_for_no_pass(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    for life, frame in enumerate((posting(1), BandsFrame(copied=BEGINS), posting(2))):
        state = PipelineState(PIPELINE, 1)
        state.storage = Storage(folder, "app", {})
        state.buckets.follow(0)
        state.buckets.recover(0, encode_buckets(frame, state.fingerprint), 3 + life)
        state.save_all()
        assert state.buckets.followed()[0].recovery.is_complete
        state.close()
    folder.close()
