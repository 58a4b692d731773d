"""A service that gives prepared answers, and both clients as one: each call is made by the one or the other."""

import asyncio
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from stream_lsh import AsyncClient, Client

CLOSE = b""
"""Close the connection without an answer."""


class Received(NamedTuple):
    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


class Scripted:
    """The service: its address, the answers that are left, and the requests that it got."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.answers, self.requests = list(answers), list[Received]()
        self.connections = 0
        self.address = ""

    def serve(self, reader: Any, writer: Any) -> None:
        self.connections += 1
        number = self.connections
        while line := reader.readline().decode():
            headers = {}
            while header := reader.readline().decode().strip():
                name, _, value = header.partition(":")
                headers[name.lower()] = value.strip()
            body = reader.read(int(headers.get("content-length", 0)))
            self.requests.append(Received(line.strip(), headers, body, number))
            answer = self.answers.pop(0)
            if answer == CLOSE:
                return
            writer.write(answer)
            writer.flush()
            if b"Connection: close" in answer:
                return


def answer(status: int, value: Any, kind: str = "application/json", headers: str = "") -> bytes:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def problem(status: int, name: str, headers: str = "", **members: Any) -> bytes:
    value = {"type": f"urn:stream-lsh:problem:{name}", "title": name, "status": status, "detail": "a reason", **members}
    return answer(status, value, "application/problem+json", headers)


@contextmanager
def scripted(*answers: bytes) -> Iterator[Scripted]:
    service = Scripted(answers)

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            service.serve(self.rfile, self.wfile)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    with Server(("127.0.0.1", 0), Connection) as server:
        service.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


class Call(NamedTuple):
    """A call of a client: the method and its arguments."""

    name: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})


def by_threads(url: str, *calls: Call, **settings: Any) -> list[Any]:
    """The results of calls of one `Client`; of events, as many as `count`."""
    count = settings.pop("count", 0)
    with Client(url, "news", **settings) as client:
        found = [getattr(client, call.name)(*call.args, **call.options) for call in calls]
        return [*islice(found[0], count)] if count else found


def by_loop(url: str, *calls: Call, **settings: Any) -> list[Any]:
    """The same of one `AsyncClient`."""
    count = settings.pop("count", 0)

    async def run() -> list[Any]:
        async with AsyncClient(url, "news", **settings) as client:
            if not count:
                return [await getattr(client, call.name)(*call.args, **call.options) for call in calls]
            found, stream = [], client.events(*calls[0].args, **calls[0].options)
            async for event in stream:
                found.append(event)
                if len(found) == count:
                    break
            await stream.aclose()
            return found

    return asyncio.run(run())
