"""No broker at all for a minute, while workers are busy."""

import asyncio
import subprocess
from pathlib import Path

from stream_lsh.worker.brokers.maven import MavenBroker
from tests.kafka.pipelines import articles, configured, edits, send, survivors, thirds, written
from tests.kafka.processes import has_started, processes, start
from tests.kafka.truth import settled

OUTAGE_SECONDS = 60.0


async def restarted(workers: list["subprocess.Popen[bytes]"], file: Path, codes: list[int]) -> None:
    """Start workers again that have ended, as a supervisor would, and keep their exit codes; for ever."""
    while True:
        for number, worker in enumerate(workers):
            code = worker.poll()
            if code is not None:
                codes.append(code)
                workers[number] = start(file, number)
        await asyncio.sleep(1.0)


def test_a_minute_without_any_broker_loses_nothing(
    own_broker: MavenBroker, name: str, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    config = configured(own_broker, name, 4)
    source, stream, codes = config.pipelines[0].source, edits(articles(data_dir, 4_000), seed), list[int]()
    file = written(config, tmp_path)
    before, at_work, after = thirds(stream)

    async def run() -> list[str]:
        with processes(file, 2) as workers:
            await has_started(tmp_path, 0)
            supervisor = asyncio.ensure_future(restarted(workers, file, codes))
            await send(own_broker.address, source, before)
            assert await settled(config, survivors(list(before))) == []
            await send(own_broker.address, source, at_work)
            await asyncio.to_thread(own_broker.kill)
            await asyncio.sleep(OUTAGE_SECONDS)
            await asyncio.to_thread(own_broker.start)
            await send(own_broker.address, source, after)
            faults = await settled(config, survivors(stream))
            supervisor.cancel()
            return faults

    assert asyncio.run(run()) == []
    assert set(codes) <= {1}, "a worker that ends requests a restart"
    print(f"{len(codes)} ends of workers")
