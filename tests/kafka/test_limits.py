"""Messages as large as users can make them, on a live worker: it goes on."""

import asyncio
import json
from hashlib import sha256
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config.reading import parse
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.live import live_worker
from tests.kafka.harness import read

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


def test_a_worker_goes_on_behind_the_largest_keys_and_records() -> None:
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
