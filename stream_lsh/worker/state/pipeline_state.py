"""The state of one pipeline on a worker: the core's state by partition, and the application of changelog records."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from faust.types import TP

from stream_lsh.arrays import Bools
from stream_lsh.config.message_sizes import most_retired
from stream_lsh.config.model import PipelineConfig
from stream_lsh.index.table import BandTable
from stream_lsh.ledger.cluster_history import ClusterHistory
from stream_lsh.pipeline.agents.state import BucketsState, DocumentsState, LedgerState, Shared
from stream_lsh.pipeline.cap_model import CapModel
from stream_lsh.pipeline.changelog.head import Extent, extent_of_buckets, extent_of_documents
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery, LogSizes
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.recall_monitor import RecallMonitor
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_buckets, decode_documents
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.wire.origin import CopyGenerations
from stream_lsh.wire.route import bucket_partitions
from stream_lsh.worker.state.changelogged import Applied, Changelogged
from stream_lsh.worker.state.counts import Counts
from stream_lsh.worker.state.settle_lag import SettleLag
from stream_lsh.worker.storage.buckets import BucketStore, Captured, release_memory
from stream_lsh.worker.storage.documents import DocumentStore
from stream_lsh.worker.storage.folder import Identity, Storage
from stream_lsh.worker.storage.ledger import LedgerStore

_FIRST_CAPACITY = 1 << 16
_LEAST_SAVED = 250_000  # postings


@dataclass(slots=True)
class Documents(DocumentsState):
    """The documents of one source partition on this worker.

    `store` is the copy on disk, with the contents of the table.  `generations` recognizes late copies; it is used only
    for sources that are rekeyed.
    """

    store: DocumentStore | None = None
    generations: CopyGenerations = field(default_factory=CopyGenerations)

    @property
    def is_whole(self) -> bool:
        """True: no record of this table waits for another one."""
        return True


@dataclass(slots=True)
class Buckets(BucketsState):
    """One partition of the band-bucket table on this worker.

    `log_end` is the end of the changelog when a follower first waited for the end of a pass.
    `store` is the copy on disk, which lacks `unsaved` postings.
    """

    store: BucketStore | None = None
    log_end: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no record waits for the end of a pass."""
        return self.recovery.is_complete

    @property
    def is_due(self) -> bool:
        """Whether a restart would have to read many records."""
        if self.store is None or not self.recovery.is_complete:
            return False
        return self.unsaved > max(_LEAST_SAVED, len(self.table) // 4)


@dataclass(slots=True)
class Ledger(LedgerState):
    """The ledger on this worker, and the parts of a record that is not complete yet.

    `store` is the copy on disk, `history` the latest events of clusters, if `keeps_history` is set.
    """

    assembler: LedgerAssembler = field(kw_only=True)
    store: LedgerStore | None = None
    history: ClusterHistory = field(default_factory=ClusterHistory)

    @property
    def is_whole(self) -> bool:
        """Whether no applied record still waits for further parts."""
        return self.recovery.is_complete and not self.assembler.waits

    @property
    def began(self) -> int | None:
        """The offset at which the changelog starts, if known."""
        return self.assembler.began


@dataclass(slots=True)
class Traffic:
    """The last offsets that the agents read of each topic, and the size of its messages."""

    positions: dict[TP, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def count(self, tp: TP, records: Sequence[Any]) -> None:
        """Count the records of a partition that an agent takes."""
        self.positions[tp] = records[-1].offset + 1
        self.records[tp.topic] = self.records.get(tp.topic, 0) + len(records)
        size = sum(len(record.value) for record in records if record.value is not None)
        self.sizes[tp.topic] = self.sizes.get(tp.topic, 0) + size

    def bytes_before(self, tp: TP, end: int) -> int:
        """The estimated bytes between the read offset of a partition and its end; 0 before the first read."""
        position, records = self.positions.get(tp), self.records.get(tp.topic)
        if position is None or not records:
            return 0
        return max(0, end - position) * self.sizes[tp.topic] // records


class PipelineState:
    """All state of one pipeline on this worker.

    Args:
        config: of the pipeline.
        partitions: of its source.

    Attributes:
        storage: holds the copies of the states on disk; None for no copies.
        keeps_history: the ledger keeps the latest events of its clusters, for queries.
    """

    def __init__(self, config: PipelineConfig, partitions: int) -> None:
        self.storage: Storage | None = None
        self.keeps_history = False
        self.config = config
        self.partitions = partitions
        self.scheme = config.kind.scheme()
        self.limits = config.limits()
        self.max_message_bytes = config.max_message_bytes
        self.fingerprint = fingerprint(config.kind.stored_settings())
        self.criteria = self.scheme.criteria(config.kind.least, self.limits.retention_ms)
        self.comparer = self.scheme.comparer()
        self.results = config.kind.results(config.name)
        # Where no number of equal slots excludes a match, signatures do not show which documents are similar.
        self.has_recall_monitor = config.kind.shadow > 0 and self.criteria.least_matching > 0
        self.counts = Counts()
        self.shared = Shared(
            self.scheme,
            self.criteria,
            self.comparer,
            self.counts,
            self.limits.segment_span_ms,
            most_retired(config, self.scheme),
        )
        self.traffic = Traffic()
        self.settle_lag = SettleLag()
        self.documents = Changelogged(self._new_documents, self._apply_documents, lambda state: state.store)
        self.buckets = Changelogged(self._new_buckets, self._apply_buckets, lambda state: state.store, in_thread=True)
        self.ledger = Changelogged(self._new_ledger, self._apply_ledger, lambda state: state.store)

    def line(self) -> str:
        """A summary of the state in one line."""
        held, followed = self.documents.partitions(), sorted(self.documents.followed())
        follows = f"; follows {', '.join(map(str, followed))}" if followed else ""
        if not held:
            return f"{self.config.name}, no partition: standing by, others have all {self.partitions}{follows}"
        documents = sum(len(partition_state.table) for partition_state in self.documents.owned().values())
        settles = "; settles here" if self.ledger.owned() else ""
        return (
            f"{self.config.name}, partitions {', '.join(map(str, held))} with {documents} documents{settles}{follows}"
        )

    def followed(self) -> dict[TP, Changelogged[Any]]:
        """The changelog partitions that this worker follows, with the table of each."""
        tables: Mapping[str, Changelogged[Any]]
        tables = {"documents": self.documents, "buckets": self.buckets, "ledger": self.ledger}
        return {
            TP(self.config.changelog_topic(name), partition): states
            for name, states in tables.items()
            for partition in states.followed()
        }

    def close(self) -> None:
        """Release the copies on disk."""
        for states in (self.documents, self.buckets):
            states.clear()

    # -- documents

    def _new_documents(self, partition: int) -> Documents:
        relays = (Relay(partition, self.partitions), Relay(partition, self.partitions))
        pages = SitePages() if self.config.kind.mirror_share else None
        if self.storage is None:
            table = DocumentTable(self.scheme.slots, pages=pages, counts=self.scheme.counts())
            return Documents(table, Forwarded(), *relays, recall_monitor=self._new_recall_monitor())
        place, identity = self._copy(self.storage, "documents", partition)
        has_abouts = self.limits.stories or self.limits.describer is not None
        shape = self.scheme.slots, self.scheme.width
        store = DocumentStore(place, identity, *shape, has_abouts, partitions=self.partitions)
        table = store.table(pages, self.scheme.counts())
        return Documents(table, Forwarded(), *relays, store=store, recall_monitor=self._new_recall_monitor())

    def _new_recall_monitor(self) -> RecallMonitor | None:
        if not self.has_recall_monitor:
            return None
        share, seed = self.config.kind.shadow, self.config.kind.seed
        caps = CapModel(
            self.limits.cap_postings,
            self.limits.cap_candidates,
            self.partitions,
            partial(bucket_partitions, partitions=self.partitions),
        )
        counts = self.counts.recall_monitor
        return RecallMonitor(self.scheme, self.criteria, self.comparer, counts, share, seed=seed, caps=caps)

    def _apply_documents(self, state: Documents, value: bytes, offset: int) -> Applied:
        record = decode_documents(value, self.fingerprint)
        stored = state.table.apply(record)
        state.table.expire(record.horizon)
        return self.applied_documents(state, record, stored)

    def applied_documents(self, state: Documents, record: DocumentsRecord, stored: Bools | None = None) -> Applied:
        """A record that the table of a partition has applied; `stored` marks its stored versions, None for all."""
        if state.store is None:
            return Applied(extent_of_documents(record))
        which = np.ones(len(record), np.bool_) if stored is None else stored
        return Applied(extent_of_documents(record), partial(state.store.write, record, which))

    def applied_copies(self, state: Documents, record: DocumentsRecord) -> Applied:
        """A record with copies of versions that are in the table of a partition."""
        store = state.store
        return Applied(extent_of_documents(record), None if store is None else partial(store.write_copies, record))

    def _copy(self, storage: Storage, table: str, partition: int) -> tuple[Path, Identity]:
        config = self.config
        identity = Identity(
            application=storage.application,
            pipeline=config.name,
            table=table,
            partition=partition,
            partitions=self.partitions,
            fingerprint=f"{self.fingerprint:016x}",
            changelog=storage.changelogs.get(config.changelog_topic(table)),
        )
        return storage.place(config.name, table, partition), identity

    # -- buckets

    def _new_buckets(self, partition: int) -> Buckets:
        relay = Relay(partition, 1)
        settings: dict[str, Any] = {
            "cap_postings": self.limits.cap_postings,
            "cap_candidates": self.limits.cap_candidates,
            "segment_span_ms": self.limits.segment_span_ms,
            "first_capacity": _FIRST_CAPACITY,
            "most_documents": self.limits.segment_documents * self.partitions,
        }
        if self.storage is None:
            return Buckets(BucketsRecovery(BandTable(**settings)), relay)
        place, identity = self._copy(self.storage, "buckets", partition)
        store = BucketStore(place, identity, **settings)
        recovery = BucketsRecovery(store.table, is_copy=store.offset is not None)
        return Buckets(recovery, relay, store.horizon, store=store)

    def save_buckets(self, partition: int, buckets: Buckets) -> Coroutine[Any, Any, None]:
        """Save a table on disk, if it is not ahead of its changelog: copied now; awaited, it is written in a thread."""
        # A busy agent starts its next batch before any other task runs.
        return self._saved(buckets, self._captured(partition, buckets))

    def end_waiting(self, log_end: Callable[[TP], int | None]) -> None:
        """Make followed tables apply the records that wait for the end of a pass, if the changelog holds no such end.

        A table of a partition that this worker owns does so when it is used.

        Args:
            log_end: gives the offset behind the last record of a partition; None if it is not known.
        """
        for partition, buckets in self.buckets.followed().items():
            if buckets.recovery.is_complete:
                continue
            if buckets.log_end is None:
                buckets.log_end = log_end(TP(self.config.changelog_topic("buckets"), partition))
            elif (self.buckets.offset(partition) or 0) + 1 >= buckets.log_end:
                buckets.recovery.catch_up()

    async def save_followed(self) -> None:
        """Save the followed tables that are due, as their owners do."""
        for partition, buckets in self.buckets.followed().items():
            if buckets.is_due:
                await self.save_buckets(partition, buckets)

    async def _saved(self, buckets: Buckets, captured: Captured | None) -> None:
        if captured is not None and buckets.store is not None:
            release_memory(await asyncio.to_thread(buckets.store.save, captured), captured.parts)

    def save_all(self) -> None:
        """Save all states that can be saved; called when the worker ends."""
        for partition, documents in self.documents.here().items():
            if documents.store is not None and not (documents.is_ahead or self.documents.under_way(partition)):
                documents.store.save(documents.table)
        for partition, ledger in self.ledger.here().items():
            offset, store = self.ledger.offset(partition), ledger.store
            if store is None or offset is None or ledger.is_ahead or self.ledger.under_way(partition):
                continue
            if ledger.is_whole and store.offset != offset:
                store.save(ledger.settler.snapshot(), offset, ledger.rewriter.sizes)
        for partition, buckets in self.buckets.here().items():
            captured = self._captured(partition, buckets)
            if captured is not None and buckets.store is not None:
                buckets.store.save(captured)

    def _captured(self, partition: int, buckets: Buckets) -> Captured | None:
        """The table as it is; None if nothing is new, if it is ahead of its changelog, or if it was dropped."""
        offset = self.buckets.offset(partition)
        is_current = self.buckets.here().get(partition) is buckets and not self.buckets.under_way(partition)
        if not is_current or buckets.is_ahead or not buckets.recovery.is_complete:
            return None
        if buckets.store is None or offset is None or not buckets.unsaved:
            return None
        buckets.unsaved = 0
        return buckets.store.capture(buckets.table, offset, self.buckets.head(partition), buckets.horizon)

    def _apply_buckets(self, state: Buckets, value: bytes, offset: int) -> Applied:
        frame = decode_buckets(value, self.fingerprint)
        if frame.horizon is not None:
            state.horizon = state.horizon.max(frame.horizon)
        state.recovery.take(offset, frame)
        state.unsaved += 1 if frame.postings is None else frame.postings.rows.size
        return Applied(extent_of_buckets(frame))

    # -- ledger

    def _new_ledger(self, partition: int) -> Ledger:
        settler = self.limits.settler(self.config.kind.least, self.partitions, self.config.kind.mirror_share)
        ledger = Ledger(LedgerRecovery(settler), assembler=LedgerAssembler(self.fingerprint))
        if self.storage is not None:
            store = ledger.store = LedgerStore(*self._copy(self.storage, "ledger", partition), self.fingerprint)
            ledger.rewriter.sizes = store.sizes
            if store.record is not None:
                settler.apply(store.record)
                store.record = None
        return ledger

    def _apply_ledger(self, state: Ledger, value: bytes, offset: int) -> Applied:
        copied = state.assembler.copied
        state.assembler.begun |= self.ledger.offset(0) is not None  # read from disk, or written here
        record = state.assembler.take(value, offset)
        if record is not None:
            state.recovery.take(record)
        if state.assembler.copied > copied:
            state.rewriter.sizes = LogSizes(state.assembler.began, state.rewriter.sizes.written, state.assembler.copied)
        else:
            state.rewriter.wrote(len(value))
        return Applied(Extent())
