"""Words about event time that come again after a crash must not move it."""

import pytest

from stream_lsh.model import Document
from stream_lsh.retention import Horizon
from tests.simulation.broker import Broker
from tests.simulation.workers import Setup, Worker

pytestmark = pytest.mark.simulation

SETUP = Setup(partitions=2, threshold=0.5, retention_ms=100, lateness_ms=0)


class Life:
    """One worker after the other on one broker; each does whatever it can."""

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
        for partition in (0, 1):
            self.worker.start_tick(partition, idle)
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
    assert life.state == (Horizon(900), []), "when all are idle the newest of them says how late it is"
