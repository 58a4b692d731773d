"""The query API lists dead letters as they are in their topic, the newest first."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh import AsyncClient
from stream_lsh.client.answers import DeadLetter, DeadLetters
from tests.embedded.applications import PIPELINE, Application, application, configured
from tests.patience import PATIENCE
from tests.unit.worker.query.client import in_loop

BASE = "/v1/pipelines/docs/dead-letters"


async def sent(address: str, messages: Sequence[tuple[bytes | None, bytes, int]]) -> None:
    """Send raw messages to partitions of the source, one after another."""
    producer = AIOKafkaProducer(bootstrap_servers=address)
    await producer.start()
    try:
        for key, value, partition in messages:
            await producer.send_and_wait(PIPELINE, value, key=key, partition=partition)
    finally:
        await producer.stop()


async def rejected(app: Application, messages: Sequence[tuple[bytes | None, bytes, int]]) -> list[Any]:
    """Send messages that are all rejected; returns the records of the topic of dead letters."""
    await sent(app.address, messages)
    await app.worker.settled()
    topic, records = app.worker._pipeline.dead_letters_topic, list[Any]()
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=app.address, auto_offset_reset="earliest")
    await consumer.start()
    try:
        async with asyncio.timeout(PATIENCE):
            while len(records) < len(messages):
                records.append(await consumer.getone())
    finally:
        await consumer.stop()
    return records


async def every(client: AsyncClient, limit: int, reason: str = "") -> list[DeadLetter]:
    """The rows of all pages."""
    rows, after = list[DeadLetter](), ""
    while True:
        page = await client.dead_letters(limit=limit, after=after, reason=reason)
        assert len(page.dead_letters) <= limit
        rows += page.dead_letters
        if page.next is None:
            return rows
        after = page.next


@in_loop
async def test_pages_have_each_dead_letter_once_and_the_newest_first() -> None:
    async with application(configured(3, "kind = 'text'")) as app:
        async with AsyncClient(f"http://{app.shares[0].address}", "docs") as client:
            assert await client.dead_letters() == DeadLetters((), None, 0)
            messages = [
                (f"key-{number}".encode(), b"no JSON" if number % 4 else b'{"text": 5}', number % 5 % 3)
                for number in range(60)
            ]
            records = await rejected(app, messages)
            stored = {record.key.decode(): record for record in records}
            for limit in (1, 7, 100):
                rows = await every(client, limit)
                assert sorted(str(row.key) for row in rows) == sorted(key.decode() for key, _, _ in messages)
                for partition in range(3):
                    places = [row.place for row in rows if stored[str(row.key)].partition == partition]
                    assert places == sorted(places, reverse=True)
            times = [row.time for row in await every(client, 100)]
            assert times == sorted(times, reverse=True)
            for row in rows:
                record = stored[str(row.key)]
                headers = {name: value.decode() for name, value in record.headers}
                assert (row.reason, row.error, row.topic) == (headers["reason"], headers["error"], PIPELINE)
                assert (str(row.partition), str(row.offset)) == (headers["partition"], headers["offset"])
                assert (row.time, row.bytes, row.place) == (record.timestamp, len(record.value), record.offset)
                assert base64.b64decode(row.base64) == record.value == row.text.encode()
            assert {row.reason for row in rows} == {"json", "text"}
            of_text = await every(client, 7, "text")
            assert [row for row in rows if row.reason == "text"] == of_text
            assert (await client.dead_letters(limit=3)).total == 60


@in_loop
async def test_long_and_binary_messages_are_cut_and_have_their_bytes() -> None:
    async with application(configured(1, "kind = 'text'")) as app:
        value = bytes(range(256)) * 40
        await rejected(app, [(None, value, 0), (b"k" * 3_000, b"{}", 0)])
        async with AsyncClient(f"http://{app.shares[0].address}", "docs") as client:
            long_key, binary = (await client.dead_letters()).dead_letters
        assert (binary.key, binary.bytes) == (None, len(value))
        assert base64.b64decode(binary.base64) == value[:4_096]
        assert binary.text == value[:4_096].decode("utf-8", "replace")
        assert long_key.key == "k" * 256
        assert (await app.clients[0].get(f"{BASE}?after=%21")).problem == "malformed"
        assert (await app.clients[0].get(f"{BASE}?after=WzEsMl0=")).problem == "malformed"
        assert (await app.clients[0].get(f"{BASE}?limit=101")).problem == "malformed"
