"""An agent that stalls."""

import asyncio
from typing import Any

import pytest

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import RecordList
from tests.kafka.harness import engine_app, feed, make_topics, numbers, running, stock_app, until


def app_of(kind: str, address: str, name: str, topics: list[str]) -> tuple[Any, dict[str, list[bytes]], asyncio.Event]:
    """An app in which the agent of the first topic waits; its messages, and the event that releases it."""
    app = (
        stock_app(address, name, stream_buffer_maxsize=16)
        if kind == "stock"
        else engine_app(address, name, chunks=dict.fromkeys(topics, 1))
    )
    got: dict[str, list[bytes]] = {topic: [] for topic in topics}
    goes_on = asyncio.Event()

    def read(topic: str) -> None:
        options: dict[str, Any] = {"value_serializer": "raw"} if kind == "stock" else {"schema": RecordList()}

        @app.agent(app.topic(topic, **options), name=topic)  # type: ignore[untyped-decorator]  # the app is of either kind
        async def agent(stream: Any) -> None:
            async for event in stream.noack().events():
                if topic == topics[0]:
                    await goes_on.wait()
                got[topic] += [event.value] if kind == "stock" else [record.value for record in event.value]
                event.ack()

    for topic in topics:
        read(topic)
    return app, got, goes_on


@pytest.mark.parametrize("kind", ["stock", "engine"])
def test_an_agent_that_stalls_starves_no_other(kind: str, broker: Broker, name: str) -> None:
    topics = [f"{name}-stalls", f"{name}-other"]

    async def run() -> tuple[int, dict[str, list[bytes]]]:
        await make_topics(broker.address, *topics)
        app, got, goes_on = app_of(kind, broker.address, name, topics)
        async with running(app):
            await feed(broker.address, topics[0], numbers(0, 400))
            await asyncio.sleep(1.0)
            await feed(broker.address, topics[1], numbers(0, 100))
            if kind == "stock":
                await asyncio.sleep(5.0)
            else:
                await until(lambda: len(got[topics[1]]) >= 100)
            meanwhile = len(got[topics[1]])
            goes_on.set()
            await until(lambda: len(got[topics[0]]) >= 400 and len(got[topics[1]]) >= 100)
        return meanwhile, got

    meanwhile, got = asyncio.run(run())
    assert meanwhile == (0 if kind == "stock" else 100)
    assert [sorted(got[topic]) for topic in topics] == [numbers(0, 400), numbers(0, 100)]
