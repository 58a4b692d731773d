"""Changelogs that are mostly dead are rewritten: what is live is copied to the end, then nothing before it is needed.

A changelog is trimmed from its head, and only behind what has expired.  A document that is updated ten thousand times
within the retention leaves ten thousand records behind which nothing has expired.  So, once a log holds several times
what its table does, a *pass* copies the table to the log's end, in *slices* between the batches, in proportion to what
is written meanwhile: no batch waits for it, and a log that nobody writes to does not move (docs/internals/adr/0015).

    due      the log holds more than `TIMES` what is live, and some
    begun    everything before the first slice is in the table
    slices   sent by whoever writes the log, between two batches: a copy never comes behind a newer version
    over     all slices have been delivered: the log may be trimmed to where the pass began

A crash or a rebalance ends a pass; the next owner begins another one when it is due.

`documents`: a copy is a record like any other, and none replaces a higher ref, so copies may come twice or late.  The
log begins with the first slice, which states what is acknowledged: a reader needs that to recognise a late record of an
earlier owner where the marker that it contradicts has been dropped (docs/internals/adr/0029).

`buckets`: the order of postings along a bucket matters (ADR 0003), and copies of what is old lie behind what came
meanwhile.  So its passes have marks: a record with which a pass begins, slices that name the offset of that record, and
one with which it ends, sent when all slices are in the log.  Slices count where the log begins with their pass, and
nowhere else: where it begins earlier it has what they copy, and those of another pass are late or were never completed.
Where they count, what came between them waits until the end of the pass; and so no log may begin inside of one.

A log that was trimmed to the beginning of a pass also holds its end.  A log may begin with a pass that has no end only
because everything before it has expired; then nothing needs to wait for the slices.
"""

from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.batches import BEGINS, BandsFrame, Pass, Postings
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.coalesce import coalesced_postings
from stream_lsh.pipeline.documents.table import DocumentTable

TIMES = 3
"""How many times what is live a log may hold.  A pass then writes at most one entry for two that were written."""
PACE = 2
"""Entries that are copied for each that is written meanwhile: a pass over n entries is over when n / 2 have come."""
LEAST_VERSIONS, LEAST_POSTINGS = 1024, 16 * 1024
_TOGETHER = 64 * 1024
"""Postings that are inserted together in a recovery."""
_NOWHERE = -2
"""The offset of no record."""
_SLICE_VERSIONS = 128
"""Some 5 ms: what it takes to compress them."""


class DocumentsRewriter:
    """Rewrites the changelog of one partition of documents.

    Args:
        least: entries that a log may hold however little is live.
        slice_versions: how many are copied together.
    """

    def __init__(self, least: int = LEAST_VERSIONS, slice_versions: int = _SLICE_VERSIONS) -> None:
        self.least, self._slice_versions = least, slice_versions
        self._order: tuple[U64, I64] | None = None
        self._began: int | None = None
        self._next = self._owed = self._under_way = 0

    def slices(self, table: DocumentTable, log: LogHead, written: int, bands: int) -> Iterator[DocumentsRecord]:
        """What is to be appended now, between two batches of sign; each is sent before the next one is taken.

        The caller tells in how many records a slice is `sent`, and of each that it was `delivered`.

        Args:
            table: of the partition; all of it has been delivered.
            log: up to the last of them; where a pass begins, it begins a run.
            written: entries of the batch that was written last.
            bands: width of the retired buckets.
        """
        if self._order is None:
            if log.entries <= self.least + TIMES * table.entries:
                return
            self._order, self._began, self._next, self._owed = table.in_order(), None, 0, 0
            log.begin_run()
        refs, rows = self._order
        self._owed += PACE * written
        while self._owed > 0 and (self._next < refs.size or self._next == 0):
            at = slice(self._next, self._next + self._slice_versions)
            self._next = at.stop
            copied = table.copy(refs[at], rows[at], bands)
            self._owed -= len(copied)
            if len(copied) or at.start == 0:  # the log will begin with the first one, even where nothing is live
                yield copied

    def acknowledged(self, table: DocumentTable, committed: int) -> int:
        """What the next record of sign states as acknowledged, where this offset of the source is committed.

        It stays while a pass is under way: the log will begin with the first slice of it, and a marker that the pass
        has not copied must not be dropped under a later statement.
        """
        return table.acknowledged if self._order is not None else max(table.acknowledged, committed)

    def sent(self, records: int, size: int = 0) -> None:
        """So many records are on their way into the log."""
        self._under_way += records

    def delivered(self, offset: int) -> None:
        """One of them is in the log, at this offset."""
        self._under_way -= 1
        self._began = offset if self._began is None else self._began

    def take_over(self) -> int | None:
        """The offset of the first slice of a pass that is over now, once; None if there is none."""
        if self._order is None or self._began is None or self._next < self._order[0].size or self._under_way:
            return None
        self._order = None
        return self._began


class BucketsRewriter:
    """Rewrites the changelog of one partition of the band-bucket table.

    Attributes:
        least: entries that a log may hold however little is live.
    """

    def __init__(self, least: int = LEAST_POSTINGS) -> None:
        self.least = least
        self._at_work = self._ended = False
        self._began: int | None = None
        self._owed = self._under_way = 0

    def records(self, table: BandTable, entries: int, written: int) -> Iterator[BandsFrame]:
        """What is to be appended now, behind the records of a batch; each is sent before the next one is taken.

        The caller tells in how many records each is `sent`, and of each that it was `delivered`.

        Args:
            table: of the partition.
            entries: that its log holds.
            written: entries of the batch that was written last.
        """
        if not self._at_work:
            if entries > self.least + TIMES * len(table):
                self._at_work, self._ended, self._began, self._owed = True, False, None, 0
                table.begin_copy()
                yield BandsFrame(copied=BEGINS)
            return
        if self._began is None:
            return
        self._owed += PACE * written
        while self._owed > 0 and (copied := table.copy()) is not None:
            self._owed -= len(copied.rows)
            come = np.zeros(len(copied.refs), np.bool_)
            postings = Postings(copied.refs, copied.times, come, copied.rows, copied.buckets)
            yield BandsFrame(postings=postings, copied=Pass(self._began, False))
        if not (table.is_copying or self._under_way or self._ended):
            self._ended = True
            yield BandsFrame(copied=Pass(self._began, True))

    def sent(self, records: int, size: int = 0) -> None:
        """So many records are on their way into the log."""
        self._under_way += records

    def delivered(self, offset: int) -> None:
        """One of them is in the log, at this offset."""
        self._under_way -= 1
        self._began = offset if self._began is None else self._began
        self._at_work = not (self._ended and not self._under_way)


class BucketsRecovery:
    """A partition of the band-bucket table, and how it comes back from its changelog.

    Args:
        table: an empty one, or a copy of the log up to where it is read from.
        is_copy: the table is such a copy, so that slices of passes do not count.

    Cost: a record of a calm stream has some 200 postings, which cost as much to insert as 2,000; so what is only
        inserted waits until it is worth it.
    """

    def __init__(self, table: BandTable, *, is_copy: bool = False) -> None:
        self._table = table
        self._first: int | None = _NOWHERE if is_copy else None
        self._put_off: list[BandsFrame] | None = None
        self._come: list[Postings] = []
        self._waiting = 0

    @property
    def table(self) -> BandTable:
        """The table, once there is nothing more to take in."""
        self.catch_up()
        if self._come:
            self._insert()
        return self._table

    @property
    def is_complete(self) -> bool:
        """Whether the table has everything that was taken in: a recovery is not in the middle of a pass."""
        return self._put_off is None

    def take(self, offset: int, frame: BandsFrame) -> None:
        """Take in the record at an offset: the first one with which the log begins, then all others, in order."""
        if self._first is None:
            self._first = offset
        if frame.copied is None:
            if self._put_off is None:
                self._apply(frame)
            else:
                self._put_off.append(frame)
        elif frame.copied == BEGINS:
            if offset == self._first:
                self._put_off = []
        elif frame.copied.ended:
            if frame.copied.began >= self._first:  # a later pass ends: the first one did, or never will
                self.catch_up()
        elif frame.copied.began == self._first:
            self._apply(frame)

    def catch_up(self) -> None:
        """Apply the records that wait for the end of a pass: it has ended, or the log holds no end of it."""
        waiting, self._put_off = self._put_off or [], None
        for frame in waiting:
            self._apply(frame)

    def _apply(self, frame: BandsFrame) -> None:
        if frame.horizon is not None:
            self._insert()
            self._table.expire(frame.horizon.time_ms, np.array(frame.horizon.min_offsets, np.uint64))
        postings = frame.postings
        if postings is None:
            return
        if postings.retired.any():
            self._insert()
            gone, postings = postings.only(postings.retired), postings.only(~postings.retired)
            self._table.retire(gone.refs, gone.rows, gone.buckets)
        self._come.append(postings)
        self._waiting += postings.rows.size
        if self._waiting > _TOGETHER:
            self._insert()

    def _insert(self) -> None:
        come, self._come, self._waiting = self._come, [], 0
        for postings in coalesced_postings(come):
            self._table.insert(postings.refs, postings.times, postings.rows, postings.buckets)
