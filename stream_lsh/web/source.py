"""Answers of the query API over HTTP, from any worker that answers."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any, Protocol

import aiohttp
from yarl import URL

from stream_lsh.web.asks import Answer, Ask, unanswered

_SECONDS = 10.0
_MOST_BYTES = 32 << 20
_NOT_HERE = frozenset({429, 503, 504})
"""The statuses after which another worker may give an answer."""


class Source(Protocol):
    """Answers of the query API."""

    @property
    def urls(self) -> Sequence[str]:
        """The URLs of the workers, with the version."""

    @property
    def silent_since(self) -> float | None:
        """When the workers stopped answering, in seconds since 1970; None while one answers."""

    async def ask(self, ask: Ask) -> Answer:
        """The answer of any worker."""

    async def ask_each(self, ask: Ask) -> list[Answer]:
        """The answer of each worker, in the order of `urls`."""


class HttpSource:
    """The query API of some workers.

    Args:
        urls: of the workers, without the version: `http://127.0.0.1:6067`.
        token: of the query API; None without authentication.

    Attributes:
        urls: the same, with the version.
        silent_since: when the workers stopped answering, in seconds since 1970; None while one answers.
    """

    def __init__(self, urls: Sequence[str], token: str | None = None) -> None:
        self.urls = [f"{url.rstrip('/')}/v1" for url in urls]
        self.silent_since: float | None = None
        self._first = 0
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, ask: Ask) -> Answer:
        """The answer of the worker that answered last, or of the next one that answers and is ready."""
        last = unanswered("no worker was asked")
        for step in range(len(self.urls)):
            at = (self._first + step) % len(self.urls)
            answer = await self._ask_one(self.urls[at], ask)
            if answer.url and answer.status not in _NOT_HERE:
                self._first = at
                break
            last = answer if answer.url or not last.url else last
        else:
            answer = last
        self._note(bool(answer.url))
        return answer

    async def ask_each(self, ask: Ask) -> list[Answer]:
        """The answer of each worker, in the order of `urls`."""
        answers = await asyncio.gather(*(self._ask_one(url, ask) for url in self.urls))
        self._note(any(answer.url for answer in answers))
        return list(answers)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _note(self, answered: bool) -> None:
        if answered:
            self.silent_since = None
        elif self.silent_since is None:
            self.silent_since = time.time()

    async def _ask_one(self, url: str, ask: Ask) -> Answer:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_SECONDS, connect=2.0)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
        options: dict[str, Any] = {"headers": ask.headers} | ({} if ask.body is None else {"json": ask.body})
        method = "GET" if ask.body is None else "POST"
        try:
            async with self._session.request(method, URL(url + ask.path, encoded=True), **options) as response:
                body = await response.content.read(_MOST_BYTES + 1)
                while len(body) <= _MOST_BYTES and (part := await response.content.read(_MOST_BYTES)):
                    body += part
                status = response.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return unanswered(f"{url}: {error or 'no answer in time'}")
        if len(body) > _MOST_BYTES:
            return unanswered(f"{url}: got an answer of more than {_MOST_BYTES >> 20} MiB")
        try:
            value = json.loads(body)
        except ValueError:
            return unanswered(f"{url}: got something else, expected the query API of a worker")
        return Answer(status, value, url)
