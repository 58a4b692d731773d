"""Chromium, and a server of pages in a thread."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.web.server import PageServer
from stream_lsh.worker.brokers.maven import free_port

CHROMIUM = Path("/usr/bin/chromium")
NAME = "pages.example"
"""A host that leads to this machine, but is no loopback address to the browser."""
NO_CHROMIUM = f"no browser at {CHROMIUM}: apt-get install chromium fonts-noto-core fonts-noto-color-emoji"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module; without one they are skipped, and under CI=true they fail.

    Playwright keeps a loop running in the thread of the tests, in which no other loop can run: so the browser ends with
    its module.
    """
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - starts a process of its own

    with sync_playwright() as playwright:
        args = ["--no-sandbox", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=args)
        yield started
        started.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Starts a server of pages for a source, and returns its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    servers = list[PageServer]()

    def started(source: Any, tokens: tuple[str, ...] = ()) -> str:
        port = free_port()
        server = PageServer(source, ("127.0.0.1", port), tokens)
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        servers.append(server)
        return f"http://127.0.0.1:{port}"

    yield started
    for server in servers:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
