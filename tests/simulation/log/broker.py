"""A log with offsets, and the positions of a consumer group.  It keeps the order; only `truncate` loses messages."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from stream_lsh.ledger.changes import Settled
from stream_lsh.pipeline.batches import Mark

Partition = tuple[str, int]
"""Topic and partition."""


class Message(NamedTuple):
    """One message of a log."""

    offset: int
    key: Any
    value: Any


class Broker:
    """Logs by topic and partition, and committed positions by agent and partition.

    Attributes:
        settled: the distinct results of settle for each offset of `edges`; one, unless a replay differs.
        decided: the places of the decisions, in the order in which they were acknowledged.
        late_copies: the places of late copies of the intake that sign accepted because their group was forgotten.
        early: messages that were stored before something that must be stored before them.
        marks: all marks that sign has sent, in order.
        advances: each new horizon with its generation and the marks so far.
        recoveries: the recoveries from a copy on disk: the table, the partition and the offset of the copy.
        miscopied: how these differ from a recovery from the log, without records that the writer of the copy
            never read.
    """

    def __init__(self) -> None:
        self._logs: dict[Partition, list[Message]] = defaultdict(list)
        self._starts: dict[Partition, int] = defaultdict(int)
        self.committed: dict[Partition, int] = defaultdict(int)
        self.decided: list[tuple[int, int]] = []
        self.late_copies: set[tuple[int, int]] = set()
        self.marks: list[Mark] = []
        self.advances: list[tuple[int, int, list[Mark]]] = []
        self.early: list[str] = []
        self.recoveries: list[tuple[str, int, int | None]] = []
        self.miscopied: list[str] = []
        self.settled: dict[int, list[Settled]] = defaultdict(list)

    def append(self, topic: str, partition: int, value: Any, key: Any = None) -> int:
        """Write a message; its offset."""
        log = self._logs[topic, partition]
        log.append(Message(len(log), key, value))
        return len(log) - 1

    @property
    def clock(self) -> int:
        """The number of messages: a time that advances with each."""
        return sum(map(len, self._logs.values()))

    def end(self, topic: str, partition: int) -> int:
        """The offset that the next message will have."""
        return len(self._logs[topic, partition])

    def start(self, topic: str, partition: int) -> int:
        """The lowest offset that was not trimmed."""
        return self._starts[topic, partition]

    def at(self, topic: str, partition: int, offset: int) -> Message:
        """The message at an offset."""
        return self._logs[topic, partition][offset]

    def read(self, topic: str, partition: int, since: int = 0) -> Iterator[Message]:
        """Messages from `since` on that were not trimmed, up to the present end."""
        yield from self._logs[topic, partition][max(since, self._starts[topic, partition]) :]

    def trim(self, topic: str, partition: int, offset: int) -> None:
        """Delete the messages below an offset."""
        self._starts[topic, partition] = max(self._starts[topic, partition], offset)

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Lose the messages from an offset on; the next ones get their offsets."""
        del self._logs[topic, partition][offset:]
        self._starts[topic, partition] = min(self._starts[topic, partition], offset)

    def changelogs(self) -> list[Partition]:
        """The partitions of all changelogs that were ever written to."""
        return sorted(log for log in self._logs if log[0].endswith("-changelog"))

    def partitions(self, topic: str) -> list[int]:
        """Partitions of a topic that hold messages."""
        return sorted(partition for name, partition in self._logs if name == topic)
