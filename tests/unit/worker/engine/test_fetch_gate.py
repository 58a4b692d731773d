"""Which partitions a client asks for while sources are closed, held or postponed, and how long it waits."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP

from stream_lsh.worker.engine.reading.fetch_gate import SourceGate

SOURCE, INNER = TP("source", 0), TP("inner", 0)
LONGEST_MS, IDLE_SECONDS = 400_000, 400.0
"""Far above the time that any test takes, as are the times for which topics are postponed."""


class Fetcher:
    """A fetcher that asks for all partitions of an assignment, or for nothing while a request is under way."""

    def __init__(self, *, busy: bool = False) -> None:
        self._fetch_max_wait_ms = LONGEST_MS
        self._pending_tasks = {"a request"} if busy else set()

    def _get_actions_per_node(self, assignment: Any) -> Any:
        tps = [] if self._pending_tasks else [tp for tp in assignment.tps if assignment.state_value(tp)]
        return [(tps, self._fetch_max_wait_ms)] if tps else [], {}, IDLE_SECONDS, False, []


@pytest.fixture
def gate() -> SourceGate:
    return SourceGate()


def actions(gate: SourceGate, fetcher: Fetcher, *tps: TP) -> Any:
    gate.attach(SimpleNamespace(_fetcher=fetcher))
    return fetcher._get_actions_per_node(SimpleNamespace(tps=tps, state_value=lambda tp: True))


def test_all_partitions_are_requested_if_nothing_is_postponed(gate: SourceGate) -> None:
    assert actions(gate, Fetcher(), SOURCE, INNER) == ([([SOURCE, INNER], LONGEST_MS)], {}, IDLE_SECONDS, False, [])


def test_a_postponed_topic_is_left_out_and_the_request_ends_when_it_is_due(gate: SourceGate) -> None:
    gate.postpone("source", time.monotonic() + 200)
    ((tps, wait_ms),), _, timeout, *_ = actions(gate, Fetcher(), SOURCE, INNER)
    assert (tps, timeout) == ([INNER], IDLE_SECONDS)
    assert 1 <= wait_ms <= 200_001


def test_a_long_postponement_does_not_make_requests_longer(gate: SourceGate) -> None:
    gate.postpone("source", time.monotonic() + 1_000)
    ((_, wait_ms),), *_ = actions(gate, Fetcher(), SOURCE, INNER)
    assert wait_ms == LONGEST_MS


def test_a_client_that_asks_for_nothing_waits_until_the_topic_is_due(gate: SourceGate) -> None:
    gate.postpone("source", time.monotonic() + 200)
    requests, _, timeout, *_ = actions(gate, Fetcher(), SOURCE)
    assert requests == []
    assert 0 < timeout <= 200


def test_a_request_under_way_is_waited_for(gate: SourceGate) -> None:
    gate.postpone("source", time.monotonic() + 200)
    _, _, timeout, *_ = actions(gate, Fetcher(busy=True), SOURCE, INNER)
    assert timeout == IDLE_SECONDS


def test_a_topic_that_is_due_is_requested_again_with_the_usual_wait(gate: SourceGate) -> None:
    fetcher = Fetcher()
    gate.postpone("source", time.monotonic() + 1_000)
    actions(gate, fetcher, SOURCE, INNER)
    gate.postpone("source", time.monotonic())
    found = fetcher._get_actions_per_node(SimpleNamespace(tps=[SOURCE, INNER], state_value=lambda tp: True))
    assert found[0] == [([SOURCE, INNER], LONGEST_MS)]


class Paused:
    """A client that has these partitions, and pauses some of them."""

    def __init__(self, *tps: TP) -> None:
        self._tps, self._paused = set(tps), set[TP]()

    def assignment(self) -> set[TP]:
        return self._tps

    def paused(self) -> set[TP]:
        return set(self._paused)

    def pause(self, *tps: TP) -> None:
        self._paused |= set(tps)

    def resume(self, *tps: TP) -> None:
        self._paused -= set(tps)


def test_a_partition_is_open_when_neither_the_recovery_nor_backpressure_closes_it(gate: SourceGate) -> None:
    client, both = Paused(SOURCE, INNER), {SOURCE, INNER}
    gate.close(client, both)
    gate.hold(client, {"source"})
    gate.release(client, {"source"})
    assert client.paused() == both, "the tables are not complete"
    gate.open(client, lambda: False)
    assert client.paused() == both, "the group was rebalanced meanwhile"
    gate.hold(client, {"source"})
    gate.open(client, lambda: True)
    assert client.paused() == {SOURCE}
    gate.close(client, both)  # a rebalance
    gate.open(client, lambda: True)
    assert client.paused() == {SOURCE}, "it is held across the rebalance"
    gate.release(client, {"source"})
    assert client.paused() == set()
