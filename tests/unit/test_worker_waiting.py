"""What waits for an agent: together where it belongs together, in order, and only if it is this worker's."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.types import TP

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine import ContiguityGuard, EngineApp
from stream_lsh.worker.engine.waiting import rounds_of

ONE, TWO = TP("bands", 0), TP("bands", 1)
NOTHING: dict[TP, int] = {}  # committed


def event(tp: TP, first: int, last: int, generation: int = 1) -> Any:
    message = SimpleNamespace(tp=tp, topic=tp.topic, partition=tp.partition, offset=last, generation_id=generation)
    return SimpleNamespace(message=message, value=[SimpleNamespace(offset=at) for at in range(first, last + 1)])


def told(events: list[Any], most: int) -> list[list[tuple[TP, list[int], int]]]:
    """Partition, offsets and number of events of each batch of each round."""
    rounds = rounds_of(events, {"bands": most}.__getitem__)
    return [
        [(batch.tp, [record.offset for record in batch.records], len(batch.events)) for batch in batches]
        for batches in rounds
    ]


def test_events_of_a_partition_are_joined_in_their_order_over_those_of_others() -> None:
    events = [event(ONE, 0, 1), event(TWO, 5, 5), event(ONE, 2, 2), event(TWO, 6, 8), event(ONE, 3, 3)]
    assert told(events, 100) == [[(ONE, [0, 1, 2, 3], 3), (TWO, [5, 6, 7, 8], 2)]]


def test_a_batch_has_no_more_records_than_a_chunk_unless_a_single_event_has() -> None:
    events = [event(ONE, 0, 4), event(ONE, 5, 5), event(TWO, 0, 0), event(ONE, 6, 7), event(ONE, 8, 8)]
    assert told(events, 3) == [
        [(ONE, [0, 1, 2, 3, 4], 1), (TWO, [0], 1)],
        [(ONE, [5, 6, 7], 2)],
        [(ONE, [8], 1)],
    ]


def test_generations_are_not_mixed() -> None:
    assert told([event(ONE, 0, 0), event(ONE, 0, 1, generation=2)], 9) == [[(ONE, [0], 1)], [(ONE, [0, 1], 1)]]


def given(app: Any, events: list[Any], guard: ContiguityGuard) -> list[list[int]]:
    """What an agent gets of events that come while it works; the group is rebalanced at its first batch."""
    queue: asyncio.Queue[Any] = asyncio.Queue()

    async def stream() -> AsyncIterator[Any]:
        while not queue.empty():
            yield queue.get_nowait()

    async def agent() -> list[list[int]]:
        seen = []
        for one in events:
            queue.put_nowait(one)
        source = SimpleNamespace(noack=lambda: SimpleNamespace(events=stream), channel=SimpleNamespace(queue=queue))
        async for batch in EngineApp.current(app, source, guard):
            seen.append([record.offset for record in batch.records])
            app.consumer_generation_id = 2
        return seen

    return asyncio.run(agent())


def application(buffer: int) -> Any:
    conf = SimpleNamespace(stream_buffer_maxsize=buffer)
    app = cast(Any, SimpleNamespace(consumer_generation_id=1, chunks={"bands": 100}, conf=conf))
    app.rounds = partial(EngineApp.rounds, app)
    return app


def test_what_waits_is_taken_together_and_what_is_of_an_older_generation_left_to_its_owner() -> None:
    events = [event(ONE, 0, 0), event(ONE, 1, 2), event(TWO, 0, 0), event(TWO, 7, 7, generation=2)]
    assert given(application(64), events, ContiguityGuard(NOTHING.get)) == [[0, 1, 2], [7]]
    assert given(application(1), events, ContiguityGuard(NOTHING.get)) == [[0], [7]], "not more than the engine buffers"


def test_a_gap_between_events_that_wait_together_is_noticed() -> None:
    with pytest.raises(DoubtError, match="goes on at offset 5, and 1 had to come"):
        given(application(64), [event(ONE, 0, 0), event(ONE, 5, 5)], ContiguityGuard(NOTHING.get))
