"""The steps of queries: functions on the states of some partitions, in the process that has them.

A step runs where the states are: it is called directly in this process, or in another one through the internal route
(`step_channel`).  Its argument and its result are bytes.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stream_lsh.ledger.ledger import Ledger
from stream_lsh.worker.query.distributed.standing import Standing
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.state.pipeline_state import PipelineState


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a query that one process answers.

    Attributes:
        state: of the pipeline.
        table: `documents`, `buckets` or `ledger`.
        partitions: of the table.
        body: the argument.
        deadline: when the query times out, by the monotonic clock.
        standing: of this process.
        generation: of the assignment by which the partitions were chosen.
        stale: whether a state that this process only follows may answer.
    """

    state: PipelineState
    table: str
    partitions: Sequence[int]
    body: bytes
    deadline: float
    standing: Standing
    generation: int
    stale: bool = False

    def states(self) -> dict[int, Any]:
        """The states of the partitions, complete.

        A rebalance drops states and closes their copies on disk, so call this again after every await.

        Raises:
            Problem: not-now, or too-late.
        """
        if time.monotonic() > self.deadline:
            raise Problem("too-late", "the time of the query is up")
        if self.generation != self.standing.generation:
            raise Problem("not-now", "the processes are in different generations of the group")
        return self.standing.states(self.state, self.table, self.partitions, stale=self.stale)

    def ledger(self) -> Ledger:
        """The ledger, of a step on its table; raises as `states`."""
        (state,) = self.states().values()
        ledger: Ledger = state.settler.ledger
        return ledger

    @property
    def lag(self) -> int:
        """The number of messages that these states do not include yet."""
        return sum(self.standing.lags(self.state, self.table, self.partitions))


class Step(NamedTuple):
    """A step of a query.

    Attributes:
        table: on which it works.
        run: from a part to the bytes of its answer; it raises Problem.
    """

    table: str
    run: Callable[[Part], Awaitable[bytes]]


Steps = Mapping[str, Step]


async def run_step(step: Step, part: Part) -> bytes:
    """The answer of a step; the states are complete when it begins."""
    part.states()
    return await step.run(part)
