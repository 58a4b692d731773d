"""Finds the documents that the horizon has passed: their slots, by stretches of event time and of offsets.

An ordered queue would take more memory than the documents.  With stretches, everything in a stretch below the horizon
is due, and only the stretch that contains the horizon is searched.
"""

from array import array
from collections.abc import Iterable, Iterator

from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import make_ref
from stream_lsh.retention import BEGINNING_MS, Horizon

_STRETCHES = 4096
"""Stretches in one retention."""
_OFFSETS = 1 << 10
_DEFAULT_SPAN_MS = 60_000


class Stretches:
    """The documents in `nodes` by the stretch of one of their values.

    Removing a document leaves a stale entry; a stretch is rebuilt when more than half of its entries are stale.

    Args:
        nodes: the live documents.
        column: the values.
        span: the length of a stretch.

    Attributes:
        span: as above.
        by_stretch: the slots of each stretch, with stale entries.
        stale: the number of stale entries of each stretch.

    Cost: O(1) to add and, amortized, to remove; some 5 bytes a document.
    """

    def __init__(self, nodes: Nodes, column: "array[int]", span: int) -> None:
        self._nodes = nodes
        self._column = column
        self.span = span
        self.by_stretch: dict[int, array[int]] = {}
        self.stale: dict[int, int] = {}
        self.put_in(nodes.slots.values())

    def put_in(self, slots: Iterable[int]) -> None:
        """Add documents, or documents with a new value."""
        by_stretch, column, span = self.by_stretch, self._column, self.span
        for slot in slots:
            stretch = column[slot] // span
            entries = by_stretch.get(stretch)
            if entries is None:
                by_stretch[stretch] = array("I", (slot,))
            else:
                entries.append(slot)

    def take_out(self, slot: int) -> None:
        """Remove a document, before it leaves the ledger or its value changes."""
        stretch = self._column[slot] // self.span
        stale = self.stale[stretch] = self.stale.get(stretch, 0) + 1
        if 2 * stale > len(self.by_stretch[stretch]):
            del self.stale[stretch]
            rest = {*self._living(stretch)} - {slot}
            if rest:
                self.by_stretch[stretch] = array("I", rest)
            else:
                del self.by_stretch[stretch]

    def between(self, first: int, last: int) -> set[int]:
        """The documents in the stretches from that of `first` to that of `last`."""
        first, last = first // self.span, last // self.span
        if last - first > len(self.by_stretch):
            stretches: Iterable[int] = [stretch for stretch in self.by_stretch if first <= stretch <= last]
        else:
            stretches = range(first, last + 1)
        return {slot for stretch in stretches for slot in self._living(stretch)}

    def _living(self, stretch: int) -> Iterator[int]:
        """The current slots of a stretch; a slot may occur more than once."""
        column, span, ids, slots = self._column, self.span, self._nodes.ids, self._nodes.slots
        for slot in self.by_stretch.get(stretch, ()):
            if column[slot] // span == stretch and slots.get(ids[slot]) == slot:
                yield slot


class Expiry:
    """The documents in `nodes` by the time and by the offset at which they expire.

    Args:
        nodes: the live documents.
        retention_ms: the retention in event time; None: unlimited until a horizon has an event time.

    Cost:
        O(1) to watch a document and to forget it; `due` takes O(documents of one stretch + due documents).  Without
        expiry by time, or by offset, there is no index for it: the first such horizon builds it for all documents.
    """

    def __init__(self, nodes: Nodes, retention_ms: int | None) -> None:
        self._nodes = nodes
        self._span_ms = _DEFAULT_SPAN_MS if retention_ms is None else max(1, retention_ms // _STRETCHES)
        self.by_time = None if retention_ms is None else Stretches(nodes, nodes.times, self._span_ms)
        self.by_offset: Stretches | None = None

    def watch(self, slots: Iterable[int]) -> None:
        """Add documents, so that `due` returns them when they expire."""
        if self.by_time is not None:
            self.by_time.put_in(slots)
        if self.by_offset is not None:
            self.by_offset.put_in(slots)

    def forget(self, slot: int) -> None:
        """Remove a document, before its version changes."""
        if self.by_time is not None:
            self.by_time.take_out(slot)
        if self.by_offset is not None:
            self.by_offset.take_out(slot)

    def due(self, before: Horizon, now: Horizon) -> set[int]:
        """The documents that a horizon has passed since the one before; they stay in."""
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
