"""Worker processes: what each holds in memory, how it is lost, and how it comes back from the changelogs."""

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from stream_lsh.index.table import BandTable
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS
from stream_lsh.model import ref_partition
from stream_lsh.pipeline.agents.effects import (
    BARRIER,
    Acknowledge,
    Append,
    Copy,
    DeadLetter,
    Effect,
    Order,
    Publish,
    Save,
    Send,
    Trim,
)
from stream_lsh.pipeline.agents.state import BucketsState, DocumentsState, LedgerState, Shared, StepCounts
from stream_lsh.pipeline.batches import BandsFrame
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerPasses, LedgerRecovery
from stream_lsh.pipeline.changelog.rewrite import BucketsPasses, BucketsRecovery, DocumentsPasses
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.documents.content_store import MemoryContents
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.settle import Settlement, Settler
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.wire.frames import encode
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.wire.origin import CopyGenerations, Origin
from stream_lsh.wire.outgoing import Part, frames_of, parts_of
from tests.simulation import tasks
from tests.simulation.broker import Broker
from tests.simulation.codec import FINGERPRINT, decoded, extent
from tests.simulation.entities import Records, entities
from tests.simulation.intake import Copied, learned_generations
from tests.simulation.producer import Flight, Lane, Message, Producer, is_lane
from tests.simulation.scheme import NamedShingles

Task = tuple[str, int]
"""An agent and the partition that it works on."""

_NEVER = 1 << 40

LONG_MS = 100_000
"""Longer than the event time of any run."""

_ALL = "tick", -1
"""The task that says of all partitions of a worker together how far event time has come."""


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
        return self.documents_topic if agent == "sign" else tasks.AGENTS[agent]

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

    def shared(self) -> Shared:
        """What the agents of a worker share; where messages are small, few versions are retired by one."""
        few = 2 if self.limit < 200 else 0
        return Shared(self.scheme, self.criteria, self.scheme.comparer(), StepCounts(), 1, few)

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
        self.setup = setup
        self.stored = -1
        self.generations = CopyGenerations()
        self.confirmed = broker.committed["sign", partition]
        if setup.rekey:
            self.generations = learned_generations(broker, partition, self.confirmed)
        self.logs = {"documents": LogHead(together=1), "buckets": LogHead(together=1)}
        relays = Relay(partition, setup.partitions), Relay(partition, setup.partitions)
        least = _NEVER if setup.passes is None else setup.passes
        passes = DocumentsPasses(least, slice_versions=1)
        self.of_documents = DocumentsState(self._documents(broker, partition), Forwarded(), *relays, passes=passes)
        self.of_documents.delivered_ms(self.confirmed)
        recovery = recovered_buckets(setup, broker, partition, self.logs["buckets"])
        self.of_buckets = BucketsState(recovery, Relay(partition, 1), passes=BucketsPasses(least))

    @property
    def documents(self) -> DocumentTable:
        """The documents of the partition."""
        return self.of_documents.table

    @property
    def table(self) -> BandTable:
        """The partition of the band-bucket table."""
        return self.of_buckets.table

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
        """The same table, as it would be made of what a disk has kept."""
        scheme, versions = self.setup.scheme, table.versions()
        kept, place = table.snapshot(scheme.width), {id: at for at, id in enumerate(versions.ids)}
        contents = MemoryContents(scheme.slots)
        contents.put(np.array([place[id] for id in kept.ids], np.int64), kept)
        return DocumentTable.restored(scheme.slots, contents, versions, counts=scheme.counts())


def recovered_buckets(setup: Setup, broker: Broker, partition: int, log: LogHead | None = None) -> BucketsRecovery:
    """The band-bucket table, from what is left of its changelog, which `log` notes."""
    recovery = BucketsRecovery(setup.new_table())
    for message in broker.read("buckets-changelog", partition):
        recovery.take(message.offset, decoded("buckets-changelog", message.value))
        if log is not None:
            log.note(message.offset, extent("buckets-changelog", message.value))
    return recovery


def recovered_ledger(setup: Setup, broker: Broker) -> LedgerState:
    """The ledger, from its changelog: all of it, or what there is where the log begins with half a copy."""
    if setup.records is not None and "the guards hold after recovery" in setup.rules_out:
        setup = replace(setup, records=replace(setup.records, one_per_source=False))
    recovery, assembler = LedgerRecovery(setup.new_settler()), LedgerAssembler(FINGERPRINT)
    for message in broker.read("ledger-changelog", 0):
        found = assembler.take(message.value, message.offset)
        if found is not None:
            recovery.take(found)
    return LedgerState(recovery, LedgerPasses(setup.least_ledger, rows=1))


def recovered_settler(setup: Setup, broker: Broker) -> Settler:
    """The whole ledger, from its changelog.

    Raises:
        StateError: the log begins with half a copy.
    """
    ledger = recovered_ledger(setup, broker)
    ledger.expect_all()
    return ledger.settler


class Running:
    """An agent at work.

    Attributes:
        effects: what it does next.
        flight: its messages on their way, of which a barrier waits for all.
        waits: whether it has come to a barrier.
    """

    def __init__(self, effects: Iterator[Effect]) -> None:
        self.effects = effects
        self.flight = Flight()
        self.waits = False

    @property
    def is_blocked(self) -> bool:
        """Whether it waits for messages that are not stored."""
        return self.waits and self.flight.left > 0


class Worker:
    """One process: the partitions that it owns, how far its agents have read, and the work under way.

    `stored` is the last message of each changelog of its own, as far as it has read and written them.
    `acknowledged` is how far each agent has read and everything that follows from it is stored.
    """

    def __init__(self, setup: Setup, broker: Broker) -> None:
        self.setup = setup
        self.broker = broker
        self.shared = setup.shared()
        self.producer = Producer(broker)
        self.partitions: dict[int, PartitionState] = {}
        self.ledger: LedgerState | None = None
        self.positions: dict[Task, int] = {}
        self.acknowledged: dict[Task, int] = {}
        self.stored: dict[tuple[str, int], int] = {}
        self.running: dict[Task, Running] = {}
        self.behind: dict[Task, deque[tuple[Flight, Callable[[], None]]]] = {}
        self.generation = 0

    @property
    def settler(self) -> Settler | None:
        """What has been settled; None where another worker settles."""
        return None if self.ledger is None else self.ledger.settler

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
        """Own exactly these partitions: what is new is recovered, what is gone is forgotten.

        Before a partition goes elsewhere, everything that was sent for it is stored: a rebalance waits for that.
        """
        self.generation = generation
        gone = self.partitions.keys() - partitions
        if gone or (self.ledger is not None and not settles):
            self.producer.flush()
        for partition in gone:
            self._drop(partition)
        for partition in sorted(partitions - self.partitions.keys()):
            self.partitions[partition] = PartitionState(self.setup, partition, self.broker)
            self._has_read("documents-changelog", partition)
            self._has_read("buckets-changelog", partition)
            for agent in self.setup.agents:
                self._begin((agent, partition))
        if settles and self.ledger is None:
            self.ledger = recovered_ledger(self.setup, self.broker)
            self._has_read("ledger-changelog", 0)
            self._begin(("settle", 0))
        elif not settles and self.ledger is not None:
            self.ledger = None
            self.stored.pop(("ledger-changelog", 0), None)
            self._forget_task(("settle", 0))

    def _begin(self, task: Task) -> None:
        self.positions[task] = self.acknowledged[task] = self.broker.committed[task]

    def _has_read(self, topic: str, partition: int) -> None:
        self.stored[topic, partition] = self.broker.end(topic, partition) - 1

    def _drop(self, partition: int) -> None:
        del self.partitions[partition]
        self.stored.pop(("documents-changelog", partition), None)
        self.stored.pop(("buckets-changelog", partition), None)
        for agent in (*self.setup.agents, "tick", "tell"):
            self._forget_task((agent, partition))

    def _forget_task(self, task: Task) -> None:
        for held in (self.positions, self.acknowledged, self.running, self.behind):
            held.pop(task, None)

    def commit(self) -> None:
        """Commit what has been acknowledged; a position never falls."""
        for task, position in self.acknowledged.items():
            self.broker.committed[task] = max(self.broker.committed[task], position)
        for partition, state in self.partitions.items():
            state.confirmed = self.broker.committed["sign", partition]

    def trim(self, partition: int) -> None:
        """Delete the head of the changelogs of a partition that recovery does not need."""
        state = self.partitions[partition]
        for table, log in state.logs.items():
            needed = log.needed(state.documents.horizon)
            if needed is not None:
                self.broker.trim(f"{table}-changelog", partition, needed)

    # -- work

    def ready(self) -> list[Task | Lane]:
        """What can make a step: work under way, input that waits, and messages on their way."""
        working = [task for task, running in self.running.items() if not running.is_blocked]
        waiting = [
            task
            for task, position in self.positions.items()
            if task not in self.running and position < self.broker.end(self.setup.topic_of(task[0]), task[1])
        ]
        return sorted([*working, *waiting]) + sorted(self.producer.lanes())

    def start_tick(self, partition: int, mark_idle: bool) -> None:
        """Have sign say how far event time has come, of what it has delivered."""
        if ("tick", partition) not in self.running and ("sign", partition) not in self.running:
            self._start_tick(("tick", partition), [partition], mark_idle)

    def start_ticks(self, mark_idle: bool) -> None:
        """Have sign say of all its partitions together how far event time has come."""
        if self.partitions and _ALL not in self.running:
            self._start_tick(_ALL, sorted(self.partitions), mark_idle)

    def _start_tick(self, task: Task, partitions: list[int], mark_idle: bool) -> None:
        self.running[task] = Running(tasks.tick(self, partitions, mark_idle))

    def finish_ticks(self) -> None:
        """Have sign say all of what it has begun to say of all partitions together."""
        while _ALL in self.running:
            self.step(_ALL)

    def start_tell(self, partition: int) -> None:
        """Have settle told of the pages of sites."""
        if ("tell", partition) not in self.running:
            self.running["tell", partition] = Running(tasks.tell(self, partition))

    def start_pass(self) -> None:
        """Have settle copy the whole ledger, as if its changelog were long."""
        if self.ledger is not None:
            self.ledger.passes.wrote(2 * _NEVER)

    def step(self, task: Task | Lane) -> bool:
        """One message of the client is stored, or one effect of a task carried out; whether there may be more."""
        if is_lane(task):
            self.producer.deliver(cast(Lane, task))
            self._acknowledge()
            return False
        return self._step(cast(Task, task))

    def _step(self, task: Task) -> bool:
        running = self.running.get(task)
        if running is None:
            running = self.running[task] = Running(tasks.start(self, *task, self.positions[task]))
        if running.is_blocked:
            return False
        running.waits = False
        effect = next(running.effects, None)
        if effect is None:
            del self.running[task]
            return False
        self._carry_out(task, running, effect)
        return True

    def _carry_out(self, task: Task, running: Running, effect: Effect) -> None:
        match effect:
            case Order():
                running.waits = effect is BARRIER
            case Acknowledge(position):
                self.positions[task] = position
                self._then(task, running, partial(self.acknowledged.__setitem__, task, position))
                running.flight = Flight()
            case Trim():
                self._then(task, running, partial(self._trim, effect))
            case Save() | DeadLetter():
                pass
            case _:
                for message in self.messages(effect, running.flight):
                    self.producer.send(message)

    def _then(self, task: Task, running: Running, do: Callable[[], None]) -> None:
        """Do something when all before it is stored, and done."""
        self.behind.setdefault(task, deque()).append((running.flight, do))
        self._acknowledge()

    def _acknowledge(self) -> None:
        for behind in self.behind.values():
            while behind and not behind[0][0].left:
                behind.popleft()[1]()

    def messages(self, effect: Effect, flight: Flight) -> Iterator[Message]:
        """The messages of an effect."""
        setup = self.setup
        match effect:
            case Send(step):
                for target, frame in frames_of(effect, setup.partitions, setup.limit):
                    check = partial(self._is_announced, frame) if isinstance(frame, BandsFrame) else None
                    yield Message(step, target, None, encode(frame, FINGERPRINT), flight, check)
            case Append():
                yield from self._appended(effect, flight)
            case Publish(settlement):
                settled = self.broker.settled[settlement.record.offset]
                if setup.records is not None and settlement.settled not in settled:
                    settled.append(settlement.settled)
                for topic, key, value in published(settlement):
                    yield Message(topic, 0, key, value, flight)
            case Copy(records, keys, generation, made):
                for (partition, message), key in zip(records, keys, strict=True):
                    origin = Origin("source", partition, message.offset, message.value.time_ms, generation, made)
                    yield Message("intake", int(key[1:]) % setup.partitions, key, Copied(origin, message.value), flight)

    def _appended(self, append: Append, flight: Flight) -> Iterator[Message]:
        parts, topic = parts_of(append, FINGERPRINT, self.setup.limit), f"{append.table}-changelog"
        if append.passes is not None:
            append.passes.sent(len(parts), sum(len(part.value) for part in parts))
        for part in parts:
            stored = partial(self._is_stored, append, part)
            yield Message(topic, append.partition, None, part.value, flight, stored)

    def _is_stored(self, append: Append, part: Part, offset: int) -> None:
        """A record of ours is in its changelog; nothing where the partition has gone meanwhile."""
        log = f"{append.table}-changelog", append.partition
        if log not in self.stored:
            return
        self.stored[log] = max(offset, self.stored[log])
        if append.table != "ledger":
            self.partitions[append.partition].logs[append.table].note(offset, part.extent)
        elif append.passes is None and self.ledger is not None:
            self.ledger.passes.wrote(len(part.value))
        if append.passes is not None:
            append.passes.delivered(offset)

    def _is_announced(self, frame: BandsFrame, _: int) -> None:
        """Bands are stored: a restart must not lose the versions that they name."""
        if frame.postings is None:
            return
        refs = {*frame.postings.refs[~frame.postings.retired].tolist()}
        for partition in {ref_partition(ref) for ref in refs}:
            log = "documents-changelog", partition
            for offset in reversed(range(self.broker.end(*log))):
                if refs:
                    refs -= {*decoded(log[0], self.broker.at(*log, offset).value).refs.tolist()}
        if refs:
            self.broker.early.append(f"bands of {sorted(refs)}, which no changelog has")

    def _trim(self, trim: Trim) -> None:
        until = trim.until()
        if until is None:
            return
        self.broker.trim(f"{trim.table}-changelog", trim.partition, until)
        if trim.table != "ledger":
            self.partitions[trim.partition].logs[trim.table].rewritten(until)

    # -- the end

    def crash(self, rng: random.Random) -> None:
        """The process dies: of each partition an arbitrary prefix of what was sent is stored."""
        for _ in self.producer.crash(rng):
            pass

    def rest_of(self, task: Task) -> list[Message]:
        """Everything that an agent without barriers would still send, taken from it."""
        running = self.running.pop(task, None)
        if running is None and task in self.positions and task in self.ready():
            running = Running(tasks.start(self, *task, self.positions[task]))
        found = list[Message]()
        for effect in () if running is None else running.effects:
            if not isinstance(effect, Order | Acknowledge):
                found += self.messages(effect, Flight())
        return found


def published(settlement: Settlement) -> Iterator[tuple[str, Any, Any]]:
    """What a settlement publishes: topic, key and value of each message."""
    settled, version = settlement.settled, settlement.record.offset
    for match in settled.matches:
        yield "matches", (match.left, match.right), (version, match)
    for review in settled.reviews:
        yield "reviews", (review.left, review.right), (version, review)
    for member in settled.members:
        yield "members", member.id, (version, member)
    for cluster in settled.clusters:
        yield "clusters", cluster.id, (version, cluster)
    for mirror in settled.mirrors:
        yield "mirror-sites", (mirror.left, mirror.right), (version, mirror)
