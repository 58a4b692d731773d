"""The sources of all workers wait while too much waits for settle, which one worker reads."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.types import TP

from stream_lsh.config import parse
from stream_lsh.wire.frames import decode_bands
from stream_lsh.worker import maintenance as upkeep_module
from stream_lsh.worker.engine.reading.backpressure import HIGH_BYTES, LOW_BYTES, Backpressure
from stream_lsh.worker.maintenance import Maintenance
from stream_lsh.worker.state import settle_lag
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.state.settle_lag import EXPIRY_SECONDS, LEAST_BYTES, SettleLag

CONFIG = parse('[[pipeline]]\nname = "p"\nsource = "s"\n', "test.toml", {}).pipelines[0]
BANDS, EDGES = CONFIG.internal_topic("bands"), TP(CONFIG.internal_topic("edges"), 0)
MESSAGE_BYTES = 1_000


class Gate(Backpressure):
    """Backpressure without a consumer to close anything in."""

    async def _in_thread(self, step: str) -> None:
        pass


class Worker:
    """A worker of which only the upkeep is there; `edges_end` is where the topic ends."""

    def __init__(self, partitions: range, *, settles: bool) -> None:
        self.sent = list[tuple[int, bytes]]()
        self.edges_end = 1
        self.assigned = {EDGES} if settles else set[TP]()
        consumer = SimpleNamespace(assignment=lambda: self.assigned, highwater=self._highwater)
        self.app = SimpleNamespace(
            consumer=consumer,
            produce=self._produce,
            rebalancing=False,
            in_recovery=False,
            should_stop=False,
            group=SimpleNamespace(waiting_since=None),
        )
        self.app.gate = Gate(self.app, [CONFIG.source])
        self.state = PipelineState(CONFIG, 2)
        for partition in partitions:
            self.state.buckets.own(partition)
        if settles:
            self.state.ledger.own(0)
            self.state.traffic.count(EDGES, [SimpleNamespace(offset=0, value=bytes(MESSAGE_BYTES))])
        self.maintenance = Maintenance(cast(Any, self.app), {"p": self.state})

    def _highwater(self, tp: TP) -> int:
        assert tp in self.assigned, "as the engine's consumer"
        return self.edges_end

    async def _produce(self, topic: str, key: None, value: bytes, partition: int) -> Any:
        assert topic == BANDS
        self.sent.append((partition, value))
        return asyncio.sleep(0)

    def waiting(self, size: int) -> None:
        """A number of bytes waits for settle."""
        self.edges_end = 1 + size // MESSAGE_BYTES

    def duties(self) -> None:
        """Every duty that has a turn, at least once."""

        async def run() -> None:
            tasks = [asyncio.create_task(duty()) for duty in (self.maintenance.watch, self.maintenance.report_lag)]
            for _ in range(20):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.sent.clear()
        asyncio.run(run())

    def lags(self) -> set[int | None]:
        """The reported lags; to all partitions, or to none."""
        assert {partition for partition, _ in self.sent} in (set(), {0, 1})
        return {decode_bands(value, self.state.fingerprint).lag for _, value in self.sent}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WATCH_SECONDS", "REPORT_SECONDS"):
        monkeypatch.setattr(upkeep_module, name, 0)
    monkeypatch.setattr(upkeep_module, "Backpressure", lambda app, sources: app.gate)


def test_the_sources_of_all_workers_wait_for_settle_and_go_on_together() -> None:
    owner, other = Worker(range(1), settles=True), Worker(range(1, 2), settles=False)
    closed = list[tuple[bool, bool]]()
    for size in (0, HIGH_BYTES + MESSAGE_BYTES, LOW_BYTES + MESSAGE_BYTES, LOW_BYTES - MESSAGE_BYTES, 0):
        owner.waiting(size)
        owner.duties()
        for lag in owner.lags():
            other.state.settle_lag.receive(lag or 0)
        other.duties()
        closed.append((owner.maintenance.sources_wait, other.maintenance.sources_wait))
        assert other.sent == [], "only the worker that settles reports"
    assert closed == [(False, False), (True, True), (True, True), (False, False), (False, False)]


def test_a_worker_that_settles_does_not_count_its_own_report_twice() -> None:
    owner = Worker(range(1), settles=True)
    owner.waiting(HIGH_BYTES - MESSAGE_BYTES)
    owner.state.settle_lag.receive(HIGH_BYTES - MESSAGE_BYTES)
    owner.duties()
    assert not owner.maintenance.sources_wait


def test_a_worker_whose_topic_of_edges_was_deleted_reports_nothing() -> None:
    owner = Worker(range(1), settles=True)
    owner.waiting(HIGH_BYTES + MESSAGE_BYTES)
    owner.assigned.clear()
    asyncio.run(owner.maintenance._report_lag(owner.state))
    assert owner.sent == []


def test_little_lag_and_a_worker_that_is_alone_report_nothing() -> None:
    owner, alone = Worker(range(1), settles=True), Worker(range(2), settles=True)
    for size in (0, LEAST_BYTES - MESSAGE_BYTES):
        owner.waiting(size)
        owner.duties()
        assert owner.lags() == set()
    owner.waiting(2 * LEAST_BYTES)
    owner.duties()
    owner.waiting(0)
    owner.duties()
    assert owner.lags() == {0}, "the others learn at once that they may go on"
    owner.duties()
    assert owner.lags() == set()
    alone.waiting(2 * HIGH_BYTES)
    alone.duties()
    assert alone.lags() == set()
    assert alone.maintenance.sources_wait


def test_a_report_expires_when_none_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    lag = SettleLag(lambda: now[0])
    assert lag.size == 0
    lag.receive(5)
    now[0] += EXPIRY_SECONDS - 0.1
    assert lag.size == 5
    now[0] += 0.1
    assert lag.size == 0
    assert settle_lag.REPORT_SECONDS * 3 < EXPIRY_SECONDS, "a report that is late or lost opens no source"
