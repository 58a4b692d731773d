"""Runs a step of a query on the processes that have the partitions: one request to each, all at once.

A process that does not answer may have just lost its partitions, so their owners are looked up a second time.  The
answer lists the partitions that are still missing.  For its own partitions, this process calls the step directly.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import aiohttp
import msgspec

from stream_lsh.errors import StateError
from stream_lsh.worker.query.owners import Peer
from stream_lsh.worker.query.problems import Problem, problem_of
from stream_lsh.worker.query.routes import BYTES, INTERNAL
from stream_lsh.worker.query.server import DEADLINE_HEADER, Answer, Request
from stream_lsh.worker.query.standing import Standing, not_available
from stream_lsh.worker.query.steps import Part, Steps, run_step
from stream_lsh.worker.state import PipelineState

GENERATION_HEADER = "Stream-LSH-Generation"
INSTANCE_HEADER = "Stream-LSH-Instance"
LAG_HEADER = "Stream-LSH-Lag"
_AGAIN_SECONDS = 0.02
_KEEP_ALIVE_SECONDS = 60.0
_ADDRESS_SECONDS = 5.0
_SHARE = 0.5
_OTHER_VERSION = ("unauthorised", "unknown-path", "unknown-pipeline", "wrong-method")
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
        self._headers = {"Content-Type": BYTES} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._session: aiohttp.ClientSession | None = None

    async def stop(self) -> None:
        """Close the connections."""
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
            await asyncio.sleep(0)  # the library sends requests in tasks of their own
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
        headers = {
            **self._headers,
            DEADLINE_HEADER: str(left_ms),
            GENERATION_HEADER: str(part.generation),
            INSTANCE_HEADER: peer.instance,
        }
        url = f"{peer.url}{INTERNAL}/{asked.state.config.name}/{asked.step}"
        parameters = {
            "partitions": ",".join(map(str, part.partitions)),
            "stale": "allow" if part.stale else "reject",
        }
        # A process that hangs leaves time for an answer without it.
        seconds = left_ms / 1_000 * (_SHARE if asked.partial or asked.stale else 1.0)
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._open().post(
            url, params=parameters, data=part.body, headers=headers, timeout=timeout
        ) as response:
            data = await response.read()
            if response.status == 200:
                return _Answer(part.partitions, data, int(response.headers.get(LAG_HEADER, "0")))
        # A worker that rejects the token or does not know the step has another configuration or version.
        problem = problem_of(data)
        if problem is None or problem.name in _OTHER_VERSION:
            raise Problem("not-now", "another worker rejects the requests of this one")
        raise problem

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_SECONDS)
            jar = aiohttp.DummyCookieJar()
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=jar, auto_decompress=False)
        return self._session


async def answer_step(standing: Standing, steps: Steps, state: PipelineState, request: Request) -> Answer:
    """The answer to the request of another process for a step.

    Raises:
        Problem: not-now; the request is for another process, or of another generation, or the states are not complete.
    """
    name, headers = request.found.path["step"], request.headers
    if name not in steps:
        raise Problem("unknown-path", "got a step that does not exist")
    if headers.get(INSTANCE_HEADER) != standing.instance:
        raise Problem("not-now", "the request is for another process")
    step, partitions = steps[name], _partitions(request.found.query["partitions"])
    generation, stale = _number(headers.get(GENERATION_HEADER, "")), request.found.query["stale"] == "allow"
    part = Part(state, step.table, partitions, request.body, request.deadline, standing, generation, stale)
    try:
        body = await run_step(step, part)
    except StateError as error:
        raise Problem("not-now", f"the processes have different settings or versions: {error}") from None
    return Answer(body, headers={LAG_HEADER: str(part.lag), "Content-Type": BYTES})


def _number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        raise Problem("malformed", f"{GENERATION_HEADER}: got {text!a:.60}, expected a number")
    return int(text)


def _partitions(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and len(part) < 6 for part in parts):
        raise Problem("malformed", f"partitions: got {text!a:.60}, expected whole numbers")
    return tuple(map(int, parts))
