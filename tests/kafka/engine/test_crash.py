"""An agent that raises once."""

import asyncio
from typing import Any

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import RecordList
from tests.kafka.harness import RAW, either_app, feed, make_topics, numbers, running, until


class OneTimeError(Exception):
    pass


async def processed(repaired: bool, address: str, name: str) -> tuple[set[bytes], list[BaseException]]:
    """Start a worker, and again if it crashes; what was processed in the end, and the crashes."""
    source = f"{name}-in"
    await make_topics(address, source, partitions=1)
    await feed(address, source, numbers(0, 50), partitions=1)
    done: set[bytes] = set()
    crashes: list[BaseException] = []
    raised: list[bytes] = []

    def work(value: bytes) -> None:
        if value == b"000020" and not raised:
            raised.append(value)
            raise OneTimeError
        done.add(value)

    for _ in range(2):
        app: Any = either_app(repaired, address, name, chunks={source: 1})
        if repaired:

            @app.agent(app.topic(source, schema=RecordList()))  # type: ignore[untyped-decorator]  # the app is of either kind
            async def agent(stream: Any) -> None:
                async for event in stream.noack().events():
                    for record in event.value:
                        work(record.value)
                    event.ack()

        else:

            @app.agent(app.topic(source, **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
            async def agent(stream: Any) -> None:
                async for event in stream.events():
                    work(event.value)

        async with running(app):
            await until(lambda: len(done) >= (50 if repaired else 49) or app.crash_reason)  # noqa: B023 - awaited here
        if app.crash_reason is None:
            break
        crashes.append(app.crash_reason)
    return done, crashes


def test_the_stock_engine_skips_the_event_that_raised(broker: Broker, name: str) -> None:
    done, crashes = asyncio.run(processed(False, broker.address, name))
    assert set(numbers(0, 50)) - done == {b"000020"}
    assert not crashes


def test_an_exception_ends_the_worker_and_the_next_one_reads_the_event_again(broker: Broker, name: str) -> None:
    done, crashes = asyncio.run(processed(True, broker.address, name))
    assert done == set(numbers(0, 50))
    assert [type(crash) for crash in crashes] == [OneTimeError]
