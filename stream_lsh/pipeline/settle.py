"""Step 5: edges, retirements, decisions and watermarks in; results and the horizon out.

The caller delivers, in this order: the public outputs, the rechecks and the horizon; the record to the changelog; the
acknowledgement.  So a crash in between leads to the same outputs once more, and never to a record without them
(ADR 0002).  Several independent messages may be in flight together: `flights`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from stream_lsh.ledger.changes import Settled
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.frame_notes import ClusterDescriber
from stream_lsh.ledger.graph.columns import columns_of
from stream_lsh.ledger.incremental_snapshot import slices
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.outdated import OutdatedScores
from stream_lsh.pipeline.batches import RECHECK, Candidates, EdgesFrame, Mark
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.pipeline.watermarks import WatermarkTable, watermark_of
from stream_lsh.retention import BEGINNING_MS, Horizon


class Settlement(NamedTuple):
    """The result of one message.

    Attributes:
        settled: changes for the public topics.
        rechecks: pairs for `candidates`, those with an outdated score among them; None if there are none.
        horizon: the limit of what all other steps may drop now, None if it has not moved.
        record: for the changelog.
    """

    settled: Settled
    rechecks: Candidates | None
    horizon: Horizon | None
    record: LedgerRecord


def flights(settlements: Iterable[Settlement], most_keys: int = 1_000) -> Iterator[list[Settlement]]:
    """Settlements in runs: the outputs of a run may be sent together, and its records behind all of them.

    Args:
        settlements: of consecutive messages, in order; consumed one by one, lazily.
        most_keys: a run with this number of keys is complete.

    Guarantees:
        no key of a public topic is twice in a run, so a run that is repeated after a crash restores no older
        value; a horizon is the first of its run, so it is sent when all before it is stored.
    """
    run, keys = list[Settlement](), set[object]()
    for settlement in settlements:
        if not run:
            run = [settlement]  # its keys are computed once a second settlement follows
            continue
        keys = keys or _keys(run[0].settled)
        named = _keys(settlement.settled)
        if settlement.horizon is not None or len(keys) >= most_keys or not keys.isdisjoint(named):
            yield run
            run, keys = [settlement], named
        else:
            run.append(settlement)
            keys |= named
    if run:
        yield run


def _keys(settled: Settled) -> set[object]:
    """The keys of a settlement in the public topics.

    A match by two ids, a member by its id, a cluster by (id,), two sites and a review by three texts.

    Cost: 0.1 us for each.
    """
    keys = set[object]()
    if settled.matches:
        left, right, *_ = columns_of(settled.matches)
        keys.update(zip(left, right, strict=True))
    if settled.reviews:
        left, right, *_ = columns_of(settled.reviews)
        keys.update(zip(repeat("reviews"), left, right))
    if settled.members:
        keys.update(columns_of(settled.members)[0])
    if settled.clusters:
        keys.update(zip(columns_of(settled.clusters)[0]))
    keys.update(("sites", mirror.left, mirror.right) for mirror in settled.mirrors)
    return keys


class Settler:
    """The state of settle: the ledger, the watermarks, and how far `edges` has been read.

    Args:
        threshold: least similarity of a pair.
        partitions: of the source, and so of `verifications`.
        retention_ms: greatest distance of a match in event time; None: any.
        lateness_ms: additional lifetime of state, for late documents.
        guards: additional conditions on clusters.
        stories: clusters have headline, outlets and first publisher.
        mirror_share: site pairs are published from this share of mirrored pages on; 0: none.
        link_from: matches begin here, and pairs below are reviews; 0: all pairs are matches.
        describer: makes the summaries of clusters, unless these are stories.
        cap_rechecks: pairs of a document that are compared again when it is updated; 0: all.
    """

    def __init__(
        self,
        threshold: float,
        partitions: int = 1,
        retention_ms: int | None = None,
        lateness_ms: int = 3_600_000,
        guards: Guards = NO_GUARDS,
        *,
        stories: bool = False,
        mirror_share: float = 0.0,
        link_from: float = 0.0,
        describer: ClusterDescriber | None = None,
        cap_rechecks: int = 0,
    ) -> None:
        kept = threshold, retention_ms, guards, stories, mirror_share
        self._new_ledger = partial(
            Ledger, *kept, partitions=partitions, link_from=link_from, describer=describer, cap_rechecks=cap_rechecks
        )
        self.ledger = self._new_ledger()
        self.outdated = OutdatedScores()
        self.applied_offset = -1
        self._partitions = partitions
        self._keep_ms = None if retention_ms is None else retention_ms + lateness_ms
        self._watermarks = WatermarkTable(partitions)
        self._marks: tuple[Mark, ...] | None = None  # merged, if known

    def settle(self, frame: EdgesFrame, offset: int) -> Settlement | None:
        """Settle the message at `offset` of `edges`; None if it was settled before."""
        if offset <= self.applied_offset:
            return None
        horizon = None
        if frame.watermarks is not None:
            before = self._watermarks.merged() if self._marks is None else self._marks
            self._watermarks.update(frame.watermarks)
            self._marks = self._watermarks.merged()
            horizon = self._advanced(before, self._marks)
        settled = self.ledger.settle(
            offset,
            retirements=frame.retirements,
            edges=() if frame.edges is None else frame.edges,
            horizon=horizon,
            pages=frame.pages,
            decisions=frame.decisions,
        )
        self.applied_offset = offset
        watermarks = () if frame.watermarks is None else (self._watermarks.row(frame.watermarks.origin),)
        rechecks = [*settled.rechecks]
        if frame.edges is not None and self.ledger.graph.pairs.link_from:
            rechecks += self.outdated.take(frame.edges, self.ledger.graph)
        return Settlement(settled, _rechecks(rechecks), horizon, LedgerRecord(offset, settled.changes, watermarks))

    def begin(self, generation: int) -> None:
        """Begin a generation of the consumer group; see `WatermarkTable.begin`, `PageTable.begin`."""
        self._watermarks.begin(generation)
        self._marks = None
        if self.ledger.mirrors is not None:
            self.ledger.mirrors.begin(generation)

    def slices(self, rows: int) -> Iterator[LedgerRecord]:
        """The whole state, `rows` at a time; frames may be settled between slices (`ledger.incremental_snapshot`)."""
        watermarks = self._watermarks.rows()
        for changes in slices(self.ledger, rows):
            yield LedgerRecord(self.applied_offset, changes, watermarks)
            watermarks = ()

    def snapshot(self) -> LedgerRecord:
        """The whole state as one record, from which recovery may start."""
        return LedgerRecord(self.applied_offset, self.ledger.snapshot(), self._watermarks.rows())

    def apply(self, record: LedgerRecord) -> None:
        """Recovery: apply a record of the changelog, in order; a record that was applied before is passed over.

        A snapshot replaces the state only if it is ahead: a late writer cannot restore an older state.
        """
        if record.offset < self.applied_offset or (
            record.offset == self.applied_offset and not record.changes.complete
        ):
            return
        if record.changes.complete:
            self.ledger = self._new_ledger()
            self._watermarks = WatermarkTable(self._partitions)
        self.ledger.apply(record.changes)
        for row in record.watermarks:
            self._watermarks.update(row)
        self._marks = None
        self.applied_offset = record.offset

    def _advanced(self, before: tuple[Mark, ...], marks: tuple[Mark, ...]) -> Horizon | None:
        """The horizon after new marks, None if it stays.

        Only a busy source that has progressed advances event time.  If another source has become idle and nothing
        else has changed, that does not advance it: all may be about to become idle.
        """
        time_ms, reached = BEGINNING_MS, {mark.source: mark.time_ms for mark in before}
        advances = any(not mark.idle and mark.time_ms > reached.get(mark.source, BEGINNING_MS) for mark in marks)
        if self._keep_ms is not None and advances:
            time_ms = watermark_of(marks, self._partitions) - self._keep_ms
        min_offsets = tuple(mark.min_offset for mark in marks) if len(marks) == self._partitions else ()
        joined = self.ledger.horizon.max(Horizon(time_ms, min_offsets if any(min_offsets) else ()))
        return None if joined == self.ledger.horizon else joined


def _rechecks(pairs: list[tuple[int, int]]) -> Candidates | None:
    if not pairs:
        return None
    new, old = np.array(pairs, np.uint64).T
    return Candidates(new, old, np.full(new.size, RECHECK, np.uint8))
