"""Which documents the horizon has passed: their slots in sets, by stretches of event time and of offsets.

A queue in order would cost more than the documents themselves.  So there are stretches: what lies in one that the
horizon has passed is due, and only the one that it lies in is looked through.
"""

from collections.abc import Iterable

from stream_lsh.ledger.nodes import Nodes
from stream_lsh.model import make_ref
from stream_lsh.retention import BEGINNING_MS, Horizon

_STRETCHES = 4096
"""In one retention."""
_OFFSETS_BITS = 10
_DEFAULT_SPAN_MS = 60_000


class Expiry:
    """The documents in `nodes` by the time and by the offset at which they expire.

    Args:
        nodes: all of them.
        retention_ms: how long they are kept, of event time; None: for ever, as long as nobody says otherwise.

    Cost:
        O(1) to watch a document and to forget it; to see who is due, that of one stretch and of those who are.  Where
        nothing expires by time, or by offset, nothing is kept for it: the first horizon that asks pays for all.
    """

    def __init__(self, nodes: Nodes, retention_ms: int | None) -> None:
        self._nodes = nodes
        self._span_ms = _DEFAULT_SPAN_MS if retention_ms is None else max(1, retention_ms // _STRETCHES)
        self._by_time: dict[int, set[int]] | None = None if retention_ms is None else {}
        self._by_offset: dict[int, set[int]] | None = None

    def watch(self, slot: int) -> None:
        """Have `due` hand out a document when its time has come."""
        if self._by_time is not None:
            self._by_time.setdefault(self._nodes.times[slot] // self._span_ms, set()).add(slot)
        if self._by_offset is not None:
            self._by_offset.setdefault(self._nodes.refs[slot] >> _OFFSETS_BITS, set()).add(slot)

    def watch_many(self, slots: Iterable[int]) -> None:
        """Watch many at once."""
        if self._by_time is not None:
            held, times, span = self._by_time, self._nodes.times, self._span_ms
            for slot in slots:
                held.setdefault(times[slot] // span, set()).add(slot)
        if self._by_offset is not None:
            for slot in slots:
                self._by_offset.setdefault(self._nodes.refs[slot] >> _OFFSETS_BITS, set()).add(slot)

    def forget(self, slot: int) -> None:
        """Take a document out, before its version changes."""
        if self._by_time is not None:
            _discard(self._by_time, self._nodes.times[slot] // self._span_ms, slot)
        if self._by_offset is not None:
            _discard(self._by_offset, self._nodes.refs[slot] >> _OFFSETS_BITS, slot)

    def due(self, before: Horizon, now: Horizon) -> set[int]:
        """The documents that a horizon has passed, given the one before; they are not taken out."""
        times, refs, passed = self._nodes.times, self._nodes.refs, now.passed
        near = set[int]()
        if now.time_ms > BEGINNING_MS:
            if self._by_time is None:
                self._by_time = self._all(self._nodes.times, self._span_ms)
            near |= _between(self._by_time, before.time_ms // self._span_ms, now.time_ms // self._span_ms)
        if any(now.floors):
            if self._by_offset is None:
                self._by_offset = self._all(self._nodes.refs, 1 << _OFFSETS_BITS)
            floors = (*before.floors, *(0,) * len(now.floors))
            for partition, (was, floor) in enumerate(zip(floors, now.floors, strict=False)):
                first, last = make_ref(partition, was), make_ref(partition, floor)
                near |= _between(self._by_offset, first >> _OFFSETS_BITS, last >> _OFFSETS_BITS)
        return {slot for slot in near if passed(times[slot], refs[slot])}

    def _all(self, column: Iterable[int], span: int) -> dict[int, set[int]]:
        held = dict[int, set[int]]()
        values = [*column]
        for slot in self._nodes.slots.values():
            held.setdefault(values[slot] // span, set()).add(slot)
        return held


def _discard(held: dict[int, set[int]], stretch: int, slot: int) -> None:
    slots = held.get(stretch)
    if slots is not None:
        slots.discard(slot)
        if not slots:
            del held[stretch]


def _between(held: dict[int, set[int]], first: int, last: int) -> set[int]:
    """What lies in the stretches from the first to the last."""
    if last - first > len(held):
        return {slot for stretch, slots in held.items() if first <= stretch <= last for slot in slots}
    return {slot for stretch in range(first, last + 1) for slot in held.get(stretch, ())}
