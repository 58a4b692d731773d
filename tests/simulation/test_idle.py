"""Marks of event time that repeat after a crash do not move it."""

import random
from dataclasses import replace

import pytest

from stream_lsh.model import Document
from stream_lsh.retention import Horizon
from tests.simulation.drivers.worker import Worker
from tests.simulation.log.broker import Broker
from tests.simulation.pipelines.setup import Setup

pytestmark = pytest.mark.simulation

SETUP = Setup(partitions=2, threshold=0.5, retention_ms=100, lateness_ms=0)


class Life:
    """One worker after the other on one broker; each works until it is idle."""

    def __init__(self) -> None:
        self.broker = Broker()
        self.generation, self.steps = 0, 0
        self.start()

    def start(self) -> None:
        self.generation += 1
        self.worker = Worker(SETUP, self.broker)
        self.worker.assign({0, 1}, True, self.generation)

    def drain(self) -> None:
        while ready := self.worker.ready():
            self.steps += 1
            self.worker.step(ready[self.steps % len(ready)])

    def tick(self, *, idle: bool) -> None:
        self.worker.start_ticks(idle)
        self.drain()

    def send(self, partition: int, id: str, text: str, time_ms: int) -> None:
        self.broker.append("source", partition, Document(id, text, time_ms), id)

    @property
    def state(self) -> tuple[Horizon, list[str]]:
        assert self.worker.settler is not None
        ledger = self.worker.settler.ledger
        return ledger.horizon, list(ledger.ids.live)


@pytest.mark.parametrize("lost", [("verify",), ("gather", "verify"), ("index", "gather", "verify")])
def test_a_source_that_was_idle_once_does_not_let_live_documents_expire_when_a_hop_is_read_again(
    lost: tuple[str, ...],
) -> None:
    life = Life()
    life.send(0, "x", "5", 0)
    life.send(1, "y", "4", 0)
    life.drain()
    life.worker.commit()
    life.tick(idle=True)
    for partition, id, text, time_ms in ((0, "a", "1 2 3", 10), (0, "b", "1 2 3", 20), (1, "z", "0", 1_000)):
        life.send(partition, id, text, time_ms)
    life.drain()
    life.tick(idle=False)
    before = life.state
    assert before == (Horizon(-80), ["a"])
    committed = life.broker.committed
    for task, position in life.worker.positions.items():
        if task[0] not in lost:
            committed[task] = position
    life.start()
    life.drain()
    assert life.state == before
    life.tick(idle=False)
    assert life.state == before
    life.tick(idle=True)
    life.tick(idle=True)
    assert life.state == before, "without new data nothing expires"
    life.send(1, "zz", "7", 1_001)
    life.drain()
    life.tick(idle=True)
    assert life.state == before, "all sources may continue"
    life.tick(idle=True)
    assert life.state == (Horizon(901), []), "a source that is idle holds no other one back"


@pytest.mark.parametrize("seed", range(4))
def test_a_source_that_was_idle_before_a_downtime_holds_event_time_back_until_its_new_owner_has_reported(
    seed: int,
) -> None:
    """Both sources grow while no worker reads; one worker is ready, reads its backlog and ticks before the other."""
    rng, broker, setup = random.Random(seed), Broker(), replace(SETUP, lateness_ms=50)

    def drain(*workers: Worker) -> None:
        while ready := [(worker, task) for worker in workers for task in worker.ready()]:
            worker, task = rng.choice(ready)
            worker.step(task)

    first = Worker(setup, broker)
    first.assign({0, 1}, True, 1)
    for partition in (0, 1):
        broker.append("source", partition, Document(f"x{partition}", str(4 + partition), 0), f"x{partition}")
    drain(first)
    for _ in range(3):
        first.start_ticks(mark_idle=True)
        drain(first)
    first.commit()
    for number in range(1, 11):
        for partition, name in enumerate("ab"):
            document = Document(f"{name}{number}", f"{number % 4}", 100 * number)
            broker.append("source", partition, document, document.id)
    one, other = Worker(setup, broker), Worker(setup, broker)
    one.assign({0}, True, 2)
    other.assign({1}, False, 2)
    drain(one)
    one.start_ticks(mark_idle=False)
    drain(one)
    drain(one, other)
    for _ in range(4):
        for worker in (one, other):
            worker.start_ticks(mark_idle=True)
        drain(one, other)
    published = {message.key for message in broker.read("matches", 0) if message.value[1].similarity is not None}
    assert {(f"a{number}", f"b{number}") for number in range(1, 11)} <= published
