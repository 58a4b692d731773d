"""Tables of the engine whose states belong to the core (`changelogged.py`).

The engine owns the changelog topic, its assignment and its recovery; it only calls these functions of a state.
"""

from collections.abc import Awaitable, Iterable, Set
from typing import Any, cast

from faust.stores.base import Store
from faust.tables.table import Table
from faust.types import TP

from stream_lsh.errors import InvariantError
from stream_lsh.pipeline.changelog.head import Extent
from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.reading.coalescing import RecordList
from stream_lsh.worker.state.changelogged import Applied, Changelogged

_RECORDS_AT_ONCE = 500
_RECOVERY_BUFFER = 4  # events, which are chunks; 1 is a path of its own in the engine


class _ChangelogStore(Store[bytes, bytes]):
    """The engine's view of a `Changelogged`: only recovery, offsets and rebalances."""

    @property
    def _states(self) -> Changelogged[Any]:
        return cast(StateTable, self.table).states

    def apply_changelog_batch(self, batch: Iterable[Any], to_key: Any, to_value: Any) -> None:
        """Recovery: a batch of events, each a list of records or a single one."""
        for event in batch:
            message = event.message
            records = message.value if isinstance(message.value, list) else None
            if records is None:
                self._states.recover(message.partition, message.value, message.offset)
                continue
            for record in records:
                self._states.recover(record.partition, record.value, record.offset)

    def persisted_offset(self, tp: TP) -> int | None:
        """The offset from which recovery continues; this record is applied again, which changes nothing."""
        return self._states.offset(tp.partition)

    def set_persisted_offset(self, tp: TP, offset: int) -> None:
        """Nothing to store: the engine reports the offset of the records that `apply_changelog_batch` has applied."""

    async def on_rebalance(
        self, assigned: Set[TP], revoked: Set[TP], newly_assigned: Set[TP], generation_id: int = 0
    ) -> None:
        """`revoked` are the partitions that this worker neither owns nor follows now."""
        own_topics, own = self.table.changelog_topic.topics, self.app.assignor.assigned_actives()
        for tp in revoked:
            if tp.topic in own_topics:
                self._states.drop(tp.partition)
        for tp in assigned:
            if tp.topic in own_topics:
                take = self._states.own if tp in own else self._states.follow
                take(tp.partition)

    async def on_recovery_completed(self, active_tps: Set[TP], standby_tps: Set[TP]) -> None:
        """Check that the states are complete; an incomplete state ends the worker before any message is read.

        The engine ignores exceptions that are raised here.
        """
        if self._states.failure is not None:
            await self.app.crash(self._states.failure)

    async def backup_partition(self, *args: Any, **options: Any) -> None:
        """The changelog is the backup."""

    def restore_backup(self, *args: Any, **options: Any) -> None:
        """The changelog is the backup."""

    def reset_state(self) -> None:
        """Drop all states."""
        self._states.clear()

    def __len__(self) -> int:
        return len(self._states.partitions())

    def __iter__(self) -> Any:
        return iter(())

    def __contains__(self, key: object) -> bool:
        return False

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise InvariantError("a changelogged state is not written key by key")

    def __delitem__(self, key: Any) -> None:
        raise InvariantError("a changelogged state is not written key by key")

    def _clear(self) -> None:
        self.reset_state()


class StateTable(Table[bytes, bytes]):
    """A table of the engine that holds `states`."""

    states: Changelogged[Any]

    def expect(self, assigned: Iterable[TP]) -> None:
        """Begin to make the states of newly assigned partitions, where threads make them."""
        self.states.expect(tp.partition for tp in assigned if tp.topic in self.changelog_topic.topics)

    def _new_store(self) -> Any:
        return _ChangelogStore("memory://", self.app, self, table_name=self.name, loop=self.loop)

    def fitting_offset(self, tp: TP, first: int, end: int) -> int | None:
        """The last offset of the changelog, which has the offsets from `first` to `end`, exclusive, in the state."""
        self.states.fit(tp.partition, first, end)
        return self.states.offset(tp.partition)

    def _new_changelog_topic(self, **options: Any) -> Any:
        return self.app.topic(
            self._changelog_topic_name(),
            schema=RecordList(),
            partitions=self.partitions,
            compacting=False,
            deleting=False,
            acks=False,
            internal=True,
            config={"cleanup.policy": "delete", "retention.ms": "-1"},
            maxsize=131_072,
            allow_empty=True,
        )

    async def append(
        self,
        app: EngineApp,
        partition: int,
        value: bytes,
        applied: Applied = Applied(Extent()),  # noqa: B008 - never changed
    ) -> Awaitable[Any]:
        """Append a record to the changelog of a partition; its delivery."""
        delivery = await app.produce(self.changelog_topic_name, None, value, partition)
        cast(Any, delivery).add_done_callback(self.states.appended(partition, applied))
        return delivery


def state_table(app: EngineApp, name: str, partitions: int, states: Changelogged[Any]) -> StateTable:
    """A table of the app with these states; its changelog is `<app_id>-<name>-changelog`."""
    table = StateTable(
        app,
        name=name,
        partitions=partitions,
        key_type=bytes,
        value_type=bytes,
        beacon=app.tables.beacon,
        recovery_buffer_size=_RECOVERY_BUFFER,
        standby_buffer_size=1,
    )
    table.states = states
    states.name = table.changelog_topic_name
    app.tables.add(table)
    app.chunks[table.changelog_topic_name] = _RECORDS_AT_ONCE
    return table
