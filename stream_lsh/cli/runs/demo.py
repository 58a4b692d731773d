"""The run of the demo: sends the events, follows the results, explains a match and audits the result.

The first events are paced, which measures latency; the others are sent at full speed, which measures throughput.
"""

import asyncio
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from stream_lsh.cli.output.terminal import Screen, clipped, padded
from stream_lsh.cli.process import as_cancellation
from stream_lsh.demo.exact import Pair, all_pairs
from stream_lsh.demo.report import Result, example, report
from stream_lsh.demo.schedule import Event, live
from stream_lsh.demo.side_by_side import side_by_side
from stream_lsh.demo.tally import News, Tally
from stream_lsh.errors import ConfigError, DoubtError
from stream_lsh.model import Document
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.config import Config
    from stream_lsh.worker.clients.producer import Feeder
    from stream_lsh.worker.embedded import Embedded
    from stream_lsh.worker.in_process import LiveWorker

_NAME, _SOURCE = "demo", "demo-documents"
_PACED, _RATE = 300, 30
"""The number of paced events, and events per second: a busy small machine keeps up."""
_MOST_COMPARED = 3_000
"""The audit compares every two of this many documents at most; more would take minutes."""
_NEWS_EVERY_S = {True: 0.25, False: 1.0}  # on a terminal, and elsewhere
_WIDEST, _EXPLAINED = 120, 1_200
"""Columns of the two texts of a match, and characters of each that are shown."""
_LOOK_S = 0.02

_SHOWN_RETRACTIONS = 3
"""Retractions that are always shown; the others only if no line was shown just before."""
_CONFIG_FILE = "demo.toml"
_CONFIG_TITLE = "# Written by `stream-lsh demo --serve`, for as long as it runs."
_CONFIG = """\
{title}

[kafka]
brokers = "{address}"

[worker]
app_id = "{name}"
ask = "{ask}"

[[pipeline]]
name = "{name}"
source = "{source}"
partitions = 1
threshold = {threshold}
stories = true
retention = ""
max_candidates = 0
"""
_PACE_S = 2.0
"""Seconds between two later events."""
_UI_PORT = 6070
_SERVED = """
The broker and the worker run until Ctrl-C{pages}
Their configuration is in {file}; in another terminal, try:

  stream-lsh tail clusters --config {file}
  stream-lsh feed --config {file} YOUR_FOLDER
  stream-lsh check --config {file} --audit
"""
_NEXT = """
Next, with your own files:

  stream-lsh dedup YOUR_FOLDER
  stream-lsh demo --from YOUR_FOLDER
  stream-lsh demo --serve
"""


class _OutputClosedError(Exception):
    """The reader has closed standard output, as `head` does."""


def show(events: Sequence[Event], threshold: float, later: Sequence[Event] = (), *, serve: bool) -> int:
    """Run it; returns the exit code: 0 if every document was processed and no pair is wrong.

    Args:
        events: of the audited run.
        threshold: least similarity of a pair.
        later: events that follow, if it serves.
        serve: keep running until a signal.

    Raises:
        ConfigError: the embedded broker is not installed.
    """
    if find_spec("confluent_kafka") is None:
        raise ConfigError("the demo needs the embedded broker: pip install 'stream_lsh[embedded]'")
    screen = Screen()
    try:
        return asyncio.run(_shown(screen, events, threshold, later, serve=serve))
    except _OutputClosedError:
        return 0
    finally:
        screen.close()


async def _shown(
    screen: Screen, events: Sequence[Event], threshold: float, later: Sequence[Event], *, serve: bool
) -> int:
    from stream_lsh.worker.embedded import embedded  # noqa: PLC0415
    from stream_lsh.worker.in_process import live_worker  # noqa: PLC0415

    with as_cancellation(asyncio.get_running_loop(), asyncio.current_task()), embedded(_config(threshold)) as broker:
        screen.line("A Kafka broker in memory and a worker, in this process; nothing is kept.")
        if broker.config.worker.ui:
            screen.line(f"Web pages, while it runs: http://{broker.config.worker.ui}")
        async with live_worker(broker) as worker, _Stream(screen, broker, worker, events) as stream:
            result = await stream.run(threshold)
            screen.clear()
            for line in (*_explained(result, screen), *report(result)):
                screen.line(line)
            wrong = result.wrong  # documents fed from here on are not part of the audit
            if not serve:
                screen.line(_NEXT.rstrip("\n"))
                return 1 if wrong else 0
            with suppress(asyncio.CancelledError):  # Ctrl-C ends it
                await stream.serve(threshold, later)
    return 1 if wrong else 0


def _config(threshold: float) -> "Config":
    from stream_lsh.config import Config, PipelineConfig, WorkerConfig  # noqa: PLC0415
    from stream_lsh.kinds.text.kind import TextKind  # noqa: PLC0415

    pipeline = PipelineConfig(
        name=_NAME,
        sources=(_SOURCE,),
        app_id=_NAME,
        partitions=1,  # one worker has no use for more, and each costs a message a document
        kind=TextKind(threshold=threshold, stories=True),
        retention_ms=None,
        max_candidates=0,  # the audit compares every two documents, so no cap applies
    )
    # A terminal that is stopped for a while must not end the demo.
    worker = WorkerConfig(
        app_id=_NAME,
        session_timeout_ms=60_000,
        commit_interval_ms=100,
        ask=_address(),
        ui=_address(_UI_PORT) if find_spec("jinja2") else "",
    )
    return Config(pipelines=(pipeline,), worker=worker)


def _address(port: int = 0) -> str:
    """An address with a free port: this one, if it is free."""
    for wanted in (port, 0):
        with socket.socket() as listener, suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", wanted))
            return f"127.0.0.1:{listener.getsockname()[1]}"
    raise DoubtError("there is no free port")


def check_config_file() -> None:
    """Refuse to replace a file that this command has not written.

    Raises:
        ConfigError: there is one.
    """
    path = Path(_CONFIG_FILE)
    if path.exists() and not path.read_text("utf-8", "replace").startswith(_CONFIG_TITLE):
        raise ConfigError(f"{path}: exists already, and --serve writes a file of this name: run it in another folder")


def _explained(result: Result, screen: Screen) -> Iterator[str]:
    """One match with both texts side by side, if there is one of moderate similarity."""
    found = example(result)
    if found is None:
        return
    (left, right), similarity = found
    texts = live(result.events)
    marks = [("\033[31m", "\033[0m"), ("\033[32m", "\033[0m")] if screen.colours else [("[", "]"), ("{", "}")]
    width = min(screen.width, _WIDEST)
    yield ""
    yield f"A match with similarity {similarity:.3f}, its texts side by side:"
    yield ""
    column = (width - 3) // 2
    yield f"{padded(left, column)} | {clipped(right, column)}"
    yield from side_by_side(texts[left][:_EXPLAINED], texts[right][:_EXPLAINED], width, marks)
    yield ""
    yield "The result, audited: every two documents compared with plain sets."
    yield ""


class _Stream:
    """Sends the events and follows the results."""

    def __init__(self, screen: Screen, broker: "Embedded", worker: "LiveWorker", events: Sequence[Event]) -> None:
        self._screen, self._broker, self._worker, self._events = screen, broker, worker, events
        self._pipeline = broker.config.pipelines[0]
        self._tally = Tally()
        self._sent = 0
        self._doing = ""
        self._started = time.monotonic()
        self._next_news = 0.0
        self._follower = asyncio.create_task(self._follow())

    async def __aenter__(self) -> "_Stream":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._follower.cancel()
        await asyncio.gather(self._follower, return_exceptions=True)

    async def run(self, threshold: float) -> Result:
        """Send everything, wait for the results, and compare every two documents."""
        from stream_lsh.worker.clients.producer import Feeder  # noqa: PLC0415

        paced, burst = self._events[:_PACED], self._events[_PACED:]
        self._doing = f"{_RATE} documents/s"
        async with Feeder(self._broker.config.kafka, self._pipeline) as feeder:
            self._started = time.monotonic()
            for number, event in enumerate(paced):
                await self._sleep_until(self._started + number / _RATE)
                await self._send(feeder, event)
            self._doing = "full speed"
            began_ms = self._tally.timed_before_ms = _now_ms()
            for event in burst:
                await self._send(feeder, event)
        fed_ms = _now_ms()
        await self._answered()
        self._doing = "comparing every two"
        texts, exact, began = live(self._events), None, time.monotonic()
        if len(texts) <= _MOST_COMPARED:
            exact = dict[Pair, float]()
            for pair in all_pairs(texts, threshold):
                exact |= pair
                self._look()
                await asyncio.sleep(0)
        return Result(
            self._events,
            self._tally,
            candidates=self._worker.counts.candidates,
            exact=exact,
            exact_s=time.monotonic() - began,
            threshold=threshold,
            rate=_RATE,
            burst=len(burst),
            burst_s=(max(fed_ms, self._tally.last_ms) - began_ms) / 1000,
        )

    async def serve(self, threshold: float, later: Sequence[Event]) -> None:
        """Write the configuration, and send further events until a signal comes."""
        from stream_lsh.worker.clients.producer import Feeder  # noqa: PLC0415

        self._doing, worker = "running until Ctrl-C", self._broker.config.worker
        config = _CONFIG.format(
            title=_CONFIG_TITLE,
            address=self._broker.address,
            ask=worker.ask,
            name=_NAME,
            source=_SOURCE,
            threshold=threshold,
        )
        Path(_CONFIG_FILE).write_text(config, "utf-8")
        pages = f", with web pages at http://{worker.ui}" if worker.ui else "."
        self._screen.line(_SERVED.format(file=_CONFIG_FILE, pages=pages))
        self._events = [*self._events, *later]
        async with Feeder(self._broker.config.kafka, self._pipeline) as feeder:
            for event in later:
                await self._sleep_until(time.monotonic() + _PACE_S)
                await self._send(feeder, event)
            while True:
                await self._sleep_until(time.monotonic() + _PACE_S)

    # -- in

    async def _send(self, feeder: "Feeder", event: Event) -> None:
        await feeder.send([Document(event.id, event.text, int(_now_ms()), event.about)])
        self._sent += 1
        self._look()

    async def _answered(self) -> None:
        """Wait until the worker has processed everything, and the results are read."""
        for wait in (self._worker.settled(), self._worker.all_read()):
            waiting = asyncio.create_task(wait)
            try:
                while not waiting.done():
                    await self._sleep_until(time.monotonic() + _LOOK_S)
                await waiting
            finally:
                waiting.cancel()

    async def _sleep_until(self, moment: float) -> None:
        while True:
            self._look()
            left = moment - time.monotonic()
            await asyncio.sleep(min(max(left, 0.0), 0.1))
            if left <= 0.1:
                return

    def _look(self) -> None:
        """Check the worker and the output, and show the progress."""
        self._worker.check()
        if self._follower.done():
            self._follower.result()
        if self._screen.closed:
            raise _OutputClosedError
        self._screen.status(
            f"{self._sent:,} of {len(self._events):,} sent, {self._doing}; "
            f"{counted(len(self._tally.pairs), 'pair')}, {counted(len(self._tally.sizes), 'cluster')}; "
            f"{self._seconds():.0f} s"
        )

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    # -- out

    async def _follow(self) -> None:
        async for record in self._worker.results():
            if record.topic == self._pipeline.matches_topic:
                retracted = self._tally.match(record.key, record.value, _now_ms())
                if retracted is not None:
                    reason = dict(record.headers).get("reason", b"").decode()
                    self._show_news(retracted, reason, always=self._tally.withdrawn <= _SHOWN_RETRACTIONS)
            else:
                self._tally.cluster(record.key, record.value)
            for news in self._tally.news():
                self._show_news(news)

    def _show_news(self, news: News, reason: str = "", *, always: bool = False) -> None:
        now = time.monotonic()
        if always or now >= self._next_news:
            self._next_news = now + _NEWS_EVERY_S[self._screen.watched]
            self._screen.line(self._news_line(news, reason))

    def _news_line(self, news: News, reason: str) -> str:
        what = self._screen.coloured(f"{news.what:<7}", news.what)
        similarity = "     " if news.similarity is None else f"{news.similarity:.3f}"
        why = f" ({reason})" if reason else ""
        name = _named(news.ids, self._screen.width - 28 - len(why))
        return f"  {self._seconds():5.1f} s  {what}  {similarity}  {name}{why}"


def _named(ids: Sequence[str], width: int) -> str:
    """Documents in at most `width` columns; copies of one story by the two outlets and its name."""
    outlets, stories = zip(*(id.rsplit("/", 1) if "/" in id else ("", id) for id in ids), strict=True)
    if len(ids) == 2 and stories[0] == stories[1]:
        return clipped(f"{outlets[0]} ~ {outlets[1]}: {stories[0]}", width)
    return " ~ ".join(clipped(id, (width - 3) // len(ids)) for id in ids)


def _now_ms() -> float:
    return time.time() * 1000
