"""Which offset is committed, and what an event of a coalesced topic carries."""

import asyncio
from typing import Any

import pytest

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import RecordList
from tests.kafka.harness import (
    RAW,
    committed,
    either_app,
    engine_app,
    feed,
    make_topics,
    numbers,
    running,
    until,
)


async def committed_with_one_event_open(repaired: bool, address: str, name: str) -> int | None:
    """Ten records; the sixth is never acked, all others are."""
    source = f"{name}-in"
    await make_topics(address, source, partitions=1)
    await feed(address, source, numbers(0, 5), partitions=1)
    app: Any = either_app(repaired, address, name, chunks={source: 1})
    seen: list[int] = []

    @app.agent(app.topic(source, **({"schema": RecordList()} if repaired else RAW)))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            seen.append(event.message.offset)
            if event.message.offset != 5:
                event.ack()

    async with running(app):
        await until(lambda: len(seen) == 5)
        while await committed(address, name, source) != 5:
            await asyncio.sleep(0.05)
        await feed(address, source, numbers(5, 10), partitions=1)
        await until(lambda: len(seen) == 10)
        await asyncio.sleep(1.0)
    return await committed(address, name, source)


@pytest.mark.parametrize(("repaired", "expected"), [(False, 10), (True, 5)])
def test_the_stock_engine_commits_past_an_event_that_is_not_acked(
    broker: Broker, name: str, repaired: bool, expected: int
) -> None:
    assert asyncio.run(committed_with_one_event_open(repaired, broker.address, name)) == expected


async def chunks_of(address: str, name: str) -> tuple[list[list[bytes]], int | None]:
    source = f"{name}-in"
    await make_topics(address, source, partitions=1)
    await feed(address, source, numbers(0, 1000), partitions=1)
    app = engine_app(address, name, chunks={source: 64})
    chunks: list[list[bytes]] = []

    @app.agent(app.topic(source, schema=RecordList()))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            chunks.append([record.value for record in event.value])
            event.ack()

    async with running(app):
        await until(lambda: sum(map(len, chunks)) >= 1000)
    return chunks, await committed(address, name, source)


def test_events_carry_chunks_in_order_and_one_ack_commits_a_chunk(broker: Broker, name: str) -> None:
    chunks, offset = asyncio.run(chunks_of(broker.address, name))
    assert [value for chunk in chunks for value in chunk] == numbers(0, 1000)
    assert max(map(len, chunks)) == 64
    assert offset == 1000
