"""Offsets that are lost: a group that Kafka has forgotten, and topics of our own that are recreated."""

import asyncio

import pytest
from aiokafka.protocol.admin import DeleteGroupsRequest  # type: ignore[import-untyped]

from stream_lsh.errors import StateError, StreamLSHError
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.checks import startup
from stream_lsh.worker.topology import WorkerApp
from tests.kafka.harness import admin_at, clear_up, make_topics, running, until
from tests.kafka.messages import Message, eventually, matched, pair, put, started, twins
from tests.kafka.pipelines import configured
from tests.kafka.worker.test_maintenance import often
from tests.kafka.worker.test_startup import ran, refused, replaced, topics_of
from tests.patience import PATIENCE

OWN = {"retention_bytes": "-1", "message_timestamp_type": "LogAppendTime"}
"""Settings of a topic of our own."""


def of_ids(messages: list[Message]) -> list[Message]:
    """The same with the id in the value, for sources that are rekeyed."""
    return [one._replace(value=b'{"id": "%s", %s' % (one.key or b"", (one.value or b"")[1:])) for one in messages]


async def group_deleted(broker: Broker, group: str) -> None:
    """Delete a consumer group that has no members, as Kafka does after its retention of offsets."""
    async with admin_at(broker.address) as admin, asyncio.timeout(PATIENCE):
        coordinator = await admin.find_coordinator(group)
        while True:
            response = await admin._send_request(DeleteGroupsRequest([group]), coordinator)
            ((_, code),) = response.results
            if code == 0:
                return
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("rekey", [False, True])
def test_results_are_complete_after_kafka_has_forgotten_the_group(broker: Broker, name: str, rekey: bool) -> None:
    """Copies of the fifth generation of the old group do not make copies of the first generation late."""
    config = configured(broker, name, 1, rekey=rekey, retention="1h")
    source = config.pipelines[0].sources[0]

    async def run() -> tuple[set[tuple[str, str]], int]:
        await make_topics(broker.address, source, partitions=1)
        wanted = set[tuple[str, str]]()
        for life in range(3):
            async with running(await started(config)):
                await put(broker, source, of_ids(twins(life)))
                wanted |= {pair(life)}
                assert await eventually(lambda: matched(config), wanted) == wanted
        await put(broker, source, of_ids(twins(10)[:1]))
        await group_deleted(broker, name)
        app = await started(config)
        async with running(app):
            await put(broker, source, of_ids([*twins(10)[1:], *twins(11)]))
            wanted |= {pair(10), pair(11)}
            found = await eventually(lambda: matched(config), wanted)
            return found ^ wanted, app.pipelines[f"{name}-p"].counts.late_copies

    assert asyncio.run(run()) == (set(), 0)


@pytest.mark.parametrize("topic", ["edges", "bands", "documents-changelog"])
def test_a_worker_does_not_start_on_a_topic_of_its_own_that_was_recreated(
    broker: Broker, name: str, topic: str
) -> None:
    config = configured(broker, name, 1)
    full = config.pipelines[0].internal_topic(topic)

    async def run() -> tuple[str, str]:
        await ran(broker, config)
        await replaced(broker, full, None)
        gone = await refused(config)
        await make_topics(broker.address, full, partitions=1, **OWN)
        recreated_topic = await refused(config)
        assert isinstance(gone, StateError)
        assert isinstance(recreated_topic, StateError)
        return str(gone), str(recreated_topic)

    gone, recreated_topic = asyncio.run(run())
    assert f"{full}: no longer exists" in gone
    assert f"{full}: was deleted and recreated" in recreated_topic
    assert "docs/operations/errors.md" in recreated_topic


async def ended(app: WorkerApp) -> BaseException | None:
    """Why a worker ends before it reads anything."""
    app.finalize()
    try:
        await app.start()
        await until(lambda: app.ended_by)
    finally:
        await clear_up(app)
    return app.ended_by


@pytest.mark.parametrize("rekey", [False, True])
def test_without_the_ids_of_an_earlier_version_the_end_of_a_topic_reveals_it(
    broker: Broker, name: str, rekey: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`edges`, and the intake where sources are rekeyed, end before what the state knows."""
    config = configured(broker, name, 1, rekey=rekey)
    pipeline = config.pipelines[0]
    source = pipeline.sources[0]
    topic = pipeline.internal_topic("intake" if rekey else "edges")
    monkeypatch.setattr(startup, "_own", lambda pipeline: [])

    async def run() -> BaseException | None:
        await make_topics(broker.address, source, partitions=1)
        async with running(await started(config)):
            await put(broker, source, of_ids(twins(0)))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
        await replaced(broker, topic, None)
        return await ended(await started(config))

    reason = asyncio.run(run())
    assert isinstance(reason, StateError)
    assert f"{topic}, partition 0: ends at offset 0, expected an end after offset" in str(reason)


def test_without_its_id_a_ledger_that_lacks_acknowledged_records_ends_the_worker(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its changelog was recreated while no worker ran, and messages of `edges` are acknowledged."""
    config = configured(broker, name, 1)
    pipeline = config.pipelines[0]
    topic = pipeline.internal_topic("ledger-changelog")
    monkeypatch.setattr(startup, "_own", lambda pipeline: [])

    async def run() -> BaseException | None:
        await make_topics(broker.address, pipeline.source, partitions=1)
        async with running(await started(config)):
            await put(broker, pipeline.source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
        await replaced(broker, topic, None)
        return await ended(await started(config))

    reason = asyncio.run(run())
    assert isinstance(reason, StateError)
    assert f"{topic}: its last record is of offset -1 of `edges`, expected one of offset" in str(reason)


def test_a_worker_ends_when_a_topic_of_its_own_is_recreated(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    edges = config.pipelines[0].internal_topic("edges")

    async def run() -> BaseException | None:
        app = often(await started(config))
        async with running(app):
            await put(broker, config.pipelines[0].source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
            await replaced(broker, edges, None)
            await make_topics(broker.address, edges, partitions=1, **OWN)
            await until(lambda: app.ended_by)
        reason: BaseException | None = app.ended_by
        return reason

    reason = asyncio.run(run())
    assert isinstance(reason, StateError)
    assert edges in str(reason)


def test_a_worker_does_not_start_without_the_state_that_its_group_has_built(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)

    async def run() -> tuple[StreamLSHError, set[str]]:
        await ran(broker, config)
        for topic in await topics_of(broker, f"{name}-{name}-p-"):
            await replaced(broker, topic, None)
        error = await refused(config)
        left = await topics_of(broker, f"{name}-{name}-p-")
        await group_deleted(broker, name)
        async with running(await started(config)):  # without the group it reads everything again
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
        return error, left

    error, left = asyncio.run(run())
    assert type(error) is StateError
    assert f"{name}-source: the group {name} has read it, but {name}-{name}-p-manifest holds no manifest" in str(error)
    assert left == set()  # nothing was created
