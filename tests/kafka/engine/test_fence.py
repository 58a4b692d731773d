"""A worker that is stopped for longer than its session, in the middle of its work; and one that is killed."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import feed, make_topics, numbers, read
from tests.kafka.workers import SESSION_SECONDS, process
from tests.patience import PATIENCE

RECORDS = 800


def outputs(address: str, name: str) -> list[Any]:
    return asyncio.run(read(address, f"{name}-out"))


def wait_for_outputs(address: str, name: str, count: int, after_ms: float = 0.0) -> list[Any]:
    """The outputs later than `after_ms`, when they are `count` different ones; those that there are after a while."""
    end = time.monotonic() + PATIENCE
    while True:
        found = [record for record in outputs(address, name) if record.timestamp > after_ms]
        if len({record.value for record in found}) >= count or time.monotonic() > end:
            return found
        time.sleep(0.2)


def prepare(address: str, name: str) -> None:
    asyncio.run(make_topics(address, f"{name}-in", f"{name}-out"))
    asyncio.run(feed(address, f"{name}-in", numbers(0, RECORDS)))


@pytest.mark.parametrize("kind", ["stock", "engine"])
def test_a_worker_that_slept_past_its_session_writes_nothing(
    broker: Broker, name: str, kind: str, tmp_path: Path
) -> None:
    prepare(broker.address, name)
    log = tmp_path / "worker.log"
    with process(kind, broker.address, name, log) as worker:
        wait_for_outputs(broker.address, name, 20)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(2 * SESSION_SECONDS)
        woken_ms = time.time() * 1000
        worker.send_signal(signal.SIGCONT)
        if kind == "engine":
            assert worker.wait(PATIENCE) == 1, log.read_text()
        late = wait_for_outputs(broker.address, name, 1 if kind == "stock" else 0, woken_ms)
    print(f"{kind}: {len(late)} records written after the session had run out")
    assert bool(late) == (kind == "stock")


def test_a_killed_worker_loses_nothing_and_another_takes_over(broker: Broker, name: str, tmp_path: Path) -> None:
    prepare(broker.address, name)
    log = tmp_path / "worker.log"
    with process("engine", broker.address, name, log) as first:
        wait_for_outputs(broker.address, name, 100)
        with process("engine", broker.address, name, log):
            first.kill()
            found = wait_for_outputs(broker.address, name, RECORDS)
    values = [record.value for record in found]
    print(f"{len(values) - len(set(values))} duplicates of {RECORDS}")
    assert set(values) == set(numbers(0, RECORDS)), log.read_text()[-4000:]
