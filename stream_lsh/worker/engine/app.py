"""The stream engine as this project uses it: all workarounds in place, the dangerous settings out of reach."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import faust
from faust.types import TP

from stream_lsh.errors import ConfigError, DoubtError, StreamLSHError
from stream_lsh.worker.engine.admin import admin_client
from stream_lsh.worker.engine.crash import GRACE_SECONDS, STOP_SECONDS, CrashingSupervisor, end_process, halt
from stream_lsh.worker.engine.membership.assignor import SpreadingAssignor
from stream_lsh.worker.engine.membership.fence import ZombieFence
from stream_lsh.worker.engine.membership.group import GroupWatch
from stream_lsh.worker.engine.membership.watchdog import Watchdog
from stream_lsh.worker.engine.producing.open_batches import OpenBatches, Record
from stream_lsh.worker.engine.reading.batching import Batch, rounds_of
from stream_lsh.worker.engine.reading.coalescing import RecordList
from stream_lsh.worker.engine.reading.contiguity import ContiguityGuard
from stream_lsh.worker.engine.reading.ordered_recovery import OrderedRecoveryTables
from stream_lsh.worker.engine.rights import as_refusal
from stream_lsh.worker.engine.topics.limits import TopicLimits
from stream_lsh.worker.engine.topics.required import TopicSpec, ensure_topics
from stream_lsh.worker.engine.transport import EngineTransport
from stream_lsh.worker.engine.versions import require_tested_engine

FIXED: Mapping[str, Any] = {
    "PartitionAssignor": SpreadingAssignor,
    "TableManager": OrderedRecoveryTables,
    "agent_supervisor": CrashingSupervisor,  # the default skips the event that raised
    "processing_guarantee": "at_least_once",  # a transaction spans one destination partition only
    "producer_linger": 0.0,  # aiokafka waits it out on every hop, and a zombie's buffer has to be empty
    "stream_wait_empty": True,  # False loses messages under way at SIGTERM
    "topic_allow_declare": False,  # `topics.required` creates them
    "topic_disable_leader": True,  # one topic and one subscription less
    "web_enabled": False,  # `monitoring/web.py` has its own server
}
"""Settings of faust that the guarantees rest on: an app cannot change them."""

REQUEST_SECONDS = 30.0
"""The timeout of a request, as with the Java client.

Fault (faust-streaming 0.15.3): 20 minutes for the producer, 90 s for the consumer, and leaders are asked for every 5
minutes.  A machine that has gone down resets no connection.  Measured with one of three brokers stopped, not the one
that leads the group: nothing was acknowledged until it was back, after 115 s, and no worker ended.
"""

DEFAULTS: Mapping[str, Any] = {
    "broker_commit_interval": 0.5,  # seconds; bounds the work that is repeated after a crash
    "broker_heartbeat_interval": 1.0,
    "broker_rebalance_timeout": 30.0,
    "broker_request_timeout": REQUEST_SECONDS + 10.0,  # a join is answered when the rebalance is over
    "broker_session_timeout": 6.0,  # the lowest that a broker accepts by default
    "consumer_auto_offset_reset": "earliest",
    "consumer_max_fetch_size": 1 << 20,  # with a large lag, all of a fetch is signed before the next one
    "consumer_metadata_max_age_ms": 10_000,
    "producer_acks": -1,
    "producer_max_batch_size": 1 << 18,  # a topic's max.message.bytes is one of batches, and refuses larger ones
    "producer_max_request_size": 1_000_000,
    "producer_metadata_max_age_ms": 10_000,
    "producer_request_timeout": REQUEST_SECONDS,
    "store": "memory://",
    "stream_buffer_maxsize": 64,  # events, and an event is a chunk
    "table_standby_replicas": 0,
    "worker_redirect_stdouts": False,
}
"""Settings of faust whose own defaults are unsuitable; an app may choose others."""


class EngineApp(faust.App):
    """A faust app that does not lose records.

    Args:
        app_id: consumer group and prefix of the changelogs.
        required_topics: checked and created by `topics.required.ensure_topics` before the worker joins; changelogs too.
        chunks: topic -> records per event at most, see `reading/coalescing.py`.  May grow until the app starts.
        join_seconds: end the worker if the group has not admitted it for this time.
        recovery_seconds: end it if a recovery has not read a record for this time.
        fetch_max_wait_ms: how long the broker delays the answer to a fetch without data.
        settings: faust's own, over `DEFAULTS`.

    Attributes:
        group: the observed membership in the consumer group.
        fence: whether this worker may write.
        limits: the largest record of each topic.
        ended_by: the first reason to crash; later errors while the app stops result from it.

    Raises:
        ConfigError: an engine that was not tested, or a setting that is fixed.
    """

    def __init__(
        self,
        app_id: str,
        *,
        required_topics: Sequence[TopicSpec] = (),
        chunks: Mapping[str, int] | None = None,
        join_seconds: float = 90.0,
        recovery_seconds: float = 60.0,
        fetch_max_wait_ms: int = 50,
        **settings: Any,
    ) -> None:
        require_tested_engine()
        fixed = sorted(set(settings) & set(FIXED))
        if fixed:
            raise ConfigError([f"the setting {name} is fixed at {FIXED[name]!r}" for name in fixed])
        self.required_topics = list(required_topics)
        self.chunks = dict(chunks or {})
        self.fetch_max_wait_ms = fetch_max_wait_ms
        chosen = {**DEFAULTS, **settings, **FIXED}
        self.ended_by: BaseException | None = None
        self.group = GroupWatch()
        self.fence = ZombieFence(self.group, float(chosen["broker_session_timeout"]))
        self.limits = TopicLimits(int(chosen["producer_max_request_size"]))
        self._batches: OpenBatches | None = None
        self._watchdog = Watchdog(self, self.group, join_seconds=join_seconds, recovery_seconds=recovery_seconds)
        super().__init__(app_id, **chosen)

    def _new_transport(self) -> Any:
        return EngineTransport(self.conf.broker_consumer, self)

    def _create_directories(self) -> None:
        """The engine keeps nothing on disk."""

    def _init_fixups(self) -> Any:
        """None: the search reads the metadata of all installed packages, some .1 s at each start."""
        return []

    def add_agent(self, name: str, topic: str, run: Callable[[Any], Awaitable[None]]) -> None:
        """Run an agent over the chunks of a topic, as `agent` of the engine; that also searches all modules: .1 s."""

        async def function(stream: Any) -> None:  # the engine accepts no methods
            await run(stream)

        channel, app = self.topic(topic, schema=RecordList()), cast(Any, self)
        agent = app.conf.Agent(function, name=name, app=self, channel=channel, on_error=self._on_agent_error)
        self.agents[name] = agent
        app.topics.beacon.add(agent)

    async def on_first_start(self) -> None:
        """Before any consumer or producer exists: check and create the topics."""
        await super().on_first_start()
        if self.required_topics:
            async with admin_client(self) as admin:
                errors = await self.before_topics(admin)
                largest = self.conf.producer_max_request_size
                topics = await ensure_topics(admin, self.required_topics, request_bytes=largest, errors=errors)
                self.limits.set({name: topic.limit for name, topic in topics.items() if topic.limit})
                await self.after_topics(admin)

    async def before_topics(self, admin: Any) -> Sequence[StreamLSHError]:
        """Further problems that prevent the start, for the report with those of the topics; changes nothing."""
        return ()

    async def after_topics(self, admin: Any) -> None:
        """Prepare the start, once the topics exist and no problem was found; an exception ends the start."""

    async def before_sources(self) -> None:
        """Check that the sources may be read: the states are complete, no message was read in this generation."""

    async def on_start(self) -> None:
        """Start with the watchdog beside everything else."""
        await super().on_start()
        self.add_future(self._watchdog.run())

    async def stop(self) -> None:
        """Stop in order; a worker process ends even if that hangs, and uncommitted messages are read again."""
        if self.in_worker:
            end_process(DoubtError(f"not stopped in order after {STOP_SECONDS:.0f} s"), after=STOP_SECONDS)
        await super().stop()

    def _crash(self, reason: BaseException) -> None:
        """Stop because of `reason`, as all ways to crash do; a worker process ends even if stopping hangs."""
        reason = as_refusal(reason, self.conf.id) or reason
        if self.ended_by is None:
            self.ended_by = reason
            if self.in_worker:
                end_process(reason, after=GRACE_SECONDS)
        super()._crash(reason)

    async def _consumer_wait_empty(self, consumer: Any, logger: Any) -> None:
        """Wait for empty streams before the app stops, unless an agent has crashed, which reads no further events."""
        if self.ended_by is None:
            await super()._consumer_wait_empty(consumer, logger)

    async def rounds(self, stream: Any, guard: ContiguityGuard) -> AsyncIterator[list[Batch]]:
        """The waiting events of this generation of the group, in rounds: at most one batch of each partition.

        The owner of the partition reads an event of an older generation again, from the committed offset; that owner
        may be this worker.

        Args:
            stream: of the agent, whose topic is in `chunks`.
            guard: checks every batch that is returned.
        """
        async for event in stream.noack().events():
            waiting = [event, *self._waiting(stream.channel.queue)]
            for batches in rounds_of(waiting, self.chunks.__getitem__):
                current = [batch for batch in batches if self._is_current(batch)]
                for batch in current:
                    for one in batch.events:
                        guard.check(one)
                if current:
                    yield current

    def _waiting(self, queue: Any) -> Iterator[Any]:
        """The other events in the queue of a stream, checked and tracked as the stream does it.

        The stream itself is not asked: it drops events from before a rebalance and waits for more.  The events that an
        agent already holds would wait too, and the rebalance for them.
        """
        for _ in range(queue.qsize()):
            event = queue.get_nowait()
            message = event.message
            if self.flow_control.is_active() and message.generation_id == self.consumer_generation_id:
                if not message.tracked and self.topics.acks_enabled_for(message.topic):
                    message.tracked = True
                    self.consumer.track_message(message)
                yield event

    async def current(self, stream: Any, guard: ContiguityGuard) -> AsyncIterator[Batch]:
        """The waiting events of this generation of the group, batch by batch; as `rounds`."""
        async for batches in self.rounds(stream, guard):
            for batch in batches:
                if self._is_current(batch):  # a rebalance may have happened since the round began
                    yield batch

    def postpone(self, topic: str, until: float) -> None:
        """Read no further records of a topic before this time of the monotonic clock, because its agent pauses.

        Records that are under way to the agent are still delivered.
        """
        cast(Any, self.consumer).gate.postpone(topic, until)

    def _is_current(self, batch: Batch) -> bool:
        if batch.generation_id == self.consumer_generation_id:
            return True
        for event in batch.events:
            self.pass_over(event)
        return False

    def pass_over(self, event: Any) -> None:
        """Release an event of an older generation, so that no rebalance waits for its acknowledgement.

        Fault (faust-streaming 0.15.3): a rebalance waits for every message that is not acknowledged and still
        referenced, for example in a variable of a generator that waits for its next event.  Measured with two
        rebalances within a second, under load: it waited until the group had expelled the worker, after 30 s.

        Delete when: a rebalance waits for messages of the generation that ends, and for no others.
        """
        cast(Any, self.consumer)._unacked_messages.discard(event.message)

    @property
    def generation(self) -> int:
        """The number of the current generation of the group, as `GroupWatch.unique` defines it."""
        return self.group.unique(self.consumer_generation_id)

    def committed_offset(self, tp: TP) -> int | None:
        """The offset from which this partition is read after a crash; None before the first commit."""
        offset: int | None = cast(Any, self.consumer).confirmed_offset(tp)
        return offset

    async def produce(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None = None,
        *,
        headers: Mapping[str, bytes] | None = None,
    ) -> Awaitable[Any]:
        """Send one record, unless this worker may be a zombie.

        Returns:
            its delivery: pass it to `OrderedAcker.add` with the event that it results from.

        Guarantees:
            a worker that may have lost its partitions ends here, and never returns.

        Raises:
            InvariantError: the topic does not take a record of this size -> the record was not sent.
        """
        self.limits.check(topic, key, value, headers)
        pairs = [] if headers is None else list(headers.items())
        return await self._open_batches().append(topic, partition, key, value, headers=pairs)

    async def produce_all(self, topic: str, records: Sequence[Record]) -> list[Awaitable[Any]]:
        """Send records with keys, in this order, unless this worker may be a zombie.

        Args:
            topic: of all records.
            records: key, value and headers of each; the key chooses the partition.

        Returns:
            the deliveries of the batches that hold them, fewer than records.

        Guarantees:
            as `produce`, and as `produce` for each record in turn.

        Raises:
            InvariantError: the topic does not take a record of this size -> no record was sent.
        """
        for key, value, headers in records:
            self.limits.check(topic, key, value, headers)
        return await self._open_batches().append_all(topic, records)

    def _open_batches(self) -> OpenBatches:
        client = cast(Any, self.producer)._ensure_producer()
        if self._batches is None or self._batches.producer is not client:
            self._batches = OpenBatches(client, self.may_write)
        return self._batches

    async def may_write(self) -> None:
        """Return if this worker may write; otherwise end the process without cleanup, and never return."""
        try:
            self.fence.check()
        except DoubtError as doubt:
            if self.in_worker:
                end_process(doubt)
            await halt(self, doubt)
