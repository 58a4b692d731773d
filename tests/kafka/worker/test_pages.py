"""Pages in a browser while a worker is killed and comes back: they stay readable, show what is missing, and recover."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.brokers.maven import free_port
from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.browser.window import Window, window
from tests.embedded.test_similar import texts
from tests.kafka.pipelines import configured, send
from tests.kafka.worker.test_similar import Workers, documents_of, file_of, memory_of
from tests.patience import PATIENCE

SESSION = "40s"
"""Until it ends, no worker has the partitions of a dead worker.  A live page asks every 30 seconds, so it notices."""


def got(url: str) -> Any:
    """The JSON at a URL; None if nothing answers, or a problem."""
    try:
        with urlopen(url, timeout=PATIENCE) as response:  # noqa: S310 - our own server
            return json.load(response)
    except (URLError, OSError, ValueError):
        return None


def until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of a condition."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {PATIENCE:g} s: {what}")


def complete(running: Workers, numbers: Sequence[int]) -> bool:
    """Whether workers answer for the whole application, and each owns partitions."""
    answers = [got(f"http://{running.addresses[number]}/v1") for number in numbers]
    return all(one and one["complete"] and one["pipelines"][0]["owned"]["documents"] for one in answers)


def largest(pipeline: str, sizes: Sequence[int]) -> str | None:
    """The largest cluster on the pages of a pipeline, as soon as the clusters have the sizes that they keep."""
    found = got(f"{pipeline}/clusters.json?sort=size")
    shown = found["clusters"] if found else []
    complete = found and found["total"] == len(sizes) and [one["size"] for one in shown] == sizes[: len(shown)]
    return shown[0]["cluster"] if complete else None


def killed_all(running: Workers) -> None:
    for process in running.processes:
        if process is not None:
            process.kill()
            process.wait()


@contextmanager
def pages(running: Workers) -> Iterator[str]:
    """The address of `stream-lsh ui` for the workers."""
    listen = f"127.0.0.1:{free_port()}"
    urls = [part for address in running.addresses for part in ("--url", f"http://{address}")]
    process = subprocess.Popen([sys.executable, "-m", "stream_lsh", "ui", "--listen", listen, *urls])  # noqa: S603 - ourselves
    try:
        until(lambda: got(f"http://{listen}/index.json"), "the pages answer")
        yield f"http://{listen}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def shows(one: Window, text: str) -> None:
    one.page.wait_for_selector(f"text={text}", timeout=1_000 * PATIENCE)


def opened(stack: ExitStack, browser: Any, address: str, path: str) -> Window:  # noqa: F811 - not the fixture itself
    one = stack.enter_context(window(browser, address))
    assert one.open(path) == 200
    return one


@pytest.mark.browser
def test_open_pages_survive_the_death_of_a_worker(broker: Broker, name: str, tmp_path: Path, browser: Any) -> None:  # noqa: F811
    config = configured(broker, name, 4, shingles="word:3", max_candidates=0)
    running = Workers(file_of(config, tmp_path, session_timeout=SESSION), 2)
    source, base = config.pipelines[0].source, f"/p/{quote(running.name)}"
    with ThreadPoolExecutor(1) as elsewhere, ExitStack() as stack:  # playwright has the loop of this thread
        stack.callback(killed_all, running)
        for number in range(2):
            running.start(number)
        until(lambda: complete(running, (0, 1)), "both workers own partitions")
        stored = documents_of(texts(21, 300))
        elsewhere.submit(lambda: asyncio.run(send(broker.address, source, stored))).result()
        address = stack.enter_context(pages(running))
        sizes = sorted((len(one.members) for one in memory_of(stored).clusters()), reverse=True)
        cluster = until(lambda: largest(f"{address}{base}", sizes), "the clusters are complete")
        overview, health = opened(stack, browser, address, "/"), opened(stack, browser, address, "/health")
        clusters = opened(stack, browser, address, f"{base}/clusters")
        one = opened(stack, browser, address, f"{base}/cluster?id={quote(cluster)}")
        shown = one.page.inner_text("h1")

        settles = got(f"http://{running.addresses[0]}/v1")["pipelines"][0]["owned"]["ledger"]
        killed = 0 if settles else 1  # the ledger is the only table of which one worker has all
        running.end(killed, signal.SIGKILL)
        shows(overview, "1 of 2 workers is not responding")
        shows(health, "1 of 2 workers is not responding")
        one.page.wait_for_selector("#stale:visible", timeout=1_000 * PATIENCE)
        assert "ledger 0" in one.page.inner_text("#stale")
        assert one.page.inner_text("h1") == shown
        assert clusters.page.locator("table.clusters tbody tr").count() > 0
        assert clusters.open(f"{base}/search") == 200  # the menu still works

        until(lambda: complete(running, (1 - killed,)), "the other worker has everything")
        one.page.wait_for_selector("#stale", state="hidden", timeout=1_000 * PATIENCE)
        assert clusters.open(f"{base}/clusters") == 200
        running.start(killed)
        until(lambda: complete(running, (0, 1)), "both workers own partitions again")
        shows(overview, "Healthy: 2 workers")
        shows(health, "every partition has an owner")
        assert one.page.inner_text("h1") == shown
        for page in (overview, health, clusters, one):
            assert [message for message in page.messages if "503" not in message] == []
