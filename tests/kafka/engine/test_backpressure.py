"""Sources that are paused, or postponed, for some time."""

import asyncio
import time
from typing import Any, NamedTuple

import pytest

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import Backpressure, RecordList
from tests.kafka.harness import engine_app, feed, make_topics, numbers, running, until


async def rejoin(app: Any) -> None:
    generation, thread = app.consumer_generation_id, app.consumer._thread

    async def in_thread() -> None:
        thread._consumer._coordinator.request_rejoin()

    await thread.call_thread(in_thread)
    await until(lambda: app.consumer_generation_id > generation and not app.rebalancing)


def two_streams(address: str, name: str, **more: Any) -> tuple[Any, dict[str, list[bytes]]]:
    """An app that reads a source and an internal topic, and what it got of each."""
    topics = [f"{name}-source", f"{name}-inner"]
    app = engine_app(address, name, chunks=dict.fromkeys(topics, 50), **more)
    got: dict[str, list[bytes]] = {topic: [] for topic in topics}

    def read(topic: str) -> None:
        @app.agent(app.topic(topic, schema=RecordList()), name=topic)  # type: ignore[untyped-decorator]  # the app is of either kind
        async def agent(stream: Any) -> None:
            async for event in stream.noack().events():
                got[topic] += [record.value for record in event.value]
                event.ack()

    for topic in topics:
        read(topic)
    return app, got


async def closed_and_opened(address: str, name: str) -> list[int]:
    """How much of a source was read: while it was closed, after a rebalance, below the high mark, and opened again."""
    source, inner = f"{name}-source", f"{name}-inner"
    await make_topics(address, source, inner)
    app, got = two_streams(address, name)
    async with running(app):
        backpressure = Backpressure(app, [source], high_bytes=100, low_bytes=50)
        await feed(address, source, numbers(0, 100))
        await until(lambda: len(got[source]) == 100)
        await backpressure.report(101)
        await feed(address, source, numbers(100, 1100))
        await feed(address, inner, numbers(0, 1000))
        await until(lambda: len(got[inner]) == 1000)
        read_so_far = [len(got[source])]
        await rejoin(app)
        await feed(address, inner, numbers(1000, 2000))
        await until(lambda: len(set(got[inner])) == 2000)
        read_so_far.append(len(set(got[source])))
        await backpressure.report(60)
        await asyncio.sleep(0.3)
        read_so_far.append(len(set(got[source])))
        await backpressure.report(49)
        await until(lambda: len(set(got[source])) == 1100)
        return [*read_so_far, len(set(got[source]))]


def test_closed_sources_wait_and_internal_topics_go_on_across_a_rebalance(broker: Broker, name: str) -> None:
    assert asyncio.run(closed_and_opened(broker.address, name)) == [100, 100, 100, 1100]


async def closed_across_a_rebalance(address: str, name: str) -> None:
    """A worker that is no longer new looks for stalled partitions while its source is closed."""
    source, inner = f"{name}-source", f"{name}-inner"
    await make_topics(address, source, inner)
    app, got = two_streams(address, name, stream_processing_timeout=0.001)
    async with running(app):
        await Backpressure(app, [source], high_bytes=100, low_bytes=50).report(101)
        await rejoin(app)
        await feed(address, inner, numbers(0, 10))
        await until(lambda: len(got[inner]) == 10)
        await app.consumer.verify_all_partitions_active()


def test_a_closed_source_is_not_reported_as_stalled(
    broker: Broker, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(closed_across_a_rebalance(broker.address, name))
    assert [record.getMessage() for record in caplog.records if name in record.getMessage()] == []


async def seconds_to_reopen(address: str, name: str, fetch_max_wait_ms: int) -> float:
    source, inner = f"{name}-source", f"{name}-inner"
    await make_topics(address, source, inner)
    app, got = two_streams(address, name, fetch_max_wait_ms=fetch_max_wait_ms)
    worst = 0.0
    async with running(app):
        backpressure = Backpressure(app, [source])
        for turn in range(3):
            await backpressure.close()
            await feed(address, source, numbers(turn * 10, turn * 10 + 10))
            await asyncio.sleep(0.3)
            opened = time.monotonic()
            await backpressure.open()
            await until(lambda: len(got[source]) == turn * 10 + 10)  # noqa: B023 - awaited here
            worst = max(worst, time.monotonic() - opened)
    return worst


@pytest.mark.parametrize(("fetch_max_wait_ms", "at_most"), [(50, 1.0), (1500, 4.0)])
def test_an_opened_source_does_not_wait_for_the_fetch_under_way(
    broker: Broker, name: str, fetch_max_wait_ms: int, at_most: float
) -> None:
    worst = asyncio.run(seconds_to_reopen(broker.address, name, fetch_max_wait_ms))
    print(f"fetch_max_wait_ms={fetch_max_wait_ms}: {worst:.2f} s")
    assert worst < at_most
    assert fetch_max_wait_ms == 50 or worst > 0.4


class Requests(NamedTuple):
    """The requests of one turn of the client: when it decided on them, and their topics."""

    began: float
    ended: float
    topics: set[str]


async def requests_of(app: Any) -> list[Requests]:
    """A list that all further requests of a running app for records will join."""
    seen: list[Requests] = []
    thread = app.consumer._thread

    async def watch() -> None:
        fetcher = thread._ensure_consumer()._fetcher
        decide = fetcher._get_actions_per_node

        def watched(assignment: Any) -> Any:
            began = time.monotonic()
            found = decide(assignment)
            topics = {topic for _, request in found[0] for topic, _ in request.topics}
            seen.append(Requests(began, time.monotonic(), topics))
            return found

        fetcher._get_actions_per_node = watched

    await thread.call_thread(watch)
    return seen


async def postponed(address: str, name: str) -> tuple[list[Requests], float, float, list[int]]:
    """The requests of an app, from when to when its source was postponed, and the number of records of each topic."""
    source, inner = f"{name}-source", f"{name}-inner"
    await make_topics(address, source, inner)
    app, got = two_streams(address, name)
    async with running(app):
        seen = await requests_of(app)
        due = time.monotonic() + 2.0
        app.postpone(source, due)
        began = time.monotonic()
        for turn in range(10):
            await feed(address, source, numbers(turn * 10, turn * 10 + 10))
            await feed(address, inner, numbers(turn * 10, turn * 10 + 10))
            await until(lambda: len(got[inner]) == turn * 10 + 10)  # noqa: B023 - awaited here
        await until(lambda: len(got[source]) == 100)
        return seen, began, due, [len(set(got[topic])) for topic in (source, inner)]


def test_a_postponed_source_is_not_requested_until_it_is_due(broker: Broker, name: str) -> None:
    seen, began, due, counts = asyncio.run(postponed(broker.address, name))
    meanwhile = [one.topics for one in seen if one.began > began and one.ended < due]
    assert f"{name}-inner" in set().union(*meanwhile)
    assert f"{name}-source" not in set().union(*meanwhile)
    assert counts == [100, 100]
