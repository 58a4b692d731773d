"""The connection over which a process runs steps on another one: a WebSocket, with a call and a reply for each step.

Calls of several queries share the connection, and replies come in any order.  A request of HTTP for each step would
take two to three times the processor time.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import aiohttp
import msgspec
from aiohttp import WSMsgType, web

from stream_lsh.worker.query.distributed.owners import Peer
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.routes import INTERNAL
from stream_lsh.worker.query.http.server import Answer, Request

INSTANCE_HEADER = "Stream-LSH-Instance"
"""The name of the process that a connection is for."""
_HEARTBEAT_SECONDS = 10.0
"""The time between two pings; a connection whose other end does not answer one within half of it is closed."""
_CLOSE_SECONDS = 1.0

_log = logging.getLogger(__name__)


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A step that another process is to run; `left_ms` is the time left of the query."""

    number: int
    pipeline: str
    step: str
    partitions: tuple[int, ...]
    generation: int
    stale: bool
    left_ms: int
    body: bytes


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """The result of a call: the bytes of the step, or the name, detail and members of a problem."""

    number: int
    body: bytes = b""
    lag: int = 0
    problem: tuple[str, str, dict[str, Any]] | None = None

    @classmethod
    def of_problem(cls, call: Call, problem: Problem) -> "Reply":
        """The reply with a problem."""
        return cls(call.number, problem=(problem.name, problem.detail, dict(problem.members)))


Answering = Callable[[Call], Awaitable[Reply]]
Waiting = dict[int, asyncio.Future[Reply]]
"""The calls of a connection that have no reply yet, by number."""
_encoder = msgspec.msgpack.Encoder()
_calls, _replies = msgspec.msgpack.Decoder(Call), msgspec.msgpack.Decoder(Reply)


class StepChannel:
    """The end of the process that calls.

    Args:
        peer: the other process.
        headers: of the request that opens the connection.
    """

    def __init__(self, peer: Peer, headers: Mapping[str, str]) -> None:
        self._peer, self._headers = peer, {**headers, INSTANCE_HEADER: peer.instance}
        self._numbers = count()
        self._waiting: Waiting = {}
        self._opening = asyncio.Lock()
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is neither a connection nor a call that opens one."""
        return self._socket is None and not self._opening.locked()

    async def call(self, session: aiohttp.ClientSession, call: Call) -> Reply:
        """The reply of the other process; connects first if necessary.

        Raises:
            aiohttp.ClientError, OSError: there is no connection, or it has ended.
        """
        socket, waiting = await self._open(session)
        number, reply = next(self._numbers), asyncio.get_running_loop().create_future()
        waiting[number] = reply
        try:
            await socket.send_bytes(_encoder.encode(msgspec.structs.replace(call, number=number)))
            found: Reply = await reply
            return found
        finally:
            waiting.pop(number, None)

    async def close(self) -> None:
        """End the connection; calls that wait fail."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _open(self, session: aiohttp.ClientSession) -> tuple[aiohttp.ClientWebSocketResponse, Waiting]:
        async with self._opening:
            if self._socket is None or self._socket.closed:
                self._socket = await session.ws_connect(
                    self._peer.url + INTERNAL,
                    headers=self._headers,
                    heartbeat=_HEARTBEAT_SECONDS,
                    timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_SECONDS),
                    max_msg_size=0,
                )
                self._waiting = {}
                reading = self._read(self._socket, self._waiting)
                self._reading = asyncio.create_task(reading, name=f"replies of {self._peer.url}")
            return self._socket, self._waiting

    async def _read(self, socket: aiohttp.ClientWebSocketResponse, waiting: Waiting) -> None:
        """Pass replies to the calls that wait for them, until the connection ends."""
        try:
            async for message in socket:
                reply = _replies.decode(message.data)
                one = waiting.get(reply.number)
                if one is not None and not one.done():
                    one.set_result(reply)
        except (msgspec.MsgspecError, TypeError) as error:
            _log.warning("query API: %s sent an unexpected reply: %s", self._peer.url, error)
        finally:
            if self._socket is socket:
                self._socket = None
            for one in waiting.values():
                if not one.done():
                    one.set_exception(ConnectionResetError(f"{self._peer.url} has closed the connection"))
            await socket.close()


class StepService:
    """The end of the process that answers.

    Args:
        instance: the name of this process.
        most_bytes: the largest call; a larger one ends its connection.
        answer: runs the step of a call; it raises no exception.
    """

    def __init__(self, instance: Callable[[], str], most_bytes: Callable[[], int], answer: Answering) -> None:
        self._instance, self._most_bytes, self._answer = instance, most_bytes, answer
        self._sockets = set[web.WebSocketResponse]()

    async def connect(self, request: Request) -> Answer:
        """Answer the calls of one connection until it ends.

        Raises:
            Problem: not-now, the connection is for another process; malformed, it is no WebSocket.
        """
        # A page in a browser cannot send the header, and its name for this process is no instance.
        if request.headers.get(INSTANCE_HEADER) != self._instance():
            raise Problem("not-now", "the request is for another process")
        socket = web.WebSocketResponse(
            timeout=_CLOSE_SECONDS, heartbeat=_HEARTBEAT_SECONDS, max_msg_size=self._most_bytes(), compress=False
        )
        if not socket.can_prepare(request.http):
            raise Problem("malformed", "got a request without an upgrade, expected a WebSocket")
        await socket.prepare(request.http)
        self._sockets.add(socket)
        try:
            await self._serve(socket)
        finally:
            self._sockets.discard(socket)
        return Answer(socket)

    async def stop(self) -> None:
        """End all connections, and the steps that run for them."""
        await asyncio.gather(*[socket.close(code=aiohttp.WSCloseCode.GOING_AWAY) for socket in self._sockets])

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        running = set[asyncio.Task[None]]()
        try:
            async for message in socket:
                if message.type is not WSMsgType.BINARY:
                    break
                task = asyncio.create_task(self._reply(socket, _calls.decode(message.data)))
                running.add(task)
                task.add_done_callback(running.discard)
        except msgspec.MsgspecError:
            await socket.close(code=aiohttp.WSCloseCode.PROTOCOL_ERROR)
        finally:
            for task in running:
                task.cancel()

    async def _reply(self, socket: web.WebSocketResponse, call: Call) -> None:
        encoded = _encoder.encode(await self._answer(call))
        with contextlib.suppress(ConnectionError):  # the caller has left
            await socket.send_bytes(encoded)
