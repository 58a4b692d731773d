"""Documents that are sent all the time while something happens, and how long each waited for its match."""

import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from confluent_kafka import Consumer, Producer

from benchmarks.long_runs.news import START_MS
from stream_lsh.config import Config

_EVERY_SECONDS = 0.1
_STEADY_SECONDS = 3.0
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Pause:
    """The effect of an event on the documents that were sent around it.

    Attributes:
        until_s: from the event until the first document of each partition that was sent after it had its match.
        longest_s: the longest that a document waited.
        usual_s: the median wait before the event.
    """

    until_s: float
    longest_s: float
    usual_s: float


class Probes:
    """Sends a copy of a known document to each partition again and again, and reads the matches.

    Args:
        config: of the workers.
        known: texts of documents that the workers have.
    """

    def __init__(self, config: Config, known: Sequence[str]) -> None:
        pipeline, brokers = config.pipelines[0], ",".join(config.kafka.brokers)
        self._source, self._partitions, self._known = pipeline.source, pipeline.partitions, known
        self._producer = Producer({"bootstrap.servers": brokers, "linger.ms": 0})
        self._consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "group.id": f"bench-{uuid.uuid4()}",
                "auto.offset.reset": "latest",
                "fetch.wait.max.ms": 5,
            }
        )
        self._consumer.subscribe([pipeline.matches_topic])
        self._name, self._numbers = f"probe-{uuid.uuid4()}", count()
        self._sent: dict[str, tuple[int, float]] = {}
        self._waited: dict[str, float] = {}
        self._next_at = 0.0
        while not self._consumer.assignment():
            self._consumer.poll(0.1)

    def pause(self, event: Callable[[], None], over: Callable[[], bool]) -> Pause:
        """Measure the effect of an event, from a steady state to the next one.

        Args:
            event: happens at once.
            over: whether what follows from it has happened.

        Raises:
            RuntimeError: some documents never had a match.
        """
        self._steady(lambda: True)
        self._sent.clear()
        self._waited.clear()
        began = time.perf_counter()
        while time.perf_counter() - began < _STEADY_SECONDS:
            self._turn()
        usual = sorted(self._waited.values())
        happened = time.perf_counter()
        event()
        self._steady(over)
        first = dict[int, float]()
        for name, (partition, sent) in self._sent.items():
            if sent >= happened:
                first.setdefault(partition, sent + self._waited[name] - happened)
        return Pause(max(first.values()), max(self._waited.values()), usual[len(usual) // 2])

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _steady(self, over: Callable[[], bool]) -> None:
        """Go on until it is over and every document of some seconds had its match; then wait for the last ones."""
        end = time.perf_counter() + _PATIENCE_SECONDS
        since: float | None = None
        while since is None or time.perf_counter() - since < _STEADY_SECONDS:
            self._turn()
            now = time.perf_counter()
            waits = any(now - sent > 1.0 for name, (_, sent) in self._sent.items() if name not in self._waited)
            since = None if waits or not over() else since or now
            if now > end:
                break
        while self._sent.keys() - self._waited.keys():
            self._take(0.05)
            if time.perf_counter() > end:
                missing = sorted(self._sent.keys() - self._waited.keys())
                raise RuntimeError(f"{len(missing)} documents had no match, such as {missing[:3]}")

    def _turn(self) -> None:
        """Send if it is time, and read what has come."""
        now = time.perf_counter()
        if now >= self._next_at:
            self._next_at = now + _EVERY_SECONDS
            for partition in range(self._partitions):
                number = next(self._numbers)
                name, text = f"{self._name}-{number}", self._known[number % len(self._known)]
                value = {"text": text, "time": START_MS}
                self._sent[name] = partition, time.perf_counter()
                self._producer.produce(self._source, json.dumps(value).encode(), name.encode(), partition)
        self._producer.poll(0)
        self._take(0.01)

    def _take(self, seconds: float) -> None:
        for message in self._consumer.consume(100, seconds):
            if message.error() is not None:
                continue
            now = time.perf_counter()
            for name in json.loads(message.key() or b"[]"):
                if name in self._sent and name not in self._waited:
                    self._waited[name] = now - self._sent[name][1]
