"""Reading stretches of topics."""

import asyncio

from aiokafka.admin import RecordsToDelete  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of, records
from tests.kafka.harness import admin_at, feed, make_topics, numbers


def test_records_that_are_deleted_before_they_are_read_do_not_hide_the_rest(broker: Broker, name: str) -> None:
    kafka = KafkaConfig(brokers=(broker.address,))

    async def run() -> list[int]:
        await make_topics(broker.address, name, partitions=1)
        await feed(broker.address, name, numbers(0, 100), partitions=1)
        begins, ends = await bounds(kafka, partitions_of(name, 1))
        async with admin_at(broker.address) as admin:
            await admin.delete_records({TopicPartition(name, 0): RecordsToDelete(60)})
        return [record.offset async for chunk in records(kafka, begins, ends) for record in chunk]

    assert asyncio.run(run()) == [*range(60, 100)]
