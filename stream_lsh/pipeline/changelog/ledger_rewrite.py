"""The changelog of the ledger: now and then the whole ledger is copied to its end, then nothing before is needed.

A million documents take seconds to write down.  So, as with the other tables (`rewriting`), a *pass* goes in *slices*
between the batches of settle, in proportion to what is written meanwhile, and no batch waits (docs/internals/adr/0019).

    due      what came behind the last copy is twice as long as it is, and some
    begun    the first record of the pass; everything before it in the log is in the ledger
    slices   name the offset of that record; the first of them says how far `edges` was settled when it was taken
    ended    by the last slice
    over     all slices are in the log: it may be trimmed to where the pass began

The slices are of different moments.  What was settled since the first of them has its records in the log, among them
and behind them, and a row that such a record names is right there.  Who reads a log that begins with a pass puts the
records off until all slices have come, and makes the ledger of both.  Who knows what came before passes slices over.

A crash or a rebalance ends a pass: its slices count nowhere, and the next owner begins another one when it is due.
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
    """What the changelog of the ledger holds: where its last copy begins, bytes of records behind it, bytes of it."""

    start: int | None = None
    written: int = 0
    copied: int = 0


class LedgerRewriter:
    """Rewrites the changelog of the ledger.

    A pass is due once the records behind the last one are twice as long as that was, so that the log is never more than
    some five times what is in it, and copying writes no more than half of what is written besides.

    Args:
        least: bytes of records that the log may hold however little is in it.
        rows: of a slice.

    Attributes:
        least: as above.
        sizes: what the log holds.
    """

    def __init__(self, least: int = LEAST_BYTES, rows: int = SLICE_ROWS) -> None:
        self.least, self._rows = least, rows
        self.sizes = LogSizes()
        self._slices: Iterator[LedgerRecord] | None = None
        self._began: int | None = None
        self._ended = False
        self._number = self._before = self._owed = self._under_way = self._copied = 0

    @property
    def is_due(self) -> bool:
        """Whether the log has become long for what is in it."""
        return self.sizes.written > max(self.least, 2 * self.sizes.copied)

    def wrote(self, size: int) -> None:
        """The log has a record of so many bytes more."""
        self.sizes = self.sizes._replace(written=self.sizes.written + size)

    def slices(self, settler: Settler, written: int) -> Iterator[LedgerSlice]:
        """What is to be appended now, behind the records of a batch; each is sent before the next one is taken.

        The caller tells in how many records and bytes each is `sent`, and of each record that it was `delivered`.

        Args:
            settler: all that it has settled has been delivered.
            written: bytes of the records of the batch, which `wrote` was told.
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
        """A slice of so many bytes is on its way into the log, in so many records."""
        self._under_way += records
        self._owed -= size
        self._copied += size

    def delivered(self, offset: int) -> None:
        """One of them is in the log, at this offset."""
        self._under_way -= 1
        self._began = offset if self._began is None else self._began

    def take_over(self) -> int | None:
        """Where the pass began that is over now; None if there is none.  It is told once."""
        if self._slices is None or self._began is None or not self._ended or self._under_way:
            return None
        self._slices = None
        self.sizes = LogSizes(self._began, self.sizes.written - self._before, self._copied)
        return self._began


class LedgerRecovery:
    """How the ledger comes back from its changelog.

    Args:
        settler: an empty one, or one that stands for the log up to where it is read from.

    Attributes:
        settler: what has been taken in so far.
    """

    def __init__(self, settler: Settler) -> None:
        self.settler = settler
        self._slices: dict[int, LedgerRecord] | None = None
        self._count = 0
        self._put_off: list[LedgerRecord] = []

    @property
    def is_whole(self) -> bool:
        """Whether everything has been taken in: a recovery is not in the middle of a pass."""
        return self._slices is None

    def take(self, record: LedgerRecord | LedgerSlice) -> None:
        """Take in what the log has next: a record, or a slice of the pass with which it begins."""
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
            self._put_off.append(record)

    def _complete(self, taken: list[LedgerRecord]) -> None:
        """All slices are here: the ledger is what they say, and what was settled since the first of them."""
        offset, watermarks, later = taken[0].offset, [*taken[0].watermarks], list[LedgerChanges]()
        for record in self._put_off:
            if record.offset > offset:
                offset = record.offset
                watermarks += record.watermarks
                later.append(record.changes)
        changes = merged([record.changes for record in taken], later)
        self._slices, self._put_off = None, []
        self.settler.apply(LedgerRecord(offset, changes, tuple(watermarks)))
