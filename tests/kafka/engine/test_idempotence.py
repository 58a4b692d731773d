"""Answers of the broker that are lost: the engine stores such records twice, this project once."""

import asyncio
from typing import Any

import pytest
from aiokafka.errors import RequestTimedOutError  # type: ignore[import-untyped]
from aiokafka.protocol.produce import ProduceRequest  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.errors import DoubtError
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import either_app, make_topics, numbers, read, running

COUNT = 2_000


def lose_answers(client: Any, every: int) -> None:
    """Let one in `every` requests to produce be carried out and not be answered."""
    send, sent = client.send, 0

    async def lossy(node: int, request: Any, **options: Any) -> Any:
        nonlocal sent
        answer = await send(node, request, **options)
        if isinstance(request, ProduceRequest):
            sent += 1
            if sent % every == 0:
                raise RequestTimedOutError()
        return answer

    client.send = lossy


def hold_first_answer(client: Any) -> asyncio.Event:
    """Hold the answer to the next request to produce until the event is set."""
    send, release, is_next = client.send, asyncio.Event(), True

    async def holding(node: int, request: Any, **options: Any) -> Any:
        nonlocal is_next
        holds = is_next and isinstance(request, ProduceRequest)
        is_next = is_next and not holds
        answer = await send(node, request, **options)
        if holds:
            await release.wait()
        return answer

    client.send = holding
    return release


@pytest.mark.parametrize("repaired", [False, True])
def test_a_record_whose_answer_is_lost_is_stored_once(broker: Broker, name: str, repaired: bool) -> None:
    async def run() -> tuple[list[Any], list[Any]]:
        await make_topics(broker.address, name)
        app = either_app(repaired, broker.address, f"{name}-app")
        app.agent(app.topic(name, value_serializer="raw"))(_reading)
        async with running(app):
            client = app.producer._ensure_producer()
            lose_answers(client.client, 3)
            deliveries = list[Any]()
            for number, value in enumerate(numbers(0, COUNT)):
                deliveries.append(await app.producer.send(name, None, value, number % 4, None, None))
                if number % 100 == 99:
                    await asyncio.sleep(0.01)
            stored = await asyncio.gather(*deliveries)
        return stored, await read(broker.address, name)

    stored, records = asyncio.run(run())
    values = [record.value for record in records]
    assert {*values} == {*numbers(0, COUNT)}
    assert (len(values) == COUNT) == repaired
    if repaired:
        for partition in range(4):
            of_one = [(record.offset, record.value) for record in records if record.partition == partition]
            assert [value for _, value in of_one] == numbers(0, COUNT)[partition::4], "in the order of sending"
            assert [one.offset for one in stored[partition::4]] == [offset for offset, _ in of_one]


async def _reading(stream: Any) -> None:
    async for _ in stream:
        pass


def test_a_record_that_waited_in_the_client_past_the_session_is_not_sent(broker: Broker, name: str) -> None:
    async def run() -> list[Any]:
        await make_topics(broker.address, name)
        app = either_app(True, broker.address, f"{name}-app")
        app.agent(app.topic(name, value_serializer="raw"))(_reading)
        async with running(app):
            sender = app.producer._ensure_producer()._sender
            partition = TopicPartition(name, 0)
            await (await app.producer.send(name, None, b"before", 0, None, None))
            sender._muted_partitions.add(partition)  # as while another batch is under way
            late = await app.producer.send(name, None, b"late", 0, None, None)
            app.fence._limit = -1.0  # as after a pause that is longer than the session
            sender._muted_partitions.discard(partition)
            await app.producer.send(name, None, b"wakes the sender", 1, None, None)
            with pytest.raises(DoubtError, match="the last heartbeat"):
                await late
        return await read(broker.address, name)

    assert [record.value for record in asyncio.run(run())] == [b"before"]


@pytest.mark.parametrize("repaired", [False, True])
def test_a_record_waits_for_no_answer_about_another_partition(broker: Broker, name: str, repaired: bool) -> None:
    """Records of one partition wait for each other, so that a repeated request cannot reverse their order."""

    async def run() -> list[bool]:
        await make_topics(broker.address, name)
        app = either_app(repaired, broker.address, f"{name}-app")
        app.agent(app.topic(name, value_serializer="raw"))(_reading)
        async with running(app):

            async def sent(value: bytes, partition: int) -> Any:
                return await app.producer.send(name, None, value, partition, None, None)

            await asyncio.gather(*[await sent(b"before", partition) for partition in range(2)])
            answered = hold_first_answer(app.producer._ensure_producer().client)
            held = await sent(b"held", 0)
            await asyncio.sleep(0.1)
            others = [await sent(b"same partition", 0), await sent(b"other partition", 1)]
            await asyncio.wait(others[1:], timeout=10 if repaired else 1)
            stored = [other.done() for other in others]
            answered.set()
            await asyncio.gather(held, *others)
        return stored

    assert asyncio.run(run()) == [False, repaired]
