"""Messages through a worker on a broker: it outlives all of them, and each is a document or a dead letter."""

import asyncio
import dataclasses
import tempfile
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config import Config
from stream_lsh.errors import InputError
from stream_lsh.wire.decision import parse_decision
from stream_lsh.worker.brokers import EmbeddedBroker, choose_broker
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.topology import build_app
from tests.fuzz.kinds import config_of
from tests.fuzz.messages import Message
from tests.kafka.harness import make_topics, running

_MOST_BYTES = 1_000_000
"""A broker takes no larger message, whoever sends it."""
_SECONDS = 600.0


class WorkerEnded(Exception):
    """A message has ended the worker."""


@contextmanager
def started(kind: str, broker: str, address: str) -> Any:
    """A pipeline of a kind with topics of its own, and whether its broker is the embedded one."""
    if broker == "embedded":
        with embedded(config_of(kind)) as here:
            yield here.config, True
        return
    config = config_of(kind, f"fuzz-{kind}-{uuid.uuid4().hex[:8]}")
    kafka = dataclasses.replace(config.kafka, brokers=(address,))
    worker = dataclasses.replace(config.worker, data_dir=Path(tempfile.mkdtemp(prefix="stream-lsh-fuzz-")))
    pipeline = config.pipelines[0]
    pipeline = dataclasses.replace(pipeline, app_id=pipeline.source)
    yield (
        dataclasses.replace(
            config, kafka=kafka, worker=dataclasses.replace(worker, app_id=pipeline.source), pipelines=(pipeline,)
        ),
        False,
    )


@contextmanager
def broker_of(kind: str) -> Any:
    """The address of a broker that is started here, "" for the embedded one, which each pipeline has for itself."""
    if kind == "embedded":
        yield ""
        return
    with choose_broker(Path(tempfile.mkdtemp(prefix="stream-lsh-fuzz-broker-"))) as broker:
        assert not isinstance(broker, EmbeddedBroker)
        yield broker.address


async def outlive(
    config: Config, on_embedded: bool, messages: Sequence[Message], decisions: Sequence[Message]
) -> Counter[str]:
    """What became of messages.

    Raises:
        WorkerEnded: the worker did not outlive them.
        AssertionError: some are neither documents nor dead letters.
    """
    pipeline = config.pipelines[0]
    topics = {pipeline.source: messages, **({pipeline.decisions_topic: decisions} if decisions else {})}
    app = build_app(config, {pipeline.name: 1}, embedded=on_embedded)
    if not on_embedded:
        any_time = {"message_timestamp_after_max_ms": str(2**63 - 1), "message_timestamp_before_max_ms": str(2**63 - 1)}
        await make_topics(config.kafka.brokers[0], pipeline.source, partitions=1, **any_time)
    async with running(app, 90.0):
        producer = AIOKafkaProducer(bootstrap_servers=list(config.kafka.brokers), linger_ms=5, max_request_size=2 << 20)
        await producer.start()
        try:
            sent = {topic: await _sent(producer, topic, some) for topic, some in topics.items()}
        finally:
            await producer.stop()
        await _read(app, sent)
        counts = app.pipelines[pipeline.name].counts
        wrong = sum(map(_is_wrong, decisions))
        dead: dict[str, int] = counts.dead_letters
        found = Counter(dead)
        found.update(documents=counts.documents, late=counts.late_copies, sent=sum(sent.values()))
        assert counts.documents + counts.late_copies + sum(dead.values()) == sent[pipeline.source] + wrong, found
        assert "bug" not in dead, found
        return found


def _is_wrong(message: Message) -> bool:
    """Whether a decision is a dead letter."""
    try:
        parse_decision(message.key, message.value, 0)
    except InputError:
        return True
    return False


async def _sent(producer: Any, topic: str, messages: Sequence[Message]) -> int:
    deliveries = []
    for key, value, timestamp_ms in messages:
        fits = len(key or b"") + len(value or b"") <= _MOST_BYTES
        kept = value if fits and (key is not None or value is not None) else b""  # the client sends no null twice
        deliveries.append(await producer.send(topic, kept, key, 0, max(0, timestamp_ms)))
    await asyncio.gather(*deliveries)
    return len(messages)


async def _read(app: Any, sent: dict[str, int]) -> None:
    """Wait until a worker has acknowledged everything, twice through its steps."""
    pipeline = next(iter(app.config.pipelines))
    client, positions = app.consumer, {TP(topic, 0): count for topic, count in sent.items()}
    async with asyncio.timeout(_SECONDS):
        while True:
            if app.ended_by is not None or app.crash_reason is not None:
                raise WorkerEnded from (app.ended_by or app.crash_reason)
            source_read = all((app.committed_offset(tp) or 0) >= count for tp, count in positions.items())
            steps = [TP(topic, 0) for topic in pipeline.step_topics]
            if source_read:
                ends = await client.highwaters(*steps)
                if all((app.committed_offset(tp) or 0) >= (ends.get(tp) or 0) for tp in steps):
                    return
            await asyncio.sleep(0.2)
