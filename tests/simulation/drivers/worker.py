"""Worker processes: their assignment, the effects of their agents, and their end."""

import random
from collections import deque
from collections.abc import Callable, Iterator, Sized
from functools import partial
from itertools import chain
from typing import Any, cast

from stream_lsh.model import ref_partition
from stream_lsh.pipeline.agents.effects import (
    BARRIER,
    FLUSH,
    TURN,
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
from stream_lsh.pipeline.batches import BandsFrame, has_pairs
from stream_lsh.pipeline.settle import Settlement
from stream_lsh.wire.frames import encode
from stream_lsh.wire.origin import Origin
from stream_lsh.wire.outgoing import Part, frames_of, parts_of
from tests.simulation.drivers import tasks
from tests.simulation.drivers.process import Process
from tests.simulation.drivers.recovery import PartitionState, recovered_ledger
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import FINGERPRINT, decoded
from tests.simulation.log.disk import Disk
from tests.simulation.log.producer import Flight, Lane, Message, Producer, is_lane
from tests.simulation.pipelines.intake import Copied
from tests.simulation.pipelines.setup import NEVER, Setup

Task = tuple[str, int]
"""An agent and the partition that it works on."""

_ALL = "tick", -1
"""The task that reports the event time of all partitions of a worker together."""


class Running:
    """An agent at work.

    Attributes:
        effects: its next effects.
        flight: its messages on their way, of which a barrier waits for all.
        waits: whether it has come to a barrier.
        then: the function that runs before the next effect, once `awaits` is empty.
    """

    def __init__(self, effects: Iterator[Effect]) -> None:
        self.effects = effects
        self.flight = Flight()
        self.waits = False
        self.then: Callable[[], None] | None = None
        self.awaits: Sized = ()

    @property
    def is_blocked(self) -> bool:
        """Whether it waits for messages that are not stored, or for acknowledgements."""
        return (self.waits and self.flight.left > 0) or len(self.awaits) > 0


class UnstoredPairs:
    """The messages with pairs that a worker has on their way now, as long as they are."""

    def __init__(self, worker: "Worker") -> None:
        self._worker = worker
        self._pairs = {*worker.pairs}

    def __len__(self) -> int:
        return len(self._pairs & self._worker.pairs)


class Worker(Process):
    """One process: the positions of its agents, and their running tasks.

    Attributes:
        disk: of its machine; None: it keeps no copies.
        acknowledged: the position of each agent before which all input has stored outputs.
        pairs: the messages with pairs that are on their way.
    """

    def __init__(self, setup: Setup, broker: Broker, disk: Disk | None = None) -> None:
        super().__init__(setup, broker)
        self.disk = disk
        self.producer = Producer(broker)
        self.positions: dict[Task, int] = {}
        self.acknowledged: dict[Task, int] = {}
        self.running: dict[Task, Running] = {}
        self.behind: dict[Task, deque[tuple[Flight, Callable[[], None]]]] = {}
        self.pairs: set[object] = set()

    # -- assignment

    def assign(self, partitions: set[int], settles: bool, generation: int) -> None:
        """Own exactly these partitions: new ones are recovered, others are dropped.

        Before a partition moves, all its sent messages are stored: a rebalance waits for that.
        """
        self.generation = generation
        gone = self.partitions.keys() - partitions
        if gone or (self.ledger is not None and not settles):
            self.producer.flush()
        for partition in gone:
            self._drop(partition)
        for partition in sorted(partitions - self.partitions.keys()):
            self.partitions[partition] = PartitionState(self.setup, partition, self.broker, self.disk)
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
        for agent in (*self.setup.agents, "tick", "sites", "save"):
            self._forget_task((agent, partition))

    def _forget_task(self, task: Task) -> None:
        for held in (self.positions, self.acknowledged, self.running, self.behind):
            held.pop(task, None)

    def commit(self) -> None:
        """Commit the acknowledged positions; a position never decreases."""
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
        """The tasks that can make a step: running ones, those with input, and those that store messages."""
        working = [task for task, running in self.running.items() if not running.is_blocked]
        waiting = [
            task
            for task, position in self.positions.items()
            if task not in self.running and position < self.broker.end(self.setup.topic_of(task[0]), task[1])
        ]
        return sorted([*working, *waiting]) + sorted(self.producer.lanes())

    def start_tick(self, partition: int, mark_idle: bool) -> None:
        """Start a report of sign about the event time of its delivered documents."""
        if ("tick", partition) not in self.running and ("sign", partition) not in self.running:
            self._start_tick(("tick", partition), [partition], mark_idle)

    def start_ticks(self, mark_idle: bool) -> None:
        """Start a report of sign about the event time of all its partitions together."""
        if self.partitions and _ALL not in self.running:
            self._start_tick(_ALL, sorted(self.partitions), mark_idle)

    def _start_tick(self, task: Task, partitions: list[int], mark_idle: bool) -> None:
        self.running[task] = Running(tasks.tick(self, partitions, mark_idle))

    def finish_ticks(self) -> None:
        """Finish the report about all partitions together."""
        while _ALL in self.running:
            self.step(_ALL)

    def start_page_report(self, partition: int) -> None:
        """Start a report of the pages of sites to settle."""
        if ("sites", partition) not in self.running:
            self.running["sites", partition] = Running(tasks.report_pages(self, partition))

    def start_pass(self) -> None:
        """Make settle copy the whole ledger, as if its changelog were long."""
        if self.ledger is not None:
            self.ledger.rewriter.wrote(2 * NEVER)

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
        running.waits, running.awaits = False, ()
        if running.then is not None:
            running.then()
            running.then = None
            return True
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
                running.awaits = UnstoredPairs(self) if effect is FLUSH else ()
            case Acknowledge(position):
                self.positions[task] = position
                self._then(task, running, partial(self.acknowledged.__setitem__, task, position))
                running.flight = Flight()
            case Trim():
                self._then(task, running, partial(self._trim, effect))
            case Save(_, partition):
                running.awaits, running.then = self.behind.get(task, ()), partial(self._save, partition)
            case DeadLetter():
                pass
            case _:
                for message in self.messages(effect, running.flight):
                    self.producer.send(message)

    def _then(self, task: Task, running: Running, do: Callable[[], None]) -> None:
        """Call a function after all earlier messages are stored and earlier calls are done."""
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
                    stored: Callable[[int], None] | None = self._pair() if has_pairs(frame) else None
                    if isinstance(frame, BandsFrame):
                        stored = partial(self._is_announced, frame)
                    yield Message(step, target, None, encode(frame, FINGERPRINT), flight, stored)
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

    def _pair(self) -> Callable[[int], None]:
        """Note that a message with pairs is on its way; returns the function that notes that it is stored."""
        pair = object()
        self.pairs.add(pair)
        return lambda _: self.pairs.discard(pair)

    def _appended(self, append: Append, flight: Flight) -> Iterator[Message]:
        parts, topic = parts_of(append, FINGERPRINT, self.setup.limit), f"{append.table}-changelog"
        if append.rewriter is not None:
            append.rewriter.sent(len(parts), sum(len(part.value) for part in parts))
        for part in parts:
            stored = partial(self._is_stored, append, part)
            yield Message(topic, append.partition, None, part.value, flight, stored)

    def _is_stored(self, append: Append, part: Part, offset: int) -> None:
        """A record of this worker is in its changelog; no effect if the partition has moved meanwhile."""
        log = f"{append.table}-changelog", append.partition
        if log not in self.stored:
            return
        if append.table == "buckets":
            self.partitions[append.partition].unread.update(range(self.stored[log] + 1, offset))
        self.stored[log] = max(offset, self.stored[log])
        if append.table != "ledger":
            self.partitions[append.partition].logs[append.table].note(offset, part.extent)
        elif append.rewriter is None and self.ledger is not None:
            self.ledger.rewriter.wrote(len(part.value))
        if append.rewriter is not None:
            append.rewriter.delivered(offset)

    def _is_announced(self, frame: BandsFrame, _: int) -> None:
        """Bands are stored: the changelog must hold the versions that they name."""
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

    def _save(self, partition: int) -> None:
        """Capture a band-bucket table; a separate task writes the copies, one after the other."""
        state = self.partitions[partition]
        if state.copy is None or not self._is_logged(partition):
            return
        state.of_buckets.unsaved = 0
        offset, horizon = self.stored["buckets-changelog", partition], state.of_buckets.horizon
        write = state.copy.capture(state.table, offset, state.logs["buckets"], horizon, state.unread)
        task, steps = ("save", partition), (TURN for _ in write())
        before = self.running.get(task)
        self.running[task] = Running(steps if before is None else chain(before.effects, steps))

    def _is_logged(self, partition: int) -> bool:
        """Whether the changelog of a band-bucket table has all of it."""
        buckets = self.partitions[partition].of_buckets
        waiting = {message.partition for message in self.producer.waiting("buckets-changelog")}
        return partition not in waiting and not buckets.is_ahead and buckets.recovery.is_complete

    # -- the end

    def crash(self, rng: random.Random) -> None:
        """The process dies: an arbitrary prefix of the sent messages of each partition is stored."""
        for _ in self.producer.crash(rng):
            pass

    def rest_of(self, task: Task) -> list[Message]:
        """The messages that an agent without barriers would still send; the agent stops."""
        running = self.running.pop(task, None)
        if running is None and task in self.positions and task in self.ready():
            running = Running(tasks.start(self, *task, self.positions[task]))
        found = list[Message]()
        for effect in () if running is None else running.effects:
            if not isinstance(effect, Order | Acknowledge):
                found += self.messages(effect, Flight())
        return found


def published(settlement: Settlement) -> Iterator[tuple[str, Any, Any]]:
    """The public messages of a settlement: topic, key and value of each."""
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
