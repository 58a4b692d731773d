"""The query API under load: `python -m benchmarks.worker.queries [--part PART] [--out FILE]`.

idle      20,000 documents, two workers and `serve`: the latency of `similar`, and its processor time over all workers
paced     the same while 1,000 documents a second arrive, with 10 queries a second; beside it the latency of matches
          with and without queries
full      documents per second of one worker at full feed, with 50 queries a second and without; the statuses

Half of the queries are stored documents, half are altered.  They are sent at fixed times, whether or not earlier ones
have been answered, by a process of its own; a latency counts from the time at which a query was due.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import aiohttp

from benchmarks.worker.broker import Bench, KeyValue, Stream, cpu_seconds, documents, free_addresses
from stream_lsh.config.model import Config
from tests.evaluation.brokers import choose_broker

PARTS = ("idle", "paced", "full")
_PARTITIONS, _STORED, _RATE = 4, 20_000, 1_000
_SECONDS = 20
_SETTLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers to queries at one rate: their latency in ms, and how many had each status."""

    part: str
    asked_at: str
    per_second: int
    p50_ms: float
    p99_ms: float
    statuses: dict[int, int]
    cpu_ms_per_query: float | None = None


@dataclass(frozen=True, slots=True)
class Streamed:
    """The stream beside the queries: documents per second at full feed, or the latency of matches at a steady rate."""

    part: str
    queries: str
    documents_per_second: float
    match_p50_ms: float | None = None


def main(argv: Sequence[str]) -> int:
    """Run the parts; a line for each measurement goes to standard output, data to the file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worker.queries",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; may be repeated")
    parser.add_argument("--rounds", type=int, default=2, help="of the parts with a feed")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    rows = list[Answered | Streamed]()
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder, ProcessPoolExecutor(1) as asker:
        with choose_broker(Path(folder) / "broker") as broker:
            bench = Bench(broker, Path(folder))
            for part in options.part or PARTS:
                for _ in range(1 if part == "idle" else options.rounds):
                    for row in {"idle": _idle, "paced": _paced, "full": _full}[part](bench, asker):
                        print(row, flush=True)
                        rows.append(row)
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


# -- the queries


def _queries(messages: Sequence[KeyValue], count: int) -> list[str]:
    """The texts of queries."""
    rng, queries = random.Random(3), list[str]()
    for _, value in rng.choices(messages, k=count):
        words = json.loads(value)["text"].split()
        if rng.random() < 0.5:
            start = rng.randrange(len(words))
            words[start : start + 20] = [f"altered{number}" for number in range(20)]
        queries.append(" ".join(words))
    return queries


def ask(addresses: Sequence[str], pipeline: str, queries: Sequence[str], per_second: float) -> list[tuple[int, float]]:
    """Send queries at a steady rate, in turns to each address; returns the status and the latency in ms of each."""
    return asyncio.run(_ask(addresses, pipeline, queries, per_second))


async def _ask(
    addresses: Sequence[str], pipeline: str, queries: Sequence[str], per_second: float
) -> list[tuple[int, float]]:
    async def one(session: aiohttp.ClientSession, number: int, due: float) -> tuple[int, float]:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        url = f"http://{addresses[number % len(addresses)]}/v1/pipelines/{pipeline}/similar"
        async with session.post(url, json={"text": queries[number]}) as response:
            await response.read()
            return response.status, 1000 * (time.perf_counter() - due)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.perf_counter() + 0.1
        return await asyncio.gather(
            *[one(session, number, began + number / per_second) for number in range(len(queries))]
        )


def _answered(part: str, asked_at: str, per_second: int, found: Sequence[tuple[int, float]]) -> Answered:
    ms = [took for status, took in found if status == 200]
    statuses = dict(sorted(Counter(status for status, _ in found).items()))
    return Answered(part, asked_at, per_second, statistics.median(ms), statistics.quantiles(ms, n=100)[98], statuses)


# -- the parts


def _idle(bench: Bench, asker: ProcessPoolExecutor) -> Iterator[Answered]:
    messages, twins = documents(_STORED)
    with _running(bench, 2) as (config, file, processes, addresses, stream):
        stream.feed(messages)
        stream.matches(len(twins), patience=60.0)
        with _serving(bench, file) as server:
            for asked_at, where in (("workers", addresses), ("serve", [server])):
                for per_second in (10, 50, 200):
                    queries = _queries(messages, per_second * _SECONDS)
                    time.sleep(_SETTLE_SECONDS)
                    before = sum(cpu_seconds(process.pid) for process in processes)
                    time.sleep(_SECONDS)
                    alone = sum(cpu_seconds(process.pid) for process in processes)
                    found = asker.submit(ask, where, config.pipelines[0].name, queries, per_second).result()
                    spent = sum(cpu_seconds(process.pid) for process in processes) - alone - (alone - before)
                    row = asdict(_answered("idle", asked_at, per_second, found))
                    yield Answered(**row | {"cpu_ms_per_query": 1000 * spent / len(queries)})


def _paced(bench: Bench, asker: ProcessPoolExecutor) -> Iterator[Answered | Streamed]:
    messages, twins = documents(_STORED + _RATE * _SECONDS)
    stored = sum(number < _STORED for number in twins)
    for queried in ("", "workers", "serve"):
        with _running(bench, 2) as (config, file, _, addresses, stream), _serving(bench, file) as server:
            stream.feed(messages[:_STORED])
            stream.matches(stored, patience=60.0)
            where = {"workers": addresses, "serve": [server]}.get(queried)
            queries = _queries(messages[:_STORED], 10 * (_SECONDS - 2))
            asked = where and asker.submit(ask, where, config.pipelines[0].name, queries, 10)
            sent = stream.feed_paced(messages[_STORED:], _RATE)
            stream.matches(len(twins), patience=60.0)
            newer = {pair: max(json.loads(pair)) for pair in stream.seen}
            took = [1000 * (at - sent[newer[pair]]) for pair, at in stream.seen.items() if newer[pair] in sent]
            if asked:
                yield _answered("paced", queried, 10, asked.result())
            yield Streamed("paced", f"10 at {queried}" if queried else "none", _RATE, statistics.median(took))


def _full(bench: Bench, asker: ProcessPoolExecutor) -> Iterator[Answered | Streamed]:
    messages, twins = documents(4 * _STORED)
    stored = sum(number < _STORED for number in twins)
    for queried in (False, True):
        with _running(bench, 1) as (config, _, _, addresses, stream):
            stream.feed(messages[:_STORED])
            stream.matches(stored, patience=60.0)
            began, asked = time.perf_counter(), None
            if queried:
                queries = _queries(messages[:_STORED], 50 * 6)
                asked = asker.submit(ask, addresses, config.pipelines[0].name, queries, 50)
            stream.feed(messages[_STORED:])
            ended = stream.matches(len(twins), patience=60.0)
            yield Streamed("full", "50" if queried else "none", 3 * _STORED / (ended - began))
            if asked is not None:
                yield _answered("full", "workers", 50, asked.result())


@contextmanager
def _running(
    bench: Bench, count: int
) -> Iterator[tuple[Config, Path, list["subprocess.Popen[bytes]"], list[str], Stream]]:
    """Workers with a listener each."""
    config, file = bench.configured(_PARTITIONS)
    addresses = free_addresses(count)
    with bench.workers(config, file, count, addresses) as processes:
        with closing(bench.stream(config.pipelines[0])) as stream:
            yield config, file, processes, addresses, stream


@contextmanager
def _serving(bench: Bench, file: Path) -> Iterator[str]:
    """The address of a process that only answers queries."""
    (address,) = free_addresses(1)
    with bench.started("serve", file, address):
        yield address


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
