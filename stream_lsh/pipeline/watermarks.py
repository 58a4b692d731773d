"""How event time travels: every hop passes on the least of what its inputs have said, behind the data that it wrote.

So when a mark reaches settle, every edge of an older document has been there before it, and only then may settle
forget.
"""

from collections.abc import Iterable

from stream_lsh.pipeline.batches import Mark, Watermarks
from stream_lsh.retention import BEGINNING_MS

_REPEAT_EVERY = 8


class WatermarkTable:
    """The last word of every input partition about every source partition.

    Args:
        origins: how many inputs speak of each source partition: 1 where sign itself speaks, else the partitions of the
            hop before.
    """

    def __init__(self, origins: int) -> None:
        self._origins = origins
        self._rows: dict[int, dict[int, Mark]] = {}

    def update(self, said: Watermarks) -> None:
        """Take a word in; times and floors never fall, and whether a source is idle says the newest word.

        Where two are equally new, one of them is what a hop said once more with something older in it.  Then the source
        is not idle: that keeps documents that could be forgotten, the other way would forget documents that match.
        """
        row = self._rows.setdefault(said.origin, {})
        for mark in said.marks:
            before = row.get(mark.source, mark)
            newest = max(mark, before, key=lambda word: (word.said, not word.idle))
            time_ms, floor = max(mark.time_ms, before.time_ms), max(mark.floor, before.floor)
            row[mark.source] = newest._replace(time_ms=time_ms, floor=floor)

    def begin(self, generation: int) -> None:
        """The consumer group is in this generation: words of a later one are of a group that was forgotten.

        They stay, and anything that is said now counts over them.
        """
        for row in self._rows.values():
            for source, mark in row.items():
                if mark.generation > generation:
                    row[source] = mark._replace(generation=-1, number=0)

    def merged(self) -> tuple[Mark, ...]:
        """The least of all inputs for each source that all of them have spoken of, in ascending order."""
        by_source: dict[int, list[Mark]] = {}
        for row in self._rows.values():
            for source, mark in row.items():
                by_source.setdefault(source, []).append(mark)
        return tuple(
            Mark(
                source,
                min(mark.time_ms for mark in marks),
                all(mark.idle for mark in marks),
                min(mark.floor for mark in marks),
                *min(mark.said for mark in marks),
            )
            for source, marks in sorted(by_source.items())
            if len(marks) >= self._origins
        )

    def row(self, origin: int) -> Watermarks:
        """What one input has said."""
        return Watermarks(origin, tuple(mark for _, mark in sorted(self._rows.get(origin, {}).items())))

    def rows(self) -> tuple[Watermarks, ...]:
        """What all inputs have said, in ascending order."""
        return tuple(self.row(origin) for origin in sorted(self._rows))


class Relay:
    """A hop's part in the passing on of watermarks.

    Args:
        origin: the partition of this hop.
        origins: how many inputs speak of each source partition.
    """

    def __init__(self, origin: int, origins: int) -> None:
        self._origin = origin
        self._table = WatermarkTable(origins)
        self._told = list[Mark]()
        self._unsaid = 0

    def take(self, said: Watermarks) -> Watermarks | None:
        """What is to be passed on behind the data, if anything.

        That is what has changed; and now and then what has not, because the next hop may have been restarted and know
        nothing.
        """
        self._table.update(said)
        merged = self._table.merged()
        self._unsaid += 1
        content = [mark._replace(generation=-1, number=0) for mark in merged]
        if not merged or (content == self._told and self._unsaid < _REPEAT_EVERY):
            return None
        self._told, self._unsaid = content, 0
        return Watermarks(self._origin, merged)

    def take_all(self, said: Iterable[Watermarks | None]) -> Watermarks | None:
        """What is to be passed on behind the data of several messages: the last of what `take` answers to each."""
        answers = [self.take(one) for one in said if one is not None]
        return next((answer for answer in reversed(answers) if answer is not None), None)


def watermark_of(marks: Iterable[Mark], sources: int) -> int:
    """W: the least time of the source partitions that are not idle, the greatest if all are.

    Args:
        marks: what is known.
        sources: how many source partitions there are; before all of them have been heard of, nothing is known.
    """
    known = list(marks)
    if len(known) < sources:
        return BEGINNING_MS
    busy = [mark.time_ms for mark in known if not mark.idle]
    return min(busy) if busy else max((mark.time_ms for mark in known), default=BEGINNING_MS)
