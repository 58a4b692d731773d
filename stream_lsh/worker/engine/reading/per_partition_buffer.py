"""Per-partition buffer: a full stream queue delays only its own partitions.

Fault (faust-streaming 0.15.3): one loop delivers the records of ALL partitions, and where the queue of a stream is
full, it waits for that stream.  So an agent that stalls stops every other, of other pipelines too.  And the records
fetched from a source, a thousand documents and more, precede all work on its own outputs.

A stream with a full queue gets no records, its partitions are not fetched, and records that were fetched before wait
here, in their order.  A rebalance drops them: they are read again from the committed offset.  The same applies to
the changelogs that a standby follows, which the recovery service reads; a rebalance reads them again from the ends
of their states.

Delete when: the engine delivers to each stream separately.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from faust.types import TP

from stream_lsh.worker.engine.reading.coalescing import CoalescingConsumer
from stream_lsh.worker.engine.reading.polling import IDLE_SECONDS, Records

ENOUGH = 16
"""Events, which are chunks, in the queue of a stream: some rounds of its agent."""


class HoldingConsumer(CoalescingConsumer):
    """The coalescing consumer, which never waits for a stream."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: dict[TP, deque[Any]] = {}
        self._held_generation = 0

    def _deliveries(self, records: Records) -> Iterable[tuple[TP, Any]]:
        """The records for which the streams have room: those that were held first, then the new ones."""
        if self._held_generation != self.app.consumer_generation_id:
            self._held.clear()
            self._held_generation = self.app.consumer_generation_id
        for tp, held in tuple(self._held.items()):
            while held and self._has_room(tp):
                yield tp, held.popleft()
            if not held:
                self._held.pop(tp, None)
        for tp, delivery in super()._deliveries(records):
            if tp in self._held or not self._has_room(tp):
                self._held.setdefault(tp, deque()).append(delivery)
            else:
                yield tp, delivery

    def _has_room(self, tp: TP) -> bool:
        """Whether the streams of a partition, or the recovery service for a followed one, have room."""
        if not self.app.topics.acks_enabled_for(tp.topic):
            tables: Any = self.app.tables
            return bool(self.app.in_recovery or tables.changelog_queue.qsize() < ENOUGH)
        channels: Iterable[Any] = self.app.topics._tp_index.get(tp, ())  # type: ignore[attr-defined]  # of Conductor
        return all(channel.queue.qsize() < ENOUGH for channel in channels)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Records:
        if not active_partitions or not self._held:
            return await super()._getmany(active_partitions, timeout)
        asked = active_partitions - self._held.keys()
        if asked:
            return await super()._getmany(asked, IDLE_SECONDS)  # soon there may be room
        await self.sleep(IDLE_SECONDS)  # an empty set would mean all
        return {}

    def holds(self, tp: TP) -> bool:
        """Whether records of a partition were fetched and not delivered yet."""
        return tp in self._held

    async def perform_seek(self) -> None:
        """Go back to the committed offsets, and drop the held records; changelogs have no committed offsets."""
        for tp in tuple(self._held):
            if self.app.topics.acks_enabled_for(tp.topic):
                del self._held[tp]
        await super().perform_seek()
