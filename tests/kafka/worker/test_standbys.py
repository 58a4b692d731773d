"""Workers that follow each other: what one took in before, it does not read when it takes a partition over."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import Config
from stream_lsh.errors import StateError
from stream_lsh.model import Document
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.topic_reader import bounds
from stream_lsh.worker.state import changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions
from tests.kafka.harness import is_ready, running, until
from tests.kafka.pipelines import articles, configured, edits, expected, published, send, survivors, thirds, written
from tests.kafka.processes import processes
from tests.kafka.truth import settled
from tests.kafka.worker.test_maintenance import HOUR_MS, often, stories
from tests.kafka.worker.test_updates import prose, rewriting
from tests.patience import PATIENCE

PARTITIONS = 4


def following(config: Config, **worker: Any) -> Config:
    """The same, where each worker follows one other."""
    return replace(config, worker=replace(config.worker, standbys=1, **worker))


def state_of(app: WorkerApp) -> PipelineState:
    (state,) = app.pipelines.values()
    return state


def has(app: WorkerApp, held: int, followed: int) -> bool:
    """Whether a worker owns and follows these numbers of partitions."""
    documents = state_of(app).documents
    return is_ready(app) and (len(documents.owned()), len(documents.followed())) == (held, followed)


async def has_read_all(app: WorkerApp) -> Any:
    """Wait until a worker has taken in all that there is of what it follows; how far that is."""
    config, followed = app.config, state_of(app).followed()
    async with asyncio.timeout(PATIENCE):
        while True:
            _, ends = await bounds(config.kafka, list(followed))
            if all((states.offset(tp.partition) or -1) + 1 >= ends[tp] for tp, states in followed.items()):
                return ends
            await asyncio.sleep(0.1)


def applied(app: WorkerApp) -> dict[str, int]:
    """How many records of the changelogs a worker has taken in."""
    state = state_of(app)
    return {states.name: states.applied for states in (state.documents, state.buckets, state.ledger)}


def test_a_worker_that_is_killed_is_replaced_by_one_that_has_its_state(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path
) -> None:
    config = following(configured(broker, name, PARTITIONS), session_timeout_ms=6_000)
    stream = edits(articles(data_dir, 1_500), 3)
    file = written(config, tmp_path, standbys=1)
    first, second, third = (list(part) for part in thirds(stream))

    async def run() -> tuple[dict[str, int], bool, list[str]]:
        app, source = build_app(config, await source_partitions(config)), config.pipelines[0].source
        async with running(app):
            assert has(app, PARTITIONS, 0), "a worker that is alone follows nothing"
            await send(broker.address, source, first)
            with processes(file, 1) as (other,):
                await until(lambda: has(app, 2, 2))
                await send(broker.address, source, second)
                assert await settled(config, survivors(first + second)) == []
                await has_read_all(app)
                (log,) = tmp_path.glob("worker-0-*.log")
                await until(lambda: "standing by: all followed changelogs have been read" in log.read_text())
                state, before = state_of(app), applied(app)
                documents, buckets = state.documents.followed(), state.buckets.followed()
                other.kill()
                await until(lambda: has(app, PARTITIONS, 0))
                read = {log: count - before[log] for log, count in applied(app).items()}
                kept = all(state.documents[one] is had for one, had in documents.items())
                kept &= all(state.buckets[one] is had for one, had in buckets.items())
                await send(broker.address, source, third)
                return read, kept, await settled(config, survivors(stream))

    read, kept, wrong = asyncio.run(run())
    assert wrong == []
    assert kept
    assert all(count <= 2 for count in read.values()), f"at most each last record once more: {read}"


async def three_workers(config: Config, parts: list[list[Document]]) -> list[tuple[int, int]]:
    """The final partitions of each of three workers, after the first had left under load."""
    partitions, address = await source_partitions(config), config.kafka.brokers[0]
    apps = [build_app(config, partitions) for _ in range(3)]
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        await first.enter_async_context(running(apps[0]))
        for app in apps[1:]:
            await stack.enter_async_context(running(app))
        await until(lambda: sorted(len(state_of(app).documents.owned()) for app in apps) == [1, 1, 2])
        await send(address, config.pipelines[0].source, parts[0])
        await asyncio.gather(send(address, config.pipelines[0].source, parts[1]), first.aclose())
        await until(lambda: all(has(app, 2, 2) for app in apps[1:]))
        await send(address, config.pipelines[0].source, parts[2])
        assert await settled(config, survivors([one for part in parts for one in part])) == []
        return [(len(state_of(app).ledger.owned()), len(state_of(app).ledger.followed())) for app in apps[1:]]


def test_workers_that_come_and_go_under_load_lose_nothing(broker: Broker, name: str, data_dir: Path) -> None:
    config = following(configured(broker, name, PARTITIONS))
    stream = edits(articles(data_dir, 1_500), 4)
    ledgers = asyncio.run(three_workers(config, [list(part) for part in thirds(stream)]))
    assert sorted(ledgers) == [(0, 1), (1, 0)]


class Applied:
    """The state of a worker that took over from another one.

    Attributes:
        begins: where the logs that it followed began.
        known: where they began as far as it knew.
        read: how many records of each log it read when it took over.
        pairs: what is published in the end.
    """

    begins: Any
    known: Any
    read: dict[str, int]
    pairs: dict[tuple[str, str], float]


Feed = Callable[[WorkerApp, WorkerApp], Awaitable[None]]


async def taken_over(config: Config, feed: Feed, then: list[Document], **settings: Any) -> Applied:
    """Of two workers one is fed and the other follows; then one leaves, and the other gets the rest."""
    partitions, taken = await source_partitions(config), Applied()
    one, other = (often(build_app(config, partitions, **settings)) for _ in range(2))
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        await first.enter_async_context(running(one))
        await stack.enter_async_context(running(other))
        await until(lambda: has(one, 1, 1) and has(other, 1, 1))
        for app in (one, other):
            for ledger in state_of(app).ledger.owned().values():
                ledger.rewriter.least = 2_000
        await feed(one, other)
        await until(lambda: one.maintenance.bytes_under_way() == other.maintenance.bytes_under_way() == 0)
        await asyncio.sleep(1.0)
        await has_read_all(other)
        followed = state_of(other).followed()
        taken.begins, _ = await bounds(config.kafka, list(followed))
        await asyncio.sleep(2 * other.maintenance.trim_seconds)
        taken.known = {tp: states.head(tp.partition).start for tp, states in followed.items()}
        before = applied(other)
        await first.aclose()
        await until(lambda: has(other, 2, 0))
        taken.read = {log: count - before[log] for log, count in applied(other).items()}
        signed = state_of(other).counts.documents + len(then)
        await send(config.kafka.brokers[0], config.pipelines[0].source, then)
        await until(lambda: state_of(other).counts.documents >= signed)
        await until(lambda: other.maintenance.bytes_under_way() == 0)
        await asyncio.sleep(2.0)
    taken.pairs = (await published(config))[0]
    return taken


async def sent_and_expired(config: Config, documents: list[Document], apps: Sequence[WorkerApp]) -> None:
    """Send small batches, so that logs have many records, and wait until the first have expired."""
    for start in range(0, len(documents), 15):
        await send(config.kafka.brokers[0], config.pipelines[0].source, documents[start : start + 15])
        await asyncio.sleep(0.15)
    horizon_ms = documents[-1].time_ms - 4 * HOUR_MS
    held = [one for app in apps for one in state_of(app).documents.owned().values()]
    await until(lambda: all(one.table.horizon.time_ms >= horizon_ms for one in held))
    await asyncio.sleep(1.5)


def test_a_follower_of_a_trimmed_log_knows_its_start_and_has_the_rest(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelogged, "LogHead", partial(LogHead, together=1))
    config = configured(broker, name, 2, retention="2h", lateness="1h", threshold=0.8)
    config = following(config, data_dir=None)
    documents = stories(0, 90)

    async def feed(one: WorkerApp, other: WorkerApp) -> None:
        await sent_and_expired(config, documents[:-9], (one, other))

    taken = asyncio.run(taken_over(config, feed, documents[-9:]))
    assert taken.pairs == expected(configured(broker, name, 2, threshold=0.8), documents)[0]
    assert all(count <= 1 for count in taken.read.values()), taken.read
    assert all(begin > 0 for begin in taken.begins.values()), taken.begins
    assert taken.known == taken.begins


def test_a_follower_behind_the_present_start_of_a_log_begins_there_and_reports_it(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(changelogged, "LogHead", partial(LogHead, together=1))
    config = configured(broker, name, 2, retention="2h", lateness="1h", threshold=0.8)
    config = following(config, data_dir=None)
    documents = stories(0, 90)

    async def feed(one: WorkerApp, other: WorkerApp) -> None:
        consumer: Any = other.consumer
        has_room, followed = consumer._has_room, state_of(other).followed()
        consumer._has_room = lambda tp: tp not in followed and has_room(tp)
        await sent_and_expired(config, documents[:-9], (one, other))
        del consumer._has_room

    taken = asyncio.run(taken_over(config, feed, documents[-9:], consumer_max_fetch_size=2_048))
    assert taken.pairs == expected(configured(broker, name, 2, threshold=0.8), documents)[0]
    assert all(count <= 1 for count in taken.read.values()), taken.read
    for table in ("documents", "buckets"):
        assert re.search(
            rf"{table}-changelog, partition .: the log was trimmed up to offset \d+ while it was read", caplog.text
        )


def test_a_follower_of_a_rewritten_log_takes_over_the_state_of_its_owner(broker: Broker, name: str) -> None:
    config = following(configured(broker, name, 2, threshold=0.5))
    others = [Document(str(number), prose(number), number) for number in range(20)]
    busy = [Document(id, prose(number), 1_000 + number) for number in range(800) for id in ("busy", "busier", "most")]
    last = [document._replace(text=others[0].text, time_ms=9_000) for document in busy[-3:]]

    async def feed(one: WorkerApp, other: WorkerApp) -> None:
        for app in (one, other):
            rewriting(app, config.pipelines[0].name)
        await send(broker.address, config.pipelines[0].source, others)
        for start in range(0, len(busy), 300):
            await send(broker.address, config.pipelines[0].source, busy[start : start + 300])
            await asyncio.sleep(0.5)

    taken = asyncio.run(taken_over(config, feed, last))
    assert taken.pairs == expected(config, [*others, *last])[0]
    assert all(count <= 1 for count in taken.read.values()), taken.read
    assert all(begin > 0 for tp, begin in taken.begins.items() if "ledger" not in tp.topic), taken.begins
    assert all((taken.known[tp] or 0) >= begin - 64 for tp, begin in taken.begins.items()), taken


@pytest.mark.parametrize("damaged", [False, True], ids=["a record that was read wrong", "a record that is damaged"])
def test_a_worker_outlives_damage_in_a_log_that_it_follows_and_reads_all_of_it_when_it_takes_over(
    broker: Broker, name: str, damaged: bool
) -> None:
    config = following(configured(broker, name, 2, threshold=0.8))
    stream, source = stories(0, 40), config.pipelines[0].source

    async def run() -> tuple[bool, BaseException | None]:
        partitions = await source_partitions(config)
        one, other = (build_app(config, partitions) for _ in range(2))
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(AsyncExitStack())
            await first.enter_async_context(running(one))
            await stack.enter_async_context(running(other))
            await until(lambda: has(one, 1, 1) and has(other, 1, 1))
            documents: Any = state_of(other).documents
            (lost,) = documents.followed()
            apply = documents._apply
            if damaged:
                await send_to(broker.address, documents.name, lost, b"nonsense")
            else:
                documents._apply = lambda state, value, offset: apply(state, b"nonsense", offset)
            await send(broker.address, source, stream[:20])
            await until(lambda: not documents.followed())
            documents._apply = apply
            alive = is_ready(other) and other.crash_reason is None
            await until(lambda: one.maintenance.bytes_under_way() == other.maintenance.bytes_under_way() == 0)
            await first.aclose()
            await until(lambda: other.crash_reason if damaged else has(other, 2, 0))
            if not damaged:
                await send(broker.address, source, stream[20:])
                assert await settled(config, stream) == []
            return alive, other.crash_reason

    alive, reason = asyncio.run(run())
    assert alive
    assert isinstance(reason, StateError) == damaged, reason


async def send_to(address: str, topic: str, partition: int, value: bytes) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=address)
    await producer.start()
    await producer.send_and_wait(topic, value, partition=partition)
    await producer.stop()
