"""Expiry: the horizon, and queues that return the keys that it passes.

Expiry depends on event time, never on a clock: a version expires when the horizon passes its time, or when its offset
falls below the floor of its source partition (`max_documents`).
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stream_lsh.model import ref_offset, ref_partition

BEGINNING_MS = -(1 << 62)
"""Before every event time: the horizon before the first document."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """The limit of expiry: versions older than `time_ms`, or below the offset floor of their partition, have expired.

    Example:
        >>> Horizon(1_000).passed(999, ref=0), Horizon(1_000).passed(1_000, ref=0)
        (True, False)
        >>> Horizon(BEGINNING_MS, min_offsets=(5,)).passed(1_000, ref=4)
        True
    """

    time_ms: int = BEGINNING_MS
    min_offsets: tuple[int, ...] = ()

    def passed(self, time_ms: int, ref: int) -> bool:
        """Whether a version of this event time and ref has expired."""
        if time_ms < self.time_ms:
            return True
        partition = ref_partition(ref)
        return partition < len(self.min_offsets) and ref_offset(ref) < self.min_offsets[partition]

    def max(self, other: "Horizon") -> "Horizon":
        """The further of both, element by element: a horizon never moves back."""
        size = max(len(self.min_offsets), len(other.min_offsets))
        pad = (0,) * size
        min_offsets = tuple(map(max, (self.min_offsets + pad)[:size], (other.min_offsets + pad)[:size]))
        return Horizon(max(self.time_ms, other.time_ms), min_offsets)


class ExpiryQueue:
    """Keys by the time and the ref at which they expire.

    A repeated push replaces the values of a key; a discard removes it.

    Cost: O(log n) a push, amortised; a pop costs O(log n) for each due key, and O(1) without any.  Memory for the
    current keys: stale entries in the heaps are removed when they outnumber them.
    """

    __slots__ = ("_by_offset", "_by_time", "_keys", "_pushes")

    def __init__(self) -> None:
        self._keys: dict[str, tuple[int, int]] = {}
        self._by_time: list[tuple[int, str]] = []
        self._by_offset: dict[int, list[tuple[int, str]]] = {}
        self._pushes = 0

    def __len__(self) -> int:
        return len(self._keys)

    def push(self, key: str, time_ms: int, ref: int) -> None:
        """Return `key` from `pop_due` once the horizon passes `time_ms`, or the offset of `ref` on its partition."""
        self._keys[key] = time_ms, ref
        if self._pushes > 2 * len(self._keys) + 64:
            self._sweep()
        else:
            self._pushes += 1
            heapq.heappush(self._by_time, (time_ms, key))
            heapq.heappush(self._by_offset.setdefault(ref_partition(ref), []), (ref_offset(ref), key))

    def fill(self, entries: Iterable[tuple[str, int, int]]) -> None:
        """Push many keys at once, each with its time and ref; some three times as fast."""
        self._keys |= {key: (time_ms, ref) for key, time_ms, ref in entries}
        self._sweep()

    def discard(self, key: str) -> None:
        """Remove a key, if present."""
        self._keys.pop(key, None)

    def pop_due(self, horizon: Horizon) -> Iterator[str]:
        """Remove and return the keys that the horizon has passed, each once."""
        yield from self._pop(self._by_time, horizon.time_ms, horizon)
        for partition, min_offset in enumerate(horizon.min_offsets):
            yield from self._pop(self._by_offset.get(partition, []), min_offset, horizon)

    def _pop(self, heap: list[tuple[int, str]], end: int, horizon: Horizon) -> Iterator[str]:
        while heap and heap[0][0] < end:
            key = heapq.heappop(heap)[1]
            entry = self._keys.get(key)
            if entry is not None and horizon.passed(*entry):
                del self._keys[key]
                yield key

    def _sweep(self) -> None:
        """Rebuild the heaps from the current keys."""
        self._pushes = len(self._keys)
        self._by_time = sorted((time_ms, key) for key, (time_ms, _) in self._keys.items())
        self._by_offset = {}
        for key, (_, ref) in self._keys.items():
            self._by_offset.setdefault(ref_partition(ref), []).append((ref_offset(ref), key))
        for heap in self._by_offset.values():
            heap.sort()  # a sorted list is a heap
