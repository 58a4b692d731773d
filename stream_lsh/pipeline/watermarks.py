"""The propagation of event time: every hop forwards the minimum of its inputs' marks, behind the data that it wrote.

So when a mark reaches settle, every edge of an older document has arrived before it, and only then may settle
drop state.
"""

from collections.abc import Iterable
from itertools import pairwise

from stream_lsh.pipeline.batches import Mark, Watermarks
from stream_lsh.retention import BEGINNING_MS

_REPEAT_EVERY = 8


class WatermarkGenerator:
    """Makes the marks of one source partition, for its owner.

    A source is idle only if it was read to its end at two successive marks of one generation, and its event time has
    not moved in between.  So each advance of event time is reported as that of a busy source, however slow the source
    is: settle lets event time advance by busy sources only.  A source that was idle is first reported as busy, and its
    progress with the next mark: by then other sources that resumed at the same moment are known to be busy, too.

    Attributes:
        at_end: whether no message was left to read at the last mark.
    """

    def __init__(self) -> None:
        self.at_end = False
        self._number = 0
        self._last: Mark | None = None

    def mark(self, source: int, newest_ms: int, min_offset: int, generation: int, *, at_end: bool) -> Mark:
        """The next mark.

        Args:
            source: the source partition.
            newest_ms: the greatest event time of the documents that sign has delivered.
            min_offset: offsets below it are dropped by `max_documents`.
            generation: of the consumer group.
            at_end: no message is left to read.
        """
        last, idle, time_ms = self._last, False, newest_ms
        if last is not None and last.generation == generation:
            idle = at_end and self.at_end and newest_ms == last.time_ms
            time_ms = last.time_ms if last.idle else newest_ms
        self.at_end, self._number = at_end, self._number + 1
        self._last = Mark(source, time_ms, idle, min_offset, generation, self._number)
        return self._last


class WatermarkTable:
    """The last marks of every input partition about every source partition.

    Args:
        origins: the number of inputs that report each source partition: 1 if sign itself does, else the partitions of
            the hop before.
    """

    def __init__(self, origins: int) -> None:
        self._origins = origins
        self._generation: int | None = None
        self._rows: dict[int, dict[int, Mark]] = {}

    def update(self, watermarks: Watermarks) -> None:
        """Store marks; times and floors never fall, and the newest mark decides whether a source is idle.

        If two marks are equally new, a hop has repeated one of them with an older value.  Then the source
        is not idle: that keeps documents longer than needed, the alternative would drop documents that match.
        """
        row = self._rows.setdefault(self._key(watermarks.origin), {})
        for mark in map(self._of_this_group, watermarks.marks):
            before = row.get(mark.source, mark)
            newest = max(mark, before, key=lambda candidate: (candidate.order_key, not candidate.idle))
            time_ms, min_offset = max(mark.time_ms, before.time_ms), max(mark.min_offset, before.min_offset)
            row[mark.source] = newest._replace(time_ms=time_ms, min_offset=min_offset)

    def begin(self, generation: int) -> None:
        """Begin a generation of the consumer group: an idle source is idle only by a mark of the same generation.

        Marks of a later generation were made in a group that Kafka has forgotten.  Their times and floors stay, and any
        new mark is newer.
        """
        if generation == self._generation:
            return
        self._generation = generation
        for row in self._rows.values():
            for source, mark in row.items():
                row[source] = self._of_this_group(mark)

    def merged(self) -> tuple[Mark, ...]:
        """The minimum of all inputs for each source that all of them have reported, in ascending order."""
        by_source: dict[int, list[Mark]] = {}
        for row in self._rows.values():
            for source, mark in row.items():
                by_source.setdefault(source, []).append(mark)
        return tuple(
            self._least(source, marks) for source, marks in sorted(by_source.items()) if len(marks) >= self._origins
        )

    def row(self, origin: int) -> Watermarks:
        """The marks of one input."""
        return Watermarks(origin, tuple(mark for _, mark in sorted(self._rows.get(self._key(origin), {}).items())))

    def rows(self) -> tuple[Watermarks, ...]:
        """The marks of all inputs, in ascending order."""
        return tuple(self.row(origin) for origin in sorted(self._rows))

    def _key(self, origin: int) -> int:
        """If one input reports each source, all marks are in one row: sources move from one sender to another."""
        return origin if self._origins > 1 else 0

    def _of_this_group(self, mark: Mark) -> Mark:
        if self._generation is None or mark.generation <= self._generation:
            return mark
        return mark._replace(idle=False, generation=-1, number=0)

    def _least(self, source: int, marks: list[Mark]) -> Mark:
        generation, number = min(mark.order_key for mark in marks)
        idle = all(mark.idle for mark in marks) and self._generation in (None, generation)
        time_ms, min_offset = min(mark.time_ms for mark in marks), min(mark.min_offset for mark in marks)
        return Mark(source, time_ms, idle, min_offset, generation, number)


class Relay:
    """Forwards the watermarks of a hop.

    Args:
        origin: the partition of this hop.
        origins: the number of inputs that report each source partition.
    """

    def __init__(self, origin: int, origins: int) -> None:
        self._origin = origin
        self._table = WatermarkTable(origins)
        self._passed_on = list[Mark]()
        self._held_back = 0

    def begin(self, generation: int) -> None:
        """Begin a generation of the consumer group; see `WatermarkTable.begin`."""
        self._table.begin(generation)

    def take(self, watermarks: Watermarks) -> Watermarks | None:
        """The watermarks to forward behind the data, if any.

        These are the changed ones; and from time to time unchanged ones, because the next hop may have been restarted
        without state.  A new generation is a change, a new number is none.
        """
        self._table.update(watermarks)
        merged = self._table.merged()
        self._held_back += 1
        content = [mark._replace(number=0) for mark in merged]
        if not merged or (content == self._passed_on and self._held_back < _REPEAT_EVERY):
            return None
        self._passed_on, self._held_back = content, 0
        return Watermarks(self._origin, merged)

    def take_all(self, watermarks: Iterable[Watermarks | None]) -> list[Watermarks]:
        """The watermarks to forward behind the data of several messages, in order.

        These are the last result of `take`, and before it those in which a source is busy that is idle in
        the next one: settle has to receive the event time of a source while the source is busy.
        """
        answers = [answer for row in watermarks if row is not None and (answer := self.take(row)) is not None]
        busy = [{mark.source for mark in answer.marks if not mark.idle} for answer in answers]
        hidden = [bool(before - after) for before, after in pairwise(busy)]
        return [answer for answer, is_needed in zip(answers, [*hidden, True], strict=False) if is_needed]


def watermark_of(marks: Iterable[Mark], sources: int) -> int:
    """W: the least time of the source partitions that are not idle; the least possible time if W must not move.

    It stays until all source partitions have been reported, and while all are idle: without new messages, no state
    need expire.

    Args:
        marks: the known ones.
        sources: the number of source partitions.
    """
    source_marks = list(marks)
    if len(source_marks) < sources:
        return BEGINNING_MS
    return min((mark.time_ms for mark in source_marks if not mark.idle), default=BEGINNING_MS)
