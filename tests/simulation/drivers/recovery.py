"""The tables of a worker, and their recovery from the changelogs."""

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.agents.state import BucketsState, DocumentsState, LedgerState
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery, LedgerRewriter
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery, BucketsRewriter, DocumentsRewriter
from stream_lsh.pipeline.coalesce import furthest_horizon
from stream_lsh.pipeline.documents.content_store import MemoryContents
from stream_lsh.pipeline.documents.sharded_dict import ShardedIds
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.wire.origin import CopyGenerations
from tests.simulation.drivers.tables import order_in_buckets, postings_of
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import FINGERPRINT, decoded, extent
from tests.simulation.log.disk import Disk
from tests.simulation.pipelines.intake import learned_generations
from tests.simulation.pipelines.setup import NEVER, Setup


@dataclass(slots=True)
class CopiedBuckets(BucketsState):
    """A band-bucket table that is copied to disk whenever the copy lacks more than `save_from` postings."""

    save_from: int | None = None

    @property
    def is_due(self) -> bool:
        """Whether the copy is to be made now."""
        return self.save_from is not None and self.recovery.is_complete and self.unsaved > self.save_from


class PartitionState:
    """The tables of one partition, which a worker drops with the partition.

    Attributes:
        unread: the offsets of records of the changelog of the band-bucket table that the table lacks: late records of
            earlier owners, stored after its recovery.
    """

    def __init__(self, setup: Setup, partition: int, broker: Broker, disk: Disk | None = None) -> None:
        self.setup = setup
        self.copy = None if disk is None or setup.save_from is None else disk.buckets(partition)
        self.stored = -1
        self.unread = set[int]()
        self.generations = CopyGenerations()
        self.confirmed = broker.committed["sign", partition]
        if setup.rekey:
            self.generations = learned_generations(broker, partition, self.confirmed)
        self.logs = {"documents": LogHead(together=1), "buckets": LogHead(together=1)}
        relays = Relay(partition, setup.partitions), Relay(partition, setup.partitions)
        least = NEVER if setup.rewrite_from is None else setup.rewrite_from
        rewriter = DocumentsRewriter(least, slice_versions=1)
        self.of_documents = DocumentsState(self._documents(broker, partition), Forwarded(), *relays, rewriter=rewriter)
        self.of_documents.delivered_ms(self.confirmed)
        self.of_buckets = self._buckets(broker, partition, BucketsRewriter(least))

    @property
    def documents(self) -> DocumentTable:
        """The documents of the partition."""
        return self.of_documents.table

    @property
    def table(self) -> BandTable:
        """The partition of the band-bucket table."""
        return self.of_buckets.table

    def _buckets(self, broker: Broker, partition: int, rewriter: BucketsRewriter) -> CopiedBuckets:
        """The table from its copy on disk and the log behind it, or from the whole log where there is no copy."""
        log, relay, save_from = "buckets-changelog", Relay(partition, 1), self.setup.save_from
        if self.copy is None or not self.copy.fits(broker.start(log, partition), broker.end(log, partition)):
            if self.copy is not None:
                self.copy.discard()
            recovery = recovered_buckets(self.setup, broker, partition, self.logs["buckets"])
            return CopiedBuckets(recovery, relay, rewriter=rewriter, save_from=None if self.copy is None else save_from)
        table, self.logs["buckets"], horizon = self.copy.restored(self.setup.table_settings)
        recovery, since = BucketsRecovery(table, is_copy=True), self.copy.offset
        taken_in(recovery, broker, partition, since, self.logs["buckets"])
        self.unread |= self.copy.unread
        broker.recoveries.append(("buckets", partition, since))
        different = differences(self.setup, broker, partition, recovery.table, self.unread)
        broker.miscopied += [f"buckets {partition}, copied at {since}: {found}" for found in different]
        return CopiedBuckets(recovery, relay, horizon, rewriter=rewriter, save_from=save_from)

    def _documents(self, broker: Broker, partition: int) -> DocumentTable:
        table = self.setup.new_documents()
        for message in broker.read("documents-changelog", partition):
            record = decoded("documents-changelog", message.value)
            table.apply(record)
            table.expire(record.horizon)
            self.stored = message.offset
            self.logs["documents"].note(message.offset, extent("documents-changelog", message.value))
        return self._from_disk(table) if self.setup.records is not None and self.stored % 2 else table

    def _from_disk(self, table: DocumentTable) -> DocumentTable:
        """The same table, restored as from a copy on disk."""
        scheme, versions = self.setup.scheme, table.versions()
        ids, kept = versions.ids, table.snapshot(scheme.width)
        rows = [*chain.from_iterable(map(ids.read, range(len(ids.sizes))))] if isinstance(ids, ShardedIds) else ids
        place = {id: at for at, id in enumerate(rows)}
        contents = MemoryContents(scheme.slots)
        contents.put(np.array([place[id] for id in kept.ids], np.int64), kept, {})
        return DocumentTable.restored(scheme.slots, contents, versions, counts=scheme.counts())


def recovered_buckets(
    setup: Setup, broker: Broker, partition: int, log: LogHead | None = None, *, without: Set[int] = frozenset()
) -> BucketsRecovery:
    """The band-bucket table, from the rest of its changelog, which `log` notes."""
    recovery = BucketsRecovery(setup.new_table())
    taken_in(recovery, broker, partition, 0, log, without=without)
    return recovery


def taken_in(
    recovery: BucketsRecovery,
    broker: Broker,
    partition: int,
    since: int | None,
    log: LogHead | None = None,
    *,
    without: Set[int] = frozenset(),
) -> None:
    """Take the changelog of a band-bucket table in, from an offset on, `without` the records at some offsets."""
    for message in broker.read("buckets-changelog", partition, since or 0):
        if message.offset in without:
            continue
        recovery.take(message.offset, decoded("buckets-changelog", message.value))
        if log is not None:
            log.note(message.offset, extent("buckets-changelog", message.value))


def differences(
    setup: Setup, broker: Broker, partition: int, table: BandTable, unread: Set[int] = frozenset()
) -> Iterator[str]:
    """How a table differs from a recovery from the changelog without `unread`, in postings of live versions."""
    refs, recovered = live_refs(setup, broker), recovered_buckets(setup, broker, partition, without=unread).table
    for kind, of in (("postings", postings_of), ("order in buckets", order_in_buckets)):
        found, expected = of(table, refs), of(recovered, refs)
        if found != expected:
            yield f"{kind} {found}, from the log {expected}"


def live_refs(setup: Setup, broker: Broker) -> set[int]:
    """The versions that the changelogs of documents hold, but for those that any step may have forgotten."""
    frames = [decoded("bands", m.value) for p in range(setup.partitions) for m in broker.read("bands", p)]
    horizon, refs = furthest_horizon(frames), set[int]()
    for partition in range(setup.partitions):
        table = setup.new_documents()
        for message in broker.read("documents-changelog", partition):
            table.apply(decoded("documents-changelog", message.value))
        if horizon is not None:
            table.expire(horizon)
        record = table.snapshot(setup.scheme.width)
        refs |= {*record.refs[record.live].tolist()}
    return refs


def recovered_ledger(setup: Setup, broker: Broker) -> LedgerState:
    """The ledger, from its changelog: all of it, or a part if the log begins with half a copy."""
    if setup.records is not None and "the guards hold after recovery" in setup.rules_out:
        setup = replace(setup, records=replace(setup.records, one_per_source=False))
    recovery, assembler = LedgerRecovery(setup.new_settler()), LedgerAssembler(FINGERPRINT)
    for message in broker.read("ledger-changelog", 0):
        found = assembler.take(message.value, message.offset)
        if found is not None:
            recovery.take(found)
    return LedgerState(recovery, LedgerRewriter(setup.least_ledger, rows=1))


def recovered_settler(setup: Setup, broker: Broker) -> Settler:
    """The whole ledger, from its changelog.

    Raises:
        StateError: the log begins with half a copy.
    """
    ledger = recovered_ledger(setup, broker)
    ledger.expect_all()
    return ledger.settler
