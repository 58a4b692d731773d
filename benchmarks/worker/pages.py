"""The web pages under load: `python -m benchmarks.worker.pages [--part PART] [--out FILE]`.

paint     the first contents of a cluster of 10,000 members and of a pair of texts of 2 MB in Chromium, beside the
          search page, which shows no results
paced     1,000 documents a second, and five open pages in Chromium: the time of each page for one more reader
full      documents per second of one worker at full feed, with five pages that are read as often as open ones
          refresh (3.5 times a second) and without, in turns; also its processor time per document, and the processor
          time of the process of the pages.  Without Chromium, which would take its time from the worker's cores

The pages run in a process of their own, `stream-lsh ui`.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import aiohttp
from playwright.sync_api import Browser, sync_playwright
from yarl import URL

from benchmarks.worker.broker import Bench, KeyValue, Stream, cpu_seconds, documents, free_addresses
from tests.evaluation.brokers import choose_broker

PARTS = ("paint", "paced", "full")
_PARTITIONS, _STORED, _RATE, _SECONDS = 1, 5_000, 1_000, 20
_MEMBERS, _LARGE_BYTES = 10_000, 2_000_000
_FULL, _READ_SECONDS = 40_000, 6.0
_REFRESHES = 3.5
"""Two of the five pages refresh at most once a second, three every two seconds."""
_ROUNDS = 3
_CHROMIUM = "/usr/bin/chromium"


@dataclass(frozen=True, slots=True)
class Painted:
    """A page in Chromium: the time to its first contents and to its end, medians of some loads; bytes of its HTML.

    `failed` counts the loads that got a problem instead, such as 504 from a worker without time; None if all did.
    """

    part: str
    page: str
    first_ms: float | None
    loaded_ms: float | None
    html_bytes: int | None
    failed: int


@dataclass(frozen=True, slots=True)
class Served:
    """A page for one more reader beside the open ones: medians and p99 of its time, and the number of failures."""

    part: str
    page: str
    p50_ms: float
    p99_ms: float
    failed: int


@dataclass(frozen=True, slots=True)
class Fed:
    """The stream at full feed; processor time of the worker per document, and of the process of the pages in all."""

    part: str
    open_pages: int
    documents_per_second: float
    worker_us_per_document: float
    pages_cpu_s: float


def main(argv: Sequence[str]) -> int:
    """Run the parts; a line for each measurement goes to standard output, data to the file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worker.pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; may be repeated")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="of the part `full`")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    rows = list[Painted | Served | Fed]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stream-lsh-bench-")))
        bench = Bench(stack.enter_context(choose_broker(folder / "broker")), folder)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        parts: dict[str, Callable[..., Iterator[Painted | Served | Fed]]]
        parts = {"paint": _paint, "paced": _paced, "full": _full}
        for part in options.part or PARTS:
            for row in parts[part](bench, browser, options.rounds):
                print(row, flush=True)
                rows.append(row)
        browser.close()
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


class _Running:
    """A worker and the process of its pages."""

    def __init__(self, name: str, address: str, pids: tuple[int, int], stream: Stream) -> None:
        self.name, self.address, self.stream = name, address, stream
        self._pids = pids

    @property
    def spent(self) -> tuple[float, float]:
        """The processor time of the worker and of the pages, in seconds."""
        worker, pages = map(cpu_seconds, self._pids)
        return worker, pages

    def path(self, page: str, query: str = "") -> str:
        return f"/p/{self.name}/{page}{f'?{query}' if query else ''}"

    def answer(self, path: str) -> Any:
        """The JSON of a page; None while it is not available."""
        with suppress(URLError, OSError, ValueError), urlopen(f"http://{self.address}{path}", timeout=30) as response:
            return json.load(response)
        return None

    def wait(self, path: str, member: str, least: int) -> None:
        """Wait until a number in the JSON of a page has reached a value."""
        end = time.monotonic() + 600.0
        while (found := (self.answer(path) or {}).get(member, 0)) < least:
            if time.monotonic() > end:
                raise RuntimeError(f"{path}: {member} is {found}, expected {least}")
            time.sleep(0.5)


@contextmanager
def _running(bench: Bench, **keys: Any) -> Iterator[_Running]:
    config, file = bench.configured(_PARTITIONS, **keys)
    ask, listen = free_addresses(2)
    command = [sys.executable, "-m", "stream_lsh", "ui", "--url", f"http://{ask}", "--listen", listen]
    with bench.workers(config, file, 1, [ask]) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as pages:  # noqa: S603 - ourselves
            try:
                found = _Running(config.pipelines[0].name, listen, (worker.pid, pages.pid), stream)
                while found.answer("/index.json") is None:
                    time.sleep(0.1)
                yield found
            finally:
                pages.terminate()


# -- the parts


def _paint(bench: Bench, browser: Browser, _: int) -> Iterator[Painted]:
    words = " ".join(f"word{number}" for number in range(400))
    copies = [_message(f"copy-{number:05}", f"{words} version{number}") for number in range(_MEMBERS)]
    text = " ".join(f"long{number % 5_000}x{number}" for number in range(_LARGE_BYTES // 14))[:_LARGE_BYTES]
    large = [_message("large-a", text), _message("large-b", text.replace("x7", "y7"))]
    keys = {"max_document_bytes": _LARGE_BYTES + 1_000_000, "shingles": "word:3", "threshold": 0.5, "max_candidates": 1}
    with _running(bench, **keys) as running:
        running.stream.feed([*large, *copies])
        running.wait(running.path("document.json", "id=large-a"), "total", 1)
        running.wait(running.path("clusters.json", f"least_size={_MEMBERS}"), "total", 1)
        (cluster,) = running.answer(running.path("clusters.json", f"least_size={_MEMBERS}"))["clusters"]
        pages = {
            "search": running.path("search"),
            "cluster of 10,000": running.path("cluster", f"id={quote(cluster['cluster'])}"),
            "pair of 2 MB": running.path("pair", "left=large-a&right=large-b"),
        }
        for name, path in pages.items():
            yield _painted(browser, name, f"http://{running.address}{path}")


def _message(id: str, text: str) -> KeyValue:
    return id.encode(), json.dumps({"text": text, "time": 1_700_000_000_000}).encode()


_TIMES = """() => {
  const [navigation] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return [paint.startTime, navigation.loadEventEnd, navigation.decodedBodySize];
}"""


def _painted(browser: Browser, name: str, url: str) -> Painted:
    found, failed = list[list[float]](), 0
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1_600, "height": 900})
        response = page.goto(url)
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(200)
        if response is not None and response.ok:
            found.append(page.evaluate(_TIMES))
        else:
            failed += 1
        page.close()
    if not found:
        return Painted("paint", name, None, None, None, failed)
    first, loaded, size = (statistics.median(column) for column in zip(*found, strict=True))
    return Painted("paint", name, first, loaded, int(size), failed)


def _paths(running: _Running) -> list[str]:
    """The paths of five pages."""
    (cluster, *_) = running.answer(running.path("clusters.json", "sort=size"))["clusters"]
    paths = ["/", "/health", running.path("clusters", "sort=growing"), running.path("dead-letters")]
    return [*paths, running.path("cluster", f"id={quote(cluster['cluster'])}")]


def _open(stack: ExitStack, browser: Browser, running: _Running) -> list[str]:
    """Open five pages in the browser; their paths."""
    paths = _paths(running)
    for path in paths:
        context = browser.new_context()
        stack.callback(context.close)
        context.new_page().goto(f"http://{running.address}{path}")
    return paths


def _paced(bench: Bench, browser: Browser, _: int) -> Iterator[Served]:
    messages, twins = documents(_STORED + _RATE * _SECONDS)
    with _running(bench) as running, ExitStack() as stack:
        running.stream.feed(messages[:_STORED])
        running.stream.matches(sum(number < _STORED for number in twins), patience=60.0)
        paths = _open(stack, browser, running)
        reader = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
        reading = reader.submit(read, running.address, paths, _SECONDS - 2, 5.0)
        running.stream.feed_paced(messages[_STORED:], _RATE)
        for path, (took, failed) in reading.result().items():
            yield Served("paced", path, statistics.median(took), statistics.quantiles(took, n=100)[98], failed)


def read(address: str, paths: Sequence[str], seconds: float, rate: float) -> dict[str, tuple[list[float], int]]:
    """Read pages in turns for some seconds, `rate` per second; the times of each in ms, and the number of failures."""
    return asyncio.run(_read(address, paths, seconds, rate))


async def _read(address: str, paths: Sequence[str], seconds: float, rate: float) -> dict[str, tuple[list[float], int]]:
    took = {path: list[float]() for path in paths}
    failed = dict.fromkeys(paths, 0)

    async def one(session: aiohttp.ClientSession, path: str) -> None:
        began = time.perf_counter()
        async with session.get(URL(f"http://{address}{path}", encoded=True)) as response:
            await response.read()
            failed[path] += response.status != 200
        took[path].append(1_000 * (time.perf_counter() - began))

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        for number in range(int(rate * seconds)):
            group.create_task(one(session, paths[number % len(paths)]))
            await asyncio.sleep(1 / rate)
    return {path: (took[path], failed[path]) for path in paths}


def _full(bench: Bench, _: Browser, rounds: int) -> Iterator[Fed]:
    messages, twins = documents(_STORED + _FULL)
    for number in range(2 * rounds):
        with _running(bench) as running, ExitStack() as stack:
            running.stream.feed(messages[:_STORED])
            running.stream.matches(sum(number < _STORED for number in twins), patience=60.0)
            paths = _paths(running) if number % 2 else []
            reader = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
            reader.submit(os.getpid).result()
            before, began = running.spent, time.perf_counter()
            reading = reader.submit(read, running.address, paths, _READ_SECONDS, _REFRESHES) if paths else None
            running.stream.feed(messages[_STORED:])
            ended = running.stream.matches(len(twins), patience=60.0)
            worker, pages = (now - then for now, then in zip(running.spent, before, strict=True))
            yield Fed("full", len(paths), _FULL / (ended - began), 1e6 * worker / _FULL, pages)
            if reading is not None:
                reading.result()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
