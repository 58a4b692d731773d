"""A lower bound for the latency of any worker: `python -m benchmarks.worker.floor BROKERS TOPIC...` copies topics.

It copies each topic to the next one, with as many hops as the match of a document takes and no work on the way:
aiokafka alone, one loop, one process.
"""

import asyncio
import sys
from collections.abc import Sequence
from itertools import pairwise

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]


async def copy(brokers: str, topics: Sequence[str]) -> None:
    """Copy for ever; prints `ready` once everything is assigned."""
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all")
    await producer.start()
    hops = []
    for source, target in pairwise(topics):
        consumer = AIOKafkaConsumer(source, bootstrap_servers=brokers, auto_offset_reset="earliest")
        await consumer.start()
        hops.append(_hop(consumer, producer, target))
    print("ready", flush=True)
    await asyncio.gather(*hops)


async def _hop(consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, target: str) -> None:
    while True:
        for records in (await consumer.getmany(timeout_ms=1_000)).values():
            for record in records:
                await producer.send(target, record.value, key=record.key, partition=record.partition)


if __name__ == "__main__":
    asyncio.run(copy(sys.argv[1], sys.argv[2:]))
