"""A worker in the event loop of its caller, beside a producer and a consumer; for a demo.

A production worker is a process of its own (`process.execute`): it ends at once when it is in doubt, and a supervisor
restarts it.  Here a failure is an exception of `check`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.errors import DoubtError
from stream_lsh.worker.brokers.embedded import FETCH_WAIT_MS
from stream_lsh.worker.embedded import Embedded
from stream_lsh.worker.state.counts import Counts
from stream_lsh.worker.topology import build_app

_LOOK_SECONDS = 0.02
_READY_SECONDS = 60.0
_STOP_SECONDS = 5.0


class LiveWorker:
    """A worker with one pipeline, ready.

    Args:
        app: the engine's app, started.
        broker: the broker that it runs on.
        client: reads the results.
    """

    def __init__(self, app: Any, broker: Embedded, client: Any) -> None:
        self._app, self._client = app, client
        self._pipeline = broker.config.pipelines[0]
        self._partitions = broker.partitions[self._pipeline.name]

    @property
    def counts(self) -> Counts:
        """The counts since the start."""
        counts: Counts = self._app.pipelines[self._pipeline.name].counts
        return counts

    def check(self) -> None:
        """Return while the worker runs.

        Raises:
            Exception: the reason of its failure.
        """
        if self._app.ended_by is not None:
            raise self._app.ended_by
        if self._app.should_stop:
            raise DoubtError("the worker has stopped by itself")

    async def settled(self) -> None:
        """Return when all messages of the source have been processed.

        An offset is committed when all outputs of the message are stored, so the steps are awaited one after the
        other, and again while settle sends rechecks back to `candidates`.
        """
        steps = self._pipeline.step_topics
        before, ends = None, dict[TopicPartition, int]()
        while before != ends:
            before, ends = ends, {}
            for topic in (self._pipeline.source, *steps):
                count = 1 if topic == steps[-1] else self._partitions
                ends |= await self._client.end_offsets([TopicPartition(topic, number) for number in range(count)])
                while any((self._app.committed_offset(TP(*tp)) or 0) < end for tp, end in ends.items()):
                    self.check()
                    await asyncio.sleep(_LOOK_SECONDS)

    async def results(self) -> AsyncIterator[Any]:
        """The messages of `matches` and `clusters`, from the first one on, as they arrive."""
        async for record in self._client:
            yield record

    async def all_read(self) -> None:
        """Return when `results` has yielded all current messages."""
        results = self._client.assignment()
        ends = await self._client.end_offsets(results)
        while any([await self._client.position(tp) < ends[tp] for tp in results]):
            self.check()
            await asyncio.sleep(_LOOK_SECONDS)

    async def ready(self) -> None:
        """Return when the worker reads its source."""
        app = self._app
        async with asyncio.timeout(_READY_SECONDS):
            while not (
                app.tables.recovery.completed.is_set() and app.consumer.flow_active and app.consumer.assignment()
            ):
                self.check()
                await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def live_worker(broker: Embedded) -> AsyncIterator[LiveWorker]:
    """The worker of a configuration with one pipeline, ready; it is stopped at the end in any case."""
    app = build_app(broker.config, broker.partitions, embedded=True)
    app.finalize()
    pipeline = broker.config.pipelines[0]
    client = AIOKafkaConsumer(
        bootstrap_servers=broker.address, auto_offset_reset="earliest", fetch_max_wait_ms=FETCH_WAIT_MS
    )
    client.assign(
        [
            TopicPartition(topic, number)
            for topic in (pipeline.matches_topic, pipeline.clusters_topic)
            for number in range(broker.partitions[pipeline.name])
        ]
    )
    try:
        await client.start()
        await app.start()
        worker = LiveWorker(app, broker, client)
        await worker.ready()
        yield worker
    finally:
        await client.stop()
        await _stop(app)


async def _stop(app: Any) -> None:
    """Stop an app; of a crashed app, stop the remaining parts, as far as possible: a process would just end.

    The threads of such an app may have ended already, and cancel the task that waits for them.
    """
    crashed, producer = app.crash_reason is not None, app._producer and app._producer._producer
    with suppress(*(Exception, asyncio.CancelledError) if crashed else (TimeoutError,)):
        async with asyncio.timeout(_STOP_SECONDS):
            await app.stop()
    if crashed and producer is not None:
        with suppress(Exception):
            async with asyncio.timeout(_STOP_SECONDS):
                await producer.stop()
