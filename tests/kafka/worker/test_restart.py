"""A worker that is killed and started again takes its partitions back, long before its session would expire."""

import asyncio
import subprocess
from pathlib import Path

from stream_lsh.config import Config
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import until
from tests.kafka.messages import eventually, matched, pair, put, twins
from tests.kafka.pipelines import configured, written
from tests.kafka.processes import has_started, logs, processes, start

LONG = {"session_timeout": "5m"}
"""No test runs for that long."""


async def ready(folder: Path, number: int, partitions: str) -> None:
    """Wait until the last report of a worker is that it has these partitions."""
    await until(lambda: f"partitions {partitions} with" in logs(folder, number).rpartition("ready: ")[2])


async def found(broker: Broker, config: Config, numbers: range) -> bool:
    """Whether the pairs with these numbers are found, and those before."""
    for number in numbers:
        await put(broker, config.pipelines[0].source, twins(number))
    wanted = {pair(number) for number in range(numbers.stop)}
    return bool(await eventually(lambda: matched(config), wanted) == wanted)


def test_a_killed_worker_is_replaced_before_its_session_expires(broker: Broker, name: str, tmp_path: Path) -> None:
    config = configured(broker, name, 2)
    file = written(config, tmp_path, **LONG)

    async def run() -> bool:
        with processes(file, 1) as workers:
            await ready(tmp_path, 0, "0, 1")
            assert await found(broker, config, range(4))
            for number in (1, 2):  # killed while it is a member, and right after its start
                workers[-1].kill()
                workers.append(start(file, number))
                if number == 1:
                    await ready(tmp_path, 1, "0, 1")
            await ready(tmp_path, 2, "0, 1")
            return await found(broker, config, range(4, 8))

    assert asyncio.run(run())
    assert "removed the member" in logs(tmp_path, 1)


def test_the_others_keep_their_partitions_while_a_killed_worker_is_replaced(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = configured(broker, name, 2)
    file = written(config, tmp_path, **LONG)

    async def run() -> tuple[bool, list[int | None]]:
        with processes(file, 1) as workers:
            await ready(tmp_path, 0, "0, 1")
            workers.append(start(file, 1))
            await has_started(tmp_path, 1)
            assert await found(broker, config, range(4))
            workers[0].kill()
            workers.append(start(file, 2))
            await has_started(tmp_path, 2)
            return await found(broker, config, range(4, 8)), [worker.poll() for worker in workers[1:]]

    complete, ended = asyncio.run(run())
    assert complete
    assert ended == [None, None], "the survivor was not removed"


def test_a_worker_on_a_copy_of_the_folder_of_another_one_joins_it(broker: Broker, name: str, tmp_path: Path) -> None:
    """Two workers with the files of one: each is a member of its own, and neither ends the other."""
    config = configured(broker, name, 2)
    folders = [tmp_path / "one", tmp_path / "other"]

    async def run() -> tuple[bool, list[int | None]]:
        folders[0].mkdir()
        with processes(written(config, folders[0]), 1) as workers:
            await ready(folders[0], 0, "0, 1")
            copied = subprocess.run(["cp", "-a", str(folders[0]), str(folders[1])], check=False)  # noqa: S603, S607
            assert copied.returncode == 0
            for log in folders[1].glob("*.log"):
                log.unlink()
            workers.append(start(written(config, folders[1]), 0))
            await has_started(folders[1], 0)
            return await found(broker, config, range(4)), [worker.poll() for worker in workers]

    complete, ended = asyncio.run(run())
    assert complete
    assert ended == [None, None]
    assert "removed the member" not in logs(folders[1], 0)
