"""One seed: a regime, and one run of it until no message moves."""

import random
from collections import deque
from collections.abc import Sequence
from zlib import crc32

from stream_lsh.model import About, Document
from stream_lsh.pipeline.batches import Mark
from stream_lsh.pipeline.settle import Settler
from stream_lsh.retention import Horizon
from tests.simulation.drivers.worker import Task, Worker
from tests.simulation.log.broker import Broker
from tests.simulation.log.disk import Disk
from tests.simulation.log.producer import PUBLIC, Lane, Message, lane_of
from tests.simulation.log.watch import Watch
from tests.simulation.pipelines.entities import User, miscounted
from tests.simulation.pipelines.intake import Placing
from tests.simulation.schedules.regime import DISKS_FROM, GROUPS_FROM, draw

_MOST_EVENTS = 60_000
_STALLING = (
    *("bands", "bands", "candidates", "verifications", "edges"),
    *("documents-changelog", "documents-changelog", "buckets-changelog"),
)
"""Topics with a partition that may be slow to store messages; some stall more often."""


class Run:
    """One run: the broker, the workers in the group, and those that have left it unknowingly."""

    def __init__(self, seed: int, rules_out: frozenset[str] = frozenset()) -> None:
        self.seed = seed
        self.rng, self.setup, self.regime = draw(seed, rules_out)
        self.broker = Broker()
        self.disks = [Disk() for _ in range(self.regime.workers)]  # of the machines that run a worker
        self.spare_disks = deque[Disk]()
        self.workers = [self._new_worker(number) for number in range(self.regime.workers)]
        self.zombies: list[Worker] = []
        self.buffered: dict[object, deque[Message]] = {}  # by zombie and partition, in their order
        self.late: list[Message] = []  # of pages, decisions and the intake, from before a pause: stored at the end
        self.repeated: list[Message] = []  # records of documents that a client sent twice; the second time is late
        self._clients = random.Random(f"{seed} clients")
        self.starved: tuple[Task | Lane | None, int] = (None, 0)
        self.produced = 0
        self.generations = 0
        self._groups = random.Random(f"{seed} groups")
        self._event_ms = 1_000
        self._texts: list[str] = []
        self._metadata = random.Random(f"{seed} telling")  # the schedules of all seeds depend on this name
        self._last: dict[int, Document] = {}
        self.user = None if self.setup.records is None else User(seed, self.setup.records)
        self.miscounted: list[str] = []
        self.watch = Watch(seed)
        self.placing = Placing(seed, self.setup.partitions)
        # Of each tick at the end: the marks that settle knew, those that sign sent, the horizon before and after it.
        self.ticks: list[tuple[Sequence[Mark], Sequence[Mark], Horizon, Horizon]] = []
        self.last_ms: int | None = None  # event time of a document that comes last of all, and alone
        self._stalls = seed >= DISKS_FROM
        self._ticks_together = seed >= GROUPS_FROM
        self._rises = self._ticks_together and self.setup.keep_ms is not None
        self._assign()

    def _new_worker(self, number: int) -> Worker:
        """A process on a machine, with the copies on its disk."""
        return Worker(self.setup, self.broker, self.disks[number])

    def go(self) -> None:
        """Run until all is produced, then until nothing moves."""
        events = 0
        while self.produced < self.regime.messages or (events < 400 and self.rng.random() < 0.99):
            self._event()
            self.watch.look(self.broker)
            events += 1
            assert events < _MOST_EVENTS, "the run does not come to an end"
        self.zombies.clear()
        while self.buffered:
            self._zombie_step()
        self._drain()
        self._repeat(1.0)
        self._report_all_pages()
        for topic, partition, key, value, *_ in self.late:
            self.broker.append(topic, partition, value, key)
        self._drain()
        for _ in range(12 if self.regime.final_watermark and self.regime.expires else 0):
            before, known, sent = self.horizon, self._settler._watermarks.merged(), len(self.broker.marks)
            self._tick_everywhere()
            self._report_all_pages()
            self.ticks.append((known, self.broker.marks[sent:], before, self.horizon))
        if self.ticks and self.regime.mark_idle and self._rises:
            self._rise()

    # -- events

    def _event(self) -> None:
        if self.user is not None and self.user.wants_to_decide():
            self._decide(self.user.decision())
            return
        rng, regime = self.rng, self.regime
        happenings = (
            (regime.produce if self.produced < regime.messages else 0.0, self._produce),
            (regime.commit, self._commit),
            (regime.tick, self._tick),
            (regime.crash, self._crash),
            (regime.rebalance, self._assign),
            (regime.pause, self._pause),
            (regime.trim, self._trim),
            (regime.copy, self._copy),
            (regime.starve, self._starve),
            (regime.report, self._report_pages),
            (regime.forget, self._forget),
        )
        drawn = rng.random()
        for weight, happen in happenings:
            if drawn < weight:
                happen()
                return
            drawn -= weight
        if (self.zombies or self.buffered) and rng.random() < 0.3:
            self._zombie_step()
        elif not self._step() and self.produced < regime.messages:
            self._produce()

    def _produce(self) -> None:
        rng, regime = self.rng, self.regime
        number = rng.randrange(regime.ids)
        self._event_ms += regime.pace_ms
        time_ms = self._event_ms - rng.randint(0, regime.disorder_ms)
        drawn = rng.random()
        text: str | None
        if drawn < regime.delete_rate:
            text = None
        elif self._texts and drawn < regime.delete_rate + regime.repeat_rate:
            text = rng.choice(self._texts)
        else:
            empty = regime.least_words == 1 and rng.random() < 0.06
            size = 0 if empty else rng.randint(regime.least_words, min(regime.words, regime.shingles))
            text = " ".join(map(str, sorted(rng.sample(range(regime.shingles), size))))
            self._texts.append(text)
        document = Document(f"d{number}", text, time_ms)
        if self.setup.stories:
            document = self._last[number] = self._with_metadata(document, self._last.get(number))
        if self.user is not None:
            document = self.user.record(document)
        partition = self.placing.partition(document.id) if self.setup.rekey else number % self.setup.partitions
        self.broker.append("source", partition, document, document.id)
        self.produced += 1

    def _decide(self, decision: tuple[bytes, bytes | None] | None) -> None:
        """The user decides about two ids, in either order: keys of one pair may be in two partitions."""
        if decision is not None:
            apart = "decisions are in one partition" in self.setup.rules_out
            partition = crc32(decision[0]) % self.setup.partitions if apart else 0
            self.broker.decided.append(
                (partition, self.broker.append("decisions", partition, decision[1], decision[0]))
            )

    def _with_metadata(self, document: Document, last: Document | None) -> Document:
        """A document with a title and an outlet; now and then the last one of its id, under another title."""
        rng = self._metadata
        if document.text is not None and last is not None and last.text is not None and rng.random() < 0.3:
            document = last
        if document.text is None:
            return document
        return document._replace(about=About(rng.choice("ABC"), rng.choice(("", "x", "y", "z")), len(document.text)))

    def _step(self) -> bool:
        ready = [(worker, task) for worker in self.workers for task in worker.ready()]
        starved, left = self.starved
        if left:
            self.starved = (starved, left - 1)
            ready = [item for item in ready if item[1] != starved] or ready
        if not ready:
            return False
        worker, task = self.rng.choice(ready)
        for _ in range(self.rng.choice((1, 1, 1, 3, 8))):
            if not worker.step(task):
                break
        return True

    def _commit(self) -> None:
        self.rng.choice(self.workers).commit()

    def _tick(self) -> None:
        worker = self.rng.choice(self.workers)
        if worker.partitions:
            partition = self.rng.choice(sorted(worker.partitions))
            if self._ticks_together:
                worker.start_ticks(self.regime.mark_idle)
            else:
                worker.start_tick(partition, self.regime.mark_idle)

    @property
    def horizon(self) -> Horizon:
        """The horizon of the owner of the ledger."""
        return self._settler.ledger.horizon

    @property
    def _settler(self) -> Settler:
        return next(worker.settler for worker in self.workers if worker.settler is not None)

    def _rise(self) -> None:
        """One document of one slow source; sign reports it several times before any hop forwards the marks."""
        self.last_ms, id = self._event_ms + 1_000_000, f"d{self.regime.ids}"
        self.broker.append("source", 0, Document(id, "0", self.last_ms), id)
        self._drain()
        for worker in 4 * self.workers:
            worker.start_ticks(mark_idle=True)
            worker.finish_ticks()
        self._drain()

    def _tick_everywhere(self) -> None:
        for worker in self.workers:
            worker.start_ticks(mark_idle=True)
        self._drain()

    def _report_pages(self) -> None:
        worker = self.rng.choice(self.workers)
        if worker.partitions:
            worker.start_page_report(self.rng.choice(sorted(worker.partitions)))

    def _report_all_pages(self) -> None:
        """All workers report all their pages of sites."""
        for worker in self.workers:
            for partition in worker.partitions if self.setup.mirror_share else ():
                worker.start_page_report(partition)
        self._drain()

    def _crash(self) -> None:
        """A worker is killed and restarted; its partitions may move meanwhile."""
        number = self.rng.randrange(len(self.workers))
        if self._stalls and self.rng.random() < 0.5:
            self.workers[number].commit()
        self.workers[number].crash(self.rng)
        self.workers[number] = self._new_worker(number)
        self._assign()

    def _forget(self) -> None:
        """All workers stop, and Kafka forgets their group: its offsets are gone, and its generations begin again."""
        self.generations = 0
        self.zombies.clear()
        self.buffered.clear()
        self.late.clear()
        self.repeated.clear()
        committed = self.broker.committed
        for agent, partition in committed:
            # The topics between the steps are trimmed to the read offsets in time; those of users are not.
            users = self.setup.topic_of(agent) in ("source", "decisions")
            kept = 0 if users else committed[agent, partition]
            committed[agent, partition] = self._groups.randint(0, kept)
        for worker in self.workers:
            worker.crash(self._groups)
        self.workers = [self._new_worker(number) for number in range(len(self.workers))]
        self._assign()

    def _assign(self) -> None:
        """A rebalance; a worker that leaves partitions behind may have committed first."""
        rng = self.rng
        self._repeat(0.2)
        self.generations += 1
        generation = self.generations << 16 | self._groups.getrandbits(16)
        if rng.random() < 0.5:
            for worker in self.workers:
                worker.commit()
        owner = [rng.randrange(len(self.workers)) for _ in range(self.setup.partitions)]
        settles = rng.randrange(len(self.workers))
        plan = [{p for p, o in enumerate(owner) if o == n} for n in range(len(self.workers))]
        # All workers release partitions before any takes one over, as in the group protocol.
        for number, worker in enumerate(self.workers):
            stays = worker.settler is not None and number == settles
            worker.assign(plan[number] & worker.partitions.keys(), stays, generation)
        for number, worker in enumerate(self.workers):
            worker.assign(plan[number], number == settles, generation)
            for partition in worker.partitions if self.setup.records else ():
                found = miscounted(worker.partitions[partition].documents)
                self.miscounted += [f"partition {partition}: {found}"] if found else []

    def _pause(self) -> None:
        """A worker is paused past its session: the group continues without it, unknown to the worker."""
        number = self.rng.randrange(len(self.workers))
        zombie = self.workers[number]
        for partition in zombie.partitions if self.setup.mirror_share else ():
            zombie.start_page_report(partition)
            self.late += zombie.rest_of(("sites", partition))
        for agent in ("decide", "intake"):
            for partition in zombie.partitions if agent in self.setup.agents else ():
                self.late += zombie.rest_of((agent, partition))
        # Another machine replaces it, perhaps one that owned the same partitions before.
        self.spare_disks.append(self.disks[number])
        self.disks[number] = self.spare_disks.popleft() if len(self.spare_disks) > 1 else Disk()
        self.workers[number] = self._new_worker(number)
        if "the zombie fence" in self.setup.rules_out:
            self.zombies.append(zombie)
            self._assign()
            return
        for task in sorted(zombie.running):
            zombie.step(task)
        # A client repeats unconfirmed messages, which may have been stored.
        self.repeated += zombie.producer.waiting("documents-changelog")
        for message in zombie.producer.crash(self.rng):
            if message.topic not in PUBLIC:
                self.buffered.setdefault((id(zombie), *message[:2]), deque()).append(message)
        self._assign()

    def _repeat(self, share: float) -> None:
        """Some repeated messages of clients reach the changelogs of documents."""
        left, self.repeated = self.repeated, []
        for message in left:
            if self._clients.random() < share:
                self.broker.append(message.topic, message.partition, message.value, message.key)
            else:
                self.repeated.append(message)

    def _zombie_step(self) -> None:
        """A zombie without a fence continues; one behind a fence sends only buffered internal messages."""
        if self.buffered:
            place = self.rng.choice([*self.buffered])
            message = self.buffered[place].popleft()
            if not self.buffered[place]:
                del self.buffered[place]
            self.broker.append(message.topic, message.partition, message.value, message.key)
            return
        zombie = self.rng.choice(self.zombies)
        ready = zombie.ready()
        if ready and self.rng.random() < 0.98:
            zombie.step(self.rng.choice(ready))
        else:
            self.zombies.remove(zombie)

    def _starve(self) -> None:
        if self._stalls and self.rng.random() < 0.6:
            topic = self.rng.choice(_STALLING)
            self.starved = (lane_of(topic, self.rng.randrange(self.setup.partitions)), 300)
            return
        agent = self.rng.choice((*self.setup.agents, "settle"))
        partition = 0 if agent == "settle" else self.rng.randrange(self.setup.partitions)
        self.starved = ((agent, partition), 300)

    def _copy(self) -> None:
        """The changelog of the ledger is to be rewritten."""
        for worker in self.workers:
            worker.start_pass()

    def _trim(self) -> None:
        """Delete the records of the changelogs that the live state does not need."""
        for worker in self.workers:
            for partition in sorted(worker.partitions):
                worker.trim(partition)

    def _drain(self) -> None:
        steps = 0
        while self._step():
            steps += 1
            assert steps < _MOST_EVENTS, "the run does not come to rest"
        for worker in self.workers:
            worker.commit()
