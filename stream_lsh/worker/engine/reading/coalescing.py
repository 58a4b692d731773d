"""One event of the engine carries many Kafka records, and offsets are committed in the order of delivery.

Fault (faust-streaming 0.15.3): an EVENT costs some 50 us whatever its size (three turns of the loop, two tasks), so
18,900 records/s where aiokafka alone reads 558,000; with chunks 532,000.  `take(n)` does not help.
Fault (the same): `_new_offset` tolerates one unacked offset at the head and commits past it; kill -9 loses that one.

An event's value is the list of aiokafka's records of one partition; its offset is that of the LAST one, so that one
ack stands for the chunk.  The committed offset follows the deliveries strictly: nothing behind an unacked chunk is
committed. One agent with concurrency 1 per coalesced topic.  Changelogs can be coalesced too; they are never acked.

Fault (the same): a stream acknowledges events that it skips because the flow is suspended or the group was rebalanced.
Such a chunk was not processed; when it is read again and ends at the same offset, it would be committed too early.

Delete when: never, because of the cost; the commits when none passes over an unacked offset, `ack` when skipped events
are not acknowledged.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import faust
from faust.types import TP, ConsumerMessage

from stream_lsh.worker.engine.reading.polling import Records, SteadyConsumer


class RecordList(faust.Schema[Any, Any]):
    """The schema of a coalesced topic: the list of records as it is.

    Decoding belongs inside the agent's own `try`: an error in the engine's codec acks the message.
    """

    def loads_key(self, app: Any, message: Any, *, loads: Any = None, serializer: Any = None) -> Any:
        """No key: every record has its own."""
        return message.key

    def loads_value(self, app: Any, message: Any, *, loads: Any = None, serializer: Any = None) -> Any:
        """The list of aiokafka's ConsumerRecord."""
        return message.value


class CoalescingConsumer(SteadyConsumer):
    """The steady consumer, with the topics of `chunks` delivered in chunks.

    Attributes:
        chunks: topic -> records per event at most.
    """

    chunks: Mapping[str, int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pending: defaultdict[TP, deque[int]] = defaultdict(deque)  # last offsets of the chunks, as delivered

    def _deliveries(self, records: Records) -> Iterable[tuple[TP, Any]]:
        """Chunks first, in turns over the partitions, then the single records."""
        single: dict[TP, list[Any]] = {}
        chunked: list[list[tuple[TP, list[Any]]]] = []
        for tp, of_tp in records.items():
            size = self.chunks.get(tp.topic)
            if size is None:
                single[tp] = of_tp
            else:
                chunked.append([(tp, of_tp[start : start + size]) for start in range(0, len(of_tp), size)])
        return self._in_turns(chunked, single)

    def _in_turns(self, chunked: list[list[tuple[TP, list[Any]]]], single: Records) -> Iterator[tuple[TP, Any]]:
        for turn in range(max(map(len, chunked), default=0)):
            for chunks in chunked:
                if turn < len(chunks):
                    yield chunks[turn]
        if single:
            yield from self.scheduler.iterate(single)

    def _delivered(self, tp: TP, delivery: Any) -> ConsumerMessage:
        if not isinstance(delivery, list):
            return super()._delivered(tp, delivery)
        last = delivery[-1]
        if self.app.topics.acks_enabled_for(last.topic):
            self._pending[tp].append(last.offset)
        return ConsumerMessage(
            last.topic,
            last.partition,
            last.offset,
            last.timestamp / 1000.0,
            last.timestamp_type,
            None,
            None,
            delivery,  # type: ignore[arg-type]  # the engine passes the value on unseen
            last.checksum,
            0,
            0,
            tp,
            generation_id=self.app.consumer_generation_id,
        )

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        if tp.topic not in self.chunks:  # the offsets of chunks always jump: not a gap
            await super()._add_gap(tp, offset_from, offset_to)

    def ack(self, message: Any) -> bool:
        """Accept an acknowledgement, unless its message reached no agent or is of an older generation."""
        current = message.generation_id == self.app.consumer_generation_id
        if message.topic in self.chunks and not (message.tracked and current):
            message.acked = True
            self._unacked_messages.discard(message)
            return False
        return super().ack(message)

    def _new_offset(self, tp: TP) -> int | None:
        if tp.topic not in self.chunks:
            return super()._new_offset(tp)
        pending, acked, last = self._pending[tp], self._acked_index[tp], None
        while pending and pending[0] in acked:
            last = pending.popleft()
            acked.discard(last)
        if last is None:
            return None
        self._acked[tp] = [offset for offset in self._acked[tp] if offset > last]
        return last + 1

    async def perform_seek(self) -> None:
        """Go back to the committed offsets: all unacknowledged records will be read again."""
        for tp in self._pending:
            self._acked.pop(tp, None)
            self._acked_index.pop(tp, None)
        self._pending.clear()
        await super().perform_seek()
