"""The HTTP listener of the query API: authentication, limits, and problems for every error.

The listener runs in the loop of the worker.  Only public requests pass the gate: the steps that other workers call
never wait for each other.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from stream_lsh.config.query_api import is_loopback
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError
from stream_lsh.web.listener import Listener
from stream_lsh.wire.public import as_json
from stream_lsh.worker.query.http.problems import Problem, problem_of
from stream_lsh.worker.query.http.routes import JSON, Found, find

_OTHER_BYTES = 64 << 10
_MOST_LINE = 8 << 10

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request that passed all checks.

    Attributes:
        found: its route and parameters.
        body: of the request.
        headers: the same.
        deadline: when the query times out, by the monotonic clock.
        http: the request of the library, for answers in parts.
    """

    found: Found
    body: bytes
    headers: Mapping[str, str]
    deadline: float
    http: Any = None

    @property
    def left_ms(self) -> int:
        """The time left, at least 0."""
        return max(0, int(1_000 * (self.deadline - time.monotonic())))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: a value that becomes JSON, or a response of the library."""

    value: Any
    status: int = 200
    headers: Mapping[str, str] | None = None

    def response(self) -> web.StreamResponse:
        """The answer for the library."""
        headers = dict(self.headers or {})
        if isinstance(self.value, web.StreamResponse):
            return self.value
        body = as_json(self.value)
        return web.Response(body=body, status=self.status, headers={**headers, "Content-Type": JSON})


Handler = Callable[[Request], Awaitable[Answer]]


class QueryServer:
    """The listener of one worker.

    Args:
        config: address, tokens, limits.
        handlers: by the name of their route.
        body_limit: the largest body of a request in bytes, by the parameters of its path.
    """

    def __init__(
        self,
        config: WorkerConfig,
        handlers: Mapping[str, Handler],
        body_limit: Callable[[Mapping[str, str]], int] = lambda path: _OTHER_BYTES,
    ) -> None:
        self._config, self._handlers, self._body_limit = config, handlers, body_limit
        self._tokens = [token.encode() for token in config.ask_tokens]
        self._running = 0
        self._listener = Listener(self._handle, _reject, _MOST_LINE, decompress=False)
        self.answered: dict[int, int] = {}
        """The number of answers by status."""

    async def start(self) -> None:
        """Listen at the configured address.

        Raises:
            ConfigError: the address is not available.
        """
        address = self._config.ask_address
        if address is None:
            return
        try:
            await self._listener.start(*address)
        except OSError as error:
            raise ConfigError(
                f"worker.ask: {self._config.ask} cannot be used ({error.strerror or error}): give each worker on a "
                "machine its own address"
            ) from None
        _log.info("query API: http://%s/v1", self._config.ask)

    async def stop(self) -> None:
        """Close the listener, and the connections after a second."""
        await self._listener.stop()

    async def _handle(self, request: Any) -> web.StreamResponse:
        try:
            response = await self._answered(request)
        except ConnectionError:
            raise
        except Exception as error:
            response = problem_of(error, f"{request.method} {request.rel_url.raw_path}").response()
        self.answered[response.status] = self.answered.get(response.status, 0) + 1
        return response

    async def _answered(self, request: Any) -> web.StreamResponse:
        self._authorise(request)
        found = find(request.method, request.rel_url.raw_path, request.rel_url.raw_query_string)
        self._check_headers(request, found)
        seconds = self._config.ask_timeout_ms / 1_000
        deadline = time.monotonic() + seconds
        if found.route.endless:
            return await self._stream(request, found, deadline)
        async with asyncio.timeout(seconds):
            if self._running >= self._config.ask_concurrency:
                raise Problem("busy", f"got a query while {self._running} were running, expected fewer at a time")
            self._running += 1
            try:
                return await self._run(request, found, deadline)
            finally:
                self._running -= 1

    async def _stream(self, request: Any, found: Found, deadline: float) -> web.StreamResponse:
        """An answer without an end; such a request has no body."""
        if request.body_exists:
            raise Problem("malformed", "got a body, expected none")
        answer = await self._handlers[found.route.name](Request(found, b"", request.headers, deadline, request))
        return answer.response()

    async def _run(self, request: Any, found: Found, deadline: float) -> web.StreamResponse:
        body = await self._body(request, self._body_limit(found.path))
        answer = await self._handlers[found.route.name](Request(found, body, request.headers, deadline, request))
        return answer.response()

    def _authorise(self, request: Any) -> None:
        if not self._tokens:
            # A page in a browser must not reach a worker of the same machine by a name that it controls.
            host = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdecimal() else request.host
            address = self._config.ask_address
            if address is not None and not is_loopback(host.strip("[]")) and host.strip("[]") != address[0]:
                raise Problem("malformed", f"Host: got {request.host!a:.60}, expected the address of the worker")
            return
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        sent = token.strip().encode("utf-8", "surrogatepass")
        # All tokens are compared, so that the time does not show which one is right.
        if scheme.lower() != "bearer" or not any([hmac.compare_digest(sent, one) for one in self._tokens]):
            raise Problem("unauthorised", "expected the header `Authorization: Bearer TOKEN`")

    def _check_headers(self, request: Any, found: Found) -> None:
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise Problem("wrong-type", "got a body with Content-Encoding, expected one without")
        if found.route.takes and request.content_type != found.route.takes:
            raise Problem("wrong-type", f"got {request.content_type!a:.60}, expected {found.route.takes}")
        if request.headers.get("Expect", "100-continue").lower() != "100-continue":
            raise Problem("malformed", "got an `Expect` that cannot be met, expected 100-continue")

    async def _body(self, request: Any, limit: int) -> bytes:
        """The body of a request; a larger one is not read to its end."""
        too_large = Problem("too-large", f"got a larger body, expected at most {limit} bytes")
        if (request.content_length or 0) > limit:
            raise too_large
        if "Expect" in request.headers:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        parts, size = list[bytes](), 0
        async for part in request.content.iter_any():
            size += len(part)
            if size > limit:
                raise too_large
            parts.append(part)
        return b"".join(parts)


def _reject(status: int, error: BaseException | None) -> web.StreamResponse:
    """The answer to a request that the parser rejects; its text is not repeated."""
    if status >= 500:
        return Problem("failed", "got an unexpected exception; see the log of the worker").response()
    if isinstance(error, LineTooLong):
        return Problem(
            "malformed", f"got a longer line, expected at most {_MOST_LINE} bytes of path or header"
        ).response()
    return Problem("malformed", "got something else, expected an HTTP/1.1 request").response()
