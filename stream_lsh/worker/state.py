"""What a worker holds of one pipeline: the core's state by partition, and how a record of a changelog goes into it."""

from dataclasses import dataclass, field

import numpy as np

from stream_lsh.config.model import PipelineConfig
from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.documents import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.scheme import TextScheme
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.verify import Criteria, ShingleSets
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_buckets, decode_documents
from stream_lsh.wire.ledger_record import LedgerAssembler
from stream_lsh.worker.tables import Changelogged

_FIRST_CAPACITY = 1 << 16


@dataclass(slots=True)
class Documents:
    """The documents of one source partition, and what sign and gather know beside them.

    `newest_ms` is the greatest event time of what sign has delivered; None until it is known how far that is.
    `position` is the offset behind what sign has taken; `at_end`, whether nothing more was there at the last tick.
    """

    table: DocumentTable
    forwarded: Forwarded
    gather_relay: Relay
    verify_relay: Relay
    newest_ms: int | None = None
    position: int = 0
    at_end: bool = False


@dataclass(slots=True)
class Buckets:
    """One partition of the band-bucket table."""

    table: BandTable
    relay: Relay


@dataclass(slots=True)
class Ledger:
    """The ledger, and the parts of a record that is not complete yet."""

    settler: Settler
    assembler: LedgerAssembler


@dataclass(slots=True)
class Counts:
    """What has passed through this worker, for the log and for `check`."""

    documents: int = 0
    candidates: int = 0
    matches: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    capped_postings: int = 0
    capped_candidates: int = 0


class PipelineState:
    """All state of one pipeline on this worker.

    Args:
        config: of the pipeline.
        partitions: of its source.
    """

    def __init__(self, config: PipelineConfig, partitions: int) -> None:
        self.config = config
        self.partitions = partitions
        self.scheme: TextScheme = config.scheme()
        self.limits = config.limits()
        settings = self.scheme.settings | {"measure": "jaccard"}
        self.fingerprint = fingerprint(settings)
        threshold = config.threshold
        self.criteria = Criteria(threshold, self.scheme.least_matching(threshold), self.limits.retention_ms)
        self.sets = ShingleSets(self.scheme)
        self.counts = Counts()
        self.documents = Changelogged(self._new_documents, self._apply_documents)
        self.buckets = Changelogged(self._new_buckets, self._apply_buckets)
        self.ledger = Changelogged(self._new_ledger, self._apply_ledger)

    # -- documents

    def _new_documents(self, partition: int) -> Documents:
        relays = (Relay(partition, self.partitions), Relay(partition, self.partitions))
        return Documents(DocumentTable(self.scheme.slots), Forwarded(), *relays)

    def _apply_documents(self, state: Documents, value: bytes) -> None:
        record = decode_documents(value, self.fingerprint)
        state.table.apply(record)
        state.table.expire(record.horizon)

    # -- buckets

    def _new_buckets(self, partition: int) -> Buckets:
        table = BandTable(
            cap_postings=self.limits.cap_postings,
            cap_candidates=self.limits.cap_candidates,
            segment_span_ms=self.limits.segment_span_ms,
            first_capacity=_FIRST_CAPACITY,
        )
        return Buckets(table, Relay(partition, 1))

    def _apply_buckets(self, state: Buckets, value: bytes) -> None:
        frame = decode_buckets(value, self.fingerprint)
        if frame.horizon is not None:
            forget_buckets(state.table, frame.horizon)
        postings = frame.postings
        if postings is not None:
            come = ~postings.retired[postings.rows]
            if not come.all():
                state.table.retire(postings.refs, postings.rows[~come], postings.buckets[~come])
            if come.any():
                rows, buckets = postings.rows[come], postings.buckets[come]
                state.table.insert(postings.refs, postings.times, rows, buckets)

    # -- ledger

    def _new_ledger(self, partition: int) -> Ledger:
        limits = self.limits
        settler = Settler(self.config.threshold, self.partitions, limits.retention_ms, limits.lateness_ms)
        return Ledger(settler, LedgerAssembler(self.fingerprint))

    def _apply_ledger(self, state: Ledger, value: bytes) -> None:
        record = state.assembler.add(value)
        if record is not None:
            state.settler.apply(record)

    # -- event time

    def newest_ms(self, state: Documents, committed: int | None) -> int:
        """The greatest event time of what has been delivered; after a recovery, of what has been committed."""
        if state.newest_ms is None:
            state.newest_ms = BEGINNING_MS if committed is None else state.table.newest_ms(committed)
            state.position = committed or 0
        return state.newest_ms


def forget_buckets(table: BandTable, horizon: Horizon) -> None:
    """Drop the segments that the horizon has passed."""
    table.expire(horizon.time_ms, np.array(horizon.floors, np.uint64))
