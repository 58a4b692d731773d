"""How much of a changelog's head recovery no longer needs.

A record may go once every version that it names has expired, and everything before it may.  What counts is what the
record says, not what the table holds: the table may be ahead of its log, and a newer version that is not written yet
does not make the older one superfluous.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.model import ref_partition
from stream_lsh.pipeline.batches import BEGINS, BandsFrame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.retention import BEGINNING_MS, Horizon

_TOGETHER = 64
"""Records that are forgotten together: a log of a million has 16,000 entries here, some 5 MB."""


class Extent(NamedTuple):
    """What a record names: the newest event time in ms, and the highest ref of each source partition.

    `entries` is how much of its log it takes up, in the unit in which its table counts what is live.
    `rewritten_from` is an offset from which on everything up to this record was rewritten: what lies before it is
    superfluous, and no log may begin behind it and before this record.  `begins_pass`, because where such a pass begins
    the log will be cut.
    """

    newest_ms: int = BEGINNING_MS
    refs: tuple[int, ...] = ()
    entries: int = 0
    rewritten_from: int | None = None
    begins_pass: bool = False

    def passed(self, horizon: Horizon) -> bool:
        """Whether all of it has expired."""
        return self.newest_ms < horizon.time_ms or all(horizon.passed(self.newest_ms, ref) for ref in self.refs)

    def merged(self, other: "Extent") -> "Extent":
        """What names both."""
        highest = {ref_partition(ref): ref for ref in sorted(self.refs + other.refs)}
        newest_ms, entries = max(self.newest_ms, other.newest_ms), self.entries + other.entries
        return Extent(newest_ms, tuple(highest.values()), entries)


def extent_of(times: I64, refs: U64, entries: int = 0) -> Extent:
    """The extent of a record.

    Args:
        times: int64[n], ms: when each of its versions expires.
        refs: uint64[n], the versions.
        entries: as in `Extent`.
    """
    if not refs.size:
        return Extent(entries=entries)
    ordered = np.sort(refs)
    partitions = ordered >> np.uint64(48)
    last = np.append(partitions[1:] != partitions[:-1], True)
    return Extent(int(times.max()), tuple(ordered[last].tolist()), entries)


def extent_of_documents(record: DocumentsRecord) -> Extent:
    """What a record of the documents changelog names: versions, and some that these retired, an eighth each."""
    return extent_of(record.keep_until, record.refs, len(record) + record.retired_refs.size // 8)


def extent_of_buckets(frame: BandsFrame) -> Extent:
    """What a record of the buckets changelog names: postings."""
    postings = frame.postings
    if frame.copied is not None and frame.copied.ended:
        return Extent(rewritten_from=frame.copied.began)
    if frame.copied == BEGINS:
        return Extent(begins_pass=True)
    return Extent() if postings is None else extent_of(postings.times, postings.refs, postings.rows.size)


class LogHead:
    """The records of one partition of a changelog, from its start: offsets and what each run of them names.

    Args:
        together: how many records make a run.

    Attributes:
        entries: how much the log holds, as the extents of its records say.
    """

    def __init__(self, together: int = _TOGETHER) -> None:
        self.entries = 0
        self._together = together
        self._runs: deque[tuple[int, Extent]] = deque()
        self._in_last = 0
        self._end = -1

    def note(self, offset: int, extent: Extent) -> None:
        """A record is in the log; one that was noted before changes nothing."""
        if offset <= self._end:
            return
        self._end = offset
        self.entries += extent.entries
        if extent.begins_pass:
            self.begin_run()
        if self._in_last == 0:  # also after a restart: the run that grew is left as it is
            self._runs.append((offset, extent))
        else:
            first, before = self._runs[-1]
            self._runs[-1] = first, before.merged(extent)
        self._in_last = (self._in_last + 1) % self._together
        if extent.rewritten_from is not None and self._runs[0][0] <= extent.rewritten_from:
            self._keep_whole(extent.rewritten_from)

    def begin_run(self) -> None:
        """A pass begins with the next record: when it is over, nothing from before it is to stay or to be counted."""
        self._in_last = 0

    @classmethod
    def restored(cls, runs: Iterable[tuple[int, Extent]], end: int) -> "LogHead":
        """The head whose `runs` were kept, of a log up to the record at offset `end`."""
        head = cls()
        head._runs.extend(runs)
        head.entries = sum(extent.entries for _, extent in head._runs)
        head._end = end
        return head

    @property
    def runs(self) -> tuple[tuple[int, Extent], ...]:
        """The first offset of each run, and what it names; the last one grows."""
        return tuple(self._runs)

    @property
    def last_run(self) -> tuple[int, Extent]:
        """The run that grows."""
        return self._runs[-1]

    @property
    def end(self) -> int:
        """The offset behind the last record."""
        return self._end + 1

    @property
    def start(self) -> int | None:
        """The first offset that is known, and was needed when it was last asked."""
        return self._runs[0][0] if self._runs else None

    def needed(self, horizon: Horizon) -> int | None:
        """The first offset that recovery needs; None if nothing is known of the log.

        The run that grows is never given up, so the newest records always stay.
        """
        while len(self._runs) > 1 and self._runs[0][1].passed(horizon):
            self._give_up()
        return self._runs[0][0] if self._runs else None

    def rewritten(self, offset: int) -> None:
        """Everything before this offset is superfluous now: it was copied behind it, or was dead (`rewriting`)."""
        while len(self._runs) > 1 and self._runs[1][0] <= offset:
            self._give_up()

    def _keep_whole(self, offset: int) -> None:
        """All that is left from this offset on is one run, whatever it names."""
        self.rewritten(offset)
        (_, whole), *others = self._runs
        for _, extent in others:
            whole = whole.merged(extent)
        self._runs = deque([(offset, whole)])
        self._in_last = 0

    def _give_up(self) -> None:
        self.entries -= self._runs.popleft()[1].entries
