"""Runs a step of a query on the processes that have the partitions: one call to each, all at once.

A process that does not answer may have just lost its partitions, so their owners are looked up a second time.  The
answer lists the partitions that are still missing.  For its own partitions, this process calls the step directly.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import aiohttp
import msgspec

from stream_lsh.errors import StateError
from stream_lsh.worker.query.distributed.owners import Peer
from stream_lsh.worker.query.distributed.standing import Standing, not_available
from stream_lsh.worker.query.distributed.step_channel import Call, Reply, StepChannel
from stream_lsh.worker.query.distributed.steps import Part, Steps, run_step
from stream_lsh.worker.query.http.problems import Problem, problem_of
from stream_lsh.worker.query.http.server import Request
from stream_lsh.worker.state.pipeline_state import PipelineState

_AGAIN_SECONDS = 0.02
_ADDRESS_SECONDS = 5.0
_SHARE = 0.5
_OTHER_VERSION = ("unknown-path", "unknown-pipeline")
"""Problems of a process with another configuration or version."""

Body = Callable[[Sequence[int]], bytes]
"""The argument of a step for the given partitions."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A step that is to run on some partitions.

    Attributes:
        state: of the pipeline.
        step: its name.
        partitions: of the step's table.
        body: its argument for those of one process.
        request: of the client; its deadline is that of the step.
        partial: partitions may be missing from the answer; otherwise they are a problem.
        stale: standbys may answer for them.
    """

    state: PipelineState
    step: str
    partitions: Iterable[int]
    body: Body
    request: Request
    partial: bool = False
    stale: bool = False


@dataclass(slots=True)
class Gathered:
    """The answers of all processes.

    Attributes:
        answers: bytes of each, with the partitions that it is for.
        missing: partitions that no process answers for, ascending.
        lag: messages that the states of the answers do not contain yet.
    """

    answers: list[tuple[Sequence[int], bytes]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    lag: int = 0


class _Assignment(NamedTuple):
    """The processes by partition in one generation, either the owners or, `stale`, followers."""

    peers: Mapping[int, Peer]
    generation: int
    stale: bool


class _Answer(NamedTuple):
    partitions: Sequence[int]
    body: bytes
    lag: int


class Peers:
    """The processes of the application.

    Args:
        standing: of this process.
        steps: by name.
        token: accepted by the others; "" for none.
    """

    def __init__(self, standing: Standing, steps: Steps, token: str) -> None:
        self._standing, self._steps = standing, steps
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._session: aiohttp.ClientSession | None = None
        self._channels: dict[Peer, StepChannel] = {}

    async def stop(self) -> None:
        """Close the connections."""
        await asyncio.gather(*[channel.close() for channel in self._channels.values()])
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def instance_at(self, url: str) -> str:
        """The name of the process that answers at a URL, or why none does."""
        timeout = aiohttp.ClientTimeout(total=_ADDRESS_SECONDS)
        try:
            async with self._open().get(url, headers=self._headers, timeout=timeout) as response:
                described = msgspec.json.decode(await response.read())
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return f"no answer ({type(error).__name__})"
        name = described.get("worker") if isinstance(described, dict) else None
        return name if isinstance(name, str) else f"an answer of something else, with status {response.status}"

    async def gather(self, asked: Asked) -> Gathered:
        """Run a step on partitions, wherever they are.

        Raises:
            Problem: not-now, with the missing partitions, unless the answer may be partial; others as the step raises
                them.
        """
        gathered, left = Gathered(), sorted(set(asked.partitions))
        table = self._steps[asked.step].table
        for again in (False, True):
            if again:
                await asyncio.sleep(_AGAIN_SECONDS)
            left = await self._run(asked, left, self._owners(asked.state, table), gathered)
            if not left:
                break
        if left and asked.stale:
            left = await self._run(asked, left, self._followers(asked.state, table), gathered)
        if left and not asked.partial:
            raise not_available(table, left, "no process has these partitions at the moment")
        gathered.missing = left
        return gathered

    def _owners(self, state: PipelineState, table: str) -> _Assignment:
        generation = self._standing.generation  # before the owners: theirs is this one or a later one
        return _Assignment(self._standing.owners(state, table), generation, stale=False)

    def _followers(self, state: PipelineState, table: str) -> _Assignment:
        generation, followers = self._standing.generation, self._standing.followers(state, table)
        return _Assignment({partition: ones[0] for partition, ones in followers.items()}, generation, stale=True)

    async def _run(
        self, asked: Asked, partitions: Sequence[int], assignment: _Assignment, gathered: Gathered
    ) -> list[int]:
        """Ask the given processes; returns the partitions without an answer."""
        by_peer: dict[Peer, list[int]] = {}
        for partition in partitions:
            if partition in assignment.peers:
                by_peer.setdefault(assignment.peers[partition], []).append(partition)
        # The other processes work while this one does, so their requests go first.
        peers = sorted(by_peer, key=lambda peer: peer.instance == self._standing.instance)
        calls = [self._ask(asked, peer, tuple(by_peer[peer]), assignment) for peer in peers]
        for answer in await asyncio.gather(*calls):
            if answer is not None:
                gathered.answers.append((answer.partitions, answer.body))
                gathered.lag += answer.lag
        answered = {partition for some, _ in gathered.answers for partition in some}
        return [partition for partition in partitions if partition not in answered]

    async def _ask(
        self, asked: Asked, peer: Peer, partitions: Sequence[int], assignment: _Assignment
    ) -> _Answer | None:
        """The answer of one process; None if it does not answer now."""
        step, standing = self._steps[asked.step], self._standing
        body, (_, generation, stale) = asked.body(partitions), assignment
        part = Part(asked.state, step.table, partitions, body, asked.request.deadline, standing, generation, stale)
        try:
            if peer.instance != standing.instance:
                return await self._send(asked, peer, part)
            return _Answer(partitions, await run_step(step, part), part.lag)
        except Problem as problem:
            if problem.name != "not-now":
                raise
        except (aiohttp.ClientError, OSError):
            pass
        return None

    async def _send(self, asked: Asked, peer: Peer, part: Part) -> _Answer:
        left_ms = asked.request.left_ms
        if left_ms == 0:
            raise Problem("too-late", "the time of the query is up")
        name, partitions = asked.state.config.name, tuple(part.partitions)
        call = Call(0, name, asked.step, partitions, part.generation, part.stale, left_ms, part.body)
        # A process that hangs leaves time for an answer without it.
        async with asyncio.timeout(left_ms / 1_000 * (_SHARE if asked.partial or asked.stale else 1.0)):
            reply = await self._channel(peer).call(self._open(), call)
        if reply.problem is None:
            return _Answer(part.partitions, reply.body, reply.lag)
        problem, detail, members = reply.problem
        if problem in _OTHER_VERSION:
            raise Problem("not-now", "another worker rejects the calls of this one")
        raise Problem(problem, detail, **members)

    def _channel(self, peer: Peer) -> StepChannel:
        channel = self._channels.get(peer)
        if channel is None:
            # A process that is started again is another peer.
            self._channels = {one: each for one, each in self._channels.items() if not each.is_idle}
            channel = self._channels[peer] = StepChannel(peer, self._headers)
        return channel

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        return self._session


async def answer_call(standing: Standing, steps: Steps, pipelines: Mapping[str, PipelineState], call: Call) -> Reply:
    """The reply to the call of another process.

    It has the problem not-now if the call is of another generation, or the states are not complete.
    """
    try:
        return await _answered(standing, steps, pipelines, call)
    except StateError as error:
        detail = f"the processes have different settings or versions: {error}"
        return Reply.of_problem(call, Problem("not-now", detail))
    except Exception as error:
        return Reply.of_problem(call, problem_of(error, f"the step {call.step}"))


async def _answered(standing: Standing, steps: Steps, pipelines: Mapping[str, PipelineState], call: Call) -> Reply:
    if call.pipeline not in pipelines:
        raise Problem("unknown-pipeline", "got a pipeline that does not exist")
    if call.step not in steps:
        raise Problem("unknown-path", "got a step that does not exist")
    state, step = pipelines[call.pipeline], steps[call.step]
    seconds = call.left_ms / 1_000
    deadline = time.monotonic() + seconds
    part = Part(state, step.table, call.partitions, call.body, deadline, standing, call.generation, call.stale)
    async with asyncio.timeout(seconds):
        return Reply(call.number, await run_step(step, part), part.lag)
