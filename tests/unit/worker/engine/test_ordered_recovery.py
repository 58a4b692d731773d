"""The queue of changelog records."""

import asyncio
from types import SimpleNamespace
from typing import Any

from mode.utils.queues import FlowControlEvent

from stream_lsh.worker.engine.reading.ordered_recovery import CurrentQueue


def event(offset: int, generation: int) -> Any:
    return SimpleNamespace(message=SimpleNamespace(offset=offset, generation_id=generation))


def test_records_of_an_earlier_generation_are_skipped_and_a_resumed_flow_loses_none() -> None:
    async def run() -> list[int]:
        flow = FlowControlEvent(initially_suspended=False)
        app = SimpleNamespace(
            conf=SimpleNamespace(stream_buffer_maxsize=10), flow_control=flow, consumer_generation_id=2
        )
        queue = CurrentQueue(app)
        for offset, generation in ((7, 1), (3, 2), (8, 1), (4, 2)):
            queue.put_nowait(event(offset, generation))
        flow.suspend()
        flow.resume()
        return [(await queue.get()).message.offset for _ in range(2)]

    assert asyncio.run(run()) == [3, 4]
