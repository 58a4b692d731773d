"""The standing of a process: whether it may answer, which states it has, and which processes have the others.

A worker answers only while it is in its group with all its state.  The assignor gives each of its partitions a state
before it is recovered, so the table of a partition alone does not show whether it is complete.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Protocol

from faust.types import TP

from stream_lsh.config.topics import TABLES
from stream_lsh.errors import DoubtError, StreamLSHError
from stream_lsh.worker.query.distributed.owners import Peer, followers, owners
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.state.changelogged import Changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState


def table_partitions(state: PipelineState, table: str) -> range:
    """The partitions of a table: the ledger has one."""
    return range(1 if table == "ledger" else state.partitions)


def states_of(state: PipelineState, table: str) -> Changelogged[Any]:
    """The states of a table in this process, by partition."""
    tables: Mapping[str, Changelogged[Any]]
    tables = {"documents": state.documents, "buckets": state.buckets, "ledger": state.ledger}
    return tables[table]


def not_available(table: str, partitions: Sequence[int], detail: str) -> Problem:
    """The problem of partitions that no process can answer for."""
    return Problem("not-now", detail, missing={table: sorted(partitions)})


class Standing(Protocol):
    """The standing of one process that answers queries."""

    @property
    def instance(self) -> str:
        """The name of this process."""

    @property
    def generation(self) -> int:
        """The number of the assignment of partitions to processes, the same for all of them; -1 before the first."""

    @property
    def state(self) -> str:
        """`ready`, or the reason that this process does not answer."""

    def expect_ready(self) -> None:
        """Return if this process may answer; raises the Problem not-now otherwise."""

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        """The process that answers for each partition of a table, without partitions that no process answers for."""

    def followers(self, state: PipelineState, table: str) -> Mapping[int, Sequence[Peer]]:
        """The processes that follow each partition of a table, and may be behind its owner."""

    def states(self, state: PipelineState, table: str, partitions: Sequence[int], *, stale: bool) -> dict[int, Any]:
        """The states of partitions, complete.

        Args:
            state: of the pipeline.
            table: `documents`, `buckets` or `ledger`.
            partitions: of the table.
            stale: also those that this process only follows.

        Raises:
            Problem: not-now, with the missing partitions.
        """

    def lags(self, state: PipelineState, table: str, partitions: Iterable[int]) -> list[int]:
        """The number of messages in the log that the state of each partition does not contain yet, as far as known."""


def missing(standing: Standing, state: PipelineState) -> dict[str, list[int]]:
    """The partitions of all tables that no process answers for; tables without any are left out."""
    found = {}
    for table in TABLES:
        known = standing.owners(state, table)
        if absent := [partition for partition in table_partitions(state, table) if partition not in known]:
            found[table] = absent
    return found


class WorkerStanding:
    """The standing of one worker.

    Args:
        app: the worker.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    @property
    def instance(self) -> str:
        """The name of this process."""
        instance: str = self._app.instance
        return instance

    @property
    def generation(self) -> int:
        """The generation of the group, as `GroupWatch.unique` defines it."""
        generation: int = self._app.generation
        return generation

    @property
    def state(self) -> str:
        """`ready`, or the reason why this worker does not answer."""
        app = self._app
        if app.should_stop:
            return "stopping"
        if app.group.waiting_since is not None or app.rebalancing:
            return "joining"
        return "recovering" if app.in_recovery else "ready"

    def expect_ready(self) -> None:
        """Return if this worker may answer.

        Raises:
            Problem: not-now; its state is not complete, or it may have lost its partitions to other workers.
        """
        if not self._app.maintenance.is_ready:
            raise Problem("not-now", f"this worker is {self.state}")
        try:
            self._app.fence.check()
        except DoubtError:
            raise Problem("not-now", "this worker may have lost its partitions to others") from None

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        """The worker with each partition of a table, as far as it has a query API."""
        return owners(self._distribution(), state.config.changelog_topic(table))

    def followers(self, state: PipelineState, table: str) -> Mapping[int, Sequence[Peer]]:
        """The standbys of each partition of a table, as far as they have a query API."""
        return followers(self._distribution(), state.config.changelog_topic(table))

    def _distribution(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        # After every rebalance this is another dict, which is never changed in place.
        distribution: Mapping[str, Mapping[str, Sequence[int]]] = self._app.assignor.tables_metadata()
        return distribution

    def states(self, state: PipelineState, table: str, partitions: Sequence[int], *, stale: bool) -> dict[int, Any]:
        """The states of partitions, complete; as in `Standing`."""
        self.expect_ready()
        here = states_of(state, table)
        try:
            found = here.owned()
            if stale:
                found |= {partition: one for partition, one in here.followed().items() if one.is_whole}
        except StreamLSHError:  # the worker ends for it
            raise not_available(table, partitions, "this worker has failed and is stopping") from None
        if absent := [partition for partition in partitions if partition not in found]:
            raise not_available(table, absent, "this worker does not have these partitions")
        return {partition: found[partition] for partition in partitions}

    def lags(self, state: PipelineState, table: str, partitions: Iterable[int]) -> list[int]:
        """The messages that wait for the step that writes a table; of a followed state, records of its changelog."""
        assigned = self._app.consumer.assignment()
        return [self._lag(state, table, partition, assigned) for partition in partitions]

    def _lag(self, state: PipelineState, table: str, partition: int, assigned: Container[TP]) -> int:
        states, config = states_of(state, table), state.config
        if partition in states.partitions():
            steps = {"buckets": config.internal_topic("bands"), "ledger": config.internal_topic("edges")}
            tp = TP(steps.get(table, config.documents_topic), partition)
            read = state.traffic.positions.get(tp, self._app.committed_offset(tp) or 0)
        else:
            tp = TP(config.changelog_topic(table), partition)
            offset = states.offset(partition)
            read = 0 if offset is None else offset + 1
        if tp not in assigned:  # a rebalance has just taken it away
            return 0
        return max(0, (self._app.consumer.highwater(tp) or 0) - read)
