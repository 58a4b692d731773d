"""The source partitions that the consumer may fetch.

Two components close them: the recovery, until the tables are complete (`ordered_recovery.py`), and backpressure, while
the worker has many bytes under way (`backpressure.py`).  Both close them inside aiokafka, where a closed partition is
left out of the fetch, and its buffered records are dropped unread and fetched again later.  This runs in the consumer's
thread, where the rebalance does too, so that neither component can open a partition that the other closed.

An agent that pauses between its rounds postpones its topic instead, from any thread.  A request that brings a few
records, which the agent would not take yet, costs as much as one that brings all of the next round.  Nothing is
dropped: the records wait in the broker.
"""

import time
from collections.abc import Callable, Iterable, Set
from types import SimpleNamespace
from typing import Any

from faust.types import TP


class SourceGate:
    """The closed partitions of one aiokafka consumer.  Call it in the consumer's thread only, except for `postpone`.

    Attributes:
        held: topics that backpressure keeps closed, also after a rebalance.
    """

    def __init__(self) -> None:
        self.held: frozenset[str] = frozenset()
        self._open = False
        self._postponed: dict[str, float] = {}

    def attach(self, consumer: Any) -> None:
        """Leave postponed topics out of the requests of a consumer that was started."""
        fetcher = consumer._fetcher
        next_actions, longest_ms = fetcher._get_actions_per_node, fetcher._fetch_max_wait_ms

        def actions(assignment: Any) -> Any:
            now = time.monotonic()
            postponed = {topic: until for topic, until in tuple(self._postponed.items()) if until > now}
            if not postponed:
                fetcher._fetch_max_wait_ms = longest_ms
                return next_actions(assignment)
            left = min(postponed.values()) - now
            fetcher._fetch_max_wait_ms = min(longest_ms, int(left * 1_000) + 1)
            tps = [tp for tp in assignment.tps if tp.topic not in postponed]
            others = SimpleNamespace(tps=tps, state_value=assignment.state_value)
            requests, resets, timeout, *rest = next_actions(others)
            # A request ends by itself.  If the timeout ended at the same time, the client would take the broker for
            # busy, and wait for .2 s.
            if not requests and not fetcher._pending_tasks:
                timeout = min(timeout, left)
            return requests, resets, timeout, *rest

        fetcher._get_actions_per_node = actions

    def postpone(self, topic: str, until: float) -> None:
        """Request no records of a topic before this time of the monotonic clock; a request under way may bring some."""
        self._postponed[topic] = until

    def close(self, consumer: Any, partitions: Iterable[TP]) -> None:
        """Close the partitions of a new assignment until `open`."""
        self._open = False
        consumer.pause(*partitions)

    def open(self, consumer: Any, is_current: Callable[[], bool]) -> None:
        """Fetch all partitions that are not held, now that the tables are complete, unless the group was rebalanced."""
        if is_current():
            self._open = True
            self._resume(consumer, lambda tp: tp.topic not in self.held)

    def hold(self, consumer: Any, topics: Set[str]) -> None:
        """Close these topics until `release`."""
        self.held |= topics
        consumer.pause(*(tp for tp in consumer.assignment() if tp.topic in topics))

    def release(self, consumer: Any, topics: Set[str]) -> None:
        """Open these topics; during a recovery they open at its end."""
        self.held -= topics
        if self._open:
            self._resume(consumer, lambda tp: tp.topic in topics)

    def _resume(self, consumer: Any, wanted: Callable[[Any], bool]) -> None:
        consumer.resume(*(tp for tp in consumer.paused() if tp in consumer.assignment() and wanted(tp)))
