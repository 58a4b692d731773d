"""The generations of copies that the intake made (`wire.origin`): a new owner recognizes late copies by them."""

from collections.abc import Callable

from aiokafka.structs import TopicPartition as TP  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.wire.origin import origin_of
from stream_lsh.worker.clients.topic_reader import bounds, records
from stream_lsh.worker.state.pipeline_state import PipelineState

REMEMBERED = 1_000
"""Copies of each partition that are kept behind the committed offset, so that a new owner knows their generations."""


async def restore_generations(kafka: KafkaConfig, state: PipelineState, committed: Callable[[TP], int | None]) -> None:
    """Read the generations of the copies before the committed offset, for newly assigned partitions.

    Cost:
        reads `REMEMBERED` copies of each of them.

    Raises:
        DoubtError: a broker does not answer.
    """
    topic, new = state.config.documents_topic, {}
    for partition, documents in state.documents.owned().items():
        offset = committed(TP(topic, partition))
        if offset and documents.generations.is_empty:
            new[TP(topic, partition)] = offset, documents.generations
    ends = {tp: offset for tp, (offset, _) in new.items()}
    firsts, _ = await bounds(kafka, ends)
    begins = {tp: max(firsts[tp], end - REMEMBERED) for tp, end in ends.items()}
    async for chunk in records(kafka, begins, ends):
        _, generations = new[TP(chunk[0].topic, chunk[0].partition)]
        for record in chunk:
            generations.is_late(origin_of(record.headers))
