"""The rekeying agents on Kafka: sources that are several, or not keyed by id, to one topic (`pipeline.agents.rekey`).

From there on the pipeline runs as ever, with that topic as the source: key and partition are the id's, the value is
that of the source, and a header says where it comes from (`stream_lsh/wire/origin.py`).  Each message is read once
here, so that a dead letter has the key and the place that its sender knows.

The client has one request under way for a partition, and tries it again before it sends the next one: so the messages
of one partition of a source are copied in their order.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from aiokafka.structs import TopicPartition as TP  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.pipeline.agents.rekey import rekey_agent
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.origin import origin_of
from stream_lsh.worker.clients.topic_reader import bounds, records
from stream_lsh.worker.driver import Driver, Received
from stream_lsh.worker.engine import ContiguityGuard, EngineApp, OrderedAcker
from stream_lsh.worker.state import PipelineState

_WINDOW = 8  # events of 200 messages: what is under way is what a crash copies twice

REMEMBERED = 1_000
"""Copies of each partition that are kept behind the committed offset, so that a new owner knows their generations."""


async def learn_generations(kafka: KafkaConfig, state: PipelineState, committed: Callable[[TP], int | None]) -> None:
    """Have partitions that were assigned anew know which copies are late, from those before the committed offset.

    Cost:
        reads `REMEMBERED` copies of each of them.

    Raises:
        DoubtError: a broker does not go on.
    """
    topic, new = state.config.documents_topic, {}
    for partition, documents in state.documents.held().items():
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


class RekeyAgent:
    """The rekeying agents of one pipeline on this worker, one for each source.

    Args:
        app: the engine.
        state: of the pipeline.
    """

    def __init__(self, app: EngineApp, state: PipelineState) -> None:
        self._app = app
        self._config = state.config
        self._driver = Driver(app, state, {})

    async def copy(self, stream: Any) -> None:
        """Messages of a source in, the same keyed by id out."""
        acker = OrderedAcker(self._app, _WINDOW)
        guard = ContiguityGuard(self._app.committed_offset, self._config.sources)
        async for batch in self._app.current(stream, guard):
            now_ms = int(time.time() * 1_000)
            records = [*map(Received, batch.records)]
            key = partial(self._key, now_ms)
            await self._driver.run(
                rekey_agent(records, batch.offset + 1, key, batch.generation_id, now_ms), batch, acker
            )

    def _key(self, now_ms: int, received: Received) -> bytes:
        """The id of a message that can be used."""
        record = received.record
        document = self._config.document(record.value, record.key, record.timestamp, now_ms=now_ms, keyed=False)
        return key_of(document.id)
