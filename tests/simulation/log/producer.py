"""Messages that a worker has sent and the log has not stored yet.

A client keeps the order of the messages of one partition, and no other order.  So there is a queue for each partition;
when the worker dies, an arbitrary prefix of each queue is stored.

Frames of different agents may become one message, as in the worker those of one turn of its event loop.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

from stream_lsh.pipeline.coalesce import coalesced_frames
from stream_lsh.wire.frames import encode
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import FINGERPRINT, decoded

STEPS = ("bands", "candidates", "verifications", "edges")
PUBLIC = ("matches", "members", "clusters", "mirror-sites", "reviews")

Lane = tuple[str, str, int]
"""A task of the client: its name, a topic, and a partition of it."""

_CLIENT = "client"
_PUBLIC_PARTITIONS = 2


class Flight:
    """Messages that an effect waits for.

    Attributes:
        left: how many of them are not stored yet.
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 0


class Message(NamedTuple):
    """A message on its way.

    Attributes:
        stored: is called with its offset once it is stored.
    """

    topic: str
    partition: int
    key: Any
    value: Any
    flight: Flight
    stored: Callable[[int], None] | None = None


def lane_of(topic: str, partition: int) -> Lane:
    """The task that stores the messages of a partition."""
    return _CLIENT, topic, partition


def is_lane(task: tuple[Any, ...]) -> bool:
    """Whether a task is one of the client."""
    return bool(task[0] == _CLIENT)


def _joined(first: Message, second: Message) -> Message | None:
    """Half of the messages with frames of two agents that can be one frame, as one message."""
    if first.flight is second.flight or crc32(second.value) % 2:
        return None
    frames = coalesced_frames([decoded(message.topic, message.value) for message in (first, second)])
    if len(frames) > 1:
        return None

    def stored(offset: int) -> None:
        first.flight.left -= 1
        for message in (first, second):
            if message.stored is not None:
                message.stored(offset)

    return second._replace(value=encode(frames[0], FINGERPRINT), stored=stored)


class Producer:
    """The client of one worker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._lanes: dict[Lane, deque[Message]] = {}

    def send(self, message: Message) -> None:
        """Put a message behind all others of its partition.

        The public topics have several partitions by key, which the log does not model.
        """
        topic, partition, key = message[:3]
        if topic in PUBLIC:
            partition = crc32(repr(key).encode()) % _PUBLIC_PARTITIONS
        message.flight.left += 1
        waiting = self._lanes.setdefault(lane_of(topic, partition), deque())
        joined = _joined(waiting[-1], message) if topic in STEPS and waiting else None
        if joined is not None:
            waiting[-1] = joined
        else:
            waiting.append(message)

    def lanes(self) -> list[Lane]:
        """The partitions that have messages on their way."""
        return [lane for lane, messages in self._lanes.items() if messages]

    def waiting(self, topic: str) -> list[Message]:
        """The messages of a topic that are on their way."""
        return [message for lane in self.lanes() if lane[1] == topic for message in self._lanes[lane]]

    def deliver(self, lane: Lane) -> None:
        """The first message of a partition is stored."""
        topic, partition, key, value, flight, stored = self._lanes[lane].popleft()
        offset = self._broker.append(topic, partition, value, key)
        flight.left -= 1
        if stored is not None:
            stored(offset)

    def flush(self) -> None:
        """Everything is stored, partition by partition."""
        for lane in self.lanes():
            while self._lanes[lane]:
                self.deliver(lane)

    def crash(self, rng: random.Random) -> Iterator[Message]:
        """An arbitrary prefix of each partition is stored; yields the other messages."""
        for lane in self.lanes():
            messages = self._lanes[lane]
            for _ in range(rng.randint(0, len(messages))):
                self.deliver(lane)
            yield from messages
            messages.clear()
