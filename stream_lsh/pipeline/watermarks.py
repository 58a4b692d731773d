"""How event time travels: every hop passes on the least of what its inputs have said, behind the data that it wrote.

So when a mark reaches settle, every edge of an older document has been there before it, and only then may settle
forget.
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
    is: settle lets event time advance by busy sources only.  A source that was idle is first reported as busy, and how
    far it has come with the next mark: by then others that went on at the same moment are known to be busy, too.

    Attributes:
        at_end: whether nothing was left to read at the last mark.
    """

    def __init__(self) -> None:
        self.at_end = False
        self._number = 0
        self._last: Mark | None = None

    def mark(self, source: int, newest_ms: int, min_offset: int, generation: int, *, at_end: bool) -> Mark:
        """The next mark.

        Args:
            source: the source partition.
            newest_ms: the greatest event time of what sign has delivered.
            min_offset: offsets below it are dropped by `max_documents`.
            generation: of the consumer group.
            at_end: nothing is left to read.
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
        origins: how many inputs speak of each source partition: 1 where sign itself speaks, else the partitions of the
            hop before.
    """

    def __init__(self, origins: int) -> None:
        self._origins = origins
        self._generation: int | None = None
        self._rows: dict[int, dict[int, Mark]] = {}

    def update(self, watermarks: Watermarks) -> None:
        """Take marks in; times and floors never fall, and whether a source is idle is decided by the newest mark.

        Where two are equally new, a hop has sent one of them again with something older in it.  Then the source
        is not idle: that keeps documents that could be forgotten, the other way would forget documents that match.
        """
        row = self._rows.setdefault(self._key(watermarks.origin), {})
        for mark in map(self._of_this_group, watermarks.marks):
            before = row.get(mark.source, mark)
            newest = max(mark, before, key=lambda candidate: (candidate.order_key, not candidate.idle))
            time_ms, min_offset = max(mark.time_ms, before.time_ms), max(mark.min_offset, before.min_offset)
            row[mark.source] = newest._replace(time_ms=time_ms, min_offset=min_offset)

    def begin(self, generation: int) -> None:
        """The consumer group is in this generation: an idle source is idle only by a mark of the same generation.

        Marks of a later generation were made in a group that was forgotten.  Their times and floors stay, and any mark
        that comes now is newer.
        """
        if generation == self._generation:
            return
        self._generation = generation
        for row in self._rows.values():
            for source, mark in row.items():
                row[source] = self._of_this_group(mark)

    def merged(self) -> tuple[Mark, ...]:
        """The least of all inputs for each source that all of them have spoken of, in ascending order."""
        by_source: dict[int, list[Mark]] = {}
        for row in self._rows.values():
            for source, mark in row.items():
                by_source.setdefault(source, []).append(mark)
        return tuple(
            self._least(source, marks) for source, marks in sorted(by_source.items()) if len(marks) >= self._origins
        )

    def row(self, origin: int) -> Watermarks:
        """What one input has said."""
        return Watermarks(origin, tuple(mark for _, mark in sorted(self._rows.get(self._key(origin), {}).items())))

    def rows(self) -> tuple[Watermarks, ...]:
        """What all inputs have said, in ascending order."""
        return tuple(self.row(origin) for origin in sorted(self._rows))

    def _key(self, origin: int) -> int:
        """Where one input speaks of each source, all marks are in one row: sources move from one sender to another."""
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
    """A hop's part in passing watermarks on.

    Args:
        origin: the partition of this hop.
        origins: how many inputs speak of each source partition.
    """

    def __init__(self, origin: int, origins: int) -> None:
        self._origin = origin
        self._table = WatermarkTable(origins)
        self._passed_on = list[Mark]()
        self._held_back = 0

    def begin(self, generation: int) -> None:
        """The consumer group is in this generation; see `WatermarkTable.begin`."""
        self._table.begin(generation)

    def take(self, watermarks: Watermarks) -> Watermarks | None:
        """What is to be passed on behind the data, if anything.

        That is what has changed; and now and then what has not, because the next hop may have been restarted and know
        nothing.  A new generation is a change, a new number is none.
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
        """What is to be passed on behind the data of several messages, in order.

        That is the last of what `take` answers to each, and before it those in which a source is busy that is idle in
        the next one: settle has to see the event time of a source while the source is busy.
        """
        answers = [answer for row in watermarks if row is not None and (answer := self.take(row)) is not None]
        busy = [{mark.source for mark in answer.marks if not mark.idle} for answer in answers]
        hidden = [bool(before - after) for before, after in pairwise(busy)]
        return [answer for answer, is_needed in zip(answers, [*hidden, True], strict=False) if is_needed]


def watermark_of(marks: Iterable[Mark], sources: int) -> int:
    """W: the least time of the source partitions that are not idle; the beginning of time if W is not to move.

    It stays before all source partitions have been heard of, and while all are idle: where nothing comes, nothing has
    to be forgotten.

    Args:
        marks: what is known.
        sources: how many source partitions there are.
    """
    source_marks = list(marks)
    if len(source_marks) < sources:
        return BEGINNING_MS
    return min((mark.time_ms for mark in source_marks if not mark.idle), default=BEGINNING_MS)
