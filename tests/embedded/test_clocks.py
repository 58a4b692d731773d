"""A producer whose clock is wrong, at a whole worker: it expires nothing."""

import asyncio
import json
import time
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import parse
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import live_worker

IN_2099 = 4_070_908_800_000
HALF_AN_HOUR = 1_800_000
STORY = "the same story of many words that two outlets print on the same day"


def document(text: str) -> bytes:
    return json.dumps({"text": text}).encode()


@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("rekey", ["false", "true"])
def test_a_message_from_2099_expires_nothing(partitions: int, rekey: str) -> None:
    keys = f"source = 'docs'\nname = 'news'\npartitions = {partitions}\nrekey = {rekey}\n"
    config = parse(f"[worker]\nweb = ''\n[pipeline]\n{keys}", "test.toml", {})
    (pipeline,) = config.pipelines
    assert pipeline.retention_ms is not None
    live_ms = pipeline.retention_ms + pipeline.lateness_ms

    async def scenario() -> None:
        with embedded(config) as broker:
            producer = AIOKafkaProducer(bootstrap_servers=broker.address)
            await producer.start()
            try:
                async with live_worker(broker) as worker:

                    async def send(key: str, text: str, timestamp_ms: int, partition: int) -> None:
                        where = {"partition": partition, "timestamp_ms": timestamp_ms}
                        await producer.send_and_wait("docs", document(text), key=key.encode(), **where)

                    async def reached(has: Callable[[], bool]) -> None:
                        while not has():
                            worker.check()
                            await asyncio.sleep(0.02)
                        await worker.settled()

                    def horizon_ms() -> int:
                        return int(worker._app.pipelines["news"].ledger[0].settler.ledger.horizon.time_ms)

                    now_ms, counts = int(time.time() * 1_000), worker.counts
                    await send("a", STORY, now_ms, 0)
                    await send("b", STORY, now_ms, partitions - 1)
                    await reached(lambda: counts.matches >= 1)
                    await send("clock", "unrelated", IN_2099, 0)
                    # Event time advances everywhere, whichever partition received the message.
                    later_ms = now_ms + HALF_AN_HOUR
                    for number in range(16):
                        await send(f"later {number}", f"{number} " * 3, later_ms, number % partitions)
                    await reached(lambda: horizon_ms() >= later_ms - live_ms)
                    assert horizon_ms() == later_ms - live_ms
                    await send("c", STORY, now_ms, 0)
                    await send("d", STORY, now_ms, partitions - 1)
                    await reached(lambda: counts.matches + counts.signed.expired >= 3)
                    assert counts.signed.expired == 0
                    assert counts.dead_letters == {"time": 1}
            finally:
                await producer.stop()

    asyncio.run(scenario())
