"""Two workers as processes, one of them killed in the middle: nothing is missing, wrong, or stale."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stream_lsh.config import parse
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from tests.kafka.test_worker import articles, send
from tests.kafka.truth import settled

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


@pytest.mark.timeout(600)
def test_a_worker_killed_in_the_middle_of_a_feed_loses_nothing(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    text = f"""
[kafka]
brokers = "{broker.address}"
[worker]
app_id = "{name}"
data_dir = "{tmp_path}"
session_timeout = "2s"
[[pipeline]]
name = "{name}-p"
source = "{name}-source"
partitions = 4
retention = 0
threshold = 0.5
"""
    config_file = tmp_path / "worker.toml"
    config_file.write_text(text)
    config = parse(text, "worker.toml", {})
    stream = edits(articles(data_dir, DOCUMENTS), seed)
    documents = survivors(stream)
    third = len(stream) // 3

    async def feed_and_kill(workers: list["subprocess.Popen[bytes]"]) -> list[str]:
        source = config.pipelines[0].source
        await asyncio.sleep(6.0)
        await send(broker.address, source, stream[:third])
        workers[0].kill()
        await send(broker.address, source, stream[third : 2 * third])
        await asyncio.sleep(1.0)
        workers.append(start(config_file, 2))
        await send(broker.address, source, stream[2 * third :])
        return await settled(config, documents, 240.0)

    with processes(config_file, 2) as workers:
        assert asyncio.run(feed_and_kill(workers)) == []
        assert [worker.poll() for worker in workers[1:]] == [None, None], "no other worker ended"
