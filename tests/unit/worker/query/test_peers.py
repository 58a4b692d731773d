"""Steps run on the processes that have the partitions: here two processes in one loop, whose states are numbers."""

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.query.distributed.owners import Peer, worker_url
from stream_lsh.worker.query.distributed.peers import Asked, Gathered, Peers, answer_call
from stream_lsh.worker.query.distributed.standing import not_available
from stream_lsh.worker.query.distributed.step_channel import Call, Reply, StepService
from stream_lsh.worker.query.distributed.steps import Part, Step
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.routes import ROUTES, find
from stream_lsh.worker.query.http.server import QueryServer, Request
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.worker.query.client import in_loop

STATE = PipelineState(parse("pipeline = {source = 'news', name = 'news'}", "news.toml", {}).pipelines[0], 4)


async def _double(part: Part) -> bytes:
    return b",".join(b"%d:%d" % one for one in part.states().items()) + part.body


async def _fail(part: Part) -> bytes:
    raise ValueError("secret")


async def _starve(part: Part) -> bytes:
    raise OSError(errno.EMFILE, "Too many open files", "/opt/lib/module.py")


STEPS = {
    "double": Step("documents", _double),
    "fail": Step("documents", _fail),
    "starve": Step("documents", _starve),
}


class FakeStanding:
    """Has some partitions, whose states are twice their numbers; `seen` are the owners as this process sees them."""

    state = "ready"

    def __init__(self, instance: str, has: Sequence[int]) -> None:
        self.instance, self.generation, self.has = instance, 7 << 32, list(has)
        self.follows: list[int] = []
        self.hangs = False
        self.seen: list[Mapping[int, Peer]] = []
        self.seen_followers: Mapping[int, Sequence[Peer]] = {}

    def expect_ready(self) -> None:
        return

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        return self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]

    def followers(self, state: PipelineState, table: str) -> Mapping[int, Sequence[Peer]]:
        return self.seen_followers

    def states(self, state: PipelineState, table: str, partitions: Sequence[int], *, stale: bool) -> dict[int, Any]:
        has = self.has + self.follows * stale
        if absent := [partition for partition in partitions if partition not in has]:
            raise not_available(table, absent, "not here")
        return {partition: 2 * partition for partition in partitions}

    def lags(self, state: PipelineState, table: str, partitions: Iterable[int]) -> list[int]:
        return [10 + partition for partition in partitions]


@asynccontextmanager
async def processes() -> AsyncIterator[tuple[FakeStanding, FakeStanding, Peers, dict[int, Peer]]]:
    """One process with the partitions 0 and 1, another one with 2 and 3; the first one asks."""
    here, there = FakeStanding("here", [0, 1]), FakeStanding("there", [2, 3])
    config = WorkerConfig(ask=f"127.0.0.1:{free_port()}")

    async def answer(call: Call) -> Reply:
        if there.hangs:
            await asyncio.sleep(60)
        return await answer_call(there, STEPS, {"news": STATE}, call)

    service = StepService(lambda: "there", lambda: 1_000, answer)
    server = QueryServer(config, {route.name: service.connect for route in ROUTES})
    await server.start()
    peers = Peers(here, STEPS, "")
    others = Peer(worker_url(config, "there").partition("#")[0], "there")
    owners = {0: Peer("", "here"), 1: Peer("", "here"), 2: others, 3: others}
    here.seen = [owners]
    try:
        yield here, there, peers, owners
    finally:
        await peers.stop()
        await service.stop()
        await server.stop()


def asked(partitions: Sequence[int], seconds: float = 5, step: str = "double", **options: Any) -> Asked:
    request = Request(find("GET", "/v1", ""), b"", {}, time.monotonic() + seconds)
    return Asked(STATE, step, partitions, lambda some: b"!", request, **options)


def texts(gathered: Gathered) -> list[bytes]:
    return sorted(body for _, body in gathered.answers)


@in_loop
async def test_each_process_is_asked_once_for_all_its_partitions() -> None:
    async with processes() as (_, _, peers, _):
        gathered = await peers.gather(asked([3, 0, 2]))
    assert texts(gathered) == [b"0:0!", b"2:4,3:6!"]
    assert (gathered.missing, gathered.lag) == ([], 10 + 12 + 13)


@in_loop
async def test_owners_are_looked_up_again_once() -> None:
    async with processes() as (here, _, peers, owners):
        here.seen = [{**owners, 2: Peer("http://127.0.0.1:9/v1", "gone")}, owners]
        assert texts(await peers.gather(asked([0, 2]))) == [b"0:0!", b"2:4!"]
        here.seen = [{0: owners[0]}, {0: owners[0]}, owners]
        with pytest.raises(Problem) as raised:
            await peers.gather(asked([0, 2]))
    assert (raised.value.name, raised.value.members) == ("not-now", {"missing": {"documents": [2]}})


@in_loop
async def test_an_answer_may_be_partial() -> None:
    async with processes() as (_, there, peers, _):
        there.has = [3]
        gathered = await peers.gather(asked([0, 2], partial=True))
    assert (texts(gathered), gathered.missing) == ([b"0:0!"], [2])


@in_loop
async def test_a_process_of_another_generation_does_not_answer() -> None:
    async with processes() as (_, there, peers, _):
        there.generation += 1 << 32
        assert (await peers.gather(asked([0, 2], partial=True))).missing == [2]
        there.generation -= 1 << 32
        assert (await peers.gather(asked([0, 2], partial=True))).missing == []


@in_loop
async def test_a_process_does_not_answer_for_another_one_at_its_address() -> None:
    async with processes() as (here, _, peers, owners):
        here.seen = [{2: Peer(owners[2].url, "before")}]
        assert (await peers.gather(asked([2], partial=True))).missing == [2]


@in_loop
async def test_a_follower_answers_only_where_stale_answers_are_allowed() -> None:
    async with processes() as (here, there, peers, owners):
        there.has, there.follows, here.seen_followers = [3], [2], {2: [owners[2]]}
        assert (await peers.gather(asked([2], partial=True))).missing == [2]
        assert texts(await peers.gather(asked([2], stale=True))) == [b"2:4!"]


@in_loop
async def test_a_process_that_hangs_leaves_time_for_a_partial_answer() -> None:
    async with processes() as (_, there, peers, _):
        there.hangs = True
        gathered = await peers.gather(asked([0, 2], seconds=2, partial=True))
        assert (texts(gathered), gathered.missing) == ([b"0:0!"], [2])
        with pytest.raises(Problem) as raised:
            await peers.gather(asked([0, 2], seconds=0.3))
        assert raised.value.name in ("too-late", "not-now")


@in_loop
async def test_a_step_does_not_begin_after_the_time_of_its_query() -> None:
    async with processes() as (_, _, peers, _):
        for partition in (0, 2):
            with pytest.raises(Problem) as raised:
                await peers.gather(asked([partition], seconds=-1))
            assert raised.value.name == "too-late"


@in_loop
async def test_an_exception_in_a_step_of_another_process_is_a_problem(caplog: pytest.LogCaptureFixture) -> None:
    async with processes() as (_, _, peers, _):
        with pytest.raises(Problem) as raised:
            await peers.gather(asked([2], step="fail"))
        assert raised.value.name == "failed"
        assert "secret" not in raised.value.detail
        assert "secret" in caplog.text


@in_loop
async def test_a_process_without_files_does_not_answer() -> None:
    async with processes() as (_, _, peers, _):
        assert (await peers.gather(asked([0, 2], partial=True, step="double"))).missing == []
        assert (await peers.gather(asked([2], partial=True, step="starve"))).missing == [2]
