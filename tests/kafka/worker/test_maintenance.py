"""Topics that are trimmed while a pipeline runs: nothing is lost by it, and they do not grow."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config import Config
from stream_lsh.model import Document
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.sign import SignCounts
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine.reading.fetch_gate import SourceGate
from stream_lsh.worker.state import changelogged
from stream_lsh.worker.state.pipeline_state import Traffic
from stream_lsh.worker.storage import ledger as ledger_storage
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions
from tests.kafka.harness import running, until
from tests.kafka.pipelines import configured, expected, published, send

HOUR_MS = 3_600_000
PARTITIONS = 2


def stories(first: int, count: int) -> list[Document]:
    """Every story comes three times within the hour; ten minutes lie between stories."""
    return [
        Document(f"{number}-{copy}", f"{words(number)} copy{copy}", (number * 600 + copy) * 1000)
        for number in range(first, first + count)
        for copy in range(3)
    ]


def words(number: int) -> str:
    return " ".join(f"w{number * 31 % 997}x{at}" for at in range(60))


async def starts(address: str, names: Sequence[str]) -> dict[str, int]:
    """Where the logs begin: the records that were deleted, over all partitions of each topic."""
    consumer = AIOKafkaConsumer(bootstrap_servers=address)
    await consumer.start()
    try:
        found = {}
        for name in names:
            await consumer._client.add_topic(name)
            tps = [TopicPartition(name, partition) for partition in consumer.partitions_for_topic(name) or ()]
            found[name] = sum((await consumer.beginning_offsets(tps)).values())
        return found
    finally:
        await consumer.stop()


def often(app: WorkerApp) -> WorkerApp:
    """Trim at every chance."""
    app.maintenance.trim_seconds, app.maintenance.trim_step = 0.3, 1
    return app


async def trimmed_and_recovered(config: Config) -> tuple[dict[str, int], Any]:
    address, pipeline = config.kafka.brokers[0], config.pipelines[0]
    own = [pipeline.internal_topic(name) for name in ("bands", "candidates", "verifications", "edges")]
    own += [pipeline.changelog_topic(name) for name in ("documents", "buckets", "ledger")]
    documents = stories(0, 90)
    partitions = await source_partitions(config)
    for start in range(0, len(documents), 90):  # each time a worker that recovers from what is left of the changelogs
        app = often(build_app(config, partitions))
        async with running(app):
            app.pipelines[pipeline.name].ledger[0].rewriter.least = 2_000
            for at in range(start, start + 90, 6):  # the ledger's log is rewritten between batches
                await send(address, pipeline.source, documents[at : at + 6])
                await asyncio.sleep(0.1)
            horizon_ms = documents[start + 89].time_ms - 4 * HOUR_MS
            ledger = app.pipelines[pipeline.name].ledger[0].settler.ledger
            await until(lambda: ledger.horizon.time_ms >= horizon_ms)  # noqa: B023 - awaited here
            await asyncio.sleep(1.5)
            ledgers = app.pipelines[pipeline.name].ledger
            assert (ledgers.head(0).start or 0) >= (ledgers[0].rewriter.sizes.start or 0) > 0, (
                "what is gone is forgotten"
            )
    return await starts(address, own), (await published(config))[0]


def test_topics_are_trimmed_after_expiry_and_a_recovery_from_the_rest_loses_nothing(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (changelogged, ledger_storage):
        monkeypatch.setattr(module, "LogHead", partial(LogHead, together=1))
    config = configured(broker, name, PARTITIONS, retention="2h", lateness="1h", threshold=0.8)
    begins, pairs = asyncio.run(trimmed_and_recovered(config))
    assert all(begins.values()), begins
    for_ever = configured(broker, name, PARTITIONS, threshold=0.8)
    assert pairs == expected(for_ever, stories(0, 90))[0]
    assert len(pairs) == 270


async def held_back(config: Config) -> tuple[int, list[bool]]:
    pipeline = config.pipelines[0]
    app = often(build_app(config, await source_partitions(config)))
    closed: list[bool] = []
    documents = stories(0, 60)
    async with running(app):
        state = app.pipelines[pipeline.name]
        measure, pretended = app.maintenance.bytes_under_way, [1 << 30]
        app.maintenance.bytes_under_way = lambda: pretended[0] or measure()  # type: ignore[method-assign]
        gate: SourceGate = cast(Any, app.consumer).gate
        await until(lambda: pipeline.source in gate.held)
        await send(config.kafka.brokers[0], pipeline.source, documents)
        await asyncio.sleep(1.0)
        closed.append(state.counts.documents == 0)
        pretended[0] = 0
        await until(lambda: state.counts.documents == len(documents))
        closed.append(pipeline.source in gate.held)
        await until(lambda: app.maintenance.bytes_under_way() == 0)
    return state.counts.documents, closed


def test_a_source_waits_while_too_much_is_under_way(broker: Broker, name: str) -> None:
    config = configured(broker, name, PARTITIONS)
    assert asyncio.run(held_back(config)) == (180, [True, False])


def test_late_documents_are_counted_and_match_nothing(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1, retention="2h", lateness="1h", threshold=0.8)
    pipeline, documents = config.pipelines[0], stories(0, 90)
    late = [document._replace(id=f"late-{number}") for number, document in enumerate(documents[:5])]
    again = documents[-1]._replace(id="again")

    async def run() -> tuple[SignCounts, set[str]]:
        app = often(build_app(config, await source_partitions(config)))
        async with running(app):
            state = app.pipelines[pipeline.name]
            await send(config.kafka.brokers[0], pipeline.source, documents)
            # Gather receives the horizon, and shares the documents with sign.
            await until(lambda: state.documents[0].table.horizon.time_ms > late[-1].time_ms)
            await send(config.kafka.brokers[0], pipeline.source, [*late, again])
            await until(lambda: state.counts.documents == len(documents) + 6)
            await asyncio.sleep(1.0)
        return state.counts.signed, {id for pair in (await published(config))[0] for id in pair}

    counts, matched = asyncio.run(run())
    assert (counts.added, counts.expired) == (len(documents) + 1, 5)
    assert "again" in matched
    assert not any(id.startswith("late") for id in matched)


class _Traffic(Traffic):
    """Traffic with a number of bytes that wait for settle."""

    edges: TP
    size: int

    def bytes_before(self, tp: TP, end: int) -> int:
        return self.size if tp == self.edges else super().bytes_before(tp, end)


async def held_back_together(config: Config) -> tuple[list[tuple[bool, bool]], int]:
    pipeline, partitions = config.pipelines[0], await source_partitions(config)
    apps = [often(build_app(config, partitions)) for _ in range(2)]
    states = [app.pipelines[pipeline.name] for app in apps]
    seen = list[tuple[bool, bool]]()
    async with running(apps[0]), running(apps[1]):
        await until(lambda: all(len(state.buckets.owned()) == 1 for state in states))
        settles = next(state for state in states if state.ledger.owned())
        edges = TP(pipeline.internal_topic("edges"), 0)
        pretended = settles.traffic = _Traffic({edges: 0})
        pretended.edges, pretended.size = edges, 1 << 30
        await until(lambda: all(app.maintenance.sources_wait for app in apps))
        await send(config.kafka.brokers[0], pipeline.source, stories(0, 60))
        await asyncio.sleep(1.0)
        seen.append((states[0].counts.documents == 0, states[1].counts.documents == 0))
        pretended.size = 0
        await until(lambda: sum(state.counts.documents for state in states) == 180)
        seen.append((apps[0].maintenance.sources_wait, apps[1].maintenance.sources_wait))
        await until(lambda: settles.counts.matches >= 180)
    return seen, len((await published(config))[0])


def test_the_sources_of_both_workers_wait_while_too_much_waits_for_the_one_that_settles(
    broker: Broker, name: str
) -> None:
    config = configured(broker, name, PARTITIONS)
    seen, pairs = asyncio.run(held_back_together(config))
    assert seen == [(True, True), (False, False)]
    assert pairs == 180
