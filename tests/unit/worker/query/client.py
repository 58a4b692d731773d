"""A listener in the loop of a test, and requests whose answers are compared with docs/openapi.yaml."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
from yarl import URL

from tests.openapi import check_answer


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that runs in a loop of its own."""

    @functools.wraps(test)
    def run(*args: Any, **options: Any) -> None:
        asyncio.run(test(*args, **options))

    return run


class Answered(NamedTuple):
    status: int
    value: Any
    headers: Mapping[str, str]

    @property
    def problem(self) -> str:
        """The name of the problem."""
        return str(self.value["type"]).rpartition(":")[2]


class TestClient:
    """Requests to a worker."""

    __test__ = False

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self.session, self.address = session, address

    async def send(self, method: str, path: str, **options: Any) -> Answered:
        url = URL(f"http://{self.address}{path}", encoded=True)
        async with self.session.request(method, url, **options) as response:
            body = await response.read()
            value = check_answer(method, path, response.status, response.headers, body)
            return Answered(response.status, value, dict(response.headers))

    async def get(self, path: str, **options: Any) -> Answered:
        return await self.send("GET", path, **options)

    async def post(self, path: str, json: Any, **options: Any) -> Answered:
        return await self.send("POST", path, json=json, **options)


@asynccontextmanager
async def client(address: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[TestClient]:
    async with aiohttp.ClientSession(headers=headers) as session:
        yield TestClient(session, address)


async def raw(address: str, request: bytes) -> bytes:
    """The answer to bytes on a connection of their own."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    await writer.drain()
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        await writer.wait_closed()
