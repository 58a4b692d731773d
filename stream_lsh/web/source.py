"""Answers of the query API over HTTP, from any worker that answers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Protocol

import aiohttp
from yarl import URL

from stream_lsh.web.asks import Answer, Ask, unanswered

_SECONDS = 10.0
_MOST_BYTES = 32 << 20
_QUIET_SECONDS = 40.0
"""A worker sends a comment every 15 seconds."""
_MOST_KEY = 8_192
_NOT_HERE = frozenset({429, 503, 504})
"""The statuses after which another worker may give an answer."""


class Source(Protocol):
    """Answers of the query API."""

    @property
    def urls(self) -> Sequence[str]:
        """The URLs of the workers, with the version."""

    @property
    def needs_token(self) -> bool:
        """Whether requests to the query API have a token."""

    @property
    def silent_since(self) -> float | None:
        """When the workers stopped answering, in seconds since 1970; None while one answers."""

    async def ask(self, ask: Ask) -> Answer:
        """The answer of any worker."""

    async def ask_each(self, ask: Ask) -> list[Answer]:
        """The answer of each worker, in the order of `urls`."""

    def changes(self, pipeline: str) -> AsyncIterator[tuple[str, str]]:
        """Type and key of each change of the results, after one pair of empty texts for the connection."""


class HttpSource:
    """The query API of some workers.

    Args:
        urls: of the workers, without the version: `http://127.0.0.1:6067`.
        token: of the query API; None without authentication.

    Attributes:
        urls: the same, with the version.
        needs_token: whether requests have a token.
        silent_since: when the workers stopped answering, in seconds since 1970; None while one answers.
    """

    def __init__(self, urls: Sequence[str], token: str | None = None) -> None:
        self.urls = [f"{url.rstrip('/')}/v1" for url in urls]
        self.silent_since: float | None = None
        self._first = 0
        self.needs_token = bool(token)
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

    async def changes(self, pipeline: str) -> AsyncIterator[tuple[str, str]]:
        """Type and key of each change, as in `Source`; ends when no worker reports changes, or its connection ends."""
        path, timeout = Ask(("pipelines", pipeline, "events")).path, aiohttp.ClientTimeout(sock_read=_QUIET_SECONDS)
        connected = False
        for step in range(len(self.urls)):
            url = URL(self.urls[(self._first + step) % len(self.urls)] + path, encoded=True)
            try:
                async with self._connections().get(url, timeout=timeout) as response:
                    if response.status != 200:
                        continue
                    connected = True
                    yield "", ""
                    lines = EventLines()
                    async for part in response.content.iter_any():
                        for change in lines.read(part):
                            yield change
            except (aiohttp.ClientError, OSError, TimeoutError):
                pass
            if connected:  # the caller must know that changes may have been missed
                return

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _note(self, answered: bool) -> None:
        if answered:
            self.silent_since = None
        elif self.silent_since is None:
            self.silent_since = time.time()

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_SECONDS, connect=2.0)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
        return self._session

    async def _ask_one(self, url: str, ask: Ask) -> Answer:
        options: dict[str, Any] = {"headers": ask.headers} | ({} if ask.body is None else {"json": ask.body})
        method = "GET" if ask.body is None else "POST"
        try:
            async with self._connections().request(method, URL(url + ask.path, encoded=True), **options) as response:
                body = await response.content.read(_MOST_BYTES + 1)
                while len(body) <= _MOST_BYTES and (part := await response.content.read(_MOST_BYTES)):
                    body += part
                status = response.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return unanswered(f"{url}: {_reason(error)}")
        if len(body) > _MOST_BYTES:
            return unanswered(f"{url}: got an answer of more than {_MOST_BYTES >> 20} MiB")
        try:
            value = json.loads(body)
        except ValueError:
            return unanswered(f"{url}: got something else, expected the query API of a worker")
        return Answer(status, value, url)


def _reason(error: Exception) -> str:
    """The reason that a worker did not answer; the text of the library repeats the address and its own settings."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    return getattr(cause, "strerror", None) or str(cause) or "no answer in time"


class EventLines:
    r"""Reads type and key of server-sent events from parts of a stream.

    Example:
        >>> lines = EventLines()
        >>> [*lines.read(b'event: matches\ndata: {"key":"a","val')], [*lines.read(b'ue":7}\n\nid: matches:1\n\n')]
        ([], [('matches', 'a')])
    """

    def __init__(self) -> None:
        self._rest = bytearray()

    def read(self, part: bytes) -> Iterator[tuple[str, str]]:
        """The events that end in a part; the key is "" if it is missing or too long."""
        searched = max(0, len(self._rest) - 1)
        self._rest += part
        start = 0
        while (end := self._rest.find(b"\n\n", max(start, searched))) >= 0:
            kind, _, data = bytes(self._rest[start : min(end, start + _MOST_KEY)]).partition(b"\ndata: ")
            start = end + 2
            if kind.startswith(b"event: "):
                yield kind[7:].decode("utf-8", "replace"), _key(data.decode("utf-8", "replace"))
        del self._rest[:start]


def _key(data: str) -> str:
    """The key at the beginning of the JSON of an event."""
    try:
        key, _ = json.JSONDecoder().raw_decode(data, len('{"key":'))
    except ValueError:
        return ""
    return key if isinstance(key, str) else ""
