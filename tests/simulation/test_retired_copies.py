"""A crash in the retirement of a document does not separate the documents that are identical to it."""

import pytest

from stream_lsh.model import Document
from tests.simulation.drivers.drain import delivers_all_but, drain
from tests.simulation.drivers.worker import Worker
from tests.simulation.log.broker import Broker
from tests.simulation.pipelines.setup import Setup

pytestmark = pytest.mark.simulation

SETUP = Setup(partitions=1, threshold=0.5, retention_ms=None, lateness_ms=0, cap_postings=1, batch=1)


@pytest.mark.parametrize("stalled", ["candidates", "buckets-changelog", "none"])
@pytest.mark.parametrize("text", [None, "3 4 5"])
def test_a_crash_between_the_outputs_of_a_retirement_does_not_separate_identical_documents(
    stalled: str, text: str | None
) -> None:
    """The middle one of three copies is retired before gather has read their candidates, and the worker crashes."""
    broker = Broker()
    worker = Worker(SETUP, broker)
    worker.assign({0}, True, 1)
    for number in range(3):
        broker.append("source", 0, Document(f"d{number}", "1 2", number), f"d{number}")
    drain(worker, delivers_all_but("none", "sign", "index"))
    worker.commit()
    broker.append("source", 0, Document("d1", text, 5), "d1")
    drain(worker, delivers_all_but("none", "sign"))
    drain(worker, delivers_all_but(stalled, "index"))

    successor = Worker(SETUP, broker)
    successor.assign({0}, True, 2)
    drain(successor)
    clusters = {message.key: message.value[1].cluster for message in broker.read("members", 0)}
    assert clusters.keys() == {"d0", "d2"}
    assert clusters["d0"] == clusters["d2"]
