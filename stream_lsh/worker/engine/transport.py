"""The engine's transport to Kafka with the repaired parts in it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from stream_lsh.worker.engine.acknowledging.commits import ConfirmingConsumer
from stream_lsh.worker.engine.membership.group import GroupWatch
from stream_lsh.worker.engine.producing.idempotent import IdempotentProducer
from stream_lsh.worker.engine.reading.fetch_gate import SourceGate
from stream_lsh.worker.engine.reading.handover import PromptService
from stream_lsh.worker.engine.reading.ordered_recovery import ClosedSourcesListener
from stream_lsh.worker.engine.reading.per_partition_buffer import HoldingConsumer
from stream_lsh.worker.engine.rights import naming_rights


class WatchedThread(driver.AIOKafkaConsumerThread):
    """The consumer's thread, with two changes to aiokafka's consumer for which faust has no setting.

    Fault (faust-streaming 0.15.3): `fetch_max_wait_ms` is fixed at 1500, so that a partition that is not part of the
    fetch in flight, because it was just resumed, waits for up to that long.  Delete when: it is a setting.
    """

    async def on_start(self) -> None:
        """Start, with the gate of the sources; listen to the group's coordinator before the first join."""
        await super().on_start()
        consumer = self._ensure_consumer()
        self.consumer.gate.attach(consumer)  # type: ignore[attr-defined]  # of EngineConsumer
        group: GroupWatch = self.consumer.app.group  # type: ignore[attr-defined]  # of EngineApp
        group.listen(consumer._coordinator)

    async def call_thread(self, fun: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        """Call a method of the client in its thread; a refusal by the broker names the missing right."""
        with naming_rights(self.consumer.app.conf.id):
            return await super().call_thread(fun, *args, **kwargs)

    def _create_worker_consumer(self, transport: driver.Transport) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = self.consumer.app.fetch_max_wait_ms  # type: ignore[attr-defined]  # of EngineApp
        return consumer


class EngineConsumer(PromptService, ConfirmingConsumer, HoldingConsumer):
    """The consumer of an `EngineApp`.

    Fault (faust-streaming 0.15.3): a rebalance that comes while the app stops forgets what is acknowledged and closes
    the client, in the wrong loop.  The last commit is lost, or repeats for ever, and the worker does not leave the
    group: the others wait for its session to expire.

    Here the rebalance waits until everything else has stopped.

    Delete when: a rebalance during a stop lets the worker commit and leave the group.
    """

    RebalanceListener: ClassVar[type[driver.ConsumerRebalanceListener]] = ClosedSourcesListener

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.gate = SourceGate()
        super().__init__(*args, **kwargs)
        self.chunks: Mapping[str, int] = self.app.chunks  # type: ignore[attr-defined]  # of EngineApp

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Prepare for a rebalance; while the app stops, wait until its agents are done and all is committed."""
        if self.app.should_stop:
            await self._stopped.wait()
        else:
            await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Take over partitions, unless the app stops: then it leaves the group at once."""
        if not self.app.should_stop:
            await super().on_partitions_assigned(assigned, generation_id)

    async def verify_all_partitions_active(self) -> None:
        """Report no partition as stalled.

        Fault (faust-streaming 0.15.3): once a worker is five minutes old, it logs an error for each partition that was
        not read since the last rebalance, every second while sources are closed.  Watchdogs and lags show real stalls.

        Delete when: the times count from the assignment, and closed partitions do not count.
        """

    def _new_consumer_thread(self) -> driver.AIOKafkaConsumerThread:
        return WatchedThread(self, loop=self.loop, beacon=self.beacon)


class EngineTransport(driver.Transport):
    """The transport of an `EngineApp`."""

    Consumer: ClassVar[type[Any]] = EngineConsumer
    Producer: ClassVar[type[Any]] = IdempotentProducer
