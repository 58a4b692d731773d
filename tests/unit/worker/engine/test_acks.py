"""An offset is acknowledged when an agent has finished it in the generation in which it came, and never otherwise."""

import asyncio
from collections import defaultdict, deque
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP

from stream_lsh.worker.engine import OrderedAcker
from stream_lsh.worker.engine.acknowledging.commits import ConfirmingConsumer
from stream_lsh.worker.engine.reading.coalescing import CoalescingConsumer
from stream_lsh.worker.engine.reading.polling import SteadyConsumer
from stream_lsh.worker.engine.transport import EngineConsumer

INNER, OTHER = TP("inner", 0), TP("inner", 1)


class Message(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]  # each is itself


def message(offset: int, *, tracked: bool = True, generation: int = 1) -> Any:
    return Message(tp=INNER, topic=INNER.topic, offset=offset, generation_id=generation, tracked=tracked, acked=False)


def coalescing() -> Any:
    """A consumer whose `inner` topic is delivered in chunks."""
    consumer: Any = object.__new__(CoalescingConsumer)
    consumer.chunks = {INNER.topic: 100}
    consumer.app = SimpleNamespace(
        consumer_generation_id=1, topics=SimpleNamespace(acks_enabled_for=lambda topic: True)
    )
    consumer._unacked_messages, consumer._pending = set(), defaultdict(deque)
    consumer._committed_offset, consumer._acked_index, consumer._acked = {INNER: 0}, defaultdict(set), defaultdict(list)
    consumer._n_acked, consumer._waiting_for_ack = 0, None
    return consumer


def delivered(consumer: Any, *offsets: int) -> list[Any]:
    """The messages of chunks that end at these offsets, which agents have received."""
    messages = []
    for offset in offsets:
        last = SimpleNamespace(
            topic=INNER.topic, partition=0, offset=offset, timestamp=0, timestamp_type=0, checksum=None
        )
        messages.append(consumer._delivered(INNER, [last]))
        messages[-1].tracked = True
    return messages


def test_a_skipped_message_is_not_acknowledged_and_does_not_block_others() -> None:
    seen, skipped, older = message(1), message(2, tracked=False), message(3, generation=0)
    consumer = coalescing()
    consumer._unacked_messages = {seen, skipped, older}
    assert [consumer.ack(one) for one in (seen, skipped, older)] == [True, False, False]
    assert (consumer._acked[INNER], consumer._unacked_messages) == ([1], set())


def test_a_commit_passes_over_no_chunk_that_is_not_acknowledged() -> None:
    consumer, offsets = coalescing(), list[int | None]()
    first, second, third = delivered(consumer, 4, 9, 12)
    for one in (third, first, second):
        consumer.ack(one)
        offsets.append(consumer._new_offset(INNER))
    assert offsets == [None, 5, 13]


def test_chunks_that_are_read_again_are_committed_like_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sought(self: SteadyConsumer) -> None:
        """The seek itself."""

    monkeypatch.setattr(SteadyConsumer, "perform_seek", sought, raising=False)
    consumer, offsets = coalescing(), list[int | None]()
    delivered(consumer, 4, 9)
    asyncio.run(consumer.perform_seek())
    for one in delivered(consumer, 4, 9, 12):
        consumer.ack(one)
        offsets.append(consumer._new_offset(INNER))
    assert offsets == [5, 10, 13]


def test_events_whose_generation_ended_before_their_outputs_were_stored_are_skipped() -> None:
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


def test_the_last_commit_is_not_replaced_by_one_that_began_before() -> None:
    async def run() -> list[str]:
        taken, answer = list[str](), asyncio.get_running_loop().create_future()
        consumer: Any = object.__new__(EngineConsumer)
        consumer.app, consumer.loop = SimpleNamespace(client_only=False), asyncio.get_running_loop()
        consumer._commit_fut, acknowledged = None, ["first"]

        async def force_commit(*_: Any, **__: Any) -> bool:
            taken.extend(acknowledged)
            acknowledged.clear()
            if len(taken) == 1:
                await answer
            return True

        consumer.force_commit = force_commit
        periodic = asyncio.create_task(consumer.commit())
        await asyncio.sleep(0)
        acknowledged.append("second")
        last = asyncio.create_task(consumer.commit_and_end_transactions())
        await asyncio.sleep(0)
        answer.set_result(None)
        await asyncio.gather(periodic, last)
        return taken

    assert asyncio.run(run()) == ["first", "second"]


class _Client:
    """The part of the engine's consumer that handles offsets."""

    def __init__(self) -> None:
        self._committed_offset: dict[TP, int | None] = {}
        self._assigned, self._answers = {INNER, OTHER}, [True, False, True]

    def assignment(self) -> set[TP]:
        return self._assigned

    async def perform_seek(self) -> None:
        self._committed_offset.update({INNER: 5, OTHER: None})

    async def _commit(self, offsets: dict[TP, int]) -> bool:
        return self._answers.pop(0)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        self._assigned = self._assigned - revoked


_Consumer = type("_Consumer", (ConfirmingConsumer, _Client), {})


def test_an_offset_is_committed_once_the_coordinator_has_confirmed_it() -> None:
    async def run() -> list[list[int | None]]:
        consumer: Any = _Consumer()
        seen = list[list[int | None]]()

        def look() -> None:
            seen.append([consumer.confirmed_offset(tp) for tp in (INNER, OTHER)])

        await consumer.perform_seek()
        look()
        for offset in (7, 9):  # the second one is refused
            await consumer._commit({INNER: offset, OTHER: offset})
            look()
        await consumer.on_partitions_revoked({OTHER})
        await consumer._commit({INNER: 11, OTHER: 11})
        look()
        return seen

    assert asyncio.run(run()) == [[5, None], [7, 7], [7, 7], [11, None]]
