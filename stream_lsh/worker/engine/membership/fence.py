"""A worker that slept past its session must not write.

Fault (any Kafka client): a process that was stopped, swapped out or on a sleeping machine continues where it was.  Its
partitions belong to another worker by then, and the broker still stores its records, behind those of the new owner.
The engine notices at its next heartbeat at the earliest; an agent in the middle of an event sends before that.

Before each send the fence checks how long ago the session was renewed, on a clock that does not stop with the process.
From 0.8 session timeouts on, the broker may reassign the partitions before the record arrives.  `producing.idempotent`
checks again before each request, for records that wait in the client.  A request that is on its way when the process
stops can still arrive late: so readers of changelogs never go back.

Delete when: the broker fences the records of a consumer group's old members without transactions.
"""

from collections.abc import Callable

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine.membership.group import GroupWatch, boot_seconds

FENCE_AT = 0.8
"""In session timeouts: the rest covers the way to the broker and clocks that run unevenly."""

EXPELLED = (
    "the consumer group has removed this worker: the process was stopped or the broker was out of reach, and others "
    "may have owned its partitions"
)


class ZombieFence:
    """Checks whether this worker may write.

    Args:
        group: the observed membership.
        session_timeout: in seconds, as given to the broker by the consumer.
        clock: the boot clock.
    """

    def __init__(self, group: GroupWatch, session_timeout: float, clock: Callable[[], float] = boot_seconds) -> None:
        self._group = group
        self._clock = clock
        self._limit = FENCE_AT * session_timeout

    def check(self) -> None:
        """Return if the session is recent enough to write.

        Cost:
            one reading of a clock, some 0.3 us.

        Raises:
            DoubtError: it is not -> end the process without another write.
        """
        renewed_at = self._group.renewed_at
        if self._group.expelled:
            raise DoubtError(EXPELLED)
        if renewed_at is None:
            raise DoubtError("this worker has no session with the consumer group, so nothing may be written")
        age = self._clock() - renewed_at
        if age > self._limit:
            raise DoubtError(
                f"the last heartbeat was answered {age:.1f} s ago, and a worker may write for {self._limit:.1f} s "
                "after one: the process was stopped or the broker was out of reach, and others may own its partitions"
            )
