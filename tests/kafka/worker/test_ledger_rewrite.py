"""The changelog of the ledger is rewritten all the time, by workers that are killed all the time."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from faust.types import TP

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.topic_reader import bounds
from tests.kafka.messages import eventually
from tests.kafka.pipelines import articles, configured, edits, send, survivors, written
from tests.kafka.processes import has_started
from tests.kafka.truth import settled

_WORKER = """
import sys
from stream_lsh.cli.main import main
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRewriter
from stream_lsh.worker import maintenance
LedgerRewriter.__init__.__defaults__ = (2_000, 20)
maintenance.TRIM_SECONDS, maintenance.TRIM_STEP = 0.5, 1
sys.exit(main(["worker", "--config", sys.argv[1]]))
"""


def start(file: Path) -> "subprocess.Popen[bytes]":
    """A worker that begins to copy its ledger as soon as it has one, 20 rows at a time."""
    command = [sys.executable, "-c", _WORKER, str(file)]
    with file.with_name(f"worker-0-{time.time_ns()}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603 - ourselves


def test_a_worker_that_is_killed_while_it_copies_its_ledger_loses_nothing(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path
) -> None:
    config = configured(broker, name, 2)
    stream = edits(articles(data_dir, 1_500), 6)
    file = written(config, tmp_path, session_timeout="6s")
    size, log = len(stream) // 40 + 1, TP(config.pipelines[0].changelog_topic("ledger"), 0)

    async def is_trimmed() -> bool:
        starts, _ = await bounds(config.kafka, [log])
        return starts[log] > 0

    async def run() -> tuple[list[str], bool]:
        worker = start(file)
        try:
            await has_started(tmp_path, 0)
            for number, first in enumerate(range(0, len(stream), size)):
                await send(broker.address, config.pipelines[0].source, stream[first : first + size])
                await asyncio.sleep(0.25)
                if number % 13 == 12:
                    worker.kill()
                    worker.wait()
                    worker = start(file)
            wrong = await settled(config, survivors(stream))
            again = survivors(stream)  # as they are: slices are written behind records
            for first in range(0, len(again), len(again) // 40):
                if await is_trimmed():
                    break
                await send(broker.address, config.pipelines[0].source, again[first : first + len(again) // 40])
                await asyncio.sleep(0.5)
            trimmed = await eventually(is_trimmed, True)
            worker.kill()
            worker.wait()
            worker = start(file)
            await send(broker.address, config.pipelines[0].source, stream[-1:])
            return wrong + await settled(config, survivors(stream)), trimmed
        finally:
            worker.kill()
            worker.wait()

    wrong, trimmed = asyncio.run(run())
    assert wrong == []
    assert trimmed, "what is before a copy is gone"
