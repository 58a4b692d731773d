"""The batches of an agent: joined by partition and generation, in order, and only of partitions of this worker."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.types import TP

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine import ContiguityGuard, EngineApp
from stream_lsh.worker.engine.reading.batching import rounds_of

ONE, TWO = TP("bands", 0), TP("bands", 1)
NOTHING: dict[TP, int] = {}  # committed


def event(tp: TP, first: int, last: int, generation: int = 1, value: bytes | None = b"") -> Any:
    message = SimpleNamespace(
        tp=tp, topic=tp.topic, partition=tp.partition, offset=last, generation_id=generation, tracked=False
    )
    records = [SimpleNamespace(offset=at, value=value) for at in range(first, last + 1)]
    return SimpleNamespace(message=message, value=records)


def batches_of(events: list[Any], most: int) -> list[list[tuple[TP, list[int], int]]]:
    """Partition, offsets and number of events of each batch of each round."""
    rounds = rounds_of(events, {"bands": most}.__getitem__)
    return [
        [(batch.tp, [record.offset for record in batch.records], len(batch.events)) for batch in batches]
        for batches in rounds
    ]


def test_events_of_a_partition_are_joined_in_their_order_over_those_of_others() -> None:
    events = [event(ONE, 0, 1), event(TWO, 5, 5), event(ONE, 2, 2), event(TWO, 6, 8), event(ONE, 3, 3)]
    assert batches_of(events, 100) == [[(ONE, [0, 1, 2, 3], 3), (TWO, [5, 6, 7, 8], 2)]]


def test_a_batch_has_no_more_records_than_a_chunk_unless_a_single_event_has() -> None:
    events = [event(ONE, 0, 4), event(ONE, 5, 5), event(TWO, 0, 0), event(ONE, 6, 7), event(ONE, 8, 8)]
    assert batches_of(events, 3) == [
        [(ONE, [0, 1, 2, 3, 4], 1), (TWO, [0], 1)],
        [(ONE, [5, 6, 7], 2)],
        [(ONE, [8], 1)],
    ]


def test_a_batch_has_no_more_bytes_than_two_fetches_unless_a_single_event_has() -> None:
    values = [bytes(3 << 20), None, bytes(1 << 20), bytes(1 << 20), b"1"]
    events = [event(ONE, at, at, value=value) for at, value in enumerate(values)]
    assert batches_of(events, 100) == [[(ONE, [0], 1)], [(ONE, [1, 2, 3], 3)], [(ONE, [4], 1)]]


def test_generations_are_not_mixed() -> None:
    assert batches_of([event(ONE, 0, 0), event(ONE, 0, 1, generation=2)], 9) == [[(ONE, [0], 1)], [(ONE, [0, 1], 1)]]


class Application:
    """The part of the engine that the rounds of an agent use."""

    def __init__(self) -> None:
        self.consumer_generation_id, self.chunks, self.flows = 1, {"bands": 100}, True
        self.tracked = list[Any]()
        self.flow_control = SimpleNamespace(is_active=lambda: self.flows)
        self.topics = SimpleNamespace(acks_enabled_for={"bands"}.__contains__)
        self.unacked = set[int]()  # ids of messages
        self.consumer = SimpleNamespace(
            track_message=self._track,
            _unacked_messages=SimpleNamespace(discard=lambda one: self.unacked.discard(id(one))),
        )
        self._waiting = partial(EngineApp._waiting, cast(Any, self))
        self._is_current = partial(EngineApp._is_current, cast(Any, self))
        self.pass_over = partial(EngineApp.pass_over, cast(Any, self))
        self.rounds = partial(EngineApp.rounds, cast(Any, self))

    def _track(self, message: Any) -> None:
        self.tracked.append(message)
        self.unacked.add(id(message))


def given(app: Any, events: list[Any], guard: ContiguityGuard) -> list[list[int]]:
    """The batches that an agent receives of queued events; the group is rebalanced at its first batch."""
    queue: asyncio.Queue[Any] = asyncio.Queue()

    async def stream() -> AsyncIterator[Any]:
        """Drops events of another generation or of a suspended flow, and waits for more, as the engine's."""
        while not queue.empty():
            one = queue.get_nowait()
            if app.flows and one.message.generation_id == app.consumer_generation_id:
                one.message.tracked = True
                yield one

    async def agent() -> list[list[int]]:
        seen = []
        for one in events:
            queue.put_nowait(one)
        source = SimpleNamespace(noack=lambda: SimpleNamespace(events=stream), channel=SimpleNamespace(queue=queue))
        async for batch in EngineApp.current(app, source, guard):
            seen.append([record.offset for record in batch.records])
            app.consumer_generation_id = 2
            queue.put_nowait(event(TWO, 7, 7, generation=2))
            if len(seen) == 2:
                return seen
        return seen

    return asyncio.run(agent())


def test_queued_events_are_joined_and_tracked_and_those_of_an_older_generation_left_to_their_owner() -> None:
    app, events = Application(), [event(ONE, 0, 0), event(ONE, 1, 2), event(TWO, 0, 0), event(TWO, 9, 9, generation=3)]
    assert given(app, events, ContiguityGuard(NOTHING.get)) == [[0, 1, 2], [7]]
    assert app.tracked == [one.message for one in events[1:3]], "the stream has tracked the first"


def test_no_rebalance_waits_for_dropped_events_of_an_older_generation() -> None:
    app, events = Application(), [event(ONE, 0, 0), event(TWO, 0, 0)]
    given(app, events, ContiguityGuard(NOTHING.get))
    assert app.tracked == [events[1].message], "it was current when the round was made"
    assert app.unacked == set()


def test_a_batch_does_not_wait_for_events_that_are_dropped_behind_it() -> None:
    app, events = Application(), [event(ONE, 0, 0), event(ONE, 1, 1)]
    rounds = EngineApp.rounds(cast(Any, app), _stream_that_stops_after_one(app, events), ContiguityGuard(NOTHING.get))

    async def run() -> list[Any]:
        return await asyncio.wait_for(anext(rounds), 1.0)

    (batch,) = asyncio.run(run())
    assert [record.offset for record in batch.records] == [0]
    assert app.tracked == []


def _stream_that_stops_after_one(app: Application, events: list[Any]) -> Any:
    """The flow is suspended as soon as the first event is out."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    for one in events[1:]:
        queue.put_nowait(one)

    async def stream() -> AsyncIterator[Any]:
        app.flows = False
        yield events[0]
        await asyncio.Event().wait()

    return SimpleNamespace(noack=lambda: SimpleNamespace(events=stream), channel=SimpleNamespace(queue=queue))


def test_a_gap_between_events_that_wait_together_is_noticed() -> None:
    with pytest.raises(DoubtError, match="continues at offset 5, expected 1"):
        given(Application(), [event(ONE, 0, 0), event(ONE, 5, 5)], ContiguityGuard(NOTHING.get))
