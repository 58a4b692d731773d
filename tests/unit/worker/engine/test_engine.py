"""The parts of the engine's room that need no broker."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupAuthorizationFailedError,
    IllegalGenerationError,
    InvalidSessionTimeoutError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
)
from aiokafka.protocol.group import (  # type: ignore[import-untyped]
    HeartbeatRequest,
    JoinGroupRequest,
    SyncGroupRequest,
)
from faust.types import TP

from stream_lsh.errors import ConfigError, DoubtError, StateError
from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.membership.fence import ZombieFence
from stream_lsh.worker.engine.membership.group import GroupWatch
from stream_lsh.worker.engine.membership.watchdog import Watchdog
from stream_lsh.worker.engine.reading.contiguity import ContiguityGuard
from stream_lsh.worker.engine.versions import TESTED, require_tested_engine

TP0 = TP("inner", 0)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def answered(group: GroupWatch, kind: Any, code: int = 0, sent_at: float = 0.0, member_id: str = "") -> None:
    request = kind.__new__(kind)
    request._member_id = member_id
    group._note(request, code, sent_at)


def test_a_generation_has_a_number_that_no_forgotten_group_had() -> None:
    """All members see the same leader, which has a new id once the group was deleted."""

    async def joined(watch: GroupWatch, generation_id: int, leader_id: str) -> int:
        answer = SimpleNamespace(error_code=0, generation_id=generation_id, leader_id=leader_id)

        async def send(request: Any) -> Any:
            return answer

        coordinator = SimpleNamespace(_send_req=send, _push_error_to_user=None)
        watch.listen(coordinator)
        request = JoinGroupRequest.__new__(JoinGroupRequest)
        request._member_id = "one"
        await coordinator._send_req(request)
        return watch.unique(generation_id)

    async def run() -> tuple[list[int], int, list[int]]:
        one, other = GroupWatch(Clock()), GroupWatch(Clock())
        numbers = [await joined(one, 1, "one-5"), await joined(one, 2, "one-5"), await joined(one, 3, "two-8")]
        return numbers, await joined(other, 3, "two-8"), [await joined(one, 1, "one-7"), one.unique(3)]

    numbers, of_other, later = asyncio.run(run())
    assert numbers == sorted(numbers)
    assert of_other == numbers[2] == later[1], "the last but one is still known"
    assert later[0] not in numbers
    assert later[0] >> 32 == 1


def test_a_fence_opens_with_a_session_and_closes_before_it_ends() -> None:
    clock = Clock()
    group = GroupWatch(clock)
    fence = ZombieFence(group, session_timeout=10.0, clock=clock)
    with pytest.raises(DoubtError, match="no session"):
        fence.check()
    answered(group, SyncGroupRequest, sent_at=100.0)
    for now, writes in ((100.0, True), (107.9, True), (108.1, False), (200.0, False)):
        clock.now = now
        if writes:
            fence.check()
        else:
            with pytest.raises(DoubtError, match="last heartbeat"):
                fence.check()
    answered(group, HeartbeatRequest, sent_at=200.0)
    fence.check()
    answered(group, HeartbeatRequest, IllegalGenerationError.errno, sent_at=201.0)
    with pytest.raises(DoubtError, match="removed this worker"):
        fence.check()
    assert group.waiting_since == 201.0


class EndedError(Exception):
    pass


class EndingApp:
    """An app that can only end."""

    async def may_write(self) -> None:
        raise EndedError


@pytest.mark.parametrize("error", [UnknownMemberIdError, IllegalGenerationError, None])
def test_an_expelled_worker_may_not_write_whatever_response_reports_it(error: Any) -> None:
    group = GroupWatch(Clock())
    fence = ZombieFence(group, session_timeout=10.0, clock=Clock())
    answered(group, JoinGroupRequest)  # the first join has no id either
    answered(group, SyncGroupRequest, sent_at=99.0)
    answered(group, JoinGroupRequest, member_id="one")  # a rebalance like any other
    answered(group, SyncGroupRequest, sent_at=100.0)
    fence.check()
    if error is not None:
        answered(group, HeartbeatRequest, error.errno)
    answered(group, JoinGroupRequest)
    answered(group, SyncGroupRequest, sent_at=101.0)
    with pytest.raises(DoubtError, match="removed this worker"):
        fence.check()
    app = EndingApp()
    with pytest.raises(EndedError):
        asyncio.run(Watchdog(app, group, join_seconds=1.0, recovery_seconds=1.0).run())


def watched(**state: Any) -> tuple[Watchdog, Any, Clock]:
    """A watchdog of a worker that is in its group, at the beginning of a rebalance."""
    clock = Clock()
    group = GroupWatch(clock)
    answered(group, SyncGroupRequest, sent_at=100.0)
    recovery = SimpleNamespace(in_recovery=False, active_offsets={TP0: 1}, active_remaining_total=lambda: 0)
    app = SimpleNamespace(tables=SimpleNamespace(recovery=recovery), consumer_generation_id=1, rebalancing=True)
    vars(app).update(state)
    return Watchdog(app, group, join_seconds=90.0, recovery_seconds=60.0, clock=clock), app, clock


def check_for(seconds: float, watchdog: Watchdog, clock: Clock) -> None:
    for _ in range(int(4 * seconds)):
        clock.now += 0.25
        watchdog.check()


def test_a_rebalance_that_never_ends_ends_the_worker() -> None:
    watchdog, app, clock = watched()
    for _ in range(300):  # each step of it is some progress
        clock.now += 0.25
        app.consumer_generation_id += 1
        watchdog.check()
    with pytest.raises(DoubtError, match="has not ended on this worker for 60 s"):
        check_for(62.5, watchdog, clock)


def test_a_worker_at_work_and_one_that_waits_to_be_let_in_are_not_in_a_rebalance() -> None:
    watchdog, app, clock = watched(rebalancing=False)
    check_for(100.0, watchdog, clock)
    app.rebalancing = True
    answered(watchdog._group, HeartbeatRequest, UnknownMemberIdError.errno, clock.now)
    check_for(85.0, watchdog, clock)
    with pytest.raises(DoubtError, match="s to join the consumer group"):
        check_for(7.5, watchdog, clock)


def test_the_time_that_a_worker_takes_to_load_its_state_is_no_stall() -> None:
    watchdog, _, clock = watched()
    watchdog.check()
    clock.now += 500.0
    watchdog.check()
    clock.now += 50.0
    watchdog.check()


def test_a_refused_join_is_remembered_until_one_is_not() -> None:
    group = GroupWatch(Clock())
    answered(group, JoinGroupRequest, InvalidSessionTimeoutError.errno)
    assert isinstance(group.refusal, InvalidSessionTimeoutError)
    answered(group, JoinGroupRequest)
    assert group.refusal is None


def test_a_worker_that_may_not_read_from_its_group_ends_at_once() -> None:
    watchdog, _, _ = watched(conf=SimpleNamespace(id="newsroom"))
    reported: list[Exception] = []
    coordinator = SimpleNamespace(_send_req=None, _push_error_to_user=reported.append)
    watchdog._group.listen(coordinator)
    for error in (TopicAuthorizationFailedError("articles"), GroupAuthorizationFailedError("newsroom")):
        watchdog.check()
        coordinator._push_error_to_user(error)
    with pytest.raises(ConfigError, match="the broker refuses the consumer group newsroom: this user lacks"):
        watchdog.check()
    assert len(reported) == 2


def event(first: int, last: int, generation: int = 1, tp: TP = TP0) -> Any:
    message = SimpleNamespace(tp=tp, topic=tp.topic, partition=tp.partition, offset=last, generation_id=generation)
    return SimpleNamespace(message=message, value=[SimpleNamespace(offset=first), SimpleNamespace(offset=last)])


def test_a_gap_is_noticed_at_the_start_of_a_generation_and_within_it() -> None:
    guard = ContiguityGuard({TP0: 5}.get)
    guard.check(event(5, 8))
    guard.check(event(9, 9))
    with pytest.raises(DoubtError, match="continues at offset 11, expected 10"):
        guard.check(event(11, 12))
    with pytest.raises(DoubtError, match="expected 5"):
        guard.check(event(6, 8, generation=2))


def test_an_offset_that_comes_again_within_a_generation_is_noticed() -> None:
    guard = ContiguityGuard({TP0: 5}.get, gaps_allowed=["inner"])
    guard.check(event(3, 8))  # committed since the request
    guard.check(event(9, 9))
    with pytest.raises(StateError, match="continues at offset 0, expected 10: it was truncated"):
        guard.check(event(0, 3))
    guard.check(event(5, 9, generation=2))  # read again by the next owner


def test_a_source_may_have_gaps() -> None:
    guard = ContiguityGuard({TP0: 5}.get, gaps_allowed=["inner"])
    guard.check(event(7, 8))
    guard.check(event(12, 12))


def test_an_engine_that_was_not_tested_is_refused_with_the_version_to_install() -> None:
    require_tested_engine()
    with pytest.raises(ConfigError, match=r"install faust-streaming==0\.15\.3"):
        require_tested_engine({**{name: tested[-1] for name, tested in TESTED.items()}, "faust-streaming": "0.16.0"})


def test_settings_that_the_guarantees_depend_on_cannot_be_changed() -> None:
    with pytest.raises(ConfigError, match="stream_wait_empty is fixed"):
        EngineApp("news", stream_wait_empty=False)
