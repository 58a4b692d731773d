"""States of partitions that are kept in changelogs: which are here, and how far each has its changelog.

What a record means is the core's.  A state is made when its partition is assigned, before it is recovered, and
forgotten when the partition is taken away.  Reading one that is not here is a bug and raises; it never looks like an
empty one.

A state that is only *followed* is another worker's: a standby reads what that one writes and takes it in, and nobody
looks at it until its partition comes here (docs/internals/adr/0017).
"""

import logging
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from stream_lsh.errors import DoubtError, InvariantError, StateError
from stream_lsh.pipeline.changelog.head import Extent, LogHead
from stream_lsh.retention import Horizon

_State = TypeVar("_State")

_log = logging.getLogger(__name__)


def located(error: StateError, place: str, offset: int) -> StateError:
    """The same error, which says where the bytes are that it is about."""
    located_error = type(error)(f"{place}, offset {offset}: {error}")
    located_error.__cause__ = error
    return located_error


class Copy(Protocol):
    """What is on disk of a state; it contains a changelog up to some record.

    Attributes:
        offset: of this record; None for none.
        head: of the changelog up to there.
    """

    offset: int | None
    head: LogHead

    def discard(self, why: object) -> None:
        """Remove it, and begin with nothing."""

    def close(self) -> None:
        """It is not used any more."""


Persist = Callable[[int, LogHead], None]
"""Takes the offset that a record has in the changelog, and the changelog's head, once it is stored there."""


class Applied(NamedTuple):
    """A record that is in a state: what it names, and what is to be done once it is in the changelog."""

    extent: Extent
    persist: Persist | None = None


class Changelogged(Generic[_State]):
    """The states of one table, by partition.

    Args:
        make: a state for a partition: what there is on disk, or an empty one.
        apply: takes the record of the changelog at an offset into a state.
        copy: what is on disk of a state; None for nothing.
    """

    def __init__(
        self,
        make: Callable[[int], _State],
        apply: Callable[[_State, bytes, int], Applied],
        copy: Callable[[_State], Copy | None] = lambda state: None,
    ) -> None:
        self._make = make
        self._apply = apply
        self._copy = copy
        self._states: dict[int, _State] = {}
        self._followed: set[int] = set()  # of those that are here
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

    def own(self, partition: int) -> None:
        """The partition belongs to this worker from now on; what is on disk, or nothing, if it did not before.

        A state that was followed goes on as it is.
        """
        self._followed.discard(partition)
        self._begin(partition)

    def follow(self, partition: int) -> None:
        """The partition is another worker's, and what that one writes is taken in here as well.

        A state that was this worker's own begins anew with what is on disk: what is in memory may be ahead of the
        changelog, and nobody would ever take that back.
        """
        if partition not in self._followed:
            self.drop(partition)
        self._followed.add(partition)
        self._begin(partition)

    def _begin(self, partition: int) -> None:
        if partition in self._states:
            return
        state = self._states[partition] = self._make(partition)
        copy = self._copy(state)
        self._heads[partition] = LogHead() if copy is None else copy.head
        if copy is not None and copy.offset is not None:
            self._offsets[partition] = copy.offset

    def fit(self, partition: int, first: int, end: int) -> None:
        """The changelog has the offsets from `first` to `end`, exclusive: a state that is not of it begins anew."""
        self.begins(partition, first)
        offset, state = self._offsets.get(partition), self._states.get(partition)
        copy = None if state is None else self._copy(state)
        if offset is None or copy is None or first <= offset + 1 <= end:
            return
        self._begin_anew(partition, f"what is on disk ends at offset {offset}, and the log has {first} to {end}")

    def _begin_anew(self, partition: int, why: str) -> None:
        """The changelog lacks something: all that is needed is in what is left of it."""
        message = f"{self.name}, partition {partition}: {why}"
        copy = self._copy(self._states[partition])
        if copy is None:
            _log.warning("%s; the state is read from what is left", message)
        else:
            copy.discard(StateError(message))
            copy.close()
        self.drop(partition)
        self._begin(partition)

    def begins(self, partition: int, first: int) -> None:
        """The changelog begins at this offset by now: what is known of what lay before it is forgotten.

        A state that was begun behind it lacks something, and that is a failure: the engine has lost records.
        """
        begun = self._begun.get(partition)
        if begun is not None and begun > first and self.failure is None:
            self.failure = DoubtError(
                f"{self.name}, partition {partition}: the log begins at offset {first}, and the state with {begun}: "
                "records were dropped on the way here"
            )
            copy = self._copy(self._states[partition])
            if copy is not None:
                copy.discard(self.failure)
        self.rewritten(partition, first)

    def held(self) -> dict[int, _State]:
        """The states that are this worker's own."""
        return {partition: state for partition, state in self.here().items() if partition not in self._followed}

    def is_same(self, partition: int, state: _State) -> bool:
        """Whether this state is still the one of this partition, and the partition this worker's own."""
        if self.failure is not None:
            raise self.failure
        return self._states.get(partition) is state and partition not in self._followed

    def followed(self) -> dict[int, _State]:
        """The states that are other workers', as far as what those wrote has come here."""
        return {partition: state for partition, state in self.here().items() if partition in self._followed}

    def here(self) -> dict[int, _State]:
        """All states that are here, whoever's they are."""
        if self.failure is not None:
            raise self.failure
        return dict(self._states)

    def partitions(self) -> list[int]:
        """Which partitions are this worker's own."""
        return sorted(self._states.keys() - self._followed)

    def offset(self, partition: int) -> int | None:
        """The last record of the changelog that the state contains."""
        return self._offsets.get(partition)

    def recover(self, partition: int, value: bytes | None, offset: int) -> None:
        """Take a record of the changelog in; a failure is kept and raised at the next use.

        A record of a partition that was revoked meanwhile is ignored.  A failure of a partition that is followed
        concerns its owner: this worker stops following it until the next rebalance, and reads it from the beginning if
        it is assigned then.
        """
        if self.failure is not None or partition not in self._states:
            return
        taken = Applied(Extent())
        try:
            if offset > self._offsets.get(partition, offset) + 1:
                self._begin_anew(partition, f"the log was trimmed up to offset {offset} while it was read")
            if partition not in self._offsets:
                self._begun[partition] = offset
            if value is not None:
                taken = self._apply(self._states[partition], value, offset)
                self.applied += 1
            self.contains(partition, offset, taken)
        except StateError as error:
            self._failed(partition, located(error, f"{self.name}, partition {partition}", offset))
        except Exception as error:
            self._failed(partition, error)

    def _failed(self, partition: int, failure: Exception) -> None:
        """A record cannot be taken in: the end of this worker, or of its following another one's partition."""
        if partition in self._followed and not isinstance(failure, DoubtError):
            problem = f"{self.name}, partition {partition}: not followed until the next rebalance"
            _log.error("%s", problem, exc_info=failure)
            try:
                copy = self._copy(self._states[partition])
                if copy is not None:  # it may have a part of the record
                    copy.discard(StateError(problem))
                self.drop(partition)
            except Exception as error:
                failure = error
            else:
                return
        self.failure = failure

    def contains(self, partition: int, offset: int, taken: Applied) -> None:
        """The state contains the changelog up to this record at `offset`."""
        self._offsets[partition] = max(offset, self._offsets.get(partition, -1))
        self._heads[partition].note(offset, taken.extent)
        if taken.persist is not None:
            taken.persist(offset, self._heads[partition])

    def needed(self, partition: int, horizon: Horizon) -> int | None:
        """The first offset of the changelog that a recovery needs, where this has expired."""
        return self._heads[partition].needed(horizon)

    def rewritten(self, partition: int, offset: int) -> None:
        """What lies before this offset of the changelog is not needed any more, or not there."""
        if partition in self._heads:
            self._heads[partition].rewritten(offset)

    def drop(self, partition: int) -> None:
        """The partition belongs to another worker now, and is not followed either."""
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
        """Nothing is here any more."""
        for partition in tuple(self._states):
            self.drop(partition)

    def under_way(self, partition: int) -> int:
        """How many records of ours are not known to be in the changelog yet."""
        return self._under_way.get(partition, 0)

    def head(self, partition: int) -> LogHead:
        """What is known of the head of the changelog."""
        return self._heads[partition]

    def appended(self, partition: int, taken: Applied) -> Callable[[Any], None]:
        """What to do when this record of ours has been delivered.

        A delivery that is confirmed after the partition was taken away must not move the offset of the new, empty
        state: its recovery would start behind records that it needs.  Nor does one of a state that is only followed.
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
                    self.contains(partition, future.result().offset, taken)
                except Exception as error:
                    self.failure = self.failure or error

        return delivered
