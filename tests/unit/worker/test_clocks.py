"""Wrong clocks of producers: messages with their timestamps are dead letters, and no other document is affected."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from stream_lsh.wire.origin import Origin, origin_header
from stream_lsh.worker.agents import pipeline_agents as agents_module
from tests.unit.worker.test_bugs import Acker, Worker, batch_of

NOW_MS = 1_714_564_800_000
HOUR = 3_600_000
IN_2099 = 4_070_908_800_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the worker; `now_ms` can be set."""
    clock = SimpleNamespace(now_ms=NOW_MS)
    stopped = SimpleNamespace(time=lambda: clock.now_ms / 1_000)
    monkeypatch.setattr(agents_module, "time", stopped)
    return clock


def record(offset: int, key: str, timestamp_ms: int, value: bytes | None = None, headers: Any = ()) -> Any:
    value = b'{"text": "some words of %s"}' % key.encode() if value is None else value
    return SimpleNamespace(
        topic="s", partition=0, offset=offset, timestamp=timestamp_ms, key=key.encode(), value=value, headers=headers
    )


def test_a_message_from_the_future_is_a_dead_letter_and_moves_no_event_time(clock: SimpleNamespace) -> None:
    worker = Worker()
    worker.sign(record(0, "a", NOW_MS), record(1, "clock", IN_2099), record(2, "b", NOW_MS + HOUR))
    documents = worker.state.documents[0]
    assert documents.newest_ms == NOW_MS + HOUR
    assert [documents.table.version(name) is not None for name in ("a", "clock", "b")] == [True, False, True]
    ((_, headers),) = worker.letters()
    assert (headers["reason"], headers["offset"]) == (b"time", b"1")
    assert b"ahead of the clock of the worker" in headers["error"]
    assert worker.state.counts.dead_letters == {"time": 1}
    clock.now_ms = IN_2099 - HOUR
    worker.sign(record(3, "clock", IN_2099))
    assert documents.newest_ms == IN_2099


def test_a_deletion_from_the_future_deletes_and_moves_no_event_time(clock: SimpleNamespace) -> None:
    worker = Worker()
    worker.sign(record(0, "a", NOW_MS), record(1, "b", NOW_MS))
    gone = SimpleNamespace(**{**vars(record(2, "a", IN_2099)), "value": None})
    worker.sign(gone, record(3, "b", IN_2099, b'{"deleted": true}'))
    documents = worker.state.documents[0]
    assert documents.newest_ms == NOW_MS
    assert len(documents.table) == 0
    assert worker.letters() == []


def test_a_stored_document_is_accepted_again_by_a_worker_with_a_late_clock(clock: SimpleNamespace) -> None:
    worker = Worker()
    batch = record(0, "a", NOW_MS + HOUR), record(1, "b", NOW_MS)
    worker.sign(*batch)
    bands = worker.topics().count("stream-lsh-p-bands")
    clock.now_ms = NOW_MS - 1
    worker.sign(*batch, record(2, "c", NOW_MS + HOUR), record(3, "a", NOW_MS + HOUR))
    assert worker.topics().count("stream-lsh-p-bands") == 2 * bands
    assert [headers["offset"] for _, headers in worker.letters()] == [b"2", b"3"]


@pytest.mark.parametrize("timestamp_ms", [-1, 0, NOW_MS // 1_000])
def test_a_message_without_a_timestamp_of_our_days_needs_a_time(clock: SimpleNamespace, timestamp_ms: int) -> None:
    worker = Worker()
    worker.sign(record(0, "a", timestamp_ms), record(1, "b", timestamp_ms, b'{"text": "words", "time": 1714521600}'))
    documents = worker.state.documents[0]
    assert documents.newest_ms == NOW_MS - 12 * HOUR
    assert [headers["offset"] for _, headers in worker.letters()] == [b"0"]


def test_with_rekey_the_timestamp_is_that_of_the_source(clock: SimpleNamespace) -> None:
    worker = Worker("rekey = true")
    source = batch_of("s", [record(0, "a", NOW_MS), record(1, "clock", IN_2099)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agents_module, "OrderedAcker", Acker)
        asyncio.run(worker.agents.copy(source))
    copies = [(key, headers) for topic, key, _, headers in worker.sent if topic == worker.config.documents_topic]
    assert copies == [(b"a", origin_header(Origin("s", 0, 0, NOW_MS, 1, NOW_MS)))]
    assert [headers["reason"] for _, headers in worker.letters()] == [b"time"]
    # A copy that another worker made, whose clock is ahead.
    headers = [*origin_header(Origin("s", 0, 1, IN_2099, 1)).items()]
    worker.sign(record(0, "clock", NOW_MS, headers=headers))
    assert [headers["offset"] for _, headers in worker.letters()] == [b"1", b"1"]
    assert worker.state.counts.dead_letters == {"time": 2}
