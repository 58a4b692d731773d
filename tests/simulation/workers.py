"""Worker processes: what each holds in memory, how it is lost, and how it comes back from the changelogs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stream_lsh.errors import StateError
from stream_lsh.index.table import BandTable
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS
from stream_lsh.pipeline.batches import Watermarks
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerPasses, LedgerRecovery
from stream_lsh.pipeline.changelog.rewrite import BucketsPasses, BucketsRecovery, DocumentsPasses
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.documents.content_store import MemoryContents
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.watermarks import Relay, WatermarkGenerator
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.wire.origin import CopyGenerations
from tests.simulation.agents import AGENTS, Write, mark_of, tell_agent, tick_agent
from tests.simulation.broker import Broker
from tests.simulation.codec import FINGERPRINT, decoded, extent, messages
from tests.simulation.entities import Records, entities
from tests.simulation.intake import learned_generations
from tests.simulation.scheme import NamedShingles

Task = tuple[str, int]
"""An agent and the partition that it works on."""

Pending = tuple[str, int, Any, Any]
"""A message on its way: topic, partition, key, bytes."""

_NEVER = 1 << 40

LONG_MS = 100_000
"""Longer than the event time of any run."""

_ALL = "tick", -1
"""The task that says of all partitions of a worker together how far event time has come."""

PUBLIC = ("matches", "members", "clusters", "mirror-sites", "reviews")


@dataclass(frozen=True)
class Setup:
    """What a run is about: fixed while it lasts.

    `passes` is what a changelog may hold however little is live before it is rewritten; None: it never is.  Of the
    ledger's it is `least_ledger` bytes.
    """

    partitions: int
    threshold: float
    retention_ms: int | None
    lateness_ms: int
    max_documents: int = 0
    cap_postings: int = 0
    batch: int = 3
    together: int = 1
    limit: int = 256 * 1024
    passes: int | None = None
    stories: bool = False
    mirror_share: float = 0.0
    rules_out: frozenset[str] = frozenset()
    scheme: NamedShingles = field(default_factory=NamedShingles)
    records: Records | None = None
    rekey: bool = False

    @property
    def agents(self) -> tuple[str, ...]:
        """Those that every partition has."""
        some = [name for name, here in (("decide", self.records is not None), ("intake", self.rekey)) if here]
        return ("sign", "index", "gather", "verify", *some)

    @property
    def documents_topic(self) -> str:
        """What sign reads."""
        return "intake" if self.rekey else "source"

    def topic_of(self, agent: str) -> str:
        """What an agent reads."""
        return self.documents_topic if agent == "sign" else AGENTS[agent][0]

    @property
    def least_ledger(self) -> int:
        """Bytes that the changelog of the ledger may hold."""
        return _NEVER if self.passes is None else 500 * self.passes

    @property
    def keep_ms(self) -> int | None:
        """How long state is kept, in event time; None: for ever."""
        return None if self.retention_ms is None else self.retention_ms + self.lateness_ms

    @property
    def matches_at_any_distance(self) -> bool:
        """Whether no two documents of a run are further apart than the retention."""
        return self.retention_ms is None or self.retention_ms >= LONG_MS

    @property
    def criteria(self) -> Criteria:
        """What makes a pair a match."""
        return Criteria(self.threshold, 0, self.retention_ms, self.scheme.measure)

    def new_table(self) -> BandTable:
        """An empty index partition: small, so that it overflows into further segments."""
        span_ms = None if self.keep_ms is None else max(1, self.keep_ms // 3)
        return BandTable(cap_postings=self.cap_postings, cap_candidates=0, segment_span_ms=span_ms, first_capacity=64)

    def new_documents(self) -> DocumentTable:
        """An empty partition of documents."""
        pages = SitePages() if self.mirror_share else None
        return DocumentTable(self.scheme.slots, pages=pages, counts=self.scheme.counts())

    def new_settler(self) -> Settler:
        """An empty ledger."""
        records = self.records
        return Settler(
            self.threshold,
            self.partitions,
            self.retention_ms,
            self.lateness_ms,
            NO_GUARDS if records is None else records.guards,
            stories=self.stories,
            mirror_share=self.mirror_share,
            link_from=0.0 if records is None else records.link_from,
            describer=None if records is None else entities(),
        )


class PartitionState:
    """The tables of one partition, and what is forgotten when it is taken away."""

    def __init__(self, setup: Setup, partition: int, broker: Broker) -> None:
        self.documents = setup.new_documents()
        self.stored = -1
        self.watermarks = WatermarkGenerator()
        self.setup = setup
        self.forwarded = Forwarded()
        self.generations = CopyGenerations()
        self.confirmed = broker.committed["sign", partition]
        if setup.rekey:
            self.generations = learned_generations(broker, partition, self.confirmed)
        self.comparer = setup.scheme.comparer()
        self.index_relay = Relay(partition, 1)
        self.gather_relay = Relay(partition, setup.partitions)
        self.verify_relay = Relay(partition, setup.partitions)
        self.indexed_refs: set[int] = set()
        self.partition = partition
        least = _NEVER if setup.passes is None else setup.passes
        self.documents_passes = DocumentsPasses(least, slice_versions=1)
        self.buckets_passes = BucketsPasses(least)
        self._recover(broker, partition)
        self.newest_ms = self.documents.newest_ms(broker.committed["sign", partition])

    def log_head(self, broker: Broker, topic: str) -> LogHead:
        """What a changelog holds."""
        head = LogHead(together=1)
        for message in broker.read(topic, self.partition):
            head.note(message.offset, extent(topic, message.value))
        return head

    def trim_documents(self, broker: Broker, began: int) -> None:
        """Everything before the beginning of a pass is dead."""
        broker.trim("documents-changelog", self.partition, began)

    def _recover(self, broker: Broker, partition: int) -> None:
        for message in broker.read("documents-changelog", partition):
            record = decoded("documents-changelog", message.value)
            self.documents.apply(record)
            self.documents.expire(record.horizon)
            self.stored = message.offset
        if self.setup.records is not None and self.stored % 2:
            self.documents = self._from_disk()
        if self.documents.pages is not None and "all pages are told again by a new owner" in self.setup.rules_out:
            self.documents.pages._unreported.clear()
        self.table = recovered_buckets(self.setup, broker, partition).table
        for message in broker.read("buckets-changelog", partition):
            postings = decoded("buckets-changelog", message.value).postings
            self.indexed_refs.update(() if postings is None else postings.refs.tolist())

    def _from_disk(self) -> DocumentTable:
        """The same table, as it would be made of what a disk has kept."""
        scheme, versions = self.setup.scheme, self.documents.versions()
        kept, place = self.documents.snapshot(scheme.width), {id: at for at, id in enumerate(versions.ids)}
        contents = MemoryContents(scheme.slots)
        contents.put(np.array([place[id] for id in kept.ids], np.int64), kept)
        return DocumentTable.restored(scheme.slots, contents, versions, counts=scheme.counts())


def recovered_buckets(setup: Setup, broker: Broker, partition: int) -> BucketsRecovery:
    """The band-bucket table, from what is left of its changelog."""
    recovery = BucketsRecovery(setup.new_table())
    for message in broker.read("buckets-changelog", partition):
        recovery.take(message.offset, decoded("buckets-changelog", message.value))
    return recovery


def recovered_settler(setup: Setup, broker: Broker) -> Settler:
    """The ledger, from its changelog."""
    if setup.records is not None and "the guards hold after recovery" in setup.rules_out:
        setup = replace(setup, records=replace(setup.records, one_per_source=False))
    recovery, assembler = LedgerRecovery(setup.new_settler()), LedgerAssembler(FINGERPRINT)
    for message in broker.read("ledger-changelog", 0):
        found = assembler.take(message.value, message.offset)
        if found is not None:
            recovery.take(found)
    if not recovery.is_whole:
        raise StateError("the log begins with a pass that has no end")
    return recovery.settler


class Worker:
    """One process: the partitions that it owns, the positions of its agents, and the work under way.

    `stored` is the last message of each changelog of its own, as far as it has read and written them.
    """

    def __init__(self, setup: Setup, broker: Broker) -> None:
        self.setup = setup
        self.broker = broker
        self.partitions: dict[int, PartitionState] = {}
        self.settler: Settler | None = None
        self.passes = LedgerPasses(_NEVER, rows=1)
        self.positions: dict[Task, int] = {}
        self.stored: dict[tuple[str, int], int] = {}
        self.running: dict[Task, Iterator[Write]] = {}
        self.unsent: dict[Task, list[Pending]] = {}
        self.generation = 0

    @property
    def rules_out(self) -> frozenset[str]:
        """The rules of the protocol that this run leaves out."""
        return self.setup.rules_out

    def read(self, topic: str, partition: int, position: int) -> list[Any]:
        """The frames from a position on that are handled together."""
        stop = min(self.broker.end(topic, partition), position + self.setup.together)
        return [self.read_one(topic, partition, offset) for offset in range(position, stop)]

    def read_one(self, topic: str, partition: int, position: int) -> Any:
        """The frame at a position."""
        return decoded(topic, self.broker.at(topic, partition, position).value)

    # -- assignment

    def assign(self, partitions: set[int], settles: bool, generation: int) -> None:
        """Own exactly these partitions: what is new is recovered, what is gone is forgotten."""
        self.generation = generation
        for partition in self.partitions.keys() - partitions:
            self._drop(partition)
        for partition in sorted(partitions - self.partitions.keys()):
            self.partitions[partition] = PartitionState(self.setup, partition, self.broker)
            self._has_read("documents-changelog", partition)
            self._has_read("buckets-changelog", partition)
            for agent in self.setup.agents:
                self.positions[agent, partition] = self.broker.committed[agent, partition]
        if settles and self.settler is None:
            self.settler = recovered_settler(self.setup, self.broker)
            self._has_read("ledger-changelog", 0)
            self.passes = LedgerPasses(self.setup.least_ledger, rows=1)
            self.positions["settle", 0] = self.broker.committed["settle", 0]
        elif not settles and self.settler is not None:
            self.settler = None
            self.stored.pop(("ledger-changelog", 0), None)
            self._forget_task(("settle", 0))

    def _has_read(self, topic: str, partition: int) -> None:
        self.stored[topic, partition] = self.broker.end(topic, partition) - 1

    def _drop(self, partition: int) -> None:
        del self.partitions[partition]
        self.stored.pop(("documents-changelog", partition), None)
        self.stored.pop(("buckets-changelog", partition), None)
        for agent in (*self.setup.agents, "tick", "tell"):
            self._forget_task((agent, partition))

    def _forget_task(self, task: Task) -> None:
        for held in (self.positions, self.running, self.unsent):
            held.pop(task, None)

    def commit(self) -> None:
        """Commit what has been acknowledged; a position never falls."""
        for task, position in self.positions.items():
            self.broker.committed[task] = max(self.broker.committed[task], position)
        for partition, state in self.partitions.items():
            state.confirmed = self.broker.committed["sign", partition]

    def trim(self, partition: int) -> None:
        """Delete the head of the changelogs of a partition that recovery does not need."""
        horizon = self.partitions[partition].documents.horizon
        for topic in ("documents-changelog", "buckets-changelog"):
            needed = self.partitions[partition].log_head(self.broker, topic).needed(horizon)
            if needed is not None:
                self.broker.trim(topic, partition, needed)

    # -- work

    def ready(self) -> list[Task]:
        """Tasks that can make a step: work under way, or input that waits."""
        waiting = [
            task
            for task, position in self.positions.items()
            if task not in self.running and position < self.broker.end(self.setup.topic_of(task[0]), task[1])
        ]
        return sorted([*self.running, *waiting])

    def start_tick(self, partition: int, mark_idle: bool) -> None:
        """Have sign say how far event time has come, of what it has delivered."""
        if ("tick", partition) not in self.running and ("sign", partition) not in self.running:
            self._start_tick(("tick", partition), [partition], mark_idle)

    def start_ticks(self, mark_idle: bool) -> None:
        """Have sign say of all its partitions together how far event time has come."""
        if self.partitions and _ALL not in self.running:
            self._start_tick(_ALL, sorted(self.partitions), mark_idle)

    def _start_tick(self, task: Task, partitions: list[int], mark_idle: bool) -> None:
        marks = tuple(mark_of(self, partition, mark_idle) for partition in partitions)
        self.running[task] = tick_agent(self, Watermarks(partitions[0], marks))

    def finish_ticks(self) -> None:
        """Have sign say all of what it has begun to say of all partitions together."""
        while _ALL in self.running:
            self.step(_ALL)

    def start_tell(self, partition: int) -> None:
        """Have settle told of the pages of sites."""
        if ("tell", partition) not in self.running:
            self.running["tell", partition] = tell_agent(self, partition)

    def start_pass(self) -> None:
        """Have settle copy the whole ledger, as if its changelog were long."""
        self.passes.wrote(2 * _NEVER)

    def step(self, task: Task) -> bool:
        """One write of a task, or its acknowledgement; whether something was written."""
        pending = self.next_write(task)
        if pending is None:
            return False
        topic, partition, key, value = pending
        offset = self.broker.append(topic, partition, value, key)
        if (topic, partition) in self.stored:
            self.stored[topic, partition] = max(offset, self.stored[topic, partition])
        return True

    def next_write(self, task: Task) -> Pending | None:
        """The next message that a task would write, taken from it; None if it has acknowledged instead."""
        queue = self.unsent.setdefault(task, [])
        if not queue:
            if task not in self.running:
                agent = AGENTS[task[0]][1]
                self.running[task] = agent(self, task[1], self.positions[task])
            produced = next(self.running[task], None)
            if produced is None:
                self.running.pop(task, None)
                return None
            topic, partition, key, value = produced
            queue += [(topic, partition, key, data) for data in messages(topic, value, self.setup.limit)]
        return queue.pop(0)
