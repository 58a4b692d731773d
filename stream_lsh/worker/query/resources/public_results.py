"""The public topics as they grow, for all listeners of this process: one consumer without a group, while there are any.

A listener that reads too slowly is disconnected, because its messages would fill the memory of the worker.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.resources.event_stream import events, place_event
from stream_lsh.worker.security import client_security

MOST_LISTENERS = 64
MOST_WAITING_BYTES = 4 << 20
"""The bytes that may wait for one listener."""
READING = "public results"
"""The task of the consumer."""
_WAIT_MS = 200
_log = logging.getLogger(__name__)


class Listener:
    """The queue of one listener.

    Args:
        topics: the topics of its events, by type.
        partitions: of each topic.
        cut: closes the connection of a listener that is too slow: a write to it may wait without an end.
    """

    def __init__(self, topics: Mapping[str, str], partitions: int, cut: Callable[[], None]) -> None:
        self._cut = cut
        self.types = {topic: kind for kind, topic in topics.items()}
        self.place = {kind: [0] * partitions for kind in topics}
        self.ended = False
        self._parts, self._bytes = list[bytes](), 0
        self._more = asyncio.Event()

    def add(self, batches: Mapping[TP, bytes], ends: Mapping[TP, int]) -> None:
        """Append the events of new records; ends for a listener that is too slow."""
        before = self._bytes
        for tp, lines in batches.items():
            kind = self.types.get(tp.topic)
            if kind is not None:
                self.place[kind][tp.partition] = ends[tp]
                self._parts.append(lines)
                self._bytes += len(lines)
        if self._bytes > before:
            self._parts.append(place_event(self.place))
            self._more.set()
        if self._bytes > MOST_WAITING_BYTES:
            self.end()
            self._cut()

    def end(self) -> None:
        """End the stream, without what still waits."""
        self.ended = True
        self._parts.clear()
        self._more.set()

    async def taken(self, seconds: float) -> bytes:
        """The lines that wait; empty after `seconds` without any, and at the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._more.wait()
        lines = b"".join(self._parts)
        self._parts, self._bytes = [], 0
        if not self.ended:
            self._more.clear()
        return lines


class PublicResults:
    """The listeners of one process, and their consumer.

    Args:
        kafka: the brokers.
    """

    def __init__(self, kafka: KafkaConfig) -> None:
        self._kafka = kafka
        self._listeners: set[Listener] = set()
        self._partitions: list[TP] = []
        self._next: dict[TP, int] = {}
        self._reading: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def listening(self, listener: Listener, partitions: Sequence[TP]) -> AsyncIterator[None]:
        """Add the events of all further records to a listener; its place is the beginning.

        Args:
            listener: the listener.
            partitions: of all topics that a listener may follow.

        Raises:
            Problem: busy; the process has as many listeners as it may.
        """
        if len(self._listeners) >= MOST_LISTENERS:
            raise Problem("busy", f"got a listener while there are {MOST_LISTENERS}, expected fewer at a time")
        self._listeners.add(listener)
        try:
            async with self._lock:
                if self._reading is None or self._reading.done():
                    await self._begin(partitions)
            for tp, offset in self._next.items():
                if (kind := listener.types.get(tp.topic)) is not None:
                    listener.place[kind][tp.partition] = offset
            yield
        finally:
            self._listeners.discard(listener)
            if not self._listeners:
                await self._end_reading()

    async def stop(self) -> None:
        """End all streams."""
        for listener in self._listeners:
            listener.end()
        await self._end_reading()

    async def _begin(self, partitions: Sequence[TP]) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=list(self._kafka.brokers),
            isolation_level="read_committed",
            enable_auto_commit=False,
            auto_offset_reset="earliest",  # of a partition whose head is deleted meanwhile, read the rest
            fetch_max_wait_ms=_WAIT_MS,
            **client_security(self._kafka),
        )
        try:
            await consumer.start()
            consumer.assign(list(partitions))
            self._next = await consumer.end_offsets(list(partitions))
            for tp, offset in self._next.items():
                consumer.seek(tp, offset)
        except Exception as error:
            await consumer.stop()
            _log.warning("the query API cannot read the public topics: %s", error)
            raise Problem("not-now", "the public topics cannot be read") from error
        except BaseException:
            await consumer.stop()
            raise
        self._reading = asyncio.create_task(self._read(consumer), name=READING)

    async def _end_reading(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    async def _read(self, consumer: Any) -> None:
        """Pass on records, until cancelled."""
        try:
            while True:
                self._pass_on(await consumer.getmany(timeout_ms=_WAIT_MS))
        except Exception as error:  # the listeners ask again; the worker goes on
            _log.warning("the query API can no longer read the public topics: %s", error)
            for listener in self._listeners:
                listener.end()
        finally:
            await consumer.stop()

    def _pass_on(self, records: Mapping[Any, Sequence[Any]]) -> None:
        wanted = {topic: kind for listener in self._listeners for topic, kind in listener.types.items()}
        batches = {}
        for tp, found in records.items():
            self._next[TP(*tp)] = found[-1].offset + 1
            if tp.topic in wanted:
                batches[TP(*tp)] = events(wanted[tp.topic], found)
        for listener in [*self._listeners]:
            listener.add(batches, self._next)
