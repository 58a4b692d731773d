"""The connection between two processes: many calls at a time, and ends of every kind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import pytest
from aiohttp import web

from stream_lsh.config.worker import WorkerConfig
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.query.distributed.owners import Peer
from stream_lsh.worker.query.distributed.step_channel import INSTANCE_HEADER, Call, Reply, StepChannel, StepService
from stream_lsh.worker.query.http.routes import ROUTES
from stream_lsh.worker.query.http.server import QueryServer
from tests.unit.worker.query.client import client, in_loop

MOST_BYTES = 1_000
HEADER = {INSTANCE_HEADER: "there"}


def call(body: bytes = b"", number: int = 0) -> Call:
    return Call(number, "news", "echo", (0, 3), 7 << 32, False, 1_000, body)


async def echo(call: Call) -> Reply:
    """The body of the call, after as many hundredths of a second as its first letter is after `0`."""
    await asyncio.sleep((call.body[0] - ord("0")) / 100 if call.body else 0)
    return Reply(call.number, call.body, 5)


class Process:
    """A process that answers, which can be stopped and started again at its address."""

    def __init__(self, answer: Callable[[Call], Awaitable[Reply]]) -> None:
        self.address, self._answer = f"127.0.0.1:{free_port()}", answer
        self.peer = Peer(f"http://{self.address}/v1", "there")

    async def start(self) -> None:
        self.service = StepService(lambda: "there", lambda: MOST_BYTES, self._answer)
        handlers = {route.name: self.service.connect for route in ROUTES}
        self.server = QueryServer(WorkerConfig(ask=self.address), handlers)
        await self.server.start()

    async def stop(self) -> None:
        await self.service.stop()
        await self.server.stop()


@asynccontextmanager
async def connected(
    answer: Callable[[Call], Awaitable[Reply]] = echo,
) -> AsyncIterator[tuple[Process, StepChannel, aiohttp.ClientSession]]:
    process = Process(answer)
    await process.start()
    async with aiohttp.ClientSession() as session:
        channel = StepChannel(process.peer, {})
        try:
            yield process, channel, session
        finally:
            await channel.close()
            await process.stop()


@in_loop
async def test_calls_run_at_the_same_time_and_each_has_its_reply() -> None:
    running = asyncio.Barrier(50)

    async def together(call: Call) -> Reply:
        await running.wait()
        return await echo(call)

    async with connected(together) as (_, channel, session):
        bodies = [b"%d of %d" % (9 - number % 10, number) for number in range(50)]
        replies = await asyncio.gather(*[channel.call(session, call(body)) for body in bodies])
        assert [(reply.body, reply.lag) for reply in replies] == [(body, 5) for body in bodies]


@in_loop
async def test_a_process_that_is_started_again_is_connected_again() -> None:
    begun, finished = asyncio.Event(), list[Call]()

    async def endless(call: Call) -> Reply:
        if call.body == b"endless":
            begun.set()
            await asyncio.Event().wait()
            finished.append(call)
        return await echo(call)

    async with connected(endless) as (process, channel, session):
        assert (await channel.call(session, call(b"0"))).body == b"0"
        waiting = asyncio.create_task(channel.call(session, call(b"endless")))
        await begun.wait()
        await process.stop()  # although the step would still run
        with pytest.raises(OSError, match="closed the connection"):
            await waiting
        assert finished == []
        with pytest.raises(aiohttp.ClientError):
            await channel.call(session, call(b"0"))
        assert channel.is_idle
        await process.start()
        assert (await channel.call(session, call(b"0"))).body == b"0"


@in_loop
async def test_an_abandoned_call_disturbs_no_other() -> None:
    async with connected() as (_, channel, session):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await channel.call(session, call(b"9"))
        assert (await channel.call(session, call(b"9!"))).body == b"9!"


@in_loop
async def test_a_call_that_is_too_large_ends_the_connection_and_not_the_process() -> None:
    async with connected() as (_, channel, session):
        with pytest.raises(OSError, match="closed the connection"):
            await channel.call(session, call(bytes(2 * MOST_BYTES)))
        assert (await channel.call(session, call(b"0"))).body == b"0"


@pytest.mark.parametrize(
    "sent",
    [b"", b"\xc1", b"\x98" * 900, msgspec.msgpack.encode(["0", "news"]), msgspec.msgpack.encode(Reply(1)), "a text"],
)
@in_loop
async def test_messages_that_are_no_calls_end_their_connection_only(sent: bytes | str) -> None:
    async with connected() as (process, channel, session):
        async with session.ws_connect(process.peer.url + "/internal", headers=HEADER) as socket:
            await (socket.send_str(sent) if isinstance(sent, str) else socket.send_bytes(sent))
            answer = await socket.receive(timeout=5)
            assert answer.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert (await channel.call(session, call(b"0"))).body == b"0"


@pytest.mark.parametrize("headers", [{}, {INSTANCE_HEADER: "before"}, {"Origin": "http://127.0.0.1"}])
@in_loop
async def test_only_processes_that_know_the_name_of_this_one_can_connect(headers: dict[str, str]) -> None:
    async with connected() as (process, _, session):
        with pytest.raises(aiohttp.WSServerHandshakeError) as raised:
            await session.ws_connect(process.peer.url + "/internal", headers=headers)
        assert raised.value.status == 503
        other = StepChannel(Peer(process.peer.url, "before"), {})
        with pytest.raises(aiohttp.ClientError):
            await other.call(session, call())


@in_loop
async def test_a_request_that_is_no_websocket_is_a_problem() -> None:
    async with connected() as (process, _, _), client(process.address) as requests:
        answer = await requests.session.get(process.peer.url + "/internal", headers=HEADER)
        assert (answer.status, (await answer.json(content_type=None))["type"]) == (
            400,
            "urn:stream-lsh:problem:malformed",
        )


@pytest.mark.parametrize("reply", [b"\xc1", "a text", b""])
@in_loop
async def test_a_reply_that_cannot_be_read_ends_the_connection(reply: bytes | str) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        await (socket.send_str(reply) if isinstance(reply, str) else socket.send_bytes(reply))
        await socket.receive()
        return socket

    runner, port = web.ServerRunner(web.Server(answer)), free_port()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    channel = StepChannel(Peer(f"http://127.0.0.1:{port}/v1", "there"), {})
    try:
        async with aiohttp.ClientSession() as session:
            with pytest.raises(OSError, match="closed the connection"):
                await channel.call(session, call(b"0"))
            assert channel.is_idle
    finally:
        await channel.close()
        await runner.cleanup()
