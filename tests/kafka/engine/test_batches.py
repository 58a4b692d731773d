"""Messages that wait together are sent together, and the batch is what a topic's limit is about."""

import asyncio
from typing import Any

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import TopicSpec
from tests.kafka.harness import engine_app, make_topics, read, running


async def written(address: str, name: str, **more: Any) -> int:
    await make_topics(address, f"{name}-in", f"{name}-out", max_message_bytes="400000")
    app = engine_app(address, name, required_topics=[TopicSpec(f"{name}-in", 4)], chunks={f"{name}-in": 1}, **more)

    @app.agent(app.topic(f"{name}-in"))  # type: ignore[untyped-decorator]
    async def agent(stream: Any) -> None:
        async for _ in stream.events():
            pass

    async with running(app):
        sent = [await app.produce(f"{name}-out", None, bytes(100_000), 0) for _ in range(40)]
        await asyncio.gather(*sent)
    return len(await read(address, f"{name}-out"))


def test_messages_that_fit_a_topic_fit_it_when_many_wait(broker: Broker, name: str) -> None:
    assert asyncio.run(written(broker.address, name)) == 40
