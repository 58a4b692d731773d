"""What counts as acknowledged: what an agent has finished, of the generation in which it came, and nothing else."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

from faust.types import TP

from stream_lsh.worker.engine import OrderedAcker
from stream_lsh.worker.engine.coalescing import CoalescingConsumer

INNER = TP("inner", 0)


class Message(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]  # each is itself


def message(offset: int, *, tracked: bool = True, generation: int = 1) -> Any:
    return Message(tp=INNER, topic=INNER.topic, offset=offset, generation_id=generation, tracked=tracked, acked=False)


def test_what_a_stream_skipped_is_not_acknowledged_and_nothing_waits_for_it() -> None:
    seen, skipped, older = message(1), message(2, tracked=False), message(3, generation=0)
    consumer: Any = object.__new__(CoalescingConsumer)
    consumer.chunks = {INNER.topic: 100}
    consumer.app = SimpleNamespace(
        consumer_generation_id=1, topics=SimpleNamespace(acks_enabled_for=lambda topic: True)
    )
    consumer._unacked_messages = {seen, skipped, older}
    consumer._committed_offset, consumer._acked_index, consumer._acked = {INNER: 0}, {INNER: set()}, {INNER: []}
    consumer._n_acked, consumer._waiting_for_ack = 0, None
    assert [consumer.ack(one) for one in (seen, skipped, older)] == [True, False, False]
    assert (consumer._acked[INNER], consumer._unacked_messages) == ([1], set())


def test_events_whose_generation_ended_while_their_outputs_were_under_way_are_passed_over() -> None:
    async def run() -> tuple[list[int], list[int]]:
        acked, passed = list[int](), list[int]()
        futures = list[asyncio.Task[None]]()
        app = SimpleNamespace(
            consumer_generation_id=1,
            add_future=lambda running: futures.append(asyncio.ensure_future(running)),
            pass_over=lambda event: passed.append(event.message.offset),
        )
        acker, stored = OrderedAcker(app), asyncio.get_running_loop().create_future()
        for one in (message(1), message(2, generation=2)):
            await acker.add(SimpleNamespace(message=one, ack=partial(acked.append, one.offset)), [stored])
        app.consumer_generation_id = 2
        stored.set_result(None)
        await acker.drain()
        futures[0].cancel()
        return acked, passed

    assert asyncio.run(run()) == ([2], [1])
