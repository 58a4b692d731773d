"""Messages on the source of a pipeline, and what comes of them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import Config
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions
from tests.kafka.harness import read
from tests.kafka.pipelines import published
from tests.patience import PATIENCE

NOW_MS = 1_700_000_000_000
FOX = "the quick brown fox jumps over the lazy dog and runs far away into the dark wood"


class Message(NamedTuple):
    key: bytes | None
    value: bytes | None
    time_ms: int | None = NOW_MS


def document(text: str, **fields: Any) -> bytes:
    return json.dumps({"text": text, **fields}).encode()


@asynccontextmanager
async def producing(broker: Broker, **options: Any) -> AsyncIterator[Any]:
    producer = AIOKafkaProducer(bootstrap_servers=broker.address, **{"max_request_size": 4 << 20, **options})
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def put(broker: Broker, topic: str, messages: Sequence[Message], **options: Any) -> list[int]:
    """The messages in one batch, if they fit, on partition 0; their offsets."""
    async with producing(broker, max_batch_size=1 << 20, **options) as producer:
        batch = producer.create_batch()  # takes what `send` refuses: neither key nor value
        for one in messages:
            assert batch.append(key=one.key, value=one.value, timestamp=one.time_ms) is not None
        first = (await (await producer.send_batch(batch, topic, partition=0))).offset
        return list(range(first, first + len(messages)))


async def letters(config: Config) -> dict[int, Any]:
    """The dead letters by the offset that they name."""
    found = await read(config.kafka.brokers[0], config.pipelines[0].dead_letters_topic)
    return {int(dict(record.headers)["offset"]): record for record in found}


async def matched(config: Config) -> set[tuple[str, str]]:
    return set((await published(config))[0])


async def eventually(what: Callable[[], Awaitable[Any]], wanted: Any) -> Any:
    """The result of `what`, once it equals `wanted`, or patience ends."""
    end = time.monotonic() + PATIENCE
    while (found := await what()) != wanted and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return found


async def started(config: Config) -> WorkerApp:
    return build_app(config, await source_partitions(config))


def twins(number: int, count: int = 2) -> list[Message]:
    """Messages of one text, which no other number has."""
    text = f"the text number {number} is repeated by {number} and nothing else names {number} of {number}"
    return [Message(b"%d-%d" % (number, copy), document(text)) for copy in range(count)]


def pair(number: int) -> tuple[str, str]:
    return f"{number}-0", f"{number}-1"


def with_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch with the text "bug" in it fail with an unexpected error."""
    sign = TextScheme.sign

    def buggy(scheme: TextScheme, texts: Sequence[str]) -> Signatures:
        if any("bug" in text for text in texts):
            raise ZeroDivisionError("an unexpected error")
        return sign(scheme, texts)

    monkeypatch.setattr(TextScheme, "sign", buggy)
