"""What has expired: the horizon, and queues that hand out what it passes.

Event time decides, never a clock: a version expires when the horizon passes its time, or when its offset falls below
the floor of its source partition (`max_documents`).
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from stream_lsh.model import ref_offset, ref_partition

BEGINNING_MS = -(1 << 62)
"""Before every event time: nothing has been seen, nothing has expired."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """What is forgotten: versions older than `time_ms`, and those below the offset floor of their source partition.

    Example:
        >>> Horizon(1_000).passed(999, ref=0), Horizon(1_000).passed(1_000, ref=0)
        (True, False)
        >>> Horizon(BEGINNING_MS, floors=(5,)).passed(1_000, ref=4)
        True
    """

    time_ms: int = BEGINNING_MS
    floors: tuple[int, ...] = ()

    def passed(self, time_ms: int, ref: int) -> bool:
        """Whether a version of this event time and ref has expired."""
        if time_ms < self.time_ms:
            return True
        partition = ref_partition(ref)
        return partition < len(self.floors) and ref_offset(ref) < self.floors[partition]

    def joined(self, other: "Horizon") -> "Horizon":
        """The further of both, element by element: a horizon never falls."""
        size = max(len(self.floors), len(other.floors))
        pad = (0,) * size
        floors = tuple(map(max, (self.floors + pad)[:size], (other.floors + pad)[:size]))
        return Horizon(max(self.time_ms, other.time_ms), floors)


class ExpiryQueue:
    """Keys by the time and the ref at which they expire.

    A key may be pushed again with later values; the earlier entry stays until it is due, so whoever pops must check
    that the key is still what it was.

    Cost: O(log n) a push; a pop of what is due costs O(log n) each, and nothing when nothing is due.
    """

    __slots__ = ("_by_offset", "_by_time")

    def __init__(self) -> None:
        self._by_time: list[tuple[int, str]] = []
        self._by_offset: dict[int, list[tuple[int, str]]] = {}

    def push(self, key: str, time_ms: int, ref: int) -> None:
        """Hand out `key` once the horizon passes `time_ms`, or the offset of `ref` on its partition."""
        heapq.heappush(self._by_time, (time_ms, key))
        heapq.heappush(self._by_offset.setdefault(ref_partition(ref), []), (ref_offset(ref), key))

    def pop_due(self, horizon: Horizon) -> Iterator[str]:
        """Keys of entries that the horizon has passed; a key can come more than once."""
        due = self._by_time
        while due and due[0][0] < horizon.time_ms:
            yield heapq.heappop(due)[1]
        for partition, floor in enumerate(horizon.floors):
            due = self._by_offset.get(partition, [])
            while due and due[0][0] < floor:
                yield heapq.heappop(due)[1]
