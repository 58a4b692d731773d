"""The head of a changelog: the records that recovery no longer needs.

A record is obsolete once every version that it names has expired, and all records before it are obsolete.  This depends
on the record, not on the table: the table may be ahead of its log, and a newer version that is not written yet
does not make the older one obsolete.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.model import ref_partition, ref_partitions
from stream_lsh.pipeline.batches import BEGINS, BandsFrame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.retention import BEGINNING_MS, Horizon

_TOGETHER = 64
"""The records of a run, which are dropped together: a log of a million has 16,000 entries here, some 5 MB."""


class Extent(NamedTuple):
    """The extent of a record: the newest event time in ms, and the highest ref of each source partition.

    `entries` is the size of the record in the log, in the unit in which its table counts live entries.
    `rewritten_from` is an offset from which on all data up to this record was rewritten: the records before it are
    obsolete, and no log may begin behind it and before this record.  `begins_pass` marks the first record of a pass,
    where the log will be trimmed.
    """

    newest_ms: int = BEGINNING_MS
    refs: tuple[int, ...] = ()
    entries: int = 0
    rewritten_from: int | None = None
    begins_pass: bool = False

    def passed(self, horizon: Horizon) -> bool:
        """Whether all of its versions have expired."""
        return self.newest_ms < horizon.time_ms or all(horizon.passed(self.newest_ms, ref) for ref in self.refs)

    def merged(self, other: "Extent") -> "Extent":
        """The extent of both records."""
        highest = {ref_partition(ref): ref for ref in sorted(self.refs + other.refs)}
        newest_ms, entries = max(self.newest_ms, other.newest_ms), self.entries + other.entries
        return Extent(newest_ms, tuple(highest.values()), entries)


def extent_of(times: I64, refs: U64, entries: int = 0) -> Extent:
    """The extent of a record.

    Args:
        times: int64[n], ms: the expiry of each of its versions.
        refs: uint64[n], the versions.
        entries: as in `Extent`.
    """
    if not refs.size:
        return Extent(entries=entries)
    ordered = np.sort(refs)
    partitions = ref_partitions(ordered)
    last = np.append(partitions[1:] != partitions[:-1], True)
    return Extent(int(times.max()), tuple(ordered[last].tolist()), entries)


def extent_of_documents(record: DocumentsRecord) -> Extent:
    """The extent of a record of the documents changelog: versions, and an eighth for each version that they retired."""
    return extent_of(record.keep_until, record.refs, len(record) + record.retired_refs.size // 8)


def extent_of_buckets(frame: BandsFrame) -> Extent:
    """The extent of a record of the buckets changelog: its postings."""
    postings = frame.postings
    if frame.copied is not None and frame.copied.ended:
        return Extent(rewritten_from=frame.copied.began)
    if frame.copied == BEGINS:
        return Extent(begins_pass=True)
    return Extent() if postings is None else extent_of(postings.times, postings.refs, postings.rows.size)


class LogHead:
    """The records of one partition of a changelog, from its start: the offset and the extent of each run.

    Args:
        together: the number of records of a run.

    Attributes:
        entries: the size of the log, by the extents of its records.
    """

    def __init__(self, together: int = _TOGETHER) -> None:
        self.entries = 0
        self._together = together
        self._runs: deque[tuple[int, Extent]] = deque()
        self._in_last = 0
        self._end = -1

    def note(self, offset: int, extent: Extent) -> None:
        """Note a record of the log; a record that was noted before changes nothing."""
        if offset <= self._end:
            return
        self._end = offset
        self.entries += extent.entries
        if extent.begins_pass:
            self.begin_run()
        if self._in_last == 0:  # also after a restart: the open run is left as it is
            self._runs.append((offset, extent))
        else:
            first, before = self._runs[-1]
            self._runs[-1] = first, before.merged(extent)
        self._in_last = (self._in_last + 1) % self._together
        if extent.rewritten_from is not None and self._runs[0][0] <= extent.rewritten_from:
            self._merge_from(extent.rewritten_from)

    def begin_run(self) -> None:
        """Begin a run with the next record, the first one of a pass; the end of the pass drops all earlier runs."""
        self._in_last = 0

    @classmethod
    def restored(cls, runs: Iterable[tuple[int, Extent]], end: int) -> "LogHead":
        """The head with these stored `runs`, of a log up to the record at offset `end`."""
        head = cls()
        head._runs.extend(runs)
        head.entries = sum(extent.entries for _, extent in head._runs)
        head._end = end
        return head

    @property
    def runs(self) -> tuple[tuple[int, Extent], ...]:
        """The first offset and the extent of each run; the last run is open."""
        return tuple(self._runs)

    @property
    def last_run(self) -> tuple[int, Extent]:
        """The open run."""
        return self._runs[-1]

    @property
    def end(self) -> int:
        """The offset behind the last record."""
        return self._end + 1

    @property
    def start(self) -> int | None:
        """The first offset of the log, as of the last call of `needed`; None if the log is unknown."""
        return self._runs[0][0] if self._runs else None

    def needed(self, horizon: Horizon) -> int | None:
        """The first offset that recovery needs; None if the log is unknown.

        The open run is never dropped, so the newest records always stay.
        """
        while len(self._runs) > 1 and self._runs[0][1].passed(horizon):
            self._drop_first_run()
        return self._runs[0][0] if self._runs else None

    def rewritten(self, offset: int) -> None:
        """Drop the records before this offset: the live ones were copied behind it (`rewrite`)."""
        while len(self._runs) > 1 and self._runs[1][0] <= offset:
            self._drop_first_run()

    def _merge_from(self, offset: int) -> None:
        """Merge all records from this offset on into one run."""
        self.rewritten(offset)
        (_, whole), *others = self._runs
        for _, extent in others:
            whole = whole.merged(extent)
        self._runs = deque([(offset, whole)])
        self._in_last = 0

    def _drop_first_run(self) -> None:
        self.entries -= self._runs.popleft()[1].entries
