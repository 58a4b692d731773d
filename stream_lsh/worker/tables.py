"""State that is kept in a changelog: what the engine must know of it to assign, recover and take it away.

The engine owns the changelog topic, its assignment and its recovery; what a record means is the core's.  A state is
made when its partition is assigned, before it is recovered, and forgotten when the partition is taken away.  Reading
one that is not here is a bug and raises; it never looks like an empty one.
"""

from collections.abc import Awaitable, Callable, Iterable, Set
from typing import Any, Generic, TypeVar, cast

from faust.stores.base import Store
from faust.tables.table import Table
from faust.types import TP

from stream_lsh.errors import InvariantError, StateError
from stream_lsh.pipeline.trimming import Extent, LogHead
from stream_lsh.retention import Horizon
from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.coalescing import RecordList

_State = TypeVar("_State")

_RECORDS_AT_ONCE = 500
_RECOVERY_BUFFER = 4  # events, which are chunks; 1 is a path of its own in the engine


def located(error: StateError, place: str, offset: int) -> StateError:
    """The same error, which says where the bytes are that it is about."""
    said = type(error)(f"{place}, offset {offset}: {error}")
    said.__cause__ = error
    return said


class Changelogged(Generic[_State]):
    """The states of one table, by partition.

    Args:
        make: an empty state for a partition.
        apply: takes a record of the changelog into a state, and tells what the record names.
    """

    def __init__(self, make: Callable[[int], _State], apply: Callable[[_State, bytes], Extent]) -> None:
        self._make = make
        self._apply = apply
        self._states: dict[int, _State] = {}
        self._offsets: dict[int, int] = {}
        self._heads: dict[int, LogHead] = {}
        self._drops: dict[int, int] = {}
        self.name = "changelog"
        self.failure: Exception | None = None
        self.applied = 0

    def __getitem__(self, partition: int) -> _State:
        if self.failure is not None:
            raise self.failure
        state = self._states.get(partition)
        if state is None:
            raise InvariantError(f"got partition {partition}, expected one that is assigned here: {self.partitions()}")
        return state

    def own(self, partition: int) -> None:
        """The partition belongs to this worker from now on; an empty state, if it did not before."""
        if partition not in self._states:
            self._states[partition] = self._make(partition)
            self._heads[partition] = LogHead()

    def held(self) -> dict[int, _State]:
        """The states that are here."""
        if self.failure is not None:
            raise self.failure
        return dict(self._states)

    def partitions(self) -> list[int]:
        """Which partitions are here."""
        return sorted(self._states)

    def offset(self, partition: int) -> int | None:
        """The last record of the changelog that the state contains."""
        return self._offsets.get(partition)

    def recover(self, partition: int, value: bytes | None, offset: int) -> None:
        """Take a record of the changelog in; a failure is kept and raised at the next use.

        A record of a partition that was taken away meanwhile is nobody's.
        """
        if self.failure is not None or partition not in self._states:
            return
        extent = Extent()
        try:
            if value is not None:
                extent = self._apply(self._states[partition], value)
                self.applied += 1
        except StateError as error:
            self.failure = located(error, f"{self.name}, partition {partition}", offset)
            return
        except Exception as error:
            self.failure = error
            return
        self.contains(partition, offset, extent)

    def contains(self, partition: int, offset: int, extent: Extent) -> None:
        """The state contains the changelog up to the record at `offset`, which names so much."""
        self._offsets[partition] = max(offset, self._offsets.get(partition, -1))
        self._heads[partition].note(offset, extent)

    def needed(self, partition: int, horizon: Horizon) -> int | None:
        """The first offset of the changelog that a recovery needs, where this has expired."""
        return self._heads[partition].needed(horizon)

    def drop(self, partition: int) -> None:
        """The partition belongs to another worker now."""
        self._states.pop(partition, None)
        self._offsets.pop(partition, None)
        self._heads.pop(partition, None)
        self._drops[partition] = self._drops.get(partition, 0) + 1

    def clear(self) -> None:
        """Nothing is here any more."""
        for partition in tuple(self._states):
            self.drop(partition)

    def appended(self, partition: int, extent: Extent) -> Callable[[Any], None]:
        """What to do when a record of ours, which names so much, has been delivered.

        A delivery that is confirmed after the partition was taken away must not move the offset of the new, empty
        state: its recovery would start behind records that it needs.
        """
        drops = self._drops.get(partition, 0)

        def delivered(future: Any) -> None:
            lost = future.cancelled() or future.exception() is not None
            if not lost and self._drops.get(partition, 0) == drops and partition in self._states:
                self.contains(partition, future.result().offset, extent)

        return delivered


class _ChangelogStore(Store[bytes, bytes]):
    """The engine's view of a `Changelogged`: nothing but recovery, offsets and rebalances."""

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
        """Where recovery goes on; it reads this record again, which changes nothing."""
        return self._states.offset(tp.partition)

    def set_persisted_offset(self, tp: TP, offset: int) -> None:
        """The engine tells what it has given to `apply_changelog_batch`: that is known already."""

    async def on_rebalance(
        self, assigned: Set[TP], revoked: Set[TP], newly_assigned: Set[TP], generation_id: int = 0
    ) -> None:
        """`revoked` are the partitions that another worker owns now."""
        mine = self.table.changelog_topic.topics
        for tp in revoked:
            if tp.topic in mine:
                self._states.drop(tp.partition)
        for tp in assigned:
            if tp.topic in mine:
                self._states.own(tp.partition)

    async def on_recovery_completed(self, active_tps: Set[TP], standby_tps: Set[TP]) -> None:
        """The states are complete, or cannot be: then the worker ends before anything is read.

        The engine does not look at what is raised here.
        """
        if self._states.failure is not None:
            await self.app.crash(self._states.failure)

    async def backup_partition(self, *args: Any, **options: Any) -> None:
        """The changelog is the backup."""

    def restore_backup(self, *args: Any, **options: Any) -> None:
        """The changelog is the backup."""

    def reset_state(self) -> None:
        """Start from nothing."""
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

    def _new_store(self) -> Any:
        return _ChangelogStore("memory://", self.app, self, table_name=self.name, loop=self.loop)

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
        extent: Extent = Extent(),  # noqa: B008 - never changed
    ) -> Awaitable[Any]:
        """Append a record, which names so much, to the changelog of a partition; its delivery."""
        delivery = await app.produce(self.changelog_topic_name, None, value, partition)
        cast(Any, delivery).add_done_callback(self.states.appended(partition, extent))
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
    )
    table.states = states
    states.name = table.changelog_topic_name
    app.tables.add(table)
    app.chunks[table.changelog_topic_name] = _RECORDS_AT_ONCE
    return table
