"""Workers on a broker find for a text what the class in memory finds, also while workers come and go."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from stream_lsh import NearDuplicates
from stream_lsh.config import Config, load
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.brokers.maven import free_port
from tests.embedded.test_similar import dicts, texts
from tests.kafka.pipelines import configured, send, written
from tests.patience import PATIENCE
from tests.unit.worker.query.client import Answered, TestClient, client

PATH = "/v1/pipelines/{}/similar"
SESSION = "6s"
LAYOUTS = [(1, 1), (1, 2), (4, 1), (4, 2), (7, 1), (7, 2)]
"""Partitions and workers."""


def documents_of(values: Sequence[str]) -> list[Document]:
    return [Document(f"d{at}", text, 1_700_000_000_000) for at, text in enumerate(values)]


def memory_of(documents: Sequence[Document]) -> NearDuplicates:
    memory = NearDuplicates(threshold=0.5, shingles="word:3")
    memory.add_many(documents)
    return memory


class Workers:
    """Worker processes of one application, each with an address for queries."""

    def __init__(self, file: Path, count: int) -> None:
        self._file = file
        (pipeline,) = load(str(file), {}).pipelines
        self.name, self.partitions = pipeline.name, pipeline.partitions
        self.addresses = [f"127.0.0.1:{free_port()}" for _ in range(count)]
        self.processes: list[subprocess.Popen[bytes] | None] = [None] * count
        self.clients: list[TestClient] = []

    def serve(self) -> None:
        """Start a process that only answers queries, behind the workers."""
        self.addresses.append(f"127.0.0.1:{free_port()}")
        self.processes.append(None)
        self.start(len(self.processes) - 1, "serve")

    def start(self, number: int, command: str = "worker") -> None:
        environment = {**os.environ, "STREAM_LSH__WORKER__ASK": self.addresses[number]}
        arguments = [sys.executable, "-m", "stream_lsh", command, "--config", str(self._file)]
        with self._file.with_name(f"worker-{number}-{time.time_ns()}.log").open("wb") as log:
            self.processes[number] = subprocess.Popen(arguments, stdout=log, stderr=log, env=environment)  # noqa: S603 - ourselves

    def end(self, number: int, how: signal.Signals) -> None:
        process = self.processes[number]
        assert process is not None
        process.send_signal(how)
        process.wait(PATIENCE)
        self.processes[number] = None

    async def similar(self, number: int, text: str, **options: Any) -> Answered:
        return await self.ask(number, {"text": text, **options})

    async def ask(self, number: int, query: Mapping[str, Any]) -> Answered:
        """The matches of a document of any kind."""
        return await self.clients[number].post(PATH.format(self.name), {"limit": 1_000, **query})

    async def complete(self) -> None:
        """Wait until every running worker answers for the whole application."""
        running = [number for number, process in enumerate(self.processes) if process is not None]
        async with asyncio.timeout(PATIENCE):
            while not all([await self._is_complete(number, len(running)) for number in running]):
                await asyncio.sleep(0.1)

    async def is_ready(self, number: int) -> bool:
        """Whether a process answers for all partitions that it has."""
        try:
            answer = await self.clients[number].get("/v1")
        except aiohttp.ClientError:
            return False
        return bool(answer.value["state"] == "ready")

    async def _is_complete(self, number: int, workers: int) -> bool:
        try:
            answer = await self.clients[number].get("/v1")
        except aiohttp.ClientError:
            return False
        owned = answer.value["pipelines"][0]["owned"]["documents"]
        return answer.value["complete"] and len(owned) in (self.partitions // workers, -(-self.partitions // workers))


def file_of(config: Config, folder: Path, **worker: Any) -> Path:
    return written(config, folder, **{"data_dir": "", "session_timeout": SESSION, **worker})


def workers(config: Config, folder: Path, count: int, **worker: Any) -> AbstractAsyncContextManager[Workers]:
    return running_workers(file_of(config, folder, **worker), count)


@asynccontextmanager
async def running_workers(file: Path, count: int) -> AsyncIterator[Workers]:
    """Workers with complete answers; killed at the end."""
    started = Workers(file, count)
    try:
        async with AsyncExitStack() as stack:
            for number in range(count):
                started.start(number)
                started.clients.append(await stack.enter_async_context(client(started.addresses[number])))
            await started.complete()
            yield started
    finally:
        for process in started.processes:
            if process is not None:
                process.kill()
                process.wait()


async def all_found(running: Workers, memory: NearDuplicates, values: Sequence[str]) -> None:
    """Wait until the last documents are found by their texts."""
    async with asyncio.timeout(PATIENCE):
        for text in values[-40:]:
            while (await running.similar(0, text)).value.get("matches") != dicts(memory.query(text)):
                await asyncio.sleep(0.1)


async def wrong_answers(running: Workers, memory: NearDuplicates, queries: Sequence[str]) -> list[str]:
    wrong = []
    for at, text in enumerate(queries):
        answer = await running.similar(at % len(running.clients), text)
        if answer.status != 200 or answer.value["matches"] != dicts(memory.query(text)):
            wrong.append(f"{text[:60]}: {answer.value}")
    return wrong


async def compared(config: Config, folder: Path, count: int, stored: int, asked: int) -> tuple[list[str], int]:
    """The answers that differ from those in memory, and the number of matches in memory."""
    values = texts(7, stored + asked // 2)
    documents = documents_of(values[:stored])
    memory = memory_of(documents)
    async with workers(config, folder, count) as running:
        await send(config.kafka.brokers[0], config.pipelines[0].source, documents)
        await all_found(running, memory, values[:stored])
        queries = [*values[: asked // 2], *values[stored:]]
        wrong = await wrong_answers(running, memory, queries)
        return wrong, sum(len(memory.query(text)) for text in queries)


@pytest.mark.parametrize(("partitions", "count"), [(1, 1), (4, 2)])
def test_workers_find_what_the_class_in_memory_finds(
    broker: Broker, name: str, tmp_path: Path, partitions: int, count: int
) -> None:
    config = configured(broker, name, partitions, shingles="word:3", max_candidates=0)
    wrong, matches = asyncio.run(compared(config, tmp_path, count, 1_000, 200))
    assert wrong == []
    assert matches > 200


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "count"), LAYOUTS)
def test_workers_find_what_the_class_in_memory_finds_in_many_documents(
    broker: Broker, name: str, tmp_path: Path, partitions: int, count: int
) -> None:
    config = configured(broker, name, partitions, shingles="word:3", max_candidates=0)
    wrong, matches = asyncio.run(compared(config, tmp_path, count, 5_000, 1_000))
    assert wrong == []
    assert matches > 1_000


async def restarts(config: Config, folder: Path, stored: int) -> tuple[int, int, list[str]]:
    """The numbers of complete and of refused answers while workers end and come back, and the wrong answers."""
    values = texts(8, stored)
    documents = documents_of(values)
    memory = memory_of(documents)
    expected = {text: dicts(memory.query(text)) for text in values[:300]}
    answered, refused, wrong, over = 0, 0, list[str](), asyncio.Event()

    async def asking(running: Workers, number: int) -> None:
        nonlocal answered, refused
        while not over.is_set():
            for text, matches in expected.items():
                try:
                    answer = await running.similar(number, text)
                except aiohttp.ClientError:  # the worker is not running
                    await asyncio.sleep(0.05)
                    continue
                if answer.status == 200:
                    answered += 1
                    if answer.value["matches"] != matches:
                        wrong.append(f"{len(answer.value['matches'])} of {len(matches)}: {answer.value}")
                else:
                    refused += 1
                    assert answer.problem in ("not-now", "too-late"), answer.value
                await asyncio.sleep(0.005)
                if over.is_set():
                    return

    async with workers(config, folder, 2) as running:
        await send(config.kafka.brokers[0], config.pipelines[0].source, documents)
        await all_found(running, memory, values)
        asks = [asyncio.create_task(asking(running, number)) for number in range(2)]
        for how in (signal.SIGTERM, signal.SIGKILL):
            running.end(1, how)
            await running.complete()
            await asyncio.sleep(1.0)
            running.start(1)
            await running.complete()
            await asyncio.sleep(1.0)
        over.set()
        await asyncio.gather(*asks)
    return answered, refused, wrong


async def stood_in(config: Config, folder: Path, stored: int) -> tuple[list[str], list[str]]:
    """The problems of queries, and the wrong answers where they may be stale, while a dead worker is not missed yet."""
    values = texts(10, stored)
    documents = documents_of(values)
    memory = memory_of(documents)
    async with workers(config, folder, 2, session_timeout="20s", standbys=1) as running:
        await send(config.kafka.brokers[0], config.pipelines[0].source, documents)
        await all_found(running, memory, values)
        running.end(1, signal.SIGKILL)
        answers = [await running.similar(0, text) for text in values[:20]]
        problems = [answer.problem for answer in answers if answer.status != 200]
        stale = [await running.similar(0, text, stale="allow") for text in values[:20]]
        expected = [dicts(memory.query(text)) for text in values[:20]]
        return problems, [
            str(answer.value)
            for answer, matches in zip(stale, expected, strict=True)
            if answer.status != 200 or answer.value["matches"] != matches
        ]


def test_standbys_answer_for_a_dead_worker_where_stale_answers_are_allowed(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = configured(broker, name, 4, shingles="word:3", max_candidates=0)
    problems, wrong = asyncio.run(stood_in(config, tmp_path, 500))
    assert problems == ["not-now"] * 20
    assert wrong == []


async def served(config: Config, folder: Path, stored: int) -> list[str]:
    """The wrong answers of a process that serves, after all workers were killed; its signal to end is obeyed."""
    values = texts(9, stored)
    documents = documents_of(values)
    memory = memory_of(documents)
    async with workers(config, folder, 1) as running:
        await send(config.kafka.brokers[0], config.pipelines[0].source, documents)
        await all_found(running, memory, values)
        running.serve()
        async with client(running.addresses[-1]) as requests:
            running.clients = [requests]
            async with asyncio.timeout(PATIENCE):
                while not await running.is_ready(0):
                    await asyncio.sleep(0.1)
            running.end(0, signal.SIGKILL)
            wrong = await wrong_answers(running, memory, values[:300])
            running.end(1, signal.SIGTERM)
            return wrong


def test_a_process_that_serves_answers_while_all_workers_are_down(broker: Broker, name: str, tmp_path: Path) -> None:
    config = configured(broker, name, 4, shingles="word:3", max_candidates=0)
    assert asyncio.run(served(config, tmp_path, 1_000)) == []


def test_a_process_serves_only_an_application_that_exists(broker: Broker, name: str, tmp_path: Path) -> None:
    file = written(configured(broker, name, 4), tmp_path, data_dir="", ask="127.0.0.1:9")
    command = [sys.executable, "-m", "stream_lsh", "serve", "--config", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "expected the changelogs of a running application" in ended.stderr


def test_no_answer_is_short_while_workers_end_and_come_back(broker: Broker, name: str, tmp_path: Path) -> None:
    config = configured(broker, name, 4, shingles="word:3", max_candidates=0)
    answered, refused, wrong = asyncio.run(restarts(config, tmp_path, 3_000))
    assert wrong == []
    assert answered > 100
    assert refused > 0, "a worker that was killed is missed by the group only after a while"
