"""The consumer of a worker: it reads committed records only, and detects the end of a source.

Fault (faust-streaming 0.15.3): the consumer reads `read_uncommitted` unless the app itself writes in transactions.  A
source whose producer does would deliver aborted documents: Kafka Connect and Flink retry such a batch.

Delete when: the isolation level of the consumer is a setting.
"""

from typing import Any, ClassVar

from faust.types import TP

from stream_lsh.worker.engine.transport import EngineConsumer, EngineTransport, WatchedThread


class WorkerThread(WatchedThread):
    """The consumer's thread; aiokafka takes the level from the consumer when it is started."""

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"
        return consumer


class WorkerConsumer(EngineConsumer):
    """The consumer of a worker."""

    def _new_consumer_thread(self) -> WorkerThread:
        return WorkerThread(self, loop=self.loop, beacon=self.beacon)

    def at_end(self, tp: TP, processed: int) -> bool:
        """Whether nothing is left to read of a partition, and everything that was delivered lies below `processed`.

        The last record's offset does not show that: the end of a partition may be a transaction's marker, records of an
        aborted one, or nothing, after a compaction or a trim.
        """
        subscription = self._thread._ensure_consumer()._subscription.subscription
        if subscription is None or tp not in subscription.assignment.tps or self.holds(tp):
            return False
        read, delivered = subscription.assignment.state_value(tp), self._pending.get(tp)
        if read is None or not read.has_valid_position or read.highwater is None:
            return False
        return bool(read.position >= read.highwater and (not delivered or processed > delivered[-1]))


class WorkerTransport(EngineTransport):
    """The transport of a worker."""

    Consumer: ClassVar[type[Any]] = WorkerConsumer
