"""A full stream receives no more records; the buffered ones come later, in their order."""

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.types import TP

from stream_lsh.worker.engine.reading.coalescing import CoalescingConsumer
from stream_lsh.worker.engine.reading.per_partition_buffer import ENOUGH, HoldingConsumer

SLOW, QUICK, CHANGELOG = TP("slow", 0), TP("quick", 0), TP("changelog", 0)


class Channel:
    def __init__(self) -> None:
        self.queue = asyncio.Queue[Any]()


class Streams:
    """A consumer whose deliveries land in the queues of streams."""

    def __init__(self) -> None:
        self.channels = {tp: Channel() for tp in (SLOW, QUICK, CHANGELOG)}
        self.consumer = cast(Any, object.__new__(HoldingConsumer))
        self.consumer.chunks = {tp.topic: 1 for tp in self.channels}
        self.consumer._held, self.consumer._held_generation = {}, 1
        self.consumer.app = SimpleNamespace(
            consumer_generation_id=1,
            in_recovery=True,
            tables=SimpleNamespace(changelog_queue=self.channels[CHANGELOG].queue),
            topics=SimpleNamespace(
                acks_enabled_for=lambda topic: topic != CHANGELOG.topic,
                _tp_index={tp: {channel} for tp, channel in self.channels.items()},
            ),
        )

    def poll(self, **offsets: Iterable[int]) -> None:
        """These records have been fetched."""
        records = {TP(topic, 0): list(some) for topic, some in offsets.items()}
        for tp, (record,) in self.consumer._deliveries(records):
            self.channels[tp].queue.put_nowait(record)

    def take(self, tp: TP, count: int = 1_000) -> list[int]:
        """The agent takes the buffered records."""
        queue = self.channels[tp].queue
        return [queue.get_nowait() for _ in range(min(count, queue.qsize()))]


async def sought(self: CoalescingConsumer) -> None:
    """The seek itself."""


def test_a_stream_that_has_enough_waits_alone_and_gets_everything_in_order() -> None:
    streams = Streams()
    streams.poll(slow=range(20), quick=range(3), changelog=range(50))
    assert (len(streams.take(QUICK)), len(streams.take(CHANGELOG))) == (3, 50)
    assert [streams.consumer.holds(tp) for tp in (SLOW, QUICK, CHANGELOG)] == [True, False, False]
    taken = streams.take(SLOW, 2)
    streams.poll(quick=[3])
    assert streams.take(QUICK) == [3]
    taken += streams.take(SLOW)
    assert taken == list(range(ENOUGH + 2))
    streams.poll(slow=[20, 21])
    assert streams.take(SLOW) == [18, 19, 20, 21]
    assert not streams.consumer.holds(SLOW)


def test_a_followed_changelog_is_buffered_as_well_and_no_seek_of_the_sources_loses_any_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CoalescingConsumer, "perform_seek", sought)
    streams = Streams()
    streams.consumer.app.in_recovery = False
    streams.poll(slow=range(20), changelog=range(50))
    assert len(streams.take(CHANGELOG)) == ENOUGH
    asyncio.run(streams.consumer.perform_seek())
    assert [streams.consumer.holds(tp) for tp in (SLOW, CHANGELOG)] == [False, True]
    streams.poll(changelog=[50])
    assert streams.take(CHANGELOG) == list(range(ENOUGH, 2 * ENOUGH))
    streams.consumer.app.in_recovery = True
    streams.poll()
    assert streams.take(CHANGELOG) == list(range(2 * ENOUGH, 51)), "a recovery waits for nothing"


def test_records_of_a_buffered_partition_are_buffered_behind_it() -> None:
    streams = Streams()
    streams.poll(slow=range(ENOUGH + 1))
    streams.take(SLOW, 5)
    streams.consumer._held[SLOW].append([99])  # there is room for both
    streams.poll(slow=[100])
    assert streams.take(SLOW)[-3:] == [ENOUGH, 99, 100]


def test_a_rebalance_and_a_seek_forget_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CoalescingConsumer, "perform_seek", sought)
    streams = Streams()
    streams.poll(slow=range(30))
    asyncio.run(streams.consumer.perform_seek())
    assert not streams.consumer.holds(SLOW)
    streams.poll(slow=range(30))
    streams.consumer.app.consumer_generation_id = 2
    streams.take(SLOW)
    streams.poll(slow=range(3))
    assert streams.take(SLOW) == [0, 1, 2]


def test_buffered_partitions_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[TP] | None] = []

    async def getmany(self: CoalescingConsumer, active_partitions: set[TP] | None, timeout: float) -> dict[TP, Any]:
        asked.append(active_partitions)
        return {}

    async def sleep(seconds: float) -> None:
        """Nothing waits for a test."""

    monkeypatch.setattr(CoalescingConsumer, "_getmany", getmany)
    streams = Streams()
    streams.consumer.sleep = sleep
    asyncio.run(streams.consumer._getmany({SLOW, QUICK}, 1.0))
    streams.poll(slow=range(30))
    asyncio.run(streams.consumer._getmany({SLOW, QUICK}, 1.0))
    assert asyncio.run(streams.consumer._getmany({SLOW}, 1.0)) == {}
    assert asked == [{SLOW, QUICK}, {QUICK}], "and never an empty set, which means all"
