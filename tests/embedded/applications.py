"""An application in the loop of a test, on the broker in this process, with its query API.

The group of that broker has one member.  So where a test needs several processes, one worker has all states, and each
process answers for its share of them only.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import Config, parse
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import LiveWorker, live_worker
from stream_lsh.worker.query.api import QueryApi
from stream_lsh.worker.query.distributed.owners import Peer, worker_url
from stream_lsh.worker.query.distributed.standing import WorkerStanding, not_available, table_partitions
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.worker.query.client import TestClient, client

PIPELINE = "docs"
"""The pipeline, and its source."""


class Share(WorkerStanding):
    """The standing of one process with a share of the states of a worker; `others` are all processes."""

    def __init__(self, app: Any, number: int, others: list["Share"]) -> None:
        super().__init__(app)
        self._number, self._others = number, others
        self.address = f"127.0.0.1:{free_port()}"
        self.lost = False
        others.append(self)

    @property
    def instance(self) -> str:
        return f"process-{self._number}"

    @property
    def _peer(self) -> Peer:
        url = worker_url(WorkerConfig(ask=self.address), self.instance)
        return Peer(url.partition("#")[0], self.instance)

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        count = len(self._others)
        return {one: self._others[one % count]._peer for one in table_partitions(state, table)}

    def followers(self, state: PipelineState, table: str) -> Mapping[int, Sequence[Peer]]:
        count = len(self._others)
        return {one: [self._others[(one + 1) % count]._peer] for one in table_partitions(state, table)}

    def states(self, state: PipelineState, table: str, partitions: Sequence[int], *, stale: bool) -> dict[int, Any]:
        here = {self._number, (self._number - stale) % len(self._others)}
        if absent := [one for one in partitions if self.lost or one % len(self._others) not in here]:
            raise not_available(table, absent, "this process does not have these partitions")
        return super().states(state, table, partitions, stale=stale)


class Application(NamedTuple):
    """A running application: its worker, and the processes with their clients."""

    worker: LiveWorker
    address: str
    shares: Sequence[Share]
    clients: Sequence[TestClient]

    async def send(self, messages: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Send documents and wait until they are processed."""
        await sent(self.address, messages)
        await self.worker.settled()

    async def read(self, key: str) -> list[tuple[str, Any]]:
        """The last value of each key of a public topic, without withdrawn ones."""
        return [(id, value) for id, value in dict(await self.log(key)).items() if value is not None]

    async def log(self, key: str) -> list[tuple[str, Any]]:
        """All records of a public topic, partition by partition: key and value, None for a tombstone."""
        topic, records = self.worker._pipeline.public_topics[key], list[tuple[str, Any]]()
        consumer = AIOKafkaConsumer(topic, bootstrap_servers=self.address, auto_offset_reset="earliest")
        await consumer.start()
        try:
            for partition, end in (await consumer.end_offsets(consumer.assignment())).items():
                while await consumer.position(partition) < end:
                    record = await consumer.getone(partition)
                    records.append((record.key.decode(), record.value and json.loads(record.value)))
        finally:
            await consumer.stop()
        return records


async def sent(address: str, messages: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Send documents, by their ids."""
    producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=5)
    await producer.start()
    try:
        under_way = [await producer.send(PIPELINE, json.dumps(one).encode(), key=id.encode()) for id, one in messages]
        await asyncio.gather(*under_way)
    finally:
        await producer.stop()


def configured(partitions: int, keys: str, retention: str | int = 0) -> Config:
    """A configuration of one pipeline `docs`; by default without retention."""
    lines = ["[worker]", "web = ''", "[pipeline]", "name = 'docs'", "source = 'docs'"]
    lines += [f"retention = {retention!r}", f"partitions = {partitions}", keys]
    return parse("\n".join(lines), "test.toml", {})


@asynccontextmanager
async def application(config: Config, processes: int = 1) -> AsyncIterator[Application]:
    """An application that is ready."""
    with embedded(config) as broker:
        async with live_worker(broker) as worker, AsyncExitStack() as stack:
            app, shares = worker._app, list[Share]()
            clients = list[TestClient]()
            for number in range(processes):
                share = Share(app, number, shares)
                own = replace(
                    broker.config, worker=replace(broker.config.worker, ask=share.address, ask_timeout_ms=20_000)
                )
                api = QueryApi(own, app.pipelines, share)
                await api.start()
                stack.push_async_callback(api.stop)
                clients.append(await stack.enter_async_context(client(share.address)))
            yield Application(worker, broker.address, shares, clients)
