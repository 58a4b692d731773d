"""Documents with updates and deletes, paced over a run, each stored once and in the order of its id."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from stream_lsh.model import Document
from tests.chaos.profiles import Sent
from tests.kafka.pipelines import articles

_TURN_SECONDS = 0.05
_FLUSH_SECONDS = 180.0


def documents(data_dir: Path, count: int, seed: int) -> list[Document]:
    """`count` documents: articles, and if they do not suffice, the rest of each after a cut."""
    found, rng = articles(data_dir, count), random.Random(seed)
    for number in range(count - len(found)):
        old = found[number]
        words = (old.text or "").split()
        rest = words[int(len(words) * rng.uniform(0.1, 0.8)) :]
        found.append(Document(f"{old.id}/rest", f"{' '.join(rest)} of {number}", old.time_ms))
    return found


class Feeder:
    """A producer that continues through all faults of the brokers.

    It is idempotent: messages that it repeats after a lost connection or for a new leader are stored once and in order.

    Args:
        address: of all brokers.
    """

    def __init__(self, address: str) -> None:
        self.failures: list[str] = []
        self.stored = 0
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
                "message.timeout.ms": 0,  # never given up
                "linger.ms": 5,
                "log_level": 2,
                "error_cb": self._failed,
            }
        )

    async def feed(self, stream: Sequence[Sent], seconds: float) -> None:
        """Send it evenly over `seconds`, and wait until all of it is stored."""
        started, sent = time.monotonic(), 0
        while sent < len(stream):
            due = min(len(stream), int((time.monotonic() - started) / seconds * len(stream)) + 1)
            for one in stream[sent:due]:
                self._producer.produce(one.topic, one.value, one.key, one.partition, on_delivery=self._delivered)
            sent = due
            self._producer.poll(0)
            await asyncio.sleep(_TURN_SECONDS)
        left = await asyncio.to_thread(self._producer.flush, _FLUSH_SECONDS)
        if left:
            self.failures.append(f"{left} messages could not be stored in {_FLUSH_SECONDS:.0f} s")

    def _failed(self, error: KafkaError) -> None:
        if error.fatal():
            self.failures.append(f"the producer has failed: {error}")

    def _delivered(self, error: KafkaError | None, _: Message | Any) -> None:
        if error is None:
            self.stored += 1
        else:
            self.failures.append(f"not stored: {error}")
