"""A rebalance that comes while a worker stops."""

import asyncio
from typing import Any

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import OrderedAcker, RecordList
from tests.kafka.harness import admin_at, committed, engine_app, feed, make_topics, numbers, running, until
from tests.patience import PATIENCE


def _counting_app(address: str, name: str, seen: list[int]) -> Any:
    source = f"{name}-in"
    # A session that no wait of this test outlasts: so a worker that is not in the group any more has left it.
    lasting = {"broker_session_timeout": 2 * PATIENCE, "broker_request_timeout": 3 * PATIENCE}
    app: Any = engine_app(address, name, chunks={source: 1}, broker_commit_interval=60.0, **lasting)

    @app.agent(app.topic(source, schema=RecordList()))  # type: ignore[untyped-decorator]
    async def agent(stream: Any) -> None:
        acker = OrderedAcker(app)
        async for event in stream.noack().events():
            await acker.add(event, [])
            seen.append(event.message.partition)

    return app


async def stopped_in_a_rebalance(address: str, name: str) -> tuple[int, list[int | None]]:
    """Stop one of two workers; the other leaves the group between its last record and its last commit.

    Returns how many members are left in the group, and the committed offsets.
    """
    await make_topics(address, f"{name}-in", partitions=2)
    seen: list[int] = []
    first, second = (_counting_app(address, name, seen) for _ in range(2))
    wait_empty, leaving = first._consumer_wait_empty, list[asyncio.Task[None]]()

    async def wait_for_rebalance(consumer: Any, logger: Any) -> None:
        if first.should_stop:
            leaving.append(asyncio.create_task(second.stop()))
            coordinator = first.consumer._thread._ensure_consumer()._coordinator
            await until(coordinator._rejoin_needed_fut.done)
            await asyncio.sleep(0.3)  # the rebalance goes as far as it can
        await wait_empty(consumer, logger)

    async with running(second):
        async with running(first):
            await until(lambda: len(first.consumer.assignment()) == len(second.consumer.assignment()) == 1)
            await feed(address, f"{name}-in", numbers(0, 40), partitions=2)
            await until(lambda: len(seen) == 40)
            first._consumer_wait_empty = wait_for_rebalance
        await asyncio.gather(*leaving)
    async with admin_at(address) as admin:
        members = (await admin.describe_consumer_groups([name]))[0].groups[0][5]
    return len(members), [await committed(address, name, f"{name}-in", partition) for partition in range(2)]


def test_a_worker_that_stops_in_a_rebalance_commits_and_leaves_the_group(broker: Broker, name: str) -> None:
    assert asyncio.run(stopped_in_a_rebalance(broker.address, name)) == (0, [20, 20])
