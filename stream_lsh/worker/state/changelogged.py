"""States of partitions that are kept in changelogs: which are here, and how far each has its changelog.

The core interprets the records.  A state is made when its partition is assigned, before it is recovered, and
dropped when the partition is revoked.  Access to a state that is not here is a bug and raises; it never looks like an
empty state.

A *followed* state belongs to another worker: a standby applies the records that the owner writes, and no agent reads
the state until its partition is assigned here (docs/internals/adr/0017).
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from stream_lsh.errors import DoubtError, InvariantError, StateError
from stream_lsh.pipeline.changelog.head import Extent, LogHead
from stream_lsh.retention import Horizon

_State = TypeVar("_State")

_log = logging.getLogger(__name__)


def located(error: StateError, place: str, offset: int) -> StateError:
    """The same error, with the topic, the partition and the offset of the bytes in front."""
    located_error = type(error)(f"{place}, offset {offset}: {error}")
    located_error.__cause__ = error
    return located_error


class Copy(Protocol):
    """The copy of a state on disk; it contains a changelog up to some record.

    Attributes:
        offset: of this record; None for none.
        head: of the changelog up to there.
    """

    offset: int | None
    head: LogHead

    def discard(self, why: object) -> None:
        """Remove the copy, and start with an empty one."""

    def close(self) -> None:
        """Release the copy."""


Persist = Callable[[int, LogHead], None]
"""Takes the offset of a record in the changelog, and the head of the changelog, once the record is stored there."""


class Applied(NamedTuple):
    """A record in a state: the versions that it names, and the steps that are due once it is in the changelog."""

    extent: Extent
    persist: Persist | None = None


class Changelogged(Generic[_State]):
    """The states of one table, by partition.

    Args:
        make: a state for a partition: the copy on disk, or an empty state.
        apply: applies the record of the changelog at an offset to a state.
        copy: the copy of a state on disk; None for none.
        in_thread: make expected states in a thread: their copies are read without the interpreter's lock.
    """

    def __init__(
        self,
        make: Callable[[int], _State],
        apply: Callable[[_State, bytes, int], Applied],
        copy: Callable[[_State], Copy | None] = lambda state: None,
        *,
        in_thread: bool = False,
    ) -> None:
        self._make = make
        self._in_thread = in_thread
        self._apply = apply
        self._copy = copy
        self._states: dict[int, _State] = {}
        self._expected: dict[int, Future[_State]] = {}
        self._followed: set[int] = set()  # the partitions of followed states
        self._begun: dict[int, int] = {}
        self._offsets: dict[int, int] = {}
        self._heads: dict[int, LogHead] = {}
        self._drops: dict[int, int] = {}
        self._under_way: dict[int, int] = {}
        self.name = "changelog"
        self.failure: Exception | None = None
        self.applied = 0

    def __getitem__(self, partition: int) -> _State:
        if self.failure is not None:
            raise self.failure
        state = None if partition in self._followed else self._states.get(partition)
        if state is None:
            raise InvariantError(f"got partition {partition}, expected one that is assigned here: {self.partitions()}")
        return state

    def expect(self, partitions: Iterable[int]) -> None:
        """Begin to make the states of new partitions, if `in_thread`; `own` and `follow` wait for them."""
        if not self._in_thread:
            return
        thread = ThreadPoolExecutor(1)
        for partition in partitions:
            if partition not in self._states:
                self._expected[partition] = thread.submit(self._make, partition)
        thread.shutdown(wait=False)

    def own(self, partition: int) -> None:
        """Own a partition from now on; a new state starts with the copy on disk, or empty.

        A followed state is kept as it is.
        """
        self._followed.discard(partition)
        self._begin(partition)

    def follow(self, partition: int) -> None:
        """Follow a partition of another worker: apply the records that the owner writes.

        A state that this worker owned starts again from the copy on disk: the state in memory may be ahead of the
        changelog, and nothing would ever undo that.
        """
        if partition not in self._followed:
            self.drop(partition)
        self._followed.add(partition)
        self._begin(partition)

    def _begin(self, partition: int) -> None:
        if partition in self._states:
            return
        expected = self._expected.pop(partition, None)
        state = self._states[partition] = self._make(partition) if expected is None else expected.result()
        copy = self._copy(state)
        self._heads[partition] = LogHead() if copy is None else copy.head
        if copy is not None and copy.offset is not None:
            self._offsets[partition] = copy.offset

    def fit(self, partition: int, first: int, end: int) -> None:
        """Reset a state that does not fit its changelog, which has the offsets from `first` to `end`, exclusive."""
        self.begins(partition, first)
        offset, state = self._offsets.get(partition), self._states.get(partition)
        copy = None if state is None else self._copy(state)
        if offset is None or copy is None or first <= offset + 1 <= end:
            return
        self._start_again(partition, f"the copy on disk ends at offset {offset}, and the log has {first} to {end}")

    def _start_again(self, partition: int, why: str) -> None:
        """Reset a state that the changelog does not continue: the rest of the changelog has all that is needed."""
        message = f"{self.name}, partition {partition}: {why}"
        copy = self._copy(self._states[partition])
        if copy is None:
            _log.warning("%s; the state is rebuilt from the rest of the log", message)
        else:
            copy.discard(StateError(message))
            copy.close()
        self.drop(partition)
        self._begin(partition)

    def begins(self, partition: int, first: int) -> None:
        """Note that the changelog starts at this offset now: the earlier part of its head is dropped.

        A state that started behind this offset lacks records, and that is a failure: the engine has lost them.
        """
        begun = self._begun.get(partition)
        if begun is not None and begun > first and self.failure is None:
            self.failure = DoubtError(
                f"{self.name}, partition {partition}: the log begins at offset {first}, and the state with {begun}: "
                "records were lost in between"
            )
            copy = self._copy(self._states[partition])
            if copy is not None:
                copy.discard(self.failure)
        self.rewritten(partition, first)

    def owned(self) -> dict[int, _State]:
        """The states that this worker owns."""
        return {partition: state for partition, state in self.here().items() if partition not in self._followed}

    def is_same(self, partition: int, state: _State) -> bool:
        """Whether this state is still the one of this partition, and this worker still owns the partition."""
        if self.failure is not None:
            raise self.failure
        return self._states.get(partition) is state and partition not in self._followed

    def followed(self) -> dict[int, _State]:
        """The states of other workers, as far as their changelogs have been applied here."""
        return {partition: state for partition, state in self.here().items() if partition in self._followed}

    def here(self) -> dict[int, _State]:
        """All states in this worker, owned or followed."""
        if self.failure is not None:
            raise self.failure
        return dict(self._states)

    def partitions(self) -> list[int]:
        """The partitions that this worker owns."""
        return sorted(self._states.keys() - self._followed)

    def offset(self, partition: int) -> int | None:
        """The last record of the changelog that the state contains."""
        return self._offsets.get(partition)

    def recover(self, partition: int, value: bytes | None, offset: int) -> None:
        """Apply a record of the changelog; a failure is kept and raised at the next use.

        A record of a partition that was revoked meanwhile is ignored.  A failure of a followed partition concerns its
        owner: this worker stops following it until the next rebalance, and reads it from the beginning if it is
        assigned then.
        """
        if self.failure is not None or partition not in self._states:
            return
        applied = Applied(Extent())
        try:
            if offset > self._offsets.get(partition, offset) + 1:
                self._start_again(partition, f"the log was trimmed up to offset {offset} while it was read")
            if partition not in self._offsets:
                self._begun[partition] = offset
            if value is not None:
                applied = self._apply(self._states[partition], value, offset)
                self.applied += 1
            self.contains(partition, offset, applied)
        except StateError as error:
            self._failed(partition, located(error, f"{self.name}, partition {partition}", offset))
        except Exception as error:
            self._failed(partition, error)

    def _failed(self, partition: int, failure: Exception) -> None:
        """Note that a record cannot be applied: this worker ends, or stops following the partition of another one."""
        if partition in self._followed and not isinstance(failure, DoubtError):
            problem = f"{self.name}, partition {partition}: not followed until the next rebalance"
            _log.error("%s", problem, exc_info=failure)
            try:
                copy = self._copy(self._states[partition])
                if copy is not None:  # it may contain a part of the record
                    copy.discard(StateError(problem))
                self.drop(partition)
            except Exception as error:
                failure = error
            else:
                return
        self.failure = failure

    def contains(self, partition: int, offset: int, applied: Applied) -> None:
        """The state contains the changelog up to this record at `offset`."""
        self._offsets[partition] = max(offset, self._offsets.get(partition, -1))
        self._heads[partition].note(offset, applied.extent)
        if applied.persist is not None:
            applied.persist(offset, self._heads[partition])

    def needed(self, partition: int, horizon: Horizon) -> int | None:
        """The first offset of the changelog that a recovery needs, where this has expired."""
        return self._heads[partition].needed(horizon)

    def rewritten(self, partition: int, offset: int) -> None:
        """Note that the records before this offset of the changelog are obsolete, or deleted."""
        if partition in self._heads:
            self._heads[partition].rewritten(offset)

    def drop(self, partition: int) -> None:
        """Drop a partition that belongs to another worker now, and is not followed either."""
        state = self._states.pop(partition, None)
        copy = None if state is None else self._copy(state)
        if copy is not None:
            copy.close()
        self._offsets.pop(partition, None)
        self._begun.pop(partition, None)
        self._heads.pop(partition, None)
        self._under_way.pop(partition, None)
        self._drops[partition] = self._drops.get(partition, 0) + 1

    def clear(self) -> None:
        """Drop all states."""
        for partition in tuple(self._states):
            self.drop(partition)

    def under_way(self, partition: int) -> int:
        """The number of records of this worker that are not confirmed to be in the changelog yet."""
        return self._under_way.get(partition, 0)

    def head(self, partition: int) -> LogHead:
        """The known part of the head of the changelog."""
        return self._heads[partition]

    def appended(self, partition: int, applied: Applied) -> Callable[[Any], None]:
        """The callback for the delivery of this record.

        A delivery that is confirmed after the partition was revoked must not move the offset of the new, empty state:
        its recovery would start behind records that it needs.  The same holds for a state that is only followed.
        """
        if partition in self._followed:
            return lambda future: None
        drops = self._drops.get(partition, 0)
        self._under_way[partition] = self.under_way(partition) + 1

        def delivered(future: Any) -> None:
            lost = future.cancelled() or future.exception() is not None
            if not lost and self._drops.get(partition, 0) == drops and partition in self._states:
                self._under_way[partition] -= 1
                try:
                    self.contains(partition, future.result().offset, applied)
                except Exception as error:
                    self.failure = self.failure or error

        return delivered
