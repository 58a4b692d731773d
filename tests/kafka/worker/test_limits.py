"""Messages as large as users can make them, on a live worker, which continues."""

import asyncio
import json
from hashlib import sha256
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config.load import parse
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.producer import Feeder
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import live_worker
from tests.kafka.harness import make_topics, read
from tests.kafka.pipelines import configured

RECORDS = """
[worker]
web = ''
[pipeline]
name = 'shop'
source = 'shop'
kind = 'record'
profile = 'products'
partitions = 1
"""
CAMERA = {"title": "Canon EOS 5D Mark IV camera body", "gtin": "4960999986005", "model": "1483C002", "brand": "Canon"}


def product(source: str, **more: str) -> bytes:
    return json.dumps({"source": source, **CAMERA, **more}).encode()


def test_a_worker_continues_after_the_largest_keys_and_records() -> None:
    huge, large, key = "data " * 60_000, "data " * 26_000, b"k" * 700_000

    async def run() -> tuple[Any, list[Any], list[Any]]:
        with embedded(parse(RECORDS, "shop.toml", {})) as broker:
            (pipeline,) = broker.config.pipelines
            async with live_worker(broker) as worker:
                async with AIOKafkaProducer(bootstrap_servers=broker.address, max_request_size=1 << 20) as producer:
                    for id, value in (
                        (key, product("a")),
                        (b"1", product("a", description=huge)),
                        (b"2", product("b", description=huge)),
                        (b"3", product("a", description=large)),
                        (b"4", product("b", description=large)),
                        (b"5", product("c")),
                    ):
                        await producer.send_and_wait("shop", value, key=id, partition=0)
                await worker.settled()
                counts = worker.counts
            letters = await read(broker.address, pipeline.dead_letters_topic)
            return counts, letters, await read(broker.address, pipeline.named_topics["matches"])

    counts, letters, matches = asyncio.run(run())
    assert counts.dead_letters == {"key": 1, "size": 2}
    headers = [dict(letter.headers) for letter in letters]
    assert [letter.key for letter in letters] == [None, b"1", b"2"]
    assert headers[0]["key_sha256"] == sha256(key).hexdigest().encode()
    assert headers[0]["key_bytes"] == b"700000"
    assert all(b"`description`" in one["error"] for one in headers[1:])
    assert {message.key for message in matches} == {b'["3","4"]', b'["3","5"]', b'["4","5"]'}


def test_messages_that_the_source_does_not_accept_are_rejected_with_its_limit(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    pipeline = config.pipelines[0]

    async def run() -> tuple[int, list[str], int]:
        await make_topics(broker.address, pipeline.source, partitions=1, max_message_bytes="2000")
        async with Feeder(config.kafka, pipeline) as feeder:
            documents = [Document("a", "words", 1), Document("b", "w" * 2_000, 1), Document("c", "w" * 600_000, 1)]
            await feeder.send([*documents, Document("d", "words", 1)])
            refused = [f"{id}: {error}" for id, error in feeder.rejected]  # before anything came back
        return feeder.sent, refused, len(await read(broker.address, pipeline.source))

    sent, refused, stored = asyncio.run(run())
    assert (sent, stored) == (2, 2)
    end = f"expected at most 2000: shorten it, or raise `max.message.bytes` of {pipeline.source}"
    assert [one.partition(":")[0] for one in refused] == ["b", "c"]
    assert all(one.endswith(end) for one in refused)
