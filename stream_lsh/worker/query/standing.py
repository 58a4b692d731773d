"""The standing of a worker in its application: whether it may answer, and which workers own the other partitions.

A worker answers only while it is in its group with all its state.  The assignor gives each of its partitions a state
before it is recovered, so the table of a partition alone does not show whether it is complete.
"""

from collections.abc import Mapping
from typing import Any

from stream_lsh.config.topics import TABLES
from stream_lsh.errors import DoubtError
from stream_lsh.worker.query.owners import Peer, owners
from stream_lsh.worker.query.problems import Problem
from stream_lsh.worker.state import PipelineState

_COUNTS = {"ledger": 1}


class Standing:
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
            Problem: not-now; it has not all its state, or may have lost its partitions to other workers.
        """
        if not self._app.maintenance.at_work:
            raise Problem("not-now", f"this worker is {self.state}")
        try:
            self._app.fence.check()
        except DoubtError:
            raise Problem("not-now", "this worker may have lost its partitions to others") from None

    def expect_generation(self, generation: str) -> None:
        """Return if the asking worker has the same view of the group; raises Problem otherwise."""
        self.expect_ready()
        if generation != str(self.generation):
            raise Problem("not-now", "the workers are in different generations of the group")

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        """The worker with each partition of a table, as far as it has a query API."""
        # After every rebalance this is another dict, which is never changed in place.
        distribution = self._app.assignor.tables_metadata()
        return owners(distribution, state.config.changelog_topic(table))

    def missing(self, state: PipelineState, table: str) -> list[int]:
        """The partitions of a table whose owner has no query API, or that have no owner."""
        known = self.owners(state, table)
        return [partition for partition in range(_COUNTS.get(table, state.partitions)) if partition not in known]

    def all_missing(self, state: PipelineState) -> dict[str, list[int]]:
        """The missing partitions of all tables of a pipeline; tables without any are left out."""
        return {table: missing for table in TABLES if (missing := self.missing(state, table))}
