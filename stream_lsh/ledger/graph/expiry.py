"""Which documents the horizon has passed: their slots, by stretches of event time and of offsets.

A queue in order would cost more than the documents themselves.  So there are stretches: what lies in one that the
horizon has passed is due, and only the one that it lies in is looked through.
"""

from array import array
from collections.abc import Iterable, Iterator

from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import make_ref
from stream_lsh.retention import BEGINNING_MS, Horizon

_STRETCHES = 4096
"""In one retention."""
_OFFSETS = 1 << 10
_DEFAULT_SPAN_MS = 60_000


class Stretches:
    """The documents in `nodes` by the stretch in which a value of theirs lies.

    Who is taken out leaves its slot behind; a stretch of which half is of that kind is made again.

    Args:
        nodes: all of them.
        column: the values.
        span: how long a stretch is.

    Cost: O(1) to put in and, in the long run, to take out; some 5 bytes a document.
    """

    def __init__(self, nodes: Nodes, column: "array[int]", span: int) -> None:
        self._nodes = nodes
        self._column = column
        self.span = span
        self.held: dict[int, array[int]] = {}
        self.left: dict[int, int] = {}
        self.put_in(nodes.slots.values())

    def put_in(self, slots: Iterable[int]) -> None:
        """Documents are there, or have another value now."""
        held, column, span = self.held, self._column, self.span
        for slot in slots:
            stretch = column[slot] // span
            entries = held.get(stretch)
            if entries is None:
                held[stretch] = array("I", (slot,))
            else:
                entries.append(slot)

    def take_out(self, slot: int) -> None:
        """A document is about to go, or to get another value."""
        stretch = self._column[slot] // self.span
        left = self.left[stretch] = self.left.get(stretch, 0) + 1
        if 2 * left > len(self.held[stretch]):
            del self.left[stretch]
            rest = {*self._living(stretch)} - {slot}
            if rest:
                self.held[stretch] = array("I", rest)
            else:
                del self.held[stretch]

    def between(self, first: int, last: int) -> set[int]:
        """The documents with a value in the stretches of two values, and of those between."""
        first, last = first // self.span, last // self.span
        if last - first > len(self.held):
            stretches: Iterable[int] = [stretch for stretch in self.held if first <= stretch <= last]
        else:
            stretches = range(first, last + 1)
        return {slot for stretch in stretches for slot in self._living(stretch)}

    def _living(self, stretch: int) -> Iterator[int]:
        """The slots that are in a stretch, some perhaps more than once."""
        column, span, ids, slots = self._column, self.span, self._nodes.ids, self._nodes.slots
        for slot in self.held.get(stretch, ()):
            if column[slot] // span == stretch and slots.get(ids[slot]) == slot:
                yield slot


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
        self.by_time = None if retention_ms is None else Stretches(nodes, nodes.times, self._span_ms)
        self.by_offset: Stretches | None = None

    def watch(self, slots: Iterable[int]) -> None:
        """Have `due` hand out documents when their time has come."""
        if self.by_time is not None:
            self.by_time.put_in(slots)
        if self.by_offset is not None:
            self.by_offset.put_in(slots)

    def forget(self, slot: int) -> None:
        """Take a document out, before its version changes."""
        if self.by_time is not None:
            self.by_time.take_out(slot)
        if self.by_offset is not None:
            self.by_offset.take_out(slot)

    def due(self, before: Horizon, now: Horizon) -> set[int]:
        """The documents that a horizon has passed, given the one before; they are not taken out."""
        nodes, near = self._nodes, set[int]()
        if now.time_ms > BEGINNING_MS:
            if self.by_time is None:
                self.by_time = Stretches(nodes, nodes.times, self._span_ms)
            near |= self.by_time.between(before.time_ms, now.time_ms)
        if any(now.min_offsets):
            if self.by_offset is None:
                self.by_offset = Stretches(nodes, nodes.refs, _OFFSETS)
            min_offsets = (*before.min_offsets, *(0,) * len(now.min_offsets))
            for partition, (was, min_offset) in enumerate(zip(min_offsets, now.min_offsets, strict=False)):
                near |= self.by_offset.between(make_ref(partition, was), make_ref(partition, min_offset))
        return {slot for slot in near if now.passed(nodes.times[slot], nodes.refs[slot])}
