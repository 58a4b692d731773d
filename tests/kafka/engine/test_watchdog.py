"""A worker whose session timeout the broker refuses."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import make_topics, until
from tests.kafka.workers import process
from tests.patience import PATIENCE


def test_the_stock_engine_stays_up_without_ever_joining(broker: Broker, name: str, tmp_path: Path) -> None:
    asyncio.run(make_topics(broker.address, f"{name}-in", f"{name}-out"))
    log = tmp_path / "worker.log"
    with process("stock-refused", broker.address, name, log) as worker:
        asyncio.run(until(lambda: "InvalidSessionTimeout" in log.read_text()))
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(6)
    assert "Worker ready" not in log.read_text()


def test_a_worker_that_is_refused_by_the_brokers_ends_with_the_reason(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    asyncio.run(make_topics(broker.address, f"{name}-in", f"{name}-out"))
    log = tmp_path / "worker.log"
    with process("engine-refused", broker.address, name, log) as worker:
        assert worker.wait(PATIENCE) == 1
    assert "s to join the consumer group" in log.read_text()
    assert "the broker reports InvalidSessionTimeout" in log.read_text()
