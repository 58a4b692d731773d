"""A worker that replaces a dead one removes it from the group.

Fault (any Kafka client): a process that is killed does not leave its group.  Its partitions wait until the session
expires, after 6 s by default, even if the process is started again at once.

So a worker keeps the id of its membership in a file, and the process that uses the file next leaves the group on behalf
of this member.  It joins first, because a group without members waits for `group.initial.rebalance.delay.ms`, 3 s by
default, when the first one joins.

The caller guarantees that the earlier process is dead: it holds a lock that lives as long as the process.  The file
names its own inode, so that a copy of it removes no live member.

Delete when: the broker notices that the connection of a member is closed.
"""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

from aiokafka.client import ConnectionGroup  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError, for_code  # type: ignore[import-untyped]
from aiokafka.protocol.group import JoinGroupRequest, LeaveGroupRequest  # type: ignore[import-untyped]

JOIN_FIRST_SECONDS = 0.02
"""The time by which the request to join precedes the request to leave, which uses another connection."""

_log = logging.getLogger(__name__)


class MemberFile:
    """The file with the id of this process in its group, which is that of its predecessor at first.

    Args:
        path: of the file; no other process may use it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._predecessor = self._read()
        self._leaving: asyncio.Task[None] | None = None

    def _read(self) -> str | None:
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return str(stored["member"]) if stored["inode"] == self._path.stat().st_ino else None
        except (OSError, ValueError, KeyError, TypeError):  # no file, a torn one: the session will expire
            return None

    def joining(self, coordinator: Any, request: Any) -> None:
        """Remove the predecessor from the group, once; called when a request to join is about to be sent.

        Args:
            coordinator: of aiokafka, which sends the request.
            request: not the first one, which only asks for an id.
        """
        if self._predecessor is None or request._member_id == JoinGroupRequest.UNKNOWN_MEMBER_ID:
            return
        leave = LeaveGroupRequest(coordinator.group_id, self._predecessor)
        self._predecessor = None
        self._leaving = asyncio.create_task(_leave(coordinator, leave))

    def joined(self, member: str) -> None:
        """Keep the id that the broker has given to this process."""
        try:
            with self._path.open("w", encoding="utf-8") as file:
                json.dump({"member": member, "inode": self._path.stat().st_ino}, file)
        except OSError as error:  # a restart after a kill will wait for the session
            _log.warning("%s cannot be written: %s", self._path, error)

    def left(self) -> None:
        """Forget the id: this process is no longer a member."""
        self._path.unlink(missing_ok=True)


async def _leave(coordinator: Any, request: Any) -> None:
    """Leave on behalf of a dead member; if this fails, its session expires later."""
    await asyncio.sleep(JOIN_FIRST_SECONDS)
    # The broker answers a connection in order, and the request to join waits for the other members.
    try:
        response = await coordinator._client.send(coordinator.coordinator_id, request, group=ConnectionGroup.DEFAULT)
    except KafkaError as error:
        _log.info("the dead member %s stays in the group until its session expires: %s", request._member_id, error)
        return
    if response.error_code == 0:
        _log.info("removed the member %s from the group: its process is dead", request._member_id)
    else:
        _log.debug("the member %s is no longer in the group: %s", request._member_id, for_code(response.error_code))
