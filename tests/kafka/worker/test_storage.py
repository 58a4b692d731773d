"""Workers that find their state on disk: they read the tail of the changelogs only, and nothing is lost or wrong."""

import asyncio
import resource
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import Config
from stream_lsh.errors import DoubtError
from stream_lsh.model import Document
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.state import changelogged
from stream_lsh.worker.state import pipeline_state as state_module
from stream_lsh.worker.storage.documents import DocumentStore
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions
from tests.kafka.harness import running, until
from tests.kafka.pipelines import articles, configured, edits, expected, published, send, survivors, thirds, written
from tests.kafka.processes import has_started, processes, start
from tests.kafka.truth import settled
from tests.kafka.worker.test_maintenance import HOUR_MS, often, stories

PARTITIONS = 2


async def worker_of(config: Config) -> WorkerApp:
    return build_app(config, await source_partitions(config))


def read_again(app: WorkerApp) -> list[int]:
    """How many records of the changelogs of documents, of buckets and of the ledger a recovery has read."""
    (state,) = app.pipelines.values()
    return [state.documents.applied, state.buckets.applied, state.ledger.applied]


def held(app: WorkerApp) -> tuple[int, int]:
    """How many documents and postings a worker has."""
    (state,) = app.pipelines.values()
    documents = sum(len(one.table) for one in state.documents.owned().values())
    return documents, sum(len(one.table) for one in state.buckets.owned().values())


async def fed(config: Config, parts: list[list[Document]], between: Any = None) -> list[tuple[list[int], Any]]:
    """The messages read again and the final state of each of several workers, which get a part each."""
    seen, total = [], 0
    for number, part in enumerate(parts):
        app = await worker_of(config)
        async with running(app):
            again = read_again(app)
            await send(config.kafka.brokers[0], config.pipelines[0].source, part)
            total += len(part)
            assert await settled(config, survivors([one for some in parts[: number + 1] for one in some])) == []
            seen.append((again, held(app)))
        if between is not None:
            between(number)
    return seen


def test_a_stopped_worker_continues_with_its_copy_on_disk(broker: Broker, name: str, data_dir: Path) -> None:
    config = configured(broker, name, PARTITIONS)
    stream = edits(articles(data_dir, 1_500), 1)
    parts = [list(part) for part in thirds(stream)]
    seen = asyncio.run(fed(config, parts))
    for again, _ in seen:
        assert max(again) <= PARTITIONS, "each last record is read again, no more"


def test_a_worker_that_is_killed_again_and_again_loses_nothing(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    config = configured(broker, name, PARTITIONS)
    stream = edits(articles(data_dir, 8_000), seed)
    file = written(config, tmp_path)
    size = len(stream) // 8

    async def run() -> list[str]:
        with processes(file, 1) as workers:
            await has_started(tmp_path, 0)
            for first in range(0, len(stream), size):
                await send(broker.address, config.pipelines[0].source, stream[first : first + size])
                if first // size % 2:
                    workers[-1].kill()
                    workers.append(start(file, len(workers)))
                    await asyncio.sleep(2.0)
            return await settled(config, survivors(stream))

    assert asyncio.run(run()) == []
    assert list(tmp_path.glob("worker-0/*/documents-*/*.sst"))


def test_a_copy_older_than_its_changelog_is_not_used(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(changelogged, "LogHead", partial(LogHead, together=1))
    config = configured(broker, name, PARTITIONS, retention="2h", lateness="1h", threshold=0.8)
    folder = config.worker.data_dir
    assert folder is not None
    copy = folder.with_name(folder.name + "-copy")
    documents = stories(0, 120)

    async def run() -> Any:
        for first in (0, 90, 180, 270):
            app = often(await worker_of(config))
            async with running(app):
                app.pipelines[config.pipelines[0].name].ledger[0].rewriter.least = 2_000
                for at in range(first, first + 90, 6):  # the ledger's log is rewritten between batches
                    await send(config.kafka.brokers[0], config.pipelines[0].source, documents[at : at + 6])
                    await asyncio.sleep(0.1)
                ledger = app.pipelines[config.pipelines[0].name].ledger[0].settler.ledger
                horizon_ms = documents[first + 89].time_ms - 4 * HOUR_MS
                await until(lambda: ledger.horizon.time_ms >= horizon_ms)  # noqa: B023 - awaited here
                await asyncio.sleep(1.5)
            if first == 0:
                shutil.copytree(folder, copy)
            elif first == 180:
                shutil.rmtree(folder)
                shutil.move(copy, folder)
        return (await published(config))[0]

    pairs = asyncio.run(run())
    assert "the copy on disk ends at offset" in caplog.text
    assert pairs == expected(configured(broker, name, PARTITIONS, threshold=0.8), documents)[0]


def test_tables_are_saved_while_the_worker_runs(
    broker: Broker, name: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "_LEAST_SAVED", 500)
    config = configured(broker, name, PARTITIONS, retention="1000d")
    folder, stream = config.worker.data_dir, edits(articles(data_dir, 1_500), 2)
    assert folder is not None

    def saved() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.glob("worker-0/*/buckets-*/manifest")}

    async def run() -> tuple[list[str], dict[str, bytes], dict[str, bytes]]:
        app = await worker_of(config)
        async with running(app):
            first = dict[str, bytes]()
            for part in thirds(stream):
                await send(config.kafka.brokers[0], config.pipelines[0].source, part)
                await until(lambda: len(saved()) == PARTITIONS)
                first = first or saved()
            missing = await settled(config, survivors(stream))
            return missing, first, saved()

    missing, first, last = asyncio.run(run())
    assert missing == []
    assert len(last) == PARTITIONS
    assert all(last[place] != first[place] for place in last), "and again, when there was more"


def test_a_full_disk_at_the_end_is_reported_and_the_next_worker_reads_the_changelogs(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = configured(broker, name, PARTITIONS)
    part = [Document(f"d{number}", "the same words in each of these texts", HOUR_MS) for number in range(5)]

    def full(*_: object) -> None:
        raise DoubtError("cannot be written (No space left on device)")

    async def run() -> tuple[Any, Any, str]:
        with monkeypatch.context() as patch:
            patch.setattr(DocumentStore, "save", full)
            ((_, before),) = await fed(config, [part])
        reported = caplog.text
        app = await worker_of(config)
        async with running(app):
            assert app.folder is not None
            assert app.folder.path.name == "worker-0", "the first worker has released it"
            return before, held(app), reported

    before, after, reported = asyncio.run(run())
    assert before == after
    assert before[0] == len(part)
    assert reported.count("No space left on device") == 1
    assert "Traceback" not in reported


def test_a_full_disk_ends_the_worker_and_with_room_it_continues(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path
) -> None:
    config = configured(broker, name, 1)
    stream = articles(data_dir, 9_000)
    file = written(config, tmp_path)

    async def run() -> list[str]:
        with processes(file, 1) as workers:
            await has_started(tmp_path, 0)
            resource.prlimit(workers[0].pid, resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
            await send(broker.address, config.pipelines[0].source, stream)
            await until(lambda: workers[0].poll() is not None)
            assert workers[0].returncode == 1
            (log,) = tmp_path.glob("worker-0-*.log")
            assert ": free some space, or set another `data_dir`; nothing is lost" in log.read_text()
            workers.append(start(file, 1))
            return await settled(config, survivors(stream))

    assert asyncio.run(run()) == []
