"""An output that the broker refuses."""

import asyncio
from typing import Any

from stream_lsh.errors import DoubtError
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import OrderedAcker, RecordList
from tests.kafka.harness import RAW, committed, either_app, feed, make_topics, numbers, read, running, until


async def one_refused_output(repaired: bool, address: str, name: str) -> tuple[int, set[int], BaseException | None]:
    """Twenty records, of which the eleventh makes an output that is too large for its topic.

    Returns the committed offset, the offsets whose outputs are stored, and why the app crashed.
    """
    source, out = f"{name}-in", f"{name}-out"
    await make_topics(address, source, partitions=1)
    await make_topics(address, out, partitions=1, max_message_bytes="2000")
    await feed(address, source, numbers(0, 20), partitions=1)
    app: Any = either_app(repaired, address, name, chunks={source: 1})
    seen: list[int] = []

    def output(offset: int) -> bytes:
        return b"%d" % offset + b" " * (5000 if offset == 10 else 10)

    if repaired:

        @app.agent(app.topic(source, schema=RecordList()))  # type: ignore[untyped-decorator]  # the app is of either kind
        async def agent(stream: Any) -> None:
            acker = OrderedAcker(app)
            async for event in stream.noack().events():
                offset = event.message.offset
                await acker.add(event, [await app.produce(out, None, output(offset), 0)])
                seen.append(offset)

    else:

        @app.agent(app.topic(source, **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
        async def agent(stream: Any) -> None:
            async for event in stream.events():
                await app.producer.send(out, None, output(event.message.offset), 0, None, None)
                seen.append(event.message.offset)

    async with running(app):
        await until(lambda: len(seen) == 20 or app.crash_reason)
        await asyncio.sleep(0.8)
    stored = {int(record.value) for record in await read(address, out)}
    return await committed(address, name, source) or 0, stored, app.crash_reason


def test_the_stock_engine_commits_past_an_output_that_was_not_stored(broker: Broker, name: str) -> None:
    offset, stored, reason = asyncio.run(one_refused_output(False, broker.address, name))
    assert (offset, 10 in stored, reason) == (20, False, None)


def test_an_output_that_is_not_stored_ends_the_worker_before_its_event_is_acked(broker: Broker, name: str) -> None:
    offset, stored, reason = asyncio.run(one_refused_output(True, broker.address, name))
    assert isinstance(reason, DoubtError)
    assert "MessageSizeTooLarge" in str(reason)
    assert offset <= 10
    assert set(range(offset)) <= stored
