"""Records join the open batch of their partition: many at once, with one delivery for each batch.

Fault (faust-streaming 0.15.3, aiokafka 0.14): `send` makes a signal, a dictionary, a list and a coroutine in the client
for every record, and a future.  Measured with six public records a document, 4 partitions: a third of the CPU time of
the worker.  `send_batch` is no way out: it waits until nothing of the partition is pending, so that each step waits for
the request under way, and steps never share a batch.

The client takes a batch from its queue before it sends it, and closes it; so no record joins a batch under way.

Delete when: the client has a method that appends records to the open batch of a partition.
"""

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiokafka.errors import KafkaTimeoutError, ProducerClosed  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.worker.engine.producing.partitions import key_partitions

Headers = list[tuple[str, bytes]]
Record = tuple[bytes, bytes | None, Headers]
"""Key, value, headers."""


class OpenBatches:
    """The batches of a producer that are not under way yet.

    Args:
        producer: a started client.
        may_write: returns if this worker may write, without a turn of the event loop, and otherwise never.  It is asked
            before every append that follows a wait.

    Attributes:
        producer: the client.
    """

    def __init__(self, producer: Any, may_write: Callable[[], Awaitable[None]]) -> None:
        self.producer = producer
        self._accumulator = producer._message_accumulator
        self._may_write = may_write

    async def append(
        self,
        topic: str,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        *,
        headers: Headers | None = None,
    ) -> Awaitable[Any]:
        """Append one record; its delivery, whose result has the offset.

        Args:
            topic: of the record.
            partition: of the record; None chooses it by the key, and by chance without a key.
            key: of the record.
            value: of the record.
            headers: of the record.
        """
        await self.producer.client._wait_on_metadata(topic)
        if partition is None:
            partition = self.producer._partition(topic, None, None, None, key, value)
        target = TopicPartition(topic, partition)
        while True:
            await self._may_write()
            batch = self._open(target)
            delivery: Awaitable[Any] | None = batch.append(key, value, None, headers=headers or [])
            if delivery is not None:
                return delivery
            await self._drained(batch)

    async def append_all(self, topic: str, records: Sequence[Record]) -> list[Awaitable[Any]]:
        """Append records with keys, in this order; the deliveries of the batches that they joined.

        A full batch is waited for, so a partition never has more than one batch in the queue.
        """
        await self.producer.client._wait_on_metadata(topic)
        partitions = sorted(self.producer._metadata.partitions_for_topic(topic))
        places = key_partitions([key for key, _, _ in records], len(partitions)).tolist()
        targets = [TopicPartition(topic, partition) for partition in partitions]
        joined = dict[int, Any]()
        done = 0
        while done < len(records):
            await self._may_write()
            done, full = self._join(targets, places, records, done, joined)
            if full is not None:
                await self._drained(full)
        # A cancelled step must not cancel the delivery of others.
        return [asyncio.shield(batch.future) for batch in joined.values()]

    def _join(
        self,
        targets: Sequence[TopicPartition],
        places: Sequence[int],
        records: Sequence[Record],
        start: int,
        joined: dict[int, Any],
    ) -> tuple[int, Any]:
        """Append records from `start` on without a turn of the loop, until a batch is full.

        Returns:
            the index of the first record that was not appended, and the full batch; None if all records were.
        """
        now = time.time_ns() // 1_000_000
        opened = dict[int, tuple[Any, Callable[..., Any]]]()
        for at in range(start, len(records)):
            place = places[at]
            if place not in opened:
                batch = self._open(targets[place])
                opened[place] = batch, batch._builder.append
            batch, append = opened[place]
            key, value, headers = records[at]
            if append(timestamp=now, key=key, value=value, headers=headers) is None:
                return at, batch
            joined[id(batch)] = batch
        return len(records), None

    def _open(self, target: TopicPartition) -> Any:
        """The last batch of a partition in the queue, or a new one."""
        accumulator = self._accumulator
        if accumulator._closed:
            raise ProducerClosed()
        if accumulator._exception is not None:
            raise copy.copy(accumulator._exception)
        queue = accumulator._batches.get(target)
        return queue[-1] if queue else accumulator._append_batch(accumulator.create_builder(), target)

    async def _drained(self, batch: Any) -> None:
        """Wait until the client has taken a full batch from its queue."""
        sender, taken = self._accumulator.waiter(), batch._drain_waiter
        if not sender.done():
            sender.set_result(None)
        await asyncio.wait([taken], timeout=self.producer._request_timeout_ms / 1000)
        if not taken.done():
            raise KafkaTimeoutError()
        taken.result()
