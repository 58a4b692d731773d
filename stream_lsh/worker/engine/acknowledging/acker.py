"""Events are acked in order, after all records that result from them are stored.

Fault (faust-streaming 0.15.3): an event is acked when the agent asks for the next one, whether or not anything it
sent was stored, and the commit passes over failures.  Measured: three failed deliveries, three records
lost.  `table[key] = value` is not awaited at all: 70 of 103 changelog records missing after a kill -9.  The flush
before a commit gives up after 0.1 s.

    acker = OrderedAcker(app, window=16)
    async for event in stream.noack().events():
        deliveries = [await app.produce(topic, key, value, partition), ...]
        await acker.add(event, deliveries)

Delete when: the engine acks an event after the deliveries made while it was processed.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Iterable
from typing import Any

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine.crash import halt
from stream_lsh.worker.engine.reading.batching import Batch


class OrderedAcker:
    """Acks the events of one agent.

    Args:
        app: the app of the agent.
        window: how many events may wait for their deliveries; `add` waits while there are more.
    """

    def __init__(self, app: Any, window: int = 64) -> None:
        self._app = app
        self._window = window
        self._waiting: deque[tuple[Any, tuple[Awaitable[Any], ...]]] = deque()
        self._more = asyncio.Event()
        self._fewer = asyncio.Event()
        self._running = False

    async def add(self, event: Any, deliveries: Iterable[Awaitable[Any]]) -> None:
        """Ack `event` once its deliveries are confirmed and all events before it are acked.

        Guarantees:
            the first delivery that fails ends the worker, and nothing from its event on is ever acked.
        """
        if not self._running:
            self._running = True
            self._app.add_future(self._run())  # ends with the app
        self._waiting.append((event, tuple(deliveries)))
        self._more.set()
        while len(self._waiting) >= self._window:
            await self._change()

    async def add_batch(self, batch: Batch, deliveries: Iterable[Awaitable[Any]]) -> None:
        """Ack all events of a batch once its deliveries are confirmed; as `add`."""
        first, *others = batch.events
        await self.add(first, deliveries)
        for event in others:  # which are behind the first, and so behind the deliveries
            await self.add(event, ())

    async def drain(self) -> None:
        """Wait until everything that was added is acked."""
        while self._waiting:
            await self._change()

    async def _change(self) -> None:
        self._fewer.clear()
        await self._fewer.wait()

    async def _run(self) -> None:
        while True:
            while not self._waiting:
                self._more.clear()
                await self._more.wait()
            event, deliveries = self._waiting[0]
            try:
                for delivery in deliveries:
                    await delivery
            except Exception as error:
                message = event.message
                doubt = DoubtError(f"a record made from {message.tp} at {message.offset} was not stored: {error!r}")
                doubt.__cause__ = error
                await halt(self._app, doubt)
            # The owner of the partition in the newer generation reads an event of an older one again.
            if event.message.generation_id == self._app.consumer_generation_id:
                event.ack()
            else:
                self._app.pass_over(event)
            self._waiting.popleft()
            self._fewer.set()
