"""An HTTP listener: one function answers all requests, another one the bytes that are no request."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

_SHUTDOWN_SECONDS = 1.0

_log = logging.getLogger(__name__)

Handle = Callable[[Any], Awaitable[web.StreamResponse]]
Reject = Callable[[int, BaseException | None], web.StreamResponse]


class Listener:
    """Listens at one address, without an access log.

    Args:
        handle: answers a request.
        reject: answers what the parser rejects, given a status and the parser's exception; and a request whose handler
            raised, with status 500.  The connection closes behind it.
        line_bytes: the longest line of a request: its path, or a header.
        decompress: decompress the bodies of requests.
    """

    def __init__(self, handle: Handle, reject: Reject, line_bytes: int = 8 << 10, *, decompress: bool = True) -> None:
        self._handle, self._reject = handle, reject
        self._settings = {"max_line_size": line_bytes, "max_field_size": line_bytes, "auto_decompress": decompress}
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen.

        Raises:
            OSError: the address is not available.
        """
        server = _Server(self._handle, self._reject, self._settings)
        self._runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close the listener, and the connections after a second."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()


class _Server(web.Server):
    """The server of the library, with the connections of this module."""

    def __init__(self, handle: Handle, reject: Reject, settings: dict[str, Any]) -> None:
        super().__init__(handle)
        self.reject, self._settings = reject, settings

    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, access_log=None, **self._settings)


class _Connection(RequestHandler):
    """A connection; the library logs a traceback for bytes that are no request."""

    __slots__ = ("_reject",)

    def __init__(self, server: _Server, **settings: Any) -> None:
        super().__init__(server, **settings)
        self._reject = server.reject

    def handle_error(
        self, request: Any, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """The answer to a request that the parser rejects, or whose handler raised."""
        if request.writer.output_size > 0 or isinstance(exc, ConnectionError):
            raise ConnectionError("an answer was sent already, or the client has left")
        if status >= 500:
            _log.error("a request failed: %s %s", request.method, request.rel_url.raw_path, exc_info=exc)
        response = self._reject(status, exc)
        response.force_close()
        return response
