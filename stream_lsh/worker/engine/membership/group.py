"""This worker's membership in its consumer group, as observed from its requests.

aiokafka does not expose when the group coordinator last answered, and faust does not ask.  `GroupWatch` listens to
the requests of one coordinator and records it; `fence.py` and `watchdog.py` decide by it.  It runs in the consumer's
thread and is read from another: every field is replaced whole, and each reader takes one field once.  Moments are those
of the boot clock, which runs while the machine sleeps and while the process is stopped.

Delete when: aiokafka exposes the time of the last answered heartbeat and the last error of a join.
"""

import time
from collections.abc import Callable
from typing import Any
from zlib import crc32

from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupAuthorizationFailedError,
    IllegalGenerationError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    for_code,
)
from aiokafka.protocol.group import (  # type: ignore[import-untyped]
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)

from stream_lsh.worker.engine.membership.predecessor import MemberFile

_EXPELLED = (UnknownMemberIdError.errno, IllegalGenerationError.errno)
_ALIVE = (0, RebalanceInProgressError.errno)  # either answer renews the session


_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux has it; a Mac's monotonic clock is one


def boot_seconds() -> float:
    """Seconds since the machine started, sleep included."""
    return time.clock_gettime(_BOOT_CLOCK)


class GroupWatch:
    """When the coordinator last renewed the session, and since when this worker waits for admission.

    Attributes:
        renewed_at: boot clock at the moment the last request was SENT that renewed the session; None without a session.
        waiting_since: boot clock since when there is no assignment; None while there is one.
        refusal: the error of the last join that was refused; None if the last one was not.
        unauthorized: whether the broker has refused a request because the user lacks the right Read on the group.
        expelled: whether it was a member once, and then no longer.  Other workers may have owned its partitions since,
            and written to their changelogs; the engine does not know that, and would keep the states of those that
            are assigned to it again.
        leaders: a hash of the member id of the group's leader, by generation; of the last two generations.
        file: keeps the id of this member for the next process; None for a worker without a folder.
    """

    def __init__(self, clock: Callable[[], float] = boot_seconds) -> None:
        self._clock = clock
        self.renewed_at: float | None = None
        self.waiting_since: float | None = clock()
        self.refusal: Exception | None = None
        self.unauthorized = False
        self.expelled = False
        self.leaders: dict[int, int] = {}
        self.file: MemberFile | None = None
        self._was_member = False

    def listen(self, coordinator: Any) -> None:
        """Listen to one coordinator of aiokafka; call it before the first join."""
        send, report = coordinator._send_req, coordinator._push_error_to_user

        async def _send_req(request: Any) -> Any:
            sent_at = self._clock()
            if isinstance(request, JoinGroupRequest) and self.waiting_since is None:
                self.waiting_since = sent_at
            if isinstance(request, JoinGroupRequest) and self.file is not None:
                self.file.joining(coordinator, request)
            response = await send(request)
            self._note(request, getattr(response, "error_code", 0), sent_at)
            self._keep(request, response)
            if isinstance(request, JoinGroupRequest) and response.error_code == 0:
                before = dict([*self.leaders.items()][-1:])
                self.leaders = {**before, response.generation_id: crc32(response.leader_id.encode())}
            return response

        def _push_error_to_user(error: Exception) -> Any:
            # The coordinator may be unknown, and then no request is sent to it.
            self.unauthorized |= isinstance(error, GroupAuthorizationFailedError)
            return report(error)

        coordinator._send_req, coordinator._push_error_to_user = _send_req, _push_error_to_user

    def unique(self, generation_id: int) -> int:
        """A number for a generation, equal for all its members; it rises with the generations of a group.

        Once Kafka has forgotten the group, by its retention of offsets or because it was deleted, generations begin at
        1 again.  Then the leader has another member id, so no generation has the number of an earlier one.
        """
        return generation_id << 32 | self.leaders.get(generation_id, 0)

    def _keep(self, request: Any, response: Any) -> None:
        """Keep the id of this process while it is a member; the broker also waits for an id that has not joined yet."""
        if self.file is None:
            return
        if isinstance(request, JoinGroupRequest) and response.member_id:
            self.file.joined(response.member_id)
        elif isinstance(request, LeaveGroupRequest) and response.error_code == 0:
            self.file.left()

    def _note(self, request: Any, code: int, sent_at: float) -> None:
        if isinstance(request, HeartbeatRequest):
            if code in _ALIVE:
                self.renewed_at = sent_at
            elif code in _EXPELLED:
                self.renewed_at, self.waiting_since, self.expelled = None, self.waiting_since or sent_at, True
        elif isinstance(request, JoinGroupRequest):
            self.refusal = for_code(code)() if code else None
            # Whichever answer ended the membership, to a heartbeat or to a commit: it joins as a new member.
            self.expelled |= self._was_member and request._member_id == JoinGroupRequest.UNKNOWN_MEMBER_ID
        elif isinstance(request, SyncGroupRequest) and code == 0:
            self.renewed_at, self.waiting_since, self._was_member = sent_at, None, True
