"""The changelog of the ledger: from time to time the whole ledger is copied to its end, and the rest is obsolete.

A million documents take seconds to write.  So, as with the other tables (`rewrite`), a *pass* is divided into *slices*
between the batches of settle, in proportion to new records, and no batch waits (docs/internals/adr/0019).

    due      the records behind the last copy are twice as long as the copy, and some
    begun    the first record of the pass; the ledger contains all earlier records of the log
    slices   contain the offset of that record; the first one also the settled offset of `edges` when it was copied
    ended    by the last slice
    over     all slices are in the log: it may be trimmed to the beginning of the pass

The slices are copied at different moments.  Messages that were settled since the first slice have records in the log,
among the slices and behind them, and these records override the slices.  A reader of a log that begins with a pass
defers the records until it has all slices, and merges both.  A reader that has the earlier records ignores slices.

A crash or a rebalance ends a pass: its slices are ignored, and the next owner begins another one when it is due.
"""

from collections.abc import Iterator
from typing import NamedTuple

from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.ledger.incremental_snapshot import merged
from stream_lsh.pipeline.batches import BEGINS, Pass
from stream_lsh.pipeline.changelog.records import LedgerRecord, LedgerSlice
from stream_lsh.pipeline.changelog.rewrite import PACE
from stream_lsh.pipeline.settle import Settler

LEAST_BYTES = 8 << 20
SLICE_ROWS = 1_000
"""Some 3 ms on a slow machine."""


class LogSizes(NamedTuple):
    """The sizes of the ledger's changelog: the offset of its last copy, bytes of later records, bytes of the copy."""

    start: int | None = None
    written: int = 0
    copied: int = 0


class LedgerRewriter:
    """Rewrites the changelog of the ledger.

    A pass is due once the records behind the last one are twice as long as the copy, so that the log is never more than
    some five times the size of the ledger, and copies are at most half as long as the other records.

    Args:
        least: bytes of records that the log may always hold, however small the ledger is.
        rows: of a slice.

    Attributes:
        least: as above.
        sizes: of the log.
    """

    def __init__(self, least: int = LEAST_BYTES, rows: int = SLICE_ROWS) -> None:
        self.least, self._rows = least, rows
        self.sizes = LogSizes()
        self._slices: Iterator[LedgerRecord] | None = None
        self._began: int | None = None
        self._ended = False
        self._number = self._before = self._owed = self._in_flight = self._copied = 0

    @property
    def is_due(self) -> bool:
        """Whether the log is long in proportion to the ledger."""
        return self.sizes.written > max(self.least, 2 * self.sizes.copied)

    def wrote(self, size: int) -> None:
        """Note a record of this size at the end of the log."""
        self.sizes = self.sizes._replace(written=self.sizes.written + size)

    def slices(self, settler: Settler, written: int) -> Iterator[LedgerSlice]:
        """The slices to append now, behind the records of a batch; each is sent before the next one is taken.

        The caller reports with `sent` the records and bytes of each slice, and with `delivered` each stored record.

        Args:
            settler: all settlements in it have been delivered.
            written: bytes of the records of the batch, as passed to `wrote`.
        """
        if self._slices is None:
            if self.is_due:
                self._slices, self._began, self._ended = settler.slices(self._rows), None, False
                self._number = self._owed = self._copied = 0
                self._before = self.sizes.written
                yield LedgerSlice(BEGINS, 0, LedgerRecord(settler.applied_offset, LedgerChanges(), ()))
            return
        if self._began is None:
            return
        self._owed += PACE * written
        while self._owed > 0 and not self._ended:
            record = next(self._slices, None)
            self._ended = record is None
            if record is None:
                record = LedgerRecord(settler.applied_offset, LedgerChanges(), ())
            yield LedgerSlice(Pass(self._began, self._ended), self._number, record)
            self._number += 1

    def sent(self, records: int, size: int) -> None:
        """Note a slice in flight, by its size in bytes and its number of records."""
        self._in_flight += records
        self._owed -= size
        self._copied += size

    def delivered(self, offset: int) -> None:
        """Note that one of these records is stored at this offset."""
        self._in_flight -= 1
        self._began = offset if self._began is None else self._began

    def completed_pass(self) -> int | None:
        """The offset of the first slice of a pass whose slices are all stored, returned once; None if there is none."""
        if self._slices is None or self._began is None or not self._ended or self._in_flight:
            return None
        self._slices = None
        self.sizes = LogSizes(self._began, self.sizes.written - self._before, self._copied)
        return self._began


class LedgerRecovery:
    """Restores the ledger from its changelog.

    Args:
        settler: an empty one, or one with the state of the log up to the offset from which it is read.

    Attributes:
        settler: the state as applied so far.
    """

    def __init__(self, settler: Settler) -> None:
        self.settler = settler
        self._slices: dict[int, LedgerRecord] | None = None
        self._count = 0
        self._deferred: list[LedgerRecord] = []

    @property
    def is_complete(self) -> bool:
        """Whether all records have been applied: the recovery is not inside a pass."""
        return self._slices is None

    def take(self, record: LedgerRecord | LedgerSlice) -> None:
        """Apply the next entry of the log: a record, or a slice of the pass with which the log begins."""
        if isinstance(record, LedgerRecord):
            self._take_record(record)
        elif record.copied == BEGINS:
            self._slices = {}
        elif self._slices is not None:
            self._slices[record.number] = record.record
            if record.copied.ended:
                self._count = record.number + 1
            if len(self._slices) == self._count:
                self._complete([self._slices[number] for number in range(self._count)])

    def _take_record(self, record: LedgerRecord) -> None:
        if self._slices is None:
            self.settler.apply(record)
        else:
            self._deferred.append(record)

    def _complete(self, taken: list[LedgerRecord]) -> None:
        """Build the ledger from the slices, which are complete, and the records since the first of them."""
        offset, watermarks, later = taken[0].offset, [*taken[0].watermarks], list[LedgerChanges]()
        for record in self._deferred:
            if record.offset > offset:
                offset = record.offset
                watermarks += record.watermarks
                later.append(record.changes)
        changes = merged([record.changes for record in taken], later)
        self._slices, self._deferred = None, []
        self.settler.apply(LedgerRecord(offset, changes, tuple(watermarks)))
