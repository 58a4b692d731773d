"""Records that join open batches: partitions of the client, order, the fence behind each wait, failed deliveries."""

import asyncio
import random
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, NotLeaderForPartitionError, ProducerClosed  # type: ignore[import-untyped]
from aiokafka.partitioner import murmur2  # type: ignore[import-untyped]
from aiokafka.producer.message_accumulator import MessageAccumulator  # type: ignore[import-untyped]
from aiokafka.record.memory_records import MemoryRecords  # type: ignore[import-untyped]

from stream_lsh.worker.engine.producing.open_batches import OpenBatches, Record
from stream_lsh.worker.engine.producing.partitions import key_partitions

PARTITIONS = 3


class Client:
    """A producer with a real accumulator, whose batches are sent on request of the test.

    Attributes:
        stored: the values of each partition, in order.
        writes: how often the right to write was asked for.
    """

    def __init__(self, batch_bytes: int = 1 << 18, timeout_ms: int = 5_000) -> None:
        cluster = SimpleNamespace(partitions_for_topic=lambda _: {*range(PARTITIONS)}, leader_for_partition=lambda _: 0)
        self.accumulator = MessageAccumulator(cluster, batch_bytes, 0, 30)
        self.producer = SimpleNamespace(
            client=SimpleNamespace(_wait_on_metadata=self._known),
            _message_accumulator=self.accumulator,
            _metadata=cluster,
            _request_timeout_ms=timeout_ms,
        )
        self.stored = defaultdict[int, list[bytes]](list)
        self.writes = 0
        self.may_write = True
        self.batches = OpenBatches(self.producer, self._write)

    async def _known(self, topic: str) -> None:
        await asyncio.sleep(0)

    async def _write(self) -> None:
        self.writes += 1
        if not self.may_write:
            await asyncio.Event().wait()

    def send(self, failure: Exception | None = None) -> int:
        """Send the first batch of each partition; the number of batches."""
        batches = self.accumulator.drain_by_nodes(())[0].get(0, {})
        for target, batch in batches.items():
            records = MemoryRecords(bytes(batch.get_data_buffer()))
            if failure is not None:
                batch.failure(failure)
                continue
            first = len(self.stored[target.partition])
            while (some := records.next_batch()) is not None:
                self.stored[target.partition] += [record.value for record in some]
            batch.done(first)
        return len(batches)

    async def rest(self, running: asyncio.Task[Any]) -> Any:
        """Send everything until a step has ended."""
        while not running.done():
            self.send()
            await asyncio.sleep(0)
        while self.send():
            await asyncio.sleep(0)
        return running.result()


def records(count: int, seed: int = 1, size: int = 20) -> list[Record]:
    some = random.Random(seed)
    return [(some.randbytes(some.randrange(1, 12)), b"%d " % at + some.randbytes(size), []) for at in range(count)]


@pytest.mark.parametrize("count", [1, 7, 9, 400])
def test_partitions_are_those_of_the_client(count: int) -> None:
    some = random.Random(count)
    keys = [some.randbytes(some.randrange(0, 41)) for _ in range(count)]
    expected = [(murmur2(key) & 0x7FFFFFFF) % 12 for key in keys]
    assert key_partitions(keys, 12).tolist() == expected
    same_length = [key.ljust(41, b"x") for key in keys]
    assert key_partitions(same_length, 7).tolist() == [(murmur2(key) & 0x7FFFFFFF) % 7 for key in same_length]


@pytest.mark.parametrize("batch_bytes", [200, 2_000, 1 << 18])
def test_records_of_a_partition_keep_their_order_across_batches(batch_bytes: int) -> None:
    async def run() -> Client:
        client = Client(batch_bytes)
        first, second = records(300), records(50, seed=2)
        await client.rest(asyncio.ensure_future(client.batches.append_all("matches", first)))
        deliveries = await client.rest(asyncio.ensure_future(client.batches.append_all("matches", second)))
        await asyncio.gather(*deliveries)
        expected = defaultdict[int, list[bytes]](list)
        for key, value, _ in first + second:
            expected[murmur2(key) % (1 << 31) % PARTITIONS].append(value or b"")
        assert client.stored == expected
        return client

    assert asyncio.run(run()).writes >= 2


def test_steps_share_an_open_batch_and_a_single_record_has_its_own_offset() -> None:
    async def run() -> None:
        client = Client()
        one = await client.batches.append_all("matches", records(30))
        single = await client.batches.append("matches", 1, b"key", b"last")
        another = await client.batches.append_all("matches", records(30, seed=2))
        assert client.send() == PARTITIONS
        await asyncio.gather(*one, *another)
        assert client.stored[1][(await single).offset] == b"last"

    asyncio.run(run())


def test_nothing_is_appended_once_the_worker_may_not_write() -> None:
    async def run() -> None:
        client = Client(batch_bytes=300)
        running = asyncio.ensure_future(client.batches.append_all("matches", records(100)))
        for _ in range(5):
            await asyncio.sleep(0)
        client.may_write = False  # while the step waits for a full batch
        while client.send():
            for _ in range(5):
                await asyncio.sleep(0)
        sent = sum(map(len, client.stored.values()))
        single = asyncio.ensure_future(client.batches.append("matches", 0, None, b"x"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not client.send()
        assert sum(map(len, client.stored.values())) == sent < 100
        running.cancel()
        single.cancel()

    asyncio.run(run())


def test_a_single_record_that_waits_for_room_is_not_appended_once_the_worker_may_not_write() -> None:
    async def run() -> None:
        client = Client(batch_bytes=300)
        await client.batches.append("matches", 0, None, bytes(200))
        waiting = asyncio.ensure_future(client.batches.append("matches", 0, None, bytes(200)))
        for _ in range(5):
            await asyncio.sleep(0)
        client.may_write = False
        assert client.send() == 1
        for _ in range(20):
            await asyncio.sleep(0)
        assert not client.send()
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(run())


def test_a_failed_batch_fails_all_steps_that_joined_it() -> None:
    async def run() -> None:
        client = Client()
        steps = [await client.batches.append_all("matches", records(30, seed)) for seed in (1, 2)]
        client.send(NotLeaderForPartitionError())
        for deliveries in steps:
            assert len(deliveries) == PARTITIONS
            for delivery in deliveries:
                with pytest.raises(NotLeaderForPartitionError):
                    await delivery

    asyncio.run(run())


def test_a_cancelled_step_does_not_cancel_the_delivery_of_another() -> None:
    async def run() -> None:
        client = Client()
        steps = [await client.batches.append_all("matches", records(30, seed)) for seed in (1, 2)]
        for delivery in steps[0]:
            delivery.cancel()  # type: ignore[attr-defined]
        client.send()
        await asyncio.gather(*steps[1])
        assert steps[1]
        assert all(delivery.done() for delivery in steps[1])  # type: ignore[attr-defined]

    asyncio.run(run())


def test_a_closed_or_failed_client_takes_no_record() -> None:
    async def run() -> None:
        client = Client()
        client.accumulator.fail_all(ValueError("the sender has failed"))
        with pytest.raises(ValueError, match="the sender has failed"):
            await client.batches.append_all("matches", records(3))
        await client.accumulator.close()
        with pytest.raises(ProducerClosed):
            await client.batches.append("matches", 0, None, b"x")

    asyncio.run(run())


def test_a_full_batch_that_is_never_sent_ends_the_wait() -> None:
    async def run() -> None:
        client = Client(batch_bytes=100, timeout_ms=20)
        with pytest.raises(KafkaTimeoutError):
            await client.batches.append_all("matches", records(50))

    asyncio.run(run())
