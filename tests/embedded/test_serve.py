"""A process that follows the changelogs answers as the workers do, also after they have stopped."""

import asyncio
import contextlib
import gc
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from stream_lsh import NearDuplicates
from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.embedded import Embedded, embedded
from stream_lsh.worker.in_process import live_worker
from stream_lsh.worker.query.following import Follower
from tests.embedded.applications import PIPELINE, configured, sent
from tests.embedded.test_similar import PATH, dicts, texts
from tests.kafka.harness import until
from tests.unit.worker.query.client import TestClient, client, in_loop


@asynccontextmanager
async def serving(broker: Embedded) -> AsyncIterator[tuple[Follower, TestClient]]:
    address = f"127.0.0.1:{free_port()}"
    config = replace(broker.config, worker=replace(broker.config.worker, ask=address, ask_timeout_ms=20_000))
    follower = Follower(config, broker.partitions)
    running = asyncio.create_task(follower.run())
    try:
        await until(lambda: running.done() or follower.standing.state == "ready")
        async with client(address) as requests:
            yield follower, requests
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


@in_loop
async def test_a_process_that_follows_answers_while_no_worker_runs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "stream_lsh")
    values = texts(1, 300)
    memory = NearDuplicates(threshold=0.5)
    memory.add_many((f"d{at}", text) for at, text in enumerate(values))
    with embedded(configured(4, "threshold = 0.5")) as broker:
        async with live_worker(broker) as worker:
            await sent(broker.address, ((f"d{at}", {"text": text}) for at, text in enumerate(values[:200])))
            await worker.settled()
            async with serving(broker) as (follower, requests):
                assert (await requests.get("/v1")).value["state"] == "ready"
                await sent(broker.address, ((f"d{at}", {"text": text}) for at, text in enumerate(values) if at >= 200))
                await worker.settled()
                state = follower.pipelines[PIPELINE]
                await until(lambda: sum(len(one.table) for one in state.documents.followed().values()) == 300)
        async with serving(broker) as (_, requests), serving(broker) as (_, others):
            for at, text in enumerate(values[::5]):
                answer = await (requests, others)[at % 2].post(PATH, {"text": text, "limit": 1_000})
                assert answer.status == 200, answer.value
                assert answer.value["matches"] == dicts(memory.query(text))
                assert (answer.value["complete"], answer.value["lag"]) == (True, 0)
    ready = [line for line in caplog.messages if line.startswith(f"ready: {PIPELINE}, follows")]
    assert ready == [f"ready: {PIPELINE}, follows all 4 partitions with {count} documents" for count in (200, 300, 300)]


@in_loop
async def test_a_taken_address_is_reported_and_leaves_nothing_open() -> None:
    errors = list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context["message"]))
    with embedded(configured(1, "")) as broker, socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        config = replace(broker.config, worker=replace(broker.config.worker, ask=address))
        with pytest.raises(ConfigError, match=rf"worker\.ask: {address} cannot be used"):
            await Follower(config, broker.partitions).run()
        gc.collect()
    assert errors == []


def test_a_process_without_an_address_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match=r"worker\.ask: got none"):
        Follower(configured(1, ""), {PIPELINE: 1})
