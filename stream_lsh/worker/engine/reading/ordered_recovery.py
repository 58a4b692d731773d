"""No source record arrives before the tables are complete and the streams are ready.

Fault (faust-streaming 0.15.3): at the end of a recovery, `Recovery.on_recovery_completed` resumes the source
partitions, then awaits `perform_seek` (one OffsetFetch per partition), and only then resumes the flow control, which
CLEARS every stream's queue.  Records that arrive between the seek and the clear are never processed, and the commit
passes over them or stalls.  Measured: 6 of 16 starts of an application with a table skipped 188 to 1009 of 1200
records each; 0 of 16 with this.

The sources are closed in the consumer's thread at the assignment, before any fetch can be answered, and opened when the
recovery is over, so that nothing can arrive in between.

Delete when: `on_recovery_completed` resumes the partitions after the flow control.
"""

from collections.abc import Iterable
from typing import Any, cast

from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery, ServiceStopped
from faust.transport.drivers.aiokafka import ConsumerRebalanceListener
from faust.types import TP
from mode.utils.queues import ThrowableQueue

from stream_lsh.errors import DoubtError


class ClosedSourcesListener(ConsumerRebalanceListener):
    """Closes the sources at every assignment, and stays a member of the group.  Runs in the consumer's thread.

    Fault (aiokafka 0.14): a member sends no heartbeat between the join and the return of this listener, in which the
    engine gets the tables ready.  Measured: a worker that took longer than its session timeout to load its state from
    disk, 1,000,000 documents in more than 6 s, was thrown out, at every start.

    Delete when: aiokafka sends heartbeats from the join on.
    """

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """As the engine does, with the sources closed before, and heartbeats meanwhile."""
        changelogs = self._thread.app.tables.changelog_topics
        consumer, client = cast(Any, self._thread.consumer), self._thread._ensure_consumer()
        consumer.gate.close(client, [tp for tp in assigned if tp.topic not in changelogs])
        client._coordinator._start_heartbeat_task()
        await super().on_partitions_assigned(assigned)


class OrderedRecovery(Recovery):
    """Opens the sources after all other steps, and resets states that do not fit their changelogs.

    Fault (faust-streaming 0.15.3): a state that ends before its changelog begins continues there, with a gap;
    one that ends behind its end raises, at every start.
    Fault (the same): a request that no broker answers within the timeout ends the service silently, as
    if the worker were stopping.  It stays a member of its group, and no recovery ever begins again.  Measured: all
    brokers down for 80 s at the end of a recovery, and the worker did nothing for ever after.

    Delete when: the first is checked, and the second ends the worker.
    """

    async def _wait(self, coro: Any, timeout: Any = None) -> None:
        """As in the engine, if there is an answer.

        Raises:
            DoubtError: there is none.
        """
        try:
            await super()._wait(coro, timeout)
        except ServiceStopped:
            if self.should_stop:
                raise
            raise DoubtError(f"no broker has answered for {timeout:.0f} s while the state was recovered") from None

    async def _build_offsets(self, consumer: Any, tps: set[TP], destination: Any, title: str) -> None:
        """Determine the offsets at which reading begins."""
        firsts, ends = await consumer.earliest_offsets(*tps), await consumer.highwaters(*tps)
        for tp in tps:
            first, end = firsts.get(tp), ends.get(tp)
            fitting_offset = getattr(self.tp_to_table[tp], "fitting_offset", None)
            if fitting_offset is not None and first is not None and end is not None:
                destination[tp] = fitting_offset(tp, first, end)
        await super()._build_offsets(consumer, tps, destination, title)

    async def on_recovery_completed(self, generation_id: int = 0) -> None:
        """End a recovery: resume the streams, then open the sources."""
        await super().on_recovery_completed(generation_id)
        await self._open_sources(generation_id)

    async def _resume_streams(self, generation_id: int = 0) -> None:
        await super()._resume_streams(generation_id)
        await self._open_sources(generation_id)

    async def _open_sources(self, generation_id: int) -> None:
        await cast(Any, self.app).before_sources()
        app, thread = self.app, cast(Any, self.app.consumer)._thread

        async def in_thread() -> None:
            # After another rebalance, the next recovery opens them.
            cast(Any, app.consumer).gate.open(
                thread._ensure_consumer(), lambda: app.consumer_generation_id == generation_id
            )

        await thread.call_thread(in_thread)


class CurrentQueue(ThrowableQueue[Any]):
    """The queue of changelog records: only the records since the last rebalance.

    Fault (faust-streaming 0.15.3): the end of a recovery resumes the followed changelogs, and then the flow control,
    which CLEARS this queue as well: records that arrived in between are silently missing in the states.
    Fault (the same): records that were fetched before a rebalance and wait for delivery are delivered after it.  The
    recovery counts them as its own, and passes over all records before; if the partition is gone, it applies them to
    the table that it used last.  A standby always reads changelogs, so every rebalance is affected.

    Delete when: the recovery checks the generation of a message, and nothing else is cleared.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        super().__init__(app.conf.stream_buffer_maxsize, flow_control=app.flow_control, clear_on_resume=False)

    async def get(self) -> Any:
        """The next record of the current generation."""
        while True:
            event = await super().get()
            if event.message.generation_id == self._app.consumer_generation_id:
                return event


class OrderedRecoveryTables(TableManager):
    """The table manager that recovers in order; give it to the app as `TableManager`."""

    async def on_start(self) -> None:
        """As in the engine, without the second that it waits for agents to make tables: these exist already."""
        await self._update_channels()
        await self.recovery.start()

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """As in the engine, but each table may begin before the tables ahead of it are ready."""
        for table in self.values():
            if (expect := getattr(table, "expect", None)) is not None:
                expect(assigned)
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)

    @property
    def changelog_queue(self) -> ThrowableQueue[Any]:
        """The queue of the recovery service, made at the first use."""
        if self._changelog_queue is None:
            self._changelog_queue = CurrentQueue(self.app)
        return self._changelog_queue

    @property
    def recovery(self) -> Recovery:
        """The recovery service, made at the first use."""
        if self._recovery is None:
            self._recovery = OrderedRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery
