"""Two workers as processes, one of them killed in the middle: nothing is missing, wrong, or stale."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import until
from tests.kafka.messages import eventually, matched, pair, put, twins
from tests.kafka.pipelines import articles, configured, edits, send, survivors, thirds, written
from tests.kafka.processes import fed_and_killed, processes

DOCUMENTS = 20_000


def test_a_worker_killed_in_the_middle_of_a_feed_loses_nothing(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    config = configured(broker, name, 4)
    stream = edits(articles(data_dir, DOCUMENTS), seed)
    source = config.pipelines[0].source
    parts = [partial(send, broker.address, source, part) for part in thirds(stream)]
    assert asyncio.run(fed_and_killed(config, tmp_path, survivors(stream), parts)) == []


def test_a_worker_without_a_partition_reports_it_and_takes_over_when_the_other_is_killed(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = configured(broker, name, 1)
    file = written(config, tmp_path, session_timeout="6s")

    def roles() -> list[str]:
        """The beginning of the last report of each worker about its partitions."""
        logs = [log.read_text() for number in range(2) for log in tmp_path.glob(f"worker-{number}-*.log")]
        return [log.rpartition("ready: ")[2].partition("\n")[0].partition(", ")[2][:12] for log in logs]

    idle, busy = "no partition", "partitions 0"

    async def run() -> Any:
        with processes(file, 2) as workers:
            await until(lambda: len(roles()) == 2 and sorted(roles()) == [idle, busy])
            await put(broker, config.pipelines[0].source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
            workers[roles().index(busy)].kill()
            await put(broker, config.pipelines[0].source, twins(1))
            return await eventually(lambda: matched(config), {pair(0), pair(1)})

    assert asyncio.run(run()) == {pair(0), pair(1)}
