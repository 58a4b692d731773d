"""The client for asyncio; needs aiohttp, of the extra `web`."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from stream_lsh.client import answers, calls, exchange
from stream_lsh.client.event_stream import Event, EventReader
from stream_lsh.errors import ConfigError, NotAvailable

with suppress(ImportError):  # the class can be listed and documented without them
    import aiohttp
    from yarl import URL

T = TypeVar("T")
_LARGEST_LINE = 1 << 20


class AsyncClient:
    """Asks the workers of a running stream, as `Client` does, for asyncio; calls may run concurrently in one loop.

    Args:
        url: of any worker with `ask`, of `stream-lsh serve`, or of a proxy in front of several.
        pipeline: its name.
        token: one of `ask_token`; "" for none.
        timeout: the seconds that a call may take, including its retries.

    Raises:
        ConfigError: aiohttp is not installed -> install the extra.
    """

    def __init__(self, url: str, pipeline: str, token: str = "", timeout: float = exchange.TIMEOUT_SECONDS) -> None:
        if find_spec("aiohttp") is None:
            raise ConfigError('AsyncClient needs aiohttp: pip install "stream_lsh[web]"')
        self._service, self._pipeline, self._timeout = exchange.service_at(url, token), pipeline, timeout
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; the next call opens others."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def service(self) -> answers.ServiceDescription:
        """A description of the worker that answers, and whether its application is complete."""
        return await self._answer(calls.service())

    async def similar(self, text: str | None = None, **options: Unpack[calls.SimilarOptions]) -> answers.Similar:
        """The stored documents that are similar to a text, or to another value among the options; stores nothing."""
        return await self._answer(calls.similar(self._pipeline, text, **options))

    async def document(self, id: str, **page: Unpack[calls.Page]) -> answers.StoredDocument:
        """A document, its cluster or entity, and a page of its matches."""
        return await self._answer(calls.document(self._pipeline, id, **page))

    async def cluster(self, id: str, **page: Unpack[calls.MemberPage]) -> answers.ClusterPage:
        """A cluster, and a page of its members, oldest first."""
        return await self._answer(calls.cluster(self._pipeline, id, **page))

    async def clusters(self, **chosen: Unpack[calls.ClusterList]) -> answers.Clusters:
        """A page of clusters."""
        return await self._answer(calls.clusters(self._pipeline, **chosen))

    async def entity(self, id: str, **page: Unpack[calls.MemberPage]) -> answers.EntityPage:
        """An entity with its golden record, and a page of its records."""
        return await self._answer(calls.entity(self._pipeline, id, **page))

    async def entities(self, **chosen: Unpack[calls.ClusterList]) -> answers.Entities:
        """A page of entities."""
        return await self._answer(calls.entities(self._pipeline, **chosen))

    async def reviews(self, **chosen: Unpack[calls.ReviewList]) -> answers.Reviews:
        """A page of pairs of records for review."""
        return await self._answer(calls.reviews(self._pipeline, **chosen))

    async def mirrors(self, **chosen: Unpack[calls.MirrorList]) -> answers.Mirrors:
        """A page of sites that mirror each other."""
        return await self._answer(calls.mirrors(self._pipeline, **chosen))

    async def dead_letters(self, **chosen: Unpack[calls.DeadLetterList]) -> answers.DeadLetters:
        """A page of messages that could not be used, the newest first."""
        return await self._answer(calls.dead_letters(self._pipeline, **chosen))

    async def pair(self, left: str, right: str, **options: Unpack[calls.LookUp]) -> answers.PairExplanation:
        """The reason why two documents are, or are not, in the same cluster or entity."""
        return await self._answer(calls.pair(self._pipeline, left, right, **options))

    async def decide(
        self, left: str, right: str, decision: str | None, **notes: Unpack[calls.DecisionNotes]
    ) -> answers.Decided:
        """Decide that two records are `same` or `different`; None withdraws an earlier decision."""
        return await self._answer(calls.decide(self._pipeline, left, right, decision, **notes))

    async def events(self, types: Sequence[str] = (), after: str = "") -> AsyncGenerator[Event, None]:
        """The changes of results, without end; as `Client.events`."""
        reader = EventReader(after)
        while True:
            try:
                async for event in self._stream(reader, types):
                    yield event
            except (OSError, TimeoutError, aiohttp.ClientError, NotAvailable) as error:
                if not reader.begun:
                    raise exchange.unreachable(self._service, error) from error
            await asyncio.sleep(exchange.RECONNECT_SECONDS)

    async def _stream(self, reader: EventReader, types: Sequence[str]) -> AsyncGenerator[Event, None]:
        call = calls.events(self._pipeline, types, reader.last_id)
        silence = aiohttp.ClientTimeout(
            total=None, sock_connect=self._timeout, sock_read=exchange.EVENTS_SILENCE_SECONDS
        )
        async with await self._sent(call, timeout=silence) as response:
            if response.status != 200:
                raise exchange.error_of(call, await _read(response))
            reader.restart()
            async for line in response.content:
                event = reader.line(line.rstrip(b"\r\n"))
                if event is not None:
                    yield event

    async def _answer(self, call: exchange.Call[T]) -> T:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._timeout
        try:
            async with asyncio.timeout_at(deadline):
                for left in reversed(range(exchange.RETRIES + 1)):
                    response = await self._response(call)
                    wait = exchange.wait_seconds(response)
                    if not left or wait is None or clock() + wait >= deadline:
                        break
                    await asyncio.sleep(wait)
        except TimeoutError:
            raise NotAvailable(f"{self._service.url}: got no answer within {self._timeout:g} s") from None
        return exchange.answer_of(call, response)

    async def _response(self, call: exchange.Call[Any]) -> exchange.Response:
        """The response of the service; the request is sent again if the service had closed an idle connection."""
        again = True
        while True:
            try:
                async with await self._sent(call, timeout=aiohttp.ClientTimeout(total=None)) as response:
                    return await _read(response)
            except (OSError, aiohttp.ClientError) as error:
                if not again or not isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
                    raise exchange.unreachable(self._service, error) from error
                again = False

    async def _sent(self, call: exchange.Call[Any], timeout: "aiohttp.ClientTimeout") -> "aiohttp.ClientResponse":
        if self._session is None:
            self._session = aiohttp.ClientSession(read_bufsize=_LARGEST_LINE)
        return await self._session.request(
            call.method,
            URL(self._service.url + call.path, encoded=True),
            data=call.body,
            headers=self._service.headers(call),
            timeout=timeout,
            allow_redirects=False,
        )


async def _read(response: "aiohttp.ClientResponse") -> exchange.Response:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return exchange.Response(response.status, headers, await response.read())
