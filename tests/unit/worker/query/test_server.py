"""The listener of the query API: tokens, limits, hostile requests, an orderly end."""

import asyncio
import errno
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError, DamagedBytes, DoubtError
from stream_lsh.settings.value_types import Secret
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.query.http.problems import PROBLEMS, Problem
from stream_lsh.worker.query.http.routes import ROUTES, find
from stream_lsh.worker.query.http.server import Answer, Handler, QueryServer, Request
from tests.openapi import DOCUMENT, problems
from tests.unit.worker.query.client import TestClient, client, in_loop, raw

TOKEN, OTHER = "0123456789abcdef", "fedcba9876543210"
SERVICE = {
    "worker": "a", "version": "1", "state": "ready", "generation": 1, "complete": True, "pipelines": [],
}  # fmt: skip


async def service(request: Request) -> Answer:
    return Answer(SERVICE)


@asynccontextmanager
async def listening(handler: Handler = service, **settings: Any) -> AsyncIterator[tuple[QueryServer, TestClient]]:
    config = WorkerConfig(ask=f"127.0.0.1:{free_port()}", **settings)
    server = QueryServer(config, {route.name: handler for route in ROUTES}, lambda path: 1_000)
    await server.start()
    try:
        async with client(config.ask) as requests:
            yield server, requests
    finally:
        await server.stop()


@in_loop
async def test_a_request_is_answered() -> None:
    async with listening() as (_, requests):
        answer = await requests.get("/v1")
        assert (answer.status, answer.value) == (200, SERVICE)
        assert (await requests.get("/v1/")).status == 200


@in_loop
async def test_only_a_valid_token_is_accepted() -> None:
    async with listening(ask_token=Secret(f"{TOKEN} {OTHER}")) as (_, requests):
        for header in (None, "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \u00e9"):
            headers = {} if header is None else {"Authorization": header}
            for path in ("/v1", "/v1/nothing"):
                answer = await requests.get(path, headers=headers)
                assert (answer.status, answer.problem) == (401, "unauthorised")
                assert answer.headers["WWW-Authenticate"] == "Bearer"
        for token in (TOKEN, OTHER):
            assert (await requests.get("/v1", headers={"Authorization": f"bearer {token}"})).status == 200


@in_loop
async def test_without_tokens_the_host_is_the_address() -> None:
    async with listening() as (_, requests):
        for host in ("127.0.0.1", "localhost:6067", "[::1]:6067"):
            assert (await requests.get("/v1", headers={"Host": host})).status == 200
        answer = await requests.get("/v1", headers={"Host": "attacker.example:6067"})
        assert (answer.status, answer.problem) == (400, "malformed")


@pytest.mark.parametrize(
    ("method", "path", "problem"),
    [
        ("GET", "/", "unknown-path"),
        ("GET", "/v2", "unknown-path"),
        ("GET", "/v1/%2e%2e/etc", "unknown-path"),
        ("POST", "/v1", "wrong-method"),
        ("OPTIONS", "/v1", "wrong-method"),
        ("GET", "/v1?limit=1", "malformed"),
        ("GET", "/v1?x=%ff", "malformed"),
        ("GET", "/v1?x", "malformed"),
        ("GET", "/%ff", "malformed"),
    ],
)
@in_loop
async def test_a_wrong_request_is_a_problem(method: str, path: str, problem: str) -> None:
    async with listening() as (_, requests):
        answer = await requests.send(method, path)
        assert (answer.status, answer.problem) == (PROBLEMS[problem].status, problem)


@in_loop
async def test_bodies_have_a_limit_and_no_encoding() -> None:
    async with listening() as (_, requests):
        assert (await requests.send("GET", "/v1", data=b"x" * 1_000)).status == 200

        async def parts() -> AsyncIterator[bytes]:
            for _ in range(11):
                yield b"x" * 100

        for body in (b"x" * 1_001, parts()):
            assert (await requests.send("GET", "/v1", data=body)).problem == "too-large"
        assert (await requests.send("GET", "/v1", data=b"x", headers={"Content-Encoding": "gzip"})).status == 415


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nA\x00: b\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: coffee\r\nConnection: close\r\n\r\n",
    ],
)
@in_loop
async def test_bytes_that_are_no_request_are_a_problem(request_bytes: bytes) -> None:
    async with listening() as (_, requests):
        answer = await raw(requests.address, request_bytes)
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400")), answer
        assert b"application/problem+json" in head
        assert json.loads(body)["type"].rpartition(":")[2] in PROBLEMS
        assert (await requests.get("/v1")).status == 200


@pytest.mark.parametrize("line", [b"GET /%b HTTP/1.1\r\n", b"GET /v1 HTTP/1.1\r\nA: %b\r\n"])
@in_loop
async def test_the_problem_of_a_long_line_is_its_length(line: bytes) -> None:
    async with listening() as (_, requests):
        answer = await raw(requests.address, line % (b"a" * 9_000) + b"Host: 127.0.0.1\r\n\r\n")
        detail = json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]
        assert detail == "got a longer line, expected at most 8192 bytes of path or header"


@pytest.mark.parametrize("query", ["limit", "limit=2&", "limit=%ff"])
def test_the_problem_of_a_query_names_the_form_that_it_must_have(query: str) -> None:
    with pytest.raises(Problem, match="expected NAME=VALUE in percent-encoded UTF-8"):
        find("GET", "/v1/pipelines/news/clusters", query)


@in_loop
async def test_a_client_may_wait_for_the_continuation() -> None:
    async with listening() as (_, requests):
        request = b"GET /v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n"
        answer = await raw(requests.address, request + b"Connection: close\r\n\r\nx")
        assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


@in_loop
async def test_more_queries_than_allowed_are_refused_at_once() -> None:
    release, began = asyncio.Event(), asyncio.Semaphore(0)

    async def waiting(request: Request) -> Answer:
        began.release()
        await release.wait()
        return Answer(SERVICE)

    async with listening(waiting, ask_concurrency=2) as (_, requests):
        running = [asyncio.create_task(requests.get("/v1")) for _ in range(2)]
        for _ in running:
            await began.acquire()
        answer = await requests.get("/v1")
        assert answer.status == 429
        assert (answer.problem, answer.headers["Retry-After"]) == ("busy", "1")
        release.set()
        assert [(await one).status for one in running] == [200, 200]
        assert (await requests.get("/v1")).status == 200


@in_loop
async def test_a_query_is_given_up_after_its_time() -> None:
    async def endless(request: Request) -> Answer:
        assert 0 < request.left_ms <= 50
        await asyncio.sleep(60)
        return Answer(SERVICE)

    async with listening(endless, ask_timeout_ms=50) as (_, requests):
        answer = await requests.get("/v1")
        assert (answer.status, answer.problem) == (504, "too-late")


@in_loop
async def test_an_exception_is_a_problem_and_the_worker_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    async def failing(request: Request) -> Answer:
        raise ValueError("secret")

    async with listening(failing) as (server, requests):
        answer = await requests.get("/v1")
        assert (answer.status, answer.problem) == (500, "failed")
        assert "secret" not in json.dumps(answer.value)
        assert "secret" in caplog.text
        assert server.answered == {500: 1}


@pytest.mark.parametrize("error", [DoubtError("/state: full"), DamagedBytes("/state: truncated")])
@in_loop
async def test_a_worker_that_cannot_read_its_state_asks_the_client_to_try_again(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def unreadable(request: Request) -> Answer:
        raise error

    async with listening(unreadable) as (_, requests):
        answer = await requests.get("/v1")
        assert (answer.status, answer.problem, answer.headers["Retry-After"]) == (503, "not-now", "1")
        assert "/state" not in json.dumps(answer.value)
        assert str(error) in caplog.text


@in_loop
async def test_a_worker_without_files_asks_the_client_to_try_again(caplog: pytest.LogCaptureFixture) -> None:
    async def starved(request: Request) -> Answer:
        raise OSError(errno.EMFILE, "Too many open files", "/opt/lib/module.py")

    async with listening(starved) as (_, requests):
        answer = await requests.get("/v1")
        assert (answer.status, answer.problem, answer.headers["Retry-After"]) == (503, "not-now", "1")
        assert "/opt" not in json.dumps(answer.value)
        assert "/opt/lib/module.py" in caplog.text


@in_loop
async def test_the_listener_ends_while_a_query_runs() -> None:
    async def endless(request: Request) -> Answer:
        await asyncio.sleep(60)
        return Answer(SERVICE)

    async with listening(endless, ask_timeout_ms=60_000) as (server, requests):
        running = asyncio.create_task(requests.session.get(f"http://{requests.address}/v1"))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await server.stop()
        assert time.monotonic() - began < 10
        with pytest.raises(Exception, match=r"[Dd]isconnected|Cannot connect|reset"):
            await running


@in_loop
async def test_an_address_in_use_is_a_mistake() -> None:
    async with listening() as (_, requests):
        server = QueryServer(WorkerConfig(ask=requests.address), {})
        with pytest.raises(ConfigError, match="cannot be used"):
            await server.start()


def test_segments_of_a_path_are_decoded_one_by_one() -> None:
    for path in ("/v1", "/v1/", "//v1"):
        assert find("GET", path, "").route.name == "service"
    with pytest.raises(Problem):
        find("GET", "/v%2f1", "")


def test_every_problem_is_described() -> None:
    schema = DOCUMENT["components"]["schemas"]["Problem"]
    names: Mapping[str, Any] = {name.rpartition(":")[2]: None for name in schema["properties"]["type"]["enum"]}
    assert set(names) == set(PROBLEMS)
    assert problems({"type": "integer"}, "x") != []
