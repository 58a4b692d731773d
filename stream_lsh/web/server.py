"""The server of the pages: access, the headers of every answer, pages as HTML and as JSON."""

import json
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from stream_lsh.errors import ConfigError
from stream_lsh.web.access import COOKIE, SESSION_S, Sessions, is_own_host, is_own_origin
from stream_lsh.web.changes import Changes
from stream_lsh.web.links import link
from stream_lsh.web.listener import Listener
from stream_lsh.web.pages.page import Frame, Page, PipelineName
from stream_lsh.web.pages.problem import unknown_page
from stream_lsh.web.policy import HEADERS, KEPT, NOT_STORED
from stream_lsh.web.rendering import render
from stream_lsh.web.routes import Found, Reader, changes_of, find
from stream_lsh.web.source import Source
from stream_lsh.web.static_files import static_files

_STREAM_END_SECONDS = 1.0
_MOST_BODY = 4 << 20
_MOST_PARAMETERS = 40
_MOST_LINE = 32 << 10
"""The bytes of an address: the page of a review has up to four ids in it, each of up to 3 KB when it is encoded."""

_FAILED = "This page failed. The log of the process has the reason."

_log = logging.getLogger(__name__)


class PageServer:
    """The listener for browsers.

    Args:
        source: the answers of the query API.
        address: host and port.
        tokens: readers sign in with one of these; empty if only this machine can reach the address.
    """

    def __init__(self, source: Source, address: tuple[str, int], tokens: tuple[str, ...] = ()) -> None:
        self._source, self._address = source, address
        self._sessions = Sessions(tokens)
        self._listener = Listener(self._handle, _reject, _MOST_LINE)
        self._reader = Reader(source)
        self._changes = Changes(source)

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: the address is not available.
        """
        host, port = self._address
        try:
            await self._listener.start(host, port)
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(f"web pages: {host}:{port} cannot be used ({reason}): choose another port") from None

    async def stop(self) -> None:
        """Close the listener."""
        await self._changes.end(_STREAM_END_SECONDS)
        await self._listener.stop()

    async def _handle(self, request: Any) -> web.StreamResponse:
        try:
            response = await self._answered(request)
        except ConnectionError:
            raise
        except web.HTTPRequestEntityTooLarge:
            response = _plain(413, f"got a larger request, expected at most {_MOST_BODY} bytes")
        except Exception:
            _log.exception("a page failed: %s %s", request.method, request.rel_url.raw_path)
            response = _plain(500, _FAILED)
        return _with_headers(response)

    async def _answered(self, request: Any) -> web.StreamResponse:
        path: str = request.rel_url.raw_path
        if path.startswith("/static/"):
            return _static(path.removeprefix("/static/"))
        refused = self._refused(request)
        if refused is not None:
            return refused
        if path in ("/sign-in", "/sign-out"):
            return await self._sign(request, path)
        if self._sessions.required and not self._sessions.accepts(request.cookies.get(COOKIE, "")):
            if path.endswith((".json", "/changes")):
                return _plain(401, "Sign in first.")
            return _to(link("sign-in", next=request.rel_url.raw_path_qs))
        return await self._page(request, path)

    def _refused(self, request: Any) -> web.Response | None:
        """The answer to a request that another site may have sent; None if it may pass."""
        if request.method not in ("GET", "HEAD", "POST"):
            return _plain(405, "expected GET or POST")
        if not self._sessions.required and not is_own_host(request.host, self._address[0]):
            return _plain(400, "got another Host, expected a loopback address or the address of these pages")
        if request.method == "POST" and not is_own_origin(request.headers):
            return _plain(403, "got a form from another site, expected one of these pages")
        return None

    async def _page(self, request: Any, path: str) -> web.StreamResponse:
        if (pipeline := changes_of(path)) is not None:
            return await self._stream(request, pipeline)
        as_json = path.endswith(".json")
        found = find(path.removesuffix(".json"))
        if found is None:
            return self._html(unknown_page(), request, "")
        query = await _parameters(request)
        if request.method == "POST" and found.name in ("review", "reviews"):
            return await self._decide(request, found, query)
        if as_json:
            answer = await self._reader.answer(found, query)
            body = json.dumps(answer.value, ensure_ascii=False, indent=2).encode("utf-8", "replace")
            return web.Response(body=body, status=answer.status, content_type="application/json", charset="utf-8")
        page = await self._reader.page(found, query)
        pipelines = await self._reader.pipelines()
        return self._html(page, request, found.pipeline, pipelines)

    async def _stream(self, request: Any, pipeline: str) -> web.StreamResponse:
        """The changes of a pipeline, until the browser leaves."""
        if request.method != "GET":  # the answer to HEAD would not end either
            return _plain(405, "expected GET")
        if not any(one.name == pipeline for one in await self._reader.pipelines()):
            return _plain(404, "There is no such pipeline.")
        if self._changes.is_full:
            return _plain(503, "Too many pages are open.")
        response = web.StreamResponse(headers={**HEADERS, "Cache-Control": NOT_STORED})
        response.content_type = "text/event-stream"
        await response.prepare(request)
        async with self._changes.listening(pipeline) as listener:
            with suppress(ConnectionError):
                while message := await listener.taken():
                    await response.write(message)
        return response

    async def _decide(self, request: Any, found: Found, form: Mapping[str, str]) -> web.Response:
        """Send the decisions of a form, and continue with the next pair or the list."""
        if not self._sessions.accepts_form(request.cookies.get(COOKIE, ""), form.get("token", "")):
            return _plain(403, "This form has expired. Open the page again. The decision was not stored.")
        if found.name == "reviews":
            done: Page | str = await self._reader.decide_several(found, form)
        else:
            done = await self._reader.decide(found, form)
        return (
            _to(done)
            if isinstance(done, str)
            else self._html(done, request, found.pipeline, await self._reader.pipelines())
        )

    def _html(self, page: Page, request: Any, pipeline: str, pipelines: tuple[PipelineName, ...] = ()) -> web.Response:
        silent = self._source.silent_since
        frame = Frame(
            pipelines=pipelines,
            pipeline=pipeline,
            path=request.rel_url.raw_path_qs if request.method == "GET" else request.rel_url.raw_path,
            url=self._source.urls[0],
            needs_token=self._source.needs_token,
            as_of_ms=int(1_000 * time.time()),
            silent_since_ms=None if silent is None else int(1_000 * silent),
            can_sign_out=self._sessions.required,
            form_token=self._sessions.form_token(request.cookies.get(COOKIE, "")),
        )
        return web.Response(text=render(page, frame), status=page.status, content_type="text/html", charset="utf-8")

    async def _sign(self, request: Any, path: str) -> web.Response:
        query = await _parameters(request)
        target = _own_path(query.get("next", "/"))
        if path == "/sign-out":
            response = _to("/sign-in")
            response.del_cookie(COOKIE)
            return response
        if request.method != "POST":
            return self._html(Page("sign_in", "Sign in", {"next": target, "wrong": False}), request, "")
        cookie = self._sessions.begin(query.get("token", ""))
        if cookie is None:
            return self._html(Page("sign_in", "Sign in", {"next": target, "wrong": True}, status=403), request, "")
        response = _to(target)
        response.set_cookie(
            COOKIE, cookie, max_age=SESSION_S, httponly=True, samesite="Strict", secure=request.secure, path="/"
        )
        return response


def _reject(status: int, error: BaseException | None) -> web.StreamResponse:
    """The answer to a request that the parser rejects; its text is not repeated."""
    if status >= 500:
        return _with_headers(_plain(500, _FAILED))
    return _with_headers(
        _plain(status, f"got something else, expected an HTTP/1.1 request with lines of at most {_MOST_LINE} bytes")
    )


def _with_headers(response: web.StreamResponse) -> web.StreamResponse:
    response.headers.setdefault("Cache-Control", NOT_STORED)
    response.headers.update(HEADERS)
    return response


def _static(name: str) -> web.Response:
    file = static_files().get(name)
    if file is None:
        return _plain(404, "There is no such file.")
    return web.Response(
        body=file.body, content_type=file.content_type, charset="utf-8", headers={"Cache-Control": KEPT}
    )


async def _parameters(request: Any) -> Mapping[str, str]:
    """The parameters of the address, or of the form."""
    raw = request.rel_url.raw_query_string
    if request.method == "POST":
        parts, size = list[bytes](), 0
        async for part in request.content.iter_any():
            size += len(part)
            if size > _MOST_BODY:
                raise web.HTTPRequestEntityTooLarge(max_size=_MOST_BODY, actual_size=size)
            parts.append(part)
        raw = b"".join(parts).decode("latin-1")
    try:
        return dict(parse_qsl(raw, keep_blank_values=True, errors="replace", max_num_fields=_MOST_PARAMETERS))
    except ValueError:
        return {}


def _own_path(path: str) -> str:
    """A path of these pages; "/" for anything that a browser reads as another site."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def _to(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})


def _plain(status: int, text: str) -> web.Response:
    return web.Response(text=text + "\n", status=status, content_type="text/plain", charset="utf-8")
