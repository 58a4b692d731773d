"""Workers as processes, of which a test kills one in the middle of a feed."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stream_lsh.config import Config
from stream_lsh.model import Document
from tests.kafka.harness import until
from tests.kafka.pipelines import written
from tests.kafka.truth import settled


def start(config_file: Path, number: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(config_file)]
    with config_file.with_name(f"worker-{number}-{time.time_ns()}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603 - ourselves


@contextmanager
def processes(config_file: Path, count: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Workers that are killed at the end."""
    started = list["subprocess.Popen[bytes]"]()
    try:
        started += (start(config_file, number) for number in range(count))
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def logs(folder: Path, number: int) -> str:
    """The log of a worker."""
    return "".join(log.read_text() for log in folder.glob(f"worker-{number}-*.log"))


async def has_started(folder: Path, number: int) -> None:
    """Wait until a worker reports that it is ready."""
    await until(lambda: "ready: " in logs(folder, number))


async def fed_and_killed(
    config: Config,
    folder: Path,
    documents: Sequence[Document],
    send_thirds: Sequence[Callable[[], Awaitable[None]]],
) -> list[str]:
    """The faults in the end, after one of two workers was killed between the thirds of a feed and restarted.

    `documents` remain in the end, `send_thirds` send a part of the feed each.
    """
    file = written(config, folder, session_timeout="6s")
    first, second, third = send_thirds
    with processes(file, 2) as workers:
        await asyncio.gather(has_started(folder, 0), has_started(folder, 1))
        await first()
        workers[0].kill()
        await second()
        await asyncio.sleep(1.0)
        workers.append(start(file, 2))
        await third()
        faults = await settled(config, documents)
        assert [worker.poll() for worker in workers[1:]] == [None, None], "no other worker ended"
        return faults
