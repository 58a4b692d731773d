"""A worker that cannot work ends, so that its supervisor notices.

Fault (faust-streaming 0.15.3): a join that the broker refuses for good (session timeout outside the broker's limits,
another protocol in the group) is logged once, and the worker stays up without ever joining.  And a recovery that
no longer receives records waits for them without a limit, as does a rebalance of which a step never ends.

Fault (the same): a refusal by the authorizer waits in the client until the engine asks for records, which it does not
do before it has joined.

Fault (the same): a worker that the group has expelled joins again as a new member and keeps the state of every
partition that is assigned to it again, up to the last record that it wrote itself.  Another worker may have written
before that record: a record that was delayed on its way to the broker is stored behind those of the new owner.  So it
ends.

Delete when: fatal errors of a join end the engine, recoveries have a limit, and an expelled worker drops its state.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine.membership.group import GroupWatch, boot_seconds
from stream_lsh.worker.engine.rights import group_refused

_CHECK_SECONDS = 0.25
_MOST_SECONDS = 1.0
"""The most that counts for the time between two checks, however long it was."""


class Watchdog:
    """Watches one app.

    Args:
        app: the app.
        group: its observed membership.
        join_seconds: the longest time without an assignment; more than the rebalance timeout of the group.
        recovery_seconds: the longest time of a recovery without a record.
    """

    def __init__(
        self,
        app: Any,
        group: GroupWatch,
        *,
        join_seconds: float,
        recovery_seconds: float,
        clock: Callable[[], float] = boot_seconds,
    ) -> None:
        self._app, self._group, self._clock = app, group, clock
        self._join_seconds, self._recovery_seconds = join_seconds, recovery_seconds
        self._progress: object = None
        self._checked_at = clock()
        self._still = 0.0

    async def run(self) -> None:
        """Check for ever.

        Raises:
            DoubtError: the worker cannot work -> the engine ends the process.
            ConfigError: the user may not read from the group -> the same.
        """
        while True:
            if self._group.expelled:
                await self._app.may_write()  # it may not, so it ends as a zombie does: at once
            self.check()
            await asyncio.sleep(_CHECK_SECONDS)

    def check(self) -> None:
        """Raise if the group refuses this worker, or if the worker has been waiting for too long."""
        if self._group.unauthorized:
            raise group_refused(self._app.conf.id)
        now, waiting_since, refusal = self._clock(), self._group.waiting_since, self._group.refusal
        if waiting_since is not None and now - waiting_since > self._join_seconds:
            why = (
                f": the broker reports {refusal!r}"
                if refusal
                else ": is another member of it stuck, or the broker away?"
            )
            raise DoubtError(f"this worker has waited {now - waiting_since:.0f} s to join the consumer group{why}")
        self._check_recovery(now)

    def _check_recovery(self, now: float) -> None:
        """Raise if a rebalance and its recovery have made no progress for too long.

        Only time in which progress was possible counts: none is while a state is loaded from disk.
        """
        app, recovery = self._app, self._app.tables.recovery
        under_way = recovery.in_recovery or (app.rebalancing and self._group.waiting_since is None)
        progress = (app.consumer_generation_id, tuple(recovery.active_offsets.items())) if under_way else None
        passed, self._checked_at = min(now - self._checked_at, _MOST_SECONDS), now
        self._still = self._still + passed if progress is not None and progress == self._progress else 0.0
        self._progress = progress
        if self._still > self._recovery_seconds:
            left = recovery.active_remaining_total()
            raise DoubtError(
                f"the recovery of the tables has not read a record for {self._still:.0f} s and still lacks {left}"
                if left
                else f"the rebalance of the group has not ended on this worker for {self._still:.0f} s"
            )
