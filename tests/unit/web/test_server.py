"""The server of pages: hosts, origins, sessions, headers, and pages as JSON."""

import asyncio
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from yarl import URL

from stream_lsh.errors import ConfigError
from stream_lsh.web.access import COOKIE, SESSION_S, Sessions
from stream_lsh.web.asks import NO_CONNECTION, Answer, Ask
from stream_lsh.web.pages.page import Frame
from stream_lsh.web.pages.problem import problem_page
from stream_lsh.web.policy import HEADERS
from stream_lsh.web.rendering import render
from stream_lsh.web.server import PageServer
from stream_lsh.web.source import HttpSource
from stream_lsh.worker.brokers.maven import free_port
from tests.browser.answers import FixedSource, service
from tests.browser.cases.reviews import pair_of, reviews
from tests.unit.worker.query.client import in_loop, raw

TOKEN = "a-token-of-the-query-api"  # noqa: S105 - of these tests only
FIRST = Ask()
DECIDED = {"left": "a", "right": "b", "decision": "same", "offset": 7, "in_effect": False}


@asynccontextmanager
async def served(source: Any = None, tokens: tuple[str, ...] = ()) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    port = free_port()
    server = PageServer(source or FixedSource({}), ("127.0.0.1", port), tokens)
    await server.start()
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield session, f"http://127.0.0.1:{port}"
    finally:
        await server.stop()


async def status(session: aiohttp.ClientSession, url: str, method: str = "GET", **options: Any) -> int:
    async with session.request(method, URL(url, encoded=True), allow_redirects=False, **options) as response:
        assert {name: response.headers.get(name) for name in HEADERS} == dict(HEADERS)
        await response.read()
        return response.status


@in_loop
async def test_every_answer_has_the_policy_and_pages_are_not_stored() -> None:
    async with served() as (session, url):
        for path, expected in [("/", 200), ("/nowhere", 404), ("/static/nothing.js", 404), ("/index.json", 200)]:
            assert await status(session, url + path) == expected
        assert await status(session, f"{url}/?last={'i' * 20_000}") == 200  # the address of a review has long ids
        assert await status(session, url, "PUT") == 405
        async with session.get(url) as response:
            assert response.headers["Cache-Control"] == "no-store"
        async with session.get(f"{url}/static/style.css") as response:
            assert "immutable" in response.headers["Cache-Control"]
            assert response.headers["Content-Type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize(
    "line", [b"GET /?%b HTTP/1.1" % (b"a" * 40_000), b"GET /\x00 HTTP/1.1", b"GET / HTTP/1.1\r\nA\x00: b"]
)
@in_loop
async def test_bytes_that_are_no_request_leave_no_traceback(line: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with served() as (_, url):
        answer = await raw(url.removeprefix("http://"), line + b"\r\nHost: 127.0.0.1\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
    assert b"Content-Security-Policy" in answer
    assert answer.endswith(b"expected an HTTP/1.1 request with lines of at most 32768 bytes\n")
    assert caplog.records == []


@in_loop
async def test_a_stream_of_changes_answers_only_get() -> None:
    async with served() as (session, url):
        for method in ("HEAD", "POST"):
            assert await status(session, f"{url}/p/news/changes", method) == 405


@in_loop
async def test_a_name_that_others_control_does_not_reach_a_loopback_address() -> None:
    async with served() as (session, url):
        assert await status(session, url, headers={"Host": "evil.example:80"}) == 400
        assert await status(session, url, headers={"Host": "localhost:1"}) == 200


@in_loop
async def test_forms_of_other_sites_are_refused() -> None:
    async with served(tokens=(TOKEN,)) as (session, url):
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            assert await status(session, f"{url}/sign-in", "POST", data={"token": TOKEN}, headers=headers) == 403
        assert await status(session, f"{url}/sign-in", "POST", data={"token": TOKEN}, headers={"Origin": url}) == 303


@in_loop
async def test_a_decision_needs_the_token_of_a_page() -> None:
    source = FixedSource({"/pipelines/people/decisions": (202, DECIDED)})
    async with served(source) as (session, url):
        form = {"left": "a", "right": "b", "decision": "same"}
        several = {"pair0": '["a", "b"]', "decision": "same"}
        for token in ("", "0" * 64, "é"):
            assert await status(session, f"{url}/p/people/review", "POST", data={**form, "token": token}) == 403
            assert await status(session, f"{url}/p/people/reviews", "POST", data={**several, "token": token}) == 403
        assert not [one for one in source.asked if one.body is not None]
        token = Sessions((TOKEN,)).form_token("another session")
        assert await status(session, f"{url}/p/people/review", "POST", data={**form, "token": token}) == 403
        own = await form_token(session, url, source)
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            sent = {"data": {**form, "token": own}, "headers": headers}
            assert await status(session, f"{url}/p/people/review", "POST", **sent) == 403
        assert await status(session, f"{url}/p/people/review?decision=same&left=a&right=b&token={own}") == 200
        assert not [one for one in source.asked if one.body is not None]
        assert await status(session, f"{url}/p/people/review", "POST", data={**form, "token": own}) == 303
        assert [one.body for one in source.asked if one.body is not None] == [form]
        assert await status(session, f"{url}/p/people/review", "POST", data={"token": own}) == 400


async def form_token(session: aiohttp.ClientSession, url: str, source: FixedSource) -> str:
    """The token in the form of a page."""
    source.answers["/pipelines/people/reviews?limit=1"] = (200, reviews(pair_of("a", "b")))
    async with session.get(f"{url}/p/people/review") as response:
        found = re.search(r'name="token" value="(\w+)"', await response.text())
    assert found is not None
    return found[1]


def test_the_token_of_a_form_belongs_to_a_session() -> None:
    sessions = Sessions((TOKEN,))
    assert sessions.accepts_form("1.a", sessions.form_token("1.a"))
    assert not sessions.accepts_form("1.b", sessions.form_token("1.a"))
    assert not Sessions(()).accepts_form("", Sessions(()).form_token(""))


@in_loop
async def test_a_reader_signs_in_with_the_token_and_out() -> None:
    async with served(tokens=("another-token-of-this-kind", TOKEN)) as (session, url):
        async with session.get(f"{url}/?a=b", allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (303, "/sign-in?next=%2F%3Fa%3Db")
        assert await status(session, f"{url}/index.json") == 401
        assert await status(session, f"{url}/sign-in", "POST", data={"token": "wrong"}) == 403
        for target, expected in [("/?a=b", "/?a=b"), ("//evil.example", "/"), ("https://evil.example", "/")]:
            sent = {"token": TOKEN, "next": target}
            async with session.post(f"{url}/sign-in", data=sent, allow_redirects=False) as response:
                assert (response.status, response.headers["Location"]) == (303, expected)
                cookie = response.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        assert await status(session, url) == 200
        assert await status(session, f"{url}/sign-out", "POST") == 303
        assert await status(session, url) == 303


def test_a_session_ends_and_cannot_be_prolonged(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions((TOKEN,))
    cookie = sessions.begin(TOKEN)
    assert cookie is not None
    assert sessions.accepts(cookie)
    end, _, proof = cookie.partition(".")
    assert not sessions.accepts(f"{int(end) + 1}.{proof}")
    assert not Sessions(("another-token-of-this-kind",)).accepts(cookie)
    for broken in ("", ".", "x.y", f"{end}.", f"{end}.é", f"٣.{proof}"):
        assert not sessions.accepts(broken)
    monkeypatch.setattr("stream_lsh.web.access.time.time", lambda: int(end) + SESSION_S)
    assert not sessions.accepts(cookie)
    assert COOKIE


@in_loop
async def test_changes_are_a_stream_for_readers_that_ends_with_the_server() -> None:
    port = free_port()
    server, url = PageServer(FixedSource({}), ("127.0.0.1", port)), f"http://127.0.0.1:{port}"
    await server.start()
    async with aiohttp.ClientSession() as session:
        assert await status(session, f"{url}/p/nowhere/changes") == 404
        response = await session.get(f"{url}/p/news/changes")
        assert {name: response.headers.get(name) for name in HEADERS} == dict(HEADERS)
        assert response.content_type == "text/event-stream"
        while await response.content.readline() != b"event: connected\n":
            pass
        await server.stop()
        assert b"event" not in await response.content.read()
    async with served(tokens=(TOKEN,)) as (session, url):
        assert await status(session, f"{url}/p/news/changes") == 401


@in_loop
async def test_a_larger_form_is_refused_and_a_failure_is_a_page(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(FixedSource):
        async def ask_each(self, ask: Any) -> Any:
            raise ZeroDivisionError

    async with served(Failing({}), tokens=(TOKEN,)) as (session, url):
        assert await status(session, f"{url}/sign-in", "POST", data=io.BytesIO(b"a" * (5 << 20))) == 413
        assert await status(session, f"{url}/sign-in", "POST", data={"token": TOKEN}) == 303
        assert await status(session, url) == 500
    assert "a page failed: GET /" in caplog.text


@in_loop
async def test_a_taken_port_is_a_mistake_of_the_operator() -> None:
    port = free_port()
    one = PageServer(FixedSource({}), ("127.0.0.1", port))
    await one.start()
    with pytest.raises(ConfigError, match="choose another port"):
        await PageServer(FixedSource({}), ("127.0.0.1", port)).start()
    await one.stop()


@in_loop
async def test_another_worker_answers_while_one_is_down_and_the_time_of_silence_is_known() -> None:
    """The pages of one server are a worker that answers, but not as a query API."""
    async with served() as (_, url):
        source = HttpSource([f"http://127.0.0.1:{free_port()}", url])
        answers = await asyncio.gather(source.ask_each(FIRST), source.ask(FIRST))
        assert source.silent_since is not None
        assert not answers[1].url
        assert [answer.status for answer in answers[0]] == [503, 503]
        await source.close()


@in_loop
async def test_the_reason_of_a_failed_connection_is_in_plain_words() -> None:
    port = free_port()
    source = HttpSource([f"http://127.0.0.1:{port}"])
    answer = await source.ask(FIRST)
    assert answer.value["detail"] == f"http://127.0.0.1:{port}/v1: connection refused"
    await source.close()


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        ("malformed", "The decision was not stored."),
        ("not-now", "The decision was not stored."),
        ("too-late", "The decision may not have been stored."),
        (NO_CONNECTION, "The decision may not have been stored."),
    ],
)
def test_a_decision_that_no_worker_confirmed_may_have_been_stored(problem: str, shown: str) -> None:
    answer = Answer(503, {"type": f"urn:stream-lsh:problem:{problem}", "detail": "no answer"})
    assert shown in render(problem_page(answer, back="/p/people/review"), Frame())


def test_the_fixed_answers_are_of_the_contract() -> None:
    assert asyncio.run(FixedSource({}).ask(FIRST)).value == service()
