"""Changelogs that are mostly dead are rewritten: live entries are copied to the end, and the rest is obsolete.

A changelog is trimmed from its head, and only up to the first record that has not expired.  A document that is updated
ten thousand times within the retention leaves ten thousand records behind one that has not expired.  So, once a log
holds several times the entries of its table, a *pass* copies the table to the log's end, in *slices* between the
batches, in proportion to new records: no batch waits, and an idle log is not rewritten (docs/internals/adr/0015).

    due      the log holds more than `TIMES` the live entries, and some
    begun    the table contains all records before the first slice
    slices   sent by the writer of the log, between two batches: a copy never comes behind a newer version
    over     all slices have been delivered: the log may be trimmed to the beginning of the pass

A crash or a rebalance ends a pass; the next owner begins another one when it is due.

`documents`: a copy is an ordinary record, and none replaces a higher ref, so copies may be repeated or late.  The
log begins with the first slice, which states the acknowledged offset: with it a reader recognizes a late record of an
earlier owner if the marker that contradicts it has been dropped (docs/internals/adr/0029).

`buckets`: the order of postings along a bucket matters (ADR 0003), and copies of old postings lie behind newer ones.
So its passes have marks: a record that begins a pass, slices that contain the offset of that record, and
one that ends it, sent when all slices are in the log.  Slices apply only if the log begins with their pass:
a log that begins earlier has the copied records, and the slices of other passes are late or were never completed.
If they apply, the records between them wait until the end of the pass; so no log may begin inside a pass.

A log that was trimmed to the beginning of a pass also holds its end.  A log may begin with a pass without an end only
because all records before it have expired; then the slices need not be awaited.
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
"""The largest ratio of log to live entries.  A pass then writes at most one entry for two new ones."""
PACE = 2
"""Entries that are copied for each new one: a pass over n entries is over after n / 2 new entries."""
LEAST_VERSIONS, LEAST_POSTINGS = 1024, 16 * 1024
_TOGETHER = 64 * 1024
"""Postings that are inserted together in a recovery."""
_NOWHERE = -2
"""The offset of no record."""
_SLICE_VERSIONS = 128
"""Some 5 ms: the time to compress them."""


class DocumentsRewriter:
    """Rewrites the changelog of one partition of documents.

    Args:
        least: entries that a log may always hold, however few are live.
        slice_versions: the versions of a slice.
    """

    def __init__(self, least: int = LEAST_VERSIONS, slice_versions: int = _SLICE_VERSIONS) -> None:
        self.least, self._slice_versions = least, slice_versions
        self._order: tuple[U64, I64] | None = None
        self._began: int | None = None
        self._next = self._owed = self._in_flight = 0

    def slices(self, table: DocumentTable, log: LogHead, written: int, bands: int) -> Iterator[DocumentsRecord]:
        """The slices to append now, between two batches of sign; each is sent before the next one is taken.

        The caller reports with `sent` the records of each slice, and with `delivered` each stored record.

        Args:
            table: of the partition; all of it has been delivered.
            log: up to the last of them; where a pass begins, it begins a run.
            written: entries of the last batch.
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
            if len(copied) or at.start == 0:  # the log will begin with the first one, even if no version is live
                yield copied

    def acknowledged(self, table: DocumentTable, committed: int) -> int:
        """The acknowledged offset for the next record of sign, given this committed offset of the source.

        It does not change during a pass: the log will begin with the first slice of the pass, and a later statement
        must not drop a marker that the pass has not copied.
        """
        return table.acknowledged if self._order is not None else max(table.acknowledged, committed)

    def sent(self, records: int, size: int = 0) -> None:
        """Note this number of records in flight."""
        self._in_flight += records

    def delivered(self, offset: int) -> None:
        """Note that one of these records is stored at this offset."""
        self._in_flight -= 1
        self._began = offset if self._began is None else self._began

    def completed_pass(self) -> int | None:
        """The offset of the first slice of a pass whose slices are all stored, returned once; None if there is none."""
        if self._order is None or self._began is None or self._next < self._order[0].size or self._in_flight:
            return None
        self._order = None
        return self._began


class BucketsRewriter:
    """Rewrites the changelog of one partition of the band-bucket table.

    Attributes:
        least: entries that a log may always hold, however few are live.
    """

    def __init__(self, least: int = LEAST_POSTINGS) -> None:
        self.least = least
        self._in_pass = self._ended = False
        self._began: int | None = None
        self._owed = self._in_flight = 0

    def records(self, table: BandTable, entries: int, written: int) -> Iterator[BandsFrame]:
        """The records to append now, behind those of a batch; each is sent before the next one is taken.

        The caller reports with `sent` the records of each slice, and with `delivered` each stored record.

        Args:
            table: of the partition.
            entries: that its log holds.
            written: entries of the last batch.
        """
        if not self._in_pass:
            if entries > self.least + TIMES * len(table):
                self._in_pass, self._ended, self._began, self._owed = True, False, None, 0
                table.begin_copy()
                yield BandsFrame(copied=BEGINS)
            return
        if self._began is None:
            return
        self._owed += PACE * written
        while self._owed > 0 and (copied := table.copy()) is not None:
            self._owed -= len(copied.rows)
            is_retired = np.zeros(len(copied.refs), np.bool_)
            postings = Postings(copied.refs, copied.times, is_retired, copied.rows, copied.buckets)
            yield BandsFrame(postings=postings, copied=Pass(self._began, False))
        if not (table.is_copying or self._in_flight or self._ended):
            self._ended = True
            yield BandsFrame(copied=Pass(self._began, True))

    def sent(self, records: int, size: int = 0) -> None:
        """Note this number of records in flight."""
        self._in_flight += records

    def delivered(self, offset: int) -> None:
        """Note that one of these records is stored at this offset."""
        self._in_flight -= 1
        self._began = offset if self._began is None else self._began
        self._in_pass = not (self._ended and not self._in_flight)


class BucketsRecovery:
    """A partition of the band-bucket table, during its recovery from the changelog.

    Args:
        table: an empty one, or a copy of the log up to where it is read from.
        is_copy: the table is such a copy, so that slices of passes do not count.

    Cost: a record of a calm stream has some 200 postings, which cost as much to insert as 2,000; so insertions
        wait until there are enough of them.
    """

    def __init__(self, table: BandTable, *, is_copy: bool = False) -> None:
        self._table = table
        self._first: int | None = _NOWHERE if is_copy else None
        self._deferred: list[BandsFrame] | None = None
        self._pending: list[Postings] = []
        self._waiting = 0

    @property
    def table(self) -> BandTable:
        """The table, after all records that wait for the end of a pass are applied."""
        self.catch_up()
        if self._pending:
            self._insert()
        return self._table

    @property
    def size(self) -> int:
        """The number of postings so far, without deferred records; unlike `table`, this applies nothing."""
        return len(self._table) + self._waiting

    @property
    def is_complete(self) -> bool:
        """Whether all records are applied: the recovery is not inside a pass."""
        return self._deferred is None

    def take(self, offset: int, frame: BandsFrame) -> None:
        """Apply the record at an offset, or defer it to the end of a pass; records come in order, from the first on."""
        if self._first is None:
            self._first = offset
        if frame.copied is None:
            if self._deferred is None:
                self._apply(frame)
            else:
                self._deferred.append(frame)
        elif frame.copied == BEGINS:
            if offset == self._first:
                self._deferred = []
        elif frame.copied.ended:
            if frame.copied.began >= self._first:  # a later pass ends: the first one did, or never will
                self.catch_up()
        elif frame.copied.began == self._first:
            self._apply(frame)

    def catch_up(self) -> None:
        """Apply the deferred records: the pass has ended, or the log ends before the pass does."""
        deferred, self._deferred = self._deferred or [], None
        for frame in deferred:
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
            retired, postings = postings.only(postings.retired), postings.only(~postings.retired)
            self._table.remove(retired.refs, retired.rows, retired.buckets)
        self._pending.append(postings)
        self._waiting += postings.rows.size
        if self._waiting > _TOGETHER:
            self._insert()

    def _insert(self) -> None:
        pending, self._pending, self._waiting = self._pending, [], 0
        for postings in coalesced_postings(pending):
            self._table.insert(postings.refs, postings.times, postings.rows, postings.buckets)
