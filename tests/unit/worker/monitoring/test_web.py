"""The pages of a worker for Prometheus and for a supervisor."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.monitoring.web import WorkerWeb
from tests.unit.worker.query.client import in_loop, raw


@asynccontextmanager
async def served(caplog: pytest.LogCaptureFixture, **app: bool) -> AsyncIterator[str]:
    """The address of the pages of a worker without pipelines; `is_ready` and `in_recovery` are its state."""
    state: Any = SimpleNamespace(**{"is_ready": False, "in_recovery": False} | app)
    port = free_port()
    with caplog.at_level(logging.INFO):
        serving = asyncio.create_task(WorkerWeb(state, {}, state).serve("127.0.0.1", port))
        while "metrics and health" not in caplog.text:
            assert not serving.done(), caplog.text
            await asyncio.sleep(0.001)
    yield f"127.0.0.1:{port}"
    serving.cancel()
    await asyncio.wait([serving])


async def answer(address: str, path: str, method: str = "GET") -> tuple[int, str]:
    async with aiohttp.request(method, f"http://{address}{path}") as response:
        return response.status, await response.text()


@pytest.mark.parametrize(
    ("state", "ready"),
    [
        ({"is_ready": True}, (200, "ready\n")),
        ({"in_recovery": True}, (503, "recovering\n")),
        ({}, (503, "not in the group\n")),
    ],
)
@in_loop
async def test_a_supervisor_sees_whether_a_worker_is_ready(
    state: dict[str, bool], ready: tuple[int, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with served(caplog, **state) as address:
        assert await answer(address, "/ready") == ready
        assert await answer(address, "/health") == (200, "ok\n")
        assert await answer(address, "/health", "HEAD") == (200, "")
        assert (await answer(address, "/health", "POST"))[0] == 405
        assert (await answer(address, "/"))[0] == 404


@in_loop
async def test_bytes_that_are_no_request_are_rejected_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with served(caplog) as address:
        for line in (b"\x16\x03\x01\x02", b"GET /health HTTP/1.1\r\nA\x00: b", b"GET /" + b"a" * 9_000 + b" HTTP/1.1"):
            assert (await raw(address, line + b"\r\n\r\n")).startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@in_loop
async def test_a_page_that_fails_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    async with served(caplog) as address:
        # The app of this test has no tables, whose recovery the metrics report.
        assert await answer(address, "/metrics") == (500, "This page failed. The log of the worker has the reason.\n")
        [failure] = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert failure.getMessage() == "a request failed: GET /metrics"
        assert failure.exc_info


@in_loop
async def test_a_worker_runs_without_pages_if_their_address_is_taken(caplog: pytest.LogCaptureFixture) -> None:
    async with served(caplog) as address:
        host, _, port = address.partition(":")
        state: Any = SimpleNamespace()
        await WorkerWeb(state, {}, state).serve(host, int(port))
        assert f"worker.web: {address} cannot be used" in caplog.text
