"""Schedules in which a topic of our own loses messages: it is recreated, or truncated below an offset that was read.

Nothing can be right afterwards, so a worker must end: at its start, in a new generation, or at the next check, which
comes before the topic has grown past the lost offsets.  The checks are the package's own code.
"""

import copy
import random
from collections.abc import Iterator
from typing import NamedTuple

from faust.types import TP

from stream_lsh.errors import StateError
from stream_lsh.model import ref_offset, ref_partition
from stream_lsh.wire.manifest import LOST, Manifest
from stream_lsh.worker.checks.lost_messages import highest, known_offsets, lost_ends, lost_records
from stream_lsh.worker.checks.startup import recreated, state_problems
from stream_lsh.worker.engine.topics.required import raise_all
from tests.simulation.drivers.recovery import PartitionState, recovered_settler
from tests.simulation.drivers.worker import Worker
from tests.simulation.schedules.schedule import Run

IDS_RULE = "a topic that is recreated ends the worker"
ENDS_RULE = "a topic that ends before a read offset ends the worker"
LEDGER_RULE = "a ledger that lacks acknowledged records ends the worker"

_STEPS = ("bands", "candidates", "verifications", "edges", "intake", "decisions")
_LOGS = ("documents-changelog", "buckets-changelog", "ledger-changelog")
_ONE_EVENT = 10
"""More messages of a topic than one event of a schedule writes."""


class Loss(NamedTuple):
    """The messages that a topic loses.

    Attributes:
        is_recreated: the topic is deleted and created again.
        ids: the broker reports the ids of topics.
        stopped: no worker runs meanwhile.
        read: the highest offset of the partition that is known to have been read.
    """

    topic: str
    partition: int
    cut: int
    is_recreated: bool
    ids: bool
    stopped: bool
    read: int


class LossyRun(Run):
    """A run in which one topic loses messages, unless no topic was read.

    Attributes:
        loss: the lost messages; None before the loss.
        ended_by: the error that ended a worker.
    """

    loss: Loss | None = None

    def __init__(self, seed: int, rules_out: frozenset[str] = frozenset()) -> None:
        super().__init__(seed, rules_out)
        self._losing = random.Random(f"{seed} losses")
        self._moment = self._losing.randint(2, self.regime.messages)
        self._recreated: set[str] = set()
        self._checked = False
        self.ended_by: StateError | None = None

    def go(self) -> None:
        """Run until a worker ends, or until nothing moves.

        Raises:
            StateError: an error about anything but a lost topic.
        """
        try:
            super().go()
        except StateError as error:
            # The error about an incomplete ledger does not name the manual's chapter: see `Ledger.expect_all`.
            if self.loss is None or not (LOST in str(error) or "a copy of the ledger that is not" in str(error)):
                raise
            self.ended_by = error

    def silence(self) -> list[str]:
        """The violation if no worker has ended."""
        if self.loss is None or self.setup.rules_out:
            return []
        return [f"no worker has ended: {self.loss}"]

    # -- events

    def _event(self) -> None:
        if self.loss is None and self.produced >= self._moment and self._losing.random() < 0.1:
            self._lose()
        if self._waits and (self._is_urgent or self._losing.random() < 0.2):
            self._look()
        super()._event()

    def _drain(self) -> None:
        if self.loss is None:
            super()._drain()
            self._lose()
        self._look()
        super()._drain()

    def _crash(self) -> None:
        self._look()  # the new owner may not know the read offsets
        super()._crash()

    def _pause(self) -> None:
        self._look()
        super()._pause()

    def _assign(self) -> None:
        self._look()
        super()._assign()

    @property
    def _waits(self) -> bool:
        return self.loss is not None and not self._checked

    @property
    def _is_urgent(self) -> bool:
        loss = self.loss
        assert loss is not None
        by_id = loss.is_recreated and loss.ids
        return not by_id and self.broker.end(loss.topic, loss.partition) + _ONE_EVENT > loss.read

    # -- losing

    def _lose(self) -> None:
        stopped, ids = self._losing.random() < 0.4, self._losing.random() < 0.5
        possible = list(self._possible(stopped, ids))
        if not possible:
            return
        topic = self._losing.choice(sorted({loss.topic for loss in possible}))
        loss = self.loss = self._losing.choice([loss for loss in possible if loss.topic == topic])
        self.watch.moments.clear()
        if loss.stopped:
            self.zombies.clear()
            self.buffered.clear()
            self.late.clear()
            self.workers = [self._new_worker(number) for number in range(len(self.workers))]
        if loss.is_recreated:
            self._recreated.add(loss.topic)
            for partition in self.broker.partitions(loss.topic):
                self.broker.truncate(loss.topic, partition, 0)
            for agent, partition in self.broker.committed:
                if self.setup.topic_of(agent) == loss.topic:
                    self.broker.committed[agent, partition] = 0
        else:
            self.broker.truncate(loss.topic, loss.partition, loss.cut)
        if loss.stopped:
            self._start()

    def _possible(self, stopped: bool, ids: bool) -> Iterator[Loss]:
        """All losses that a worker can detect."""
        for topic in (*_STEPS, *_LOGS):
            for partition in self.broker.partitions(topic):
                log = (topic, partition)
                start, end = self.broker.start(*log), self.broker.end(*log)
                read = self._known(*log) if stopped else self._read(*log)
                if end and ids:
                    yield Loss(*log, 0, True, ids, stopped, read)
                elif stopped and topic == "ledger-changelog":
                    cut = self._losing.randint(0, end)
                    if self._is_behind(cut):
                        yield Loss(*log, cut, cut == 0, ids, stopped, read)
                elif start <= read:
                    # Kafka deletes the offsets of the group with the topic.
                    is_recreated = self._losing.random() < 0.5 and (not stopped or self._named(*log) >= 0)
                    cut = 0 if is_recreated else self._losing.randint(start, read)
                    yield Loss(*log, cut, is_recreated, ids, stopped, read)

    def _read(self, topic: str, partition: int) -> int:
        """The highest offset that the running workers have read or written."""
        read = [worker.stored.get((topic, partition), -1) for worker in self.workers]
        for worker in self.workers:
            for (agent, of), position in worker.positions.items():
                if of == partition and self.setup.topic_of(agent) == topic:
                    read.append(position - 1)
        return max(read)

    def _known(self, topic: str, partition: int) -> int:
        """The highest offset that is known to have been read when all workers are started again; -1 for none."""
        committed = [
            offset - 1
            for (agent, of), offset in self.broker.committed.items()
            if of == partition and self.setup.topic_of(agent) == topic
        ]
        return max([self._named(topic, partition), *committed])

    def _named(self, topic: str, partition: int) -> int:
        """The highest offset that changelogs name of a partition; -1 for none."""
        if topic == "edges":
            return recovered_settler(self.setup, self.broker).applied_offset
        if topic == "intake":
            return PartitionState(self.setup, partition, self.broker).documents.newest_offset()
        if topic == "decisions":
            ref = recovered_settler(self.setup, self.broker).ledger.decisions.newest_ref
            return ref_offset(ref) if ref >= 0 and ref_partition(ref) == partition else -1
        return -1

    def _is_behind(self, cut: int) -> bool:
        """Whether a ledger with this end lacks acknowledged records; otherwise a replay restores the lost ones."""
        left = copy.deepcopy(self.broker)
        left.truncate("ledger-changelog", 0, cut)
        try:
            return recovered_settler(self.setup, left).applied_offset + 1 < self.broker.committed["settle", 0]
        except StateError:
            return True

    # -- checks

    def _start(self) -> None:
        """All workers restart."""
        ids = self._ids()
        if self._reports_ids and IDS_RULE not in self.setup.rules_out:
            raise_all(state_problems(self._manifest(ids), self._manifest(dict.fromkeys(ids, "1")), ids))
        super()._assign()
        self._look()

    def _look(self) -> None:
        """The checks of all workers, every ten seconds and in each new generation before they read anything."""
        if not self._waits:
            return
        self._checked = True
        if self._reports_ids and IDS_RULE not in self.setup.rules_out:
            raise_all(recreated(dict.fromkeys(self._ids(), "1"), self._ids()))
        for worker in self.workers:
            seen = self._seen(worker)
            if worker.settler is not None and LEDGER_RULE not in self.setup.rules_out:
                settled, committed = worker.settler.applied_offset, self.broker.committed["settle", 0]
                raise_all(lost_records("ledger-changelog", settled, committed))
            if ENDS_RULE not in self.setup.rules_out:
                raise_all(lost_ends(seen, {tp: self.broker.end(*tp) for tp in seen}))

    @property
    def _reports_ids(self) -> bool:
        return self.loss is not None and self.loss.ids

    def _ids(self) -> dict[str, str]:
        return {topic: "2" if topic in self._recreated else "1" for topic in (*_STEPS, *_LOGS)}

    def _manifest(self, own: dict[str, str]) -> Manifest:
        return Manifest("p", "source", {}, self.setup.partitions, {}, self.setup.threshold, {}, own=own)

    def _seen(self, worker: Worker) -> dict[TP, int]:
        """The offsets that a worker knows to have been read or written."""
        setup, settler = self.setup, worker.settler
        topics = {"documents": setup.documents_topic, "edges": "edges", "decisions": "decisions"}
        tables = {partition: state.documents for partition, state in worker.partitions.items()}
        known = known_offsets(tables, () if settler is None else (settler,))
        return highest(
            # Positions begin at what is committed, and are not below it.
            *({TP(setup.topic_of(agent), partition): at - 1} for (agent, partition), at in worker.positions.items()),
            {TP(topics[name], partition): offset for (name, partition), offset in known.items()},
            {TP(*log): offset for log, offset in worker.stored.items()},
        )
