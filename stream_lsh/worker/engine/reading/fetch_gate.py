"""The source partitions that the consumer may fetch.

Two components close them: the recovery, until the tables are complete (`ordered_recovery.py`), and backpressure, while
the worker has many bytes under way (`backpressure.py`).  Both close them inside aiokafka, where a closed partition is
left out of the fetch, and its buffered records are dropped unread and fetched again later.  Everything here runs in the
consumer's thread, where the rebalance does too, so that neither component can open a partition that the other closed.
"""

from collections.abc import Callable, Iterable, Set
from typing import Any

from faust.types import TP


class SourceGate:
    """The closed partitions of one aiokafka consumer.  Call it in the consumer's thread only.

    Attributes:
        held: topics that backpressure keeps closed, also after a rebalance.
    """

    def __init__(self) -> None:
        self.held: frozenset[str] = frozenset()
        self._open = False

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
