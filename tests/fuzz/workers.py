"""Messages through a worker on a broker: it outlives all of them, and each is a document or a dead letter."""

import asyncio
import dataclasses
import tempfile
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import InputError
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.worker.brokers import EmbeddedBroker
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.topology import build_app
from tests.evaluation.brokers import choose_broker
from tests.fuzz.kinds import config_of
from tests.fuzz.messages import Message
from tests.kafka.harness import make_topics, running

_MOST_BYTES = 1_000_000
"""A broker rejects larger messages."""
_BATCH_BYTES = 1 << 18
"""Of the messages that are sent at once: the embedded broker returns one batch a fetch."""
_SECONDS = 120.0
"""How long a worker may acknowledge nothing."""
_LONGEST = str(2**63 - 1)
_ANY_TIME = {
    "message_timestamp_after_max_ms": _LONGEST,
    "message_timestamp_before_max_ms": _LONGEST,
    "segment_ms": _LONGEST,  # otherwise each time that is far from the others begins a file
}


class WorkerEnded(Exception):
    """A message has ended the worker."""


@contextmanager
def started(kinds: Sequence[str], broker: str, address: str) -> Any:
    """Pipelines of kinds with topics of their own, and whether their broker is the embedded one."""
    if broker == "embedded":
        with embedded(config_of(*kinds)) as here:
            yield here.config, True
        return
    config = config_of(*kinds, suffix=f"-{uuid.uuid4().hex[:8]}")
    with tempfile.TemporaryDirectory(prefix="stream-lsh-fuzz-") as folder:
        kafka = dataclasses.replace(config.kafka, brokers=(address,))
        worker = dataclasses.replace(config.worker, data_dir=Path(folder))
        yield dataclasses.replace(config, kafka=kafka, worker=worker), False


@contextmanager
def broker_of(kind: str) -> Any:
    """The address of a broker that is started here; "" where there is none, or each worker has one for itself."""
    if kind in ("memory", "embedded"):
        yield ""
        return
    with choose_broker(Path(tempfile.mkdtemp(prefix="stream-lsh-fuzz-broker-"))) as broker:
        assert not isinstance(broker, EmbeddedBroker)
        yield broker.address


async def outlive(config: Config, on_embedded: bool, sent: Mapping[str, Sequence[Message]]) -> dict[str, Counter[str]]:
    """The outcomes of messages, by the pipeline that read them.

    Args:
        config: of the worker.
        on_embedded: whether its broker is the embedded one.
        sent: by their topic: sources and topics of decisions.

    Raises:
        WorkerEnded: the worker did not outlive them.
        TimeoutError: it acknowledges nothing any more, and has not read everything.
        AssertionError: some are neither documents nor dead letters.
    """
    app = build_app(config, {pipeline.name: 1 for pipeline in config.pipelines}, embedded=on_embedded)
    address = config.kafka.brokers[0]
    if not on_embedded:
        await make_topics(address, *(one.source for one in config.pipelines), partitions=1, **_ANY_TIME)
    async with running(app, 300.0):
        producer = AIOKafkaProducer(
            bootstrap_servers=address, max_batch_size=_BATCH_BYTES, max_request_size=2 << 20, request_timeout_ms=120_000
        )
        await producer.start()
        try:
            await asyncio.gather(*(send(producer, topic, some) for topic, some in sent.items()))
        finally:
            await producer.stop()
        await asyncio.gather(*(_read(app, pipeline, sent) for pipeline in config.pipelines))
        stored = await _stored(address, [pipeline.dead_letters_topic for pipeline in config.pipelines])
        return {one.name: _accounted(app, one, sent, stored[one.dead_letters_topic]) for one in config.pipelines}


def _accounted(app: Any, pipeline: PipelineConfig, sent: Mapping[str, Sequence[Message]], stored: int) -> Counter[str]:
    """The outcomes of the messages of a pipeline that has stored `stored` dead letters."""
    counts, count = app.pipelines[pipeline.name].counts, len(sent[pipeline.source])
    wrong = sum(map(_is_wrong, sent.get(pipeline.decisions_topic, ())))
    dead: dict[str, int] = counts.dead_letters
    found = Counter(dead)
    found.update(documents=counts.documents, late=counts.late_copies, sent=count, letters=stored)
    assert counts.documents + counts.late_copies + sum(dead.values()) == count + wrong, found
    assert sum(dead.values()) == stored, found
    assert "bug" not in dead, found
    return found


def _is_wrong(message: Message) -> bool:
    """Whether a decision is a dead letter."""
    try:
        parse_decision(message.key, _kept(message), 0)
    except InputError:
        return True
    return False


def _kept(message: Message) -> bytes | None:
    """The value that is sent: none that is larger than what a broker takes."""
    return message.value if len(message.key or b"") + len(message.value or b"") <= _MOST_BYTES else b""


async def send(producer: Any, topic: str, messages: Sequence[Message]) -> None:
    """Send all, with the times that they have; but for one of -1 where it is the first of a batch."""
    batch, deliveries = producer.create_batch(), []
    for message in messages:
        fields = {"timestamp": message.timestamp_ms, "key": message.key, "value": _kept(message)}
        if batch.append(**fields) is None:
            deliveries.append(await producer.send_batch(batch, topic, partition=0))
            batch = producer.create_batch()
            batch.append(**fields)
    if batch.record_count():
        deliveries.append(await producer.send_batch(batch, topic, partition=0))
    await asyncio.gather(*deliveries)


async def _read(app: Any, pipeline: PipelineConfig, sent: Mapping[str, Sequence[Message]]) -> None:
    """Wait until everything sent is acknowledged, and what comes of it is, twice through the steps."""
    for topic in (pipeline.source, pipeline.decisions_topic):
        await _acknowledged(app, TP(topic, 0), len(sent.get(topic, ())))
    for topic in pipeline.step_topics * 2:
        ends = await app.consumer.highwaters(TP(topic, 0))
        await _acknowledged(app, TP(topic, 0), ends.get(TP(topic, 0)) or 0)


async def _acknowledged(app: Any, tp: TP, end: int) -> None:
    """Wait until a worker has acknowledged all of a partition before an offset."""
    loop = asyncio.get_running_loop()
    before, moved = 0, loop.time()
    while (offset := app.committed_offset(tp) or 0) < end:
        if app.ended_by is not None or app.crash_reason is not None:
            raise WorkerEnded from (app.ended_by or app.crash_reason)
        if offset != before:
            before, moved = offset, loop.time()
        elif loop.time() > moved + _SECONDS:
            raise TimeoutError(f"{tp.topic}: got acknowledged {offset}, expected {end}")
        await asyncio.sleep(0.1)


async def _stored(address: str, topics: Sequence[str]) -> dict[str, int]:
    """How many messages topics of one partition have."""
    consumer = AIOKafkaConsumer(bootstrap_servers=address)
    await consumer.start()
    try:
        ends = await consumer.end_offsets([TopicPartition(topic, 0) for topic in topics])
        return {tp.topic: end for tp, end in ends.items()}
    finally:
        await consumer.stop()
