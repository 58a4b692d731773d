"""Two workers as processes, one of them killed in the middle: nothing is missing, wrong, or stale."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from stream_lsh.config import Config
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import until
from tests.kafka.messages import eventually, matched, pair, put, twins
from tests.kafka.truth import settled
from tests.kafka.worker.test_answers import articles, configured, send, written

DOCUMENTS, UPDATED, DELETED = 20_000, 0.1, 0.05


def edits(documents: list[Document], seed: int) -> list[Document]:
    """The documents in their order, with updates (words cut or added, some as they were) and deletes between."""
    rng, stream, known = random.Random(seed), list[Document](), list[Document]()
    for document in documents:
        stream.append(document)
        known.append(document)
        if rng.random() < UPDATED:
            old = rng.choice(known)
            words = (old.text or "").split()
            cut = " ".join(words[: max(1, int(len(words) * rng.choice((0.5, 0.9, 1.0))))])
            stream.append(Document(old.id, f"{cut} corrected" if rng.random() < 0.8 else old.text, old.time_ms + 1))
        if rng.random() < DELETED:
            stream.append(rng.choice(known)._replace(text=None))
    return stream


def survivors(stream: list[Document]) -> list[Document]:
    newest: dict[str, Document] = {}
    for document in stream:
        newest.pop(document.id, None)
        if document.text is not None:
            newest[document.id] = document
    return list(newest.values())


@contextmanager
def processes(config_file: Path, count: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Workers that are killed at the end."""
    started = [start(config_file, number) for number in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def start(config_file: Path, number: int) -> "subprocess.Popen[bytes]":
    log = config_file.with_name(f"worker-{number}-{time.time_ns()}.log").open("wb")
    command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(config_file)]
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603 - ourselves


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


def thirds(items: Sequence[Any]) -> list[Sequence[Any]]:
    size = len(items) // 3
    return [items[:size], items[size : 2 * size], items[2 * size :]]


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
