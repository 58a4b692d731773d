"""The membership that a killed process leaves behind."""

import asyncio
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import NodeNotReadyError, UnknownMemberIdError  # type: ignore[import-untyped]
from aiokafka.protocol.group import (  # type: ignore[import-untyped]
    JoinGroupRequest,
    LeaveGroupRequest,
)

from stream_lsh.worker.engine.membership import predecessor
from stream_lsh.worker.engine.membership.group import GroupWatch
from stream_lsh.worker.engine.membership.predecessor import MemberFile


class Group:
    """A coordinator of the client whose broker admits every member; `sent` are its requests in order."""

    group_id, coordinator_id = "app", 7

    def __init__(self, leave: Any = 0) -> None:
        self.sent: list[tuple[str, str]] = []
        self._leave = leave
        self._client = SimpleNamespace(send=self._beside)
        self._push_error_to_user = None

    async def _beside(self, node: int, request: Any, *, group: Any) -> Any:
        assert node == self.coordinator_id
        self.sent.append(("leaves", request._member_id))
        if isinstance(self._leave, Exception):
            raise self._leave
        return SimpleNamespace(error_code=self._leave)

    async def _send_req(self, request: Any) -> Any:
        kind = "joins" if isinstance(request, JoinGroupRequest) else "leaves itself"
        self.sent.append((kind, request._member_id))
        await asyncio.sleep(2 * predecessor.JOIN_FIRST_SECONDS)  # the broker waits for the other members
        code = 0 if request._member_id else 79  # MEMBER_ID_REQUIRED
        return SimpleNamespace(error_code=code, member_id=request._member_id or "new", generation_id=1, leader_id="l")


async def member(path: Path, group: Group, *ids: str, leaves: bool = False) -> None:
    """A process that joins with these ids, one after the other, and leaves, or does not."""
    watch = GroupWatch()
    watch.file = MemberFile(path)
    watch.listen(group)
    for one in ids:
        await group._send_req(JoinGroupRequest("app", 6_000, 30_000, one, None, "consumer", []))
    if leaves:
        await group._send_req(LeaveGroupRequest("app", ids[-1]))
    await asyncio.sleep(2 * predecessor.JOIN_FIRST_SECONDS)


def test_a_worker_joins_and_then_removes_the_member_that_was_killed(tmp_path: Path) -> None:
    group, path = Group(), tmp_path / "member"
    asyncio.run(member(path, Group(), "", "old"))
    asyncio.run(member(path, group, "", "new", "new"))
    assert group.sent == [("joins", ""), ("joins", "new"), ("leaves", "old"), ("joins", "new")]


def test_a_worker_that_left_in_order_has_no_successor_that_removes_it(tmp_path: Path) -> None:
    group, path = Group(), tmp_path / "member"
    asyncio.run(member(path, Group(), "", "old", leaves=True))
    assert not path.exists()
    asyncio.run(member(path, group, "", "new"))
    assert group.sent == [("joins", ""), ("joins", "new")]


def test_an_id_that_never_joined_is_removed_too_because_the_broker_waits_for_it(tmp_path: Path) -> None:
    group, path = Group(), tmp_path / "member"
    asyncio.run(member(path, Group(), ""))
    asyncio.run(member(path, group, "other"))
    assert group.sent == [("joins", "other"), ("leaves", "new")]


def test_a_copied_folder_removes_no_live_member(tmp_path: Path) -> None:
    group = Group()
    asyncio.run(member(tmp_path / "member", Group(), "live"))
    shutil.copy(tmp_path / "member", tmp_path / "copy")
    asyncio.run(member(tmp_path / "copy", group, "new"))
    assert group.sent == [("joins", "new")]
    assert json.loads((tmp_path / "copy").read_text())["member"] == "new"


@pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"member": "old"}', b"\xff"])
def test_a_torn_file_removes_no_member_and_is_replaced(tmp_path: Path, torn: bytes) -> None:
    group, path = Group(), tmp_path / "member"
    path.write_bytes(torn)
    asyncio.run(member(path, group, "new"))
    assert group.sent == [("joins", "new")]
    assert json.loads(path.read_text())["member"] == "new"


@pytest.mark.parametrize("leave", [UnknownMemberIdError.errno, NodeNotReadyError("no connection")])
def test_a_broker_that_does_not_remove_the_member_hinders_no_start(tmp_path: Path, leave: Any) -> None:
    group, path = Group(leave), tmp_path / "member"
    asyncio.run(member(path, Group(), "old"))
    asyncio.run(member(path, group, "new"))
    assert group.sent == [("joins", "new"), ("leaves", "old")]
    assert json.loads(path.read_text())["member"] == "new"


def test_a_folder_without_room_hinders_no_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    group = Group()
    asyncio.run(member(tmp_path / "away" / "member", group, "new"))
    assert group.sent == [("joins", "new")]
    assert "cannot be written" in caplog.text
