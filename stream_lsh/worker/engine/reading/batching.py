"""An agent takes all waiting events together.

Fault (faust-streaming 0.15.3): every fetch of the consumer becomes separate events, however few records it brought, and
an agent gets one after the other.  At some hundred records a second a fetch brings one record; an agent that awaits a
delivery for each falls behind, and the records wait in a queue of small events.  Measured at 100 documents a second on
a slow machine: 250 ms in this queue alone, and 10 ms with batches.

So an agent takes all events that wait, and those of one partition as one batch: one record if the agent keeps up, and
with a backlog as many as a chunk may have, or two mebibytes of them.  Batches of several partitions are independent: a
round is one of each, and an agent may await its deliveries for all.

Delete when: the engine delivers waiting records together, not fetch by fetch.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from faust.types import TP

_BYTES = 2 << 20
"""The values of a batch: as much as two fetches bring.  A single event may have more."""


class Batch:
    """Consecutive events of one partition and one generation of the group.

    Attributes:
        events: to be acknowledged, in their order.
        records: of all of them.
        tp: the topic and the partition of the records.
        generation_id: of the group, when they came.
    """

    __slots__ = ("_bytes", "events", "generation_id", "records", "tp")

    def __init__(self, event: Any) -> None:
        self.events = [event]
        self.records: list[Any] = list(event.value)
        self.tp: TP = event.message.tp
        self.generation_id: int = event.message.generation_id
        self._bytes = _size(event)

    @property
    def partition(self) -> int:
        """Of the topic."""
        return self.tp.partition

    @property
    def offset(self) -> int:
        """Of the last record."""
        return int(self.records[-1].offset)

    def try_add(self, event: Any, most: int) -> bool:
        """Add an event if it continues this batch and there is room; returns whether it was added."""
        size = self._bytes + _size(event)
        if event.message.generation_id != self.generation_id or len(self.records) + len(event.value) > most:
            return False
        if size > _BYTES:
            return False
        self._bytes = size
        self.events.append(event)
        self.records += event.value
        return True


def _size(event: Any) -> int:
    return sum(len(record.value or b"") for record in event.value)


def rounds_of(events: Sequence[Any], most: Callable[[str], int]) -> Iterator[list[Batch]]:
    """The events as batches, in rounds of one of each partition; all of a partition keep their order.

    Args:
        events: each a list of records of one partition.
        most: the records of a batch, by topic; one event may have more.
    """
    batches: dict[TP, list[Batch]] = {}
    for event in events:
        of_tp = batches.setdefault(event.message.tp, [])
        if not of_tp or not of_tp[-1].try_add(event, most(event.message.topic)):
            of_tp.append(Batch(event))
    for turn in range(max(map(len, batches.values()), default=0)):
        yield [of_tp[turn] for of_tp in batches.values() if turn < len(of_tp)]
