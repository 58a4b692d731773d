"""A crash while the edges of a pair wait to be stored loses no pair: before the acknowledgement, and before marks."""

from collections.abc import Iterator
from typing import Any

import pytest

from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import BARRIER, FLUSH, TURN, Effect, Order
from stream_lsh.pipeline.agents.state import DocumentsState
from tests.simulation.drivers import tasks
from tests.simulation.drivers.drain import delivers_all_but, drain
from tests.simulation.drivers.worker import Worker
from tests.simulation.log.broker import Broker
from tests.simulation.pipelines.setup import Setup
from tests.simulation.reordered import acknowledged_first

pytestmark = pytest.mark.simulation

SETUP = Setup(partitions=1, threshold=0.5, retention_ms=10, lateness_ms=0, batch=1)
AGENTS = ("sign", "index", "gather", "verify", "settle")


class Apart(Worker):
    """A worker whose gather has no old documents: all pairs go to verify, as between two workers."""

    def held(self) -> dict[int, DocumentsState]:
        return {}


def after_a_crash(kind: type[Worker] = Worker, *, marks: bool) -> set[tuple[str, str]]:
    """The pairs that are published although a worker died before any edge was stored.

    Args:
        kind: of the worker that dies.
        marks: event time advances until the pair expires, and marks of it follow the pair.
    """
    broker = Broker()
    worker = kind(SETUP, broker)
    worker.assign({0}, True, 1)
    for number, (text, time_ms) in enumerate([("1 2", 0), ("1 2", 5), ("7 8", 100)]):
        broker.append("source", 0, Document(f"d{number}", text, time_ms), f"d{number}")
    drain(worker, delivers_all_but("edges", *AGENTS))
    if marks:
        worker.start_ticks(False)
        drain(worker, delivers_all_but("edges", "tick", *AGENTS))
    worker.commit()
    assert not broker.end("edges", 0)

    successor = kind(SETUP, broker)
    successor.assign({0}, True, 2)
    drain(successor, delivers_all_but("none", "verify", "settle"))
    drain(successor)
    return {message.key for message in broker.read("matches", 0)}


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("kind", [Worker, Apart])
def test_a_pair_is_published_although_its_edges_were_lost_in_a_crash(kind: type[Worker], marks: bool) -> None:
    assert after_a_crash(kind, marks=marks) == {("d0", "d1")}


@pytest.mark.parametrize(("kind", "step"), [(Worker, "gather"), (Apart, "verify")])
def test_a_pair_is_lost_if_it_is_acknowledged_before_its_edges_are_stored(
    kind: type[Worker], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, step, acknowledged_first(getattr(tasks, step)))
    assert not after_a_crash(kind, marks=False)


@pytest.mark.parametrize("replaced", [TURN, BARRIER])
def test_a_pair_expires_unpublished_if_gather_sends_marks_without_a_flush(
    replaced: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather = tasks.gather

    def unordered(*arguments: Any) -> Iterator[Effect]:
        return (replaced if effect is FLUSH else effect for effect in gather(*arguments))

    monkeypatch.setattr(tasks, "gather", unordered)
    assert not after_a_crash(marks=True)
