"""The demo while it runs: feeds the events, follows the results, shows both, and adds up at the end.

First the events come at a pace, which tells how late a match is; then the rest as fast as it goes, which tells how many
a second there can be.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from stream_lsh.cli.output.terminal import Screen, clipped
from stream_lsh.cli.process import as_cancellation
from stream_lsh.demo.exact import Pair, all_pairs
from stream_lsh.demo.report import Result, report
from stream_lsh.demo.schedule import Event, live
from stream_lsh.demo.tally import News, Tally
from stream_lsh.model import Document

if TYPE_CHECKING:
    from stream_lsh.config import Config
    from stream_lsh.worker.clients.producer import Feeder
    from stream_lsh.worker.embedded import Embedded
    from stream_lsh.worker.in_process import LiveWorker

_NAME, _SOURCE = "demo", "demo-documents"
_PACED, _RATE = 400, 30
"""So many events come at so many a second: what a small machine that does other things keeps up with."""
_MOST_COMPARED = 3_000
"""Documents of which every two are compared; with more it would take minutes."""
_NEWS_EVERY_S = {True: 0.25, False: 1.0}  # on a terminal, and elsewhere
_LOOK_S = 0.02

_SERVED = """
It goes on until Ctrl-C. For the other commands, this is demo.toml:

  [kafka]
  brokers = "{address}"
  [[pipeline]]
  name = "{name}"
  source = "{source}"

  stream-lsh tail clusters --config demo.toml
  stream-lsh feed --config demo.toml FILE
"""


class _NobodyReadsError(Exception):
    """The reader of our output has closed it, as `head` does."""


def show(events: Sequence[Event], threshold: float, *, serve: bool) -> int:
    """Run it; returns the exit code: 0 if everything was answered and no pair is wrong."""
    screen = Screen()
    try:
        return asyncio.run(_shown(screen, events, threshold, serve=serve))
    except _NobodyReadsError:
        return 0
    finally:
        screen.close()


async def _shown(screen: Screen, events: Sequence[Event], threshold: float, *, serve: bool) -> int:
    from stream_lsh.worker.embedded import embedded  # noqa: PLC0415
    from stream_lsh.worker.in_process import live_worker  # noqa: PLC0415

    with as_cancellation(asyncio.get_running_loop(), asyncio.current_task()), embedded(_config(threshold)) as broker:
        screen.line("A Kafka broker in memory and a worker, in this process; at the end all is gone.")
        async with live_worker(broker) as worker, _Stream(screen, broker, worker, events) as stream:
            result = await stream.run(threshold)
            screen.clear()
            for line in report(result):
                screen.line(line)
            wrong = result.wrong  # what is fed from here on is not known to the demo
            if serve:
                with suppress(asyncio.CancelledError):  # Ctrl-C is how it ends
                    await stream.serve()
    return 1 if wrong else 0


def _config(threshold: float) -> "Config":
    from stream_lsh.config import Config, PipelineConfig, WorkerConfig  # noqa: PLC0415
    from stream_lsh.kinds.text.kind import TextKind  # noqa: PLC0415

    pipeline = PipelineConfig(
        name=_NAME,
        sources=(_SOURCE,),
        app_id=_NAME,
        partitions=1,  # one worker has no use for more, and each costs a message a document
        kind=TextKind(threshold=threshold),
        retention_ms=None,
        max_candidates=0,  # recall is told against every two documents, so nothing is capped
    )
    # A terminal that is stopped for a while must not end the demo.
    worker = WorkerConfig(app_id=_NAME, session_timeout_ms=60_000, commit_interval_ms=100)
    return Config(pipelines=(pipeline,), worker=worker)


class _Stream:
    """The events on their way in, and the results on their way out."""

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
        """Feed everything, wait for every answer, and compare."""
        from stream_lsh.worker.clients.producer import Feeder  # noqa: PLC0415

        paced, burst = self._events[:_PACED], self._events[_PACED:]
        self._doing = f"{_RATE} documents/s"
        async with Feeder(self._broker.config.kafka, self._pipeline) as feeder:
            self._started = time.monotonic()
            for number, event in enumerate(paced):
                await self._sleep_until(self._started + number / _RATE)
                await self._send(feeder, event)
            self._doing = "as fast as it goes"
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

    async def serve(self) -> None:
        """Go on until a signal comes."""
        self._doing = "served until Ctrl-C"
        self._screen.line(_SERVED.format(address=self._broker.address, name=_NAME, source=_SOURCE))
        while True:
            await self._sleep_until(time.monotonic() + 1.0)

    # -- in

    async def _send(self, feeder: "Feeder", event: Event) -> None:
        await feeder.send([Document(event.id, event.text, int(_now_ms()))])
        self._sent += 1
        self._look()

    async def _answered(self) -> None:
        """Everything that was sent has been answered, and every answer has been read."""
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
        """Everything runs, somebody reads, and the status says how far it is."""
        self._worker.check()
        if self._follower.done():
            self._follower.result()
        if self._screen.closed:
            raise _NobodyReadsError
        self._screen.status(
            f"{self._sent:,} of {len(self._events):,} sent, {self._doing}; "
            f"{len(self._tally.pairs):,} pairs, {len(self._tally.sizes):,} clusters; {self._seconds():.0f} s"
        )

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    # -- out

    async def _follow(self) -> None:
        async for record in self._worker.results():
            if record.topic == self._pipeline.matches_topic:
                self._tally.match(record.key, record.value, _now_ms())
            else:
                self._tally.cluster(record.key, record.value)
            for news in self._tally.news():
                now = time.monotonic()
                if now >= self._next_news:
                    self._next_news = now + _NEWS_EVERY_S[self._screen.watched]
                    self._screen.line(self._news_line(news))

    def _news_line(self, news: News) -> str:
        what = self._screen.coloured(f"{news.what:<7}", news.what)
        similarity = "     " if news.similarity is None else f"{news.similarity:.3f}"
        return f"  {self._seconds():5.1f} s  {what}  {similarity}  {_named(news.ids, self._screen.width - 28)}"


def _named(ids: Sequence[str], width: int) -> str:
    """Documents in at most so many columns; copies of one story by its name and the two outlets."""
    outlets, stories = zip(*(id.rsplit("/", 1) if "/" in id else ("", id) for id in ids), strict=True)
    if len(ids) == 2 and stories[0] == stories[1]:
        return clipped(f"{stories[0]}: {outlets[0]} ~ {outlets[1]}", width)
    return " ~ ".join(clipped(id, (width - 3) // len(ids)) for id in ids)


def _now_ms() -> float:
    return time.time() * 1000
