"""The state of the agents of one pipeline: a part that all of them share, and the state of each partition."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from stream_lsh.errors import StateError
from stream_lsh.index.table import BandTable
from stream_lsh.ledger.edges import Edges
from stream_lsh.pipeline.batches import Verifications
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery, LedgerRewriter
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery, BucketsRewriter, DocumentsRewriter
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.recall_monitor import RecallMonitor
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.sign import SignCounts
from stream_lsh.pipeline.verify import verify_in_steps
from stream_lsh.pipeline.watermarks import Relay, WatermarkGenerator
from stream_lsh.retention import BEGINNING_MS, Horizon

Verify = Callable[[Verifications, DocumentTable, Criteria, Comparer], Iterator[Edges | None]]
"""Compares pairs, in any number of steps."""


class BucketCounts:
    """Counts buckets, and forgets the rarest ones when there are too many: a count may be too low, never too high.

    Args:
        most: buckets that are counted at a time.

    Example:
        >>> counts = BucketCounts(most=2)
        >>> counts.add([7, 7, 7, 9, 9])
        >>> counts.add([8])
        >>> counts.largest(5)
        [(7, 3)]
    """

    __slots__ = ("_counts", "_most")

    def __init__(self, most: int = 4_096) -> None:
        self._most = most
        self._counts: Counter[int] = Counter()

    def add(self, buckets: Sequence[int]) -> None:
        """Count each bucket of a batch.

        Cost: some 50 ns a bucket.
        """
        self._counts.update(buckets)
        if len(self._counts) > self._most:
            self._counts = Counter(dict(self._counts.most_common(self._most // 2)))

    def largest(self, most: int) -> list[tuple[int, int]]:
        """The buckets with the largest counts, and these, largest first."""
        return self._counts.most_common(most)


@dataclass(slots=True)
class StepCounts:
    """The counts of the agents of a pipeline.

    Attributes:
        documents: that were read and can be used.
        signed: documents by their effect on stored versions.
        candidates: pairs that gather received: candidates of the index, and rechecks.
        edges: matches and answers to rechecks, from gather and verify.
        late_copies: copies of the intake that a zombie made.
        capped_postings: buckets that a probe followed only up to the cap.
        capped_candidates: pairs that were not compared, or not again, because of a cap; counted once for each partition
            of the index, and estimated where counting them would cost too much.
        capped_matches: the estimated number of matches among these; only a pipeline in memory estimates it.
        capped_by_block: `capped_postings` by their block.
        capped_by_bucket: the same by bucket.
    """

    documents: int = 0
    signed: SignCounts = field(default_factory=SignCounts)
    candidates: int = 0
    edges: int = 0
    late_copies: int = 0
    capped_postings: int = 0
    capped_candidates: int = 0
    capped_matches: float = 0.0
    capped_by_block: Counter[str] = field(default_factory=Counter)
    capped_by_bucket: BucketCounts = field(default_factory=BucketCounts)

    @property
    def recall_under_caps(self) -> float:
        """The estimated share of matches that the caps did not omit, among pairs that share a bucket."""
        return self.edges / (self.edges + self.capped_matches) if self.capped_matches else 1.0


@dataclass(frozen=True, slots=True)
class Shared:
    """The state that all agents of a pipeline share.

    Attributes:
        scheme: makes signatures and buckets.
        criteria: the conditions of a match.
        comparer: compares pairs, in gather and verify.
        counts: of the agents.
        segment_span_ms: the stretch of event time within which a byte-equal text is no new version; None: any.
        most_retired: versions that one version may retire; 0: any number.
        verify: compares pairs.
    """

    scheme: Scheme
    criteria: Criteria
    comparer: Comparer
    counts: StepCounts
    segment_span_ms: int | None = None
    most_retired: int = 0
    verify: Verify = verify_in_steps


@dataclass(slots=True)
class DocumentsState:
    """The documents of one source partition, and further state of sign, gather and verify.

    Attributes:
        newest_ms: the greatest event time of the documents that sign has delivered; None until their extent is known.
        position: the offset behind the last message that sign has read.
        watermarks: makes the marks of event time.
        is_ahead: the table may be ahead of its changelog.
        rewriter: rewrites the changelog.
        recall_monitor: measures the recall of the bands on the documents that are signed here.
    """

    table: DocumentTable
    forwarded: Forwarded
    gather_relay: Relay
    verify_relay: Relay
    newest_ms: int | None = None
    position: int = 0
    watermarks: WatermarkGenerator = field(default_factory=WatermarkGenerator)
    is_ahead: bool = False
    rewriter: DocumentsRewriter = field(default_factory=DocumentsRewriter)
    recall_monitor: RecallMonitor | None = None

    def delivered_ms(self, committed: int | None) -> int:
        """The greatest event time of the delivered documents; after a recovery, of the committed ones."""
        if self.newest_ms is None:
            self.newest_ms = BEGINNING_MS if committed is None else self.table.newest_ms(committed)
            self.position = committed or 0
        return self.newest_ms


@dataclass(slots=True)
class BucketsState:
    """One partition of the band-bucket table.

    Attributes:
        relay: passes watermarks on.
        unsaved: postings that the copy on disk lacks.
        is_ahead: the table may be ahead of its changelog.
        rewriter: rewrites the changelog.
    """

    recovery: BucketsRecovery
    relay: Relay
    horizon: Horizon = field(default_factory=Horizon)
    unsaved: int = 0
    is_ahead: bool = False
    rewriter: BucketsRewriter = field(default_factory=BucketsRewriter)

    @property
    def table(self) -> BandTable:
        """The table, after a pending recovery has been completed."""
        return self.recovery.table

    @property
    def is_due(self) -> bool:
        """Whether the table should be saved on disk now."""
        return False

    def forget(self, horizon: Horizon) -> None:
        """Drop the segments that the horizon has passed."""
        self.horizon = self.horizon.max(horizon)
        self.table.expire(horizon.time_ms, np.array(horizon.min_offsets, np.uint64))


@dataclass(slots=True)
class LedgerState:
    """The ledger, and the rewriter of its changelog.

    Attributes:
        is_ahead: the ledger may be ahead of its changelog.
    """

    recovery: LedgerRecovery
    rewriter: LedgerRewriter = field(default_factory=LedgerRewriter)
    is_ahead: bool = False

    @property
    def settler(self) -> Settler:
        """The state of settle, as applied so far."""
        return self.recovery.settler

    @property
    def began(self) -> int | None:
        """The offset at which the changelog starts, if known."""
        return None

    def expect_all(self) -> None:
        """Check that the ledger is complete: an incomplete one cannot settle.

        Raises:
            StateError: its changelog begins with a copy of it that has no end.
        """
        if not self.recovery.is_complete:
            raise StateError(
                f"the changelog of the ledger begins at offset {self.began} with a copy of the ledger that is not "
                "complete, expected all of it: records were lost or deleted; restore the topic, or rebuild the state "
                "from the source"
            )
