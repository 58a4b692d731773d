"""The time until all workers process again: `python -m benchmarks.worker.recovery --out recovery.json [--part PART]`.

postings     the band-bucket table from its changelog, in postings a second: through a real broker by a worker that
             starts, by the client alone, and the core alone: bytes to columns, and columns into the table
restart      a worker with `--documents` is stopped, or killed, and started again: from the start of the process until
             it is ready, and how much of that is recovery; and again without its copy of the buckets
rebalance    a worker joins, leaves (SIGTERM), is killed (-9), with little state and with more: from the event until the
             first documents sent after it have their matches, and the longest that any document waited; with
             `--standbys 1` each worker follows the other, and has caught up before the other one leaves

A smoke test: `--postings 500000 --documents 50000 --rebalanced 5000`.  The broker is Kafka from its jars.
"""

import argparse
import asyncio
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from faust.types import TP

from benchmarks.long_runs.common import BLOCK, PARTITIONS
from benchmarks.long_runs.news import News
from benchmarks.long_runs.watching import MB, Topics, memory_of
from benchmarks.worker.probing import Pause, Probes
from benchmarks.worker.running import (
    Feed,
    WatchedBroker,
    WorkerProcess,
    configured,
    running_broker,
    running_worker,
    state_of,
)
from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.model import make_ref
from stream_lsh.pipeline.batches import BandsFrame, Postings
from stream_lsh.pipeline.changelog.head import extent_of_buckets
from stream_lsh.wire.frames import decode_buckets, encode_buckets
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of, records
from stream_lsh.worker.state.pipeline_state import PipelineState

LITTLE = 1_000
_KNOWN = 500
_AHEAD = 20_000
_BUCKETS = 17
_SIZES = (50, 200, 3_000)
"""Documents whose postings on one partition are in one record: a batch of a slow stream, a full batch, and the maximum
number of batches of a record."""

Row = dict[str, Any]


def main(argv: Sequence[str]) -> int:
    """Run the parts; tables go to standard output, data to the file."""
    parts = {"postings": _postings, "restart": _restart, "rebalance": _rebalance}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worker.recovery",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=parts, action="append", help="only this; may be repeated")
    parser.add_argument("--postings", type=int, default=17_000_000, help="in the changelogs of the first part")
    parser.add_argument("--documents", type=int, default=1_000_000, help="of the restart")
    parser.add_argument("--rebalanced", type=int, default=60_000, help="documents of the rebalances with more state")
    parser.add_argument("--standbys", type=int, default=0, help="of the rebalances")
    parser.add_argument("--rounds", type=int, default=3, help="of starts, and of events")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    results: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="stream-lsh-recovery-") as temporary:
        folder = Path(temporary)
        with running_broker(folder / "broker") as broker:
            for name in options.part or parts:
                results[name] = parts[name](folder, broker, options)
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def _reported(title: str, rows: Sequence[Row]) -> list[Row]:
    print(f"\n{title}\n")
    print("  ".join(f"{name:>20}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value:>20,.2f}" if isinstance(value, float) else f"{value:>20}" for value in row.values()))
    sys.stdout.flush()
    return list(rows)


# -- postings


def _postings(folder: Path, broker: WatchedBroker, options: argparse.Namespace) -> list[Row]:
    rows = []
    for documents in _SIZES:
        config, file = configured(folder, broker.address, f"postings{documents}", PARTITIONS, retention="")
        with running_worker(file) as worker:
            worker.end()
        values = list(_values(config.pipelines[0], documents, options.postings))
        _fill(config, values)
        held = len(values) * documents * _BUCKETS // PARTITIONS
        for _ in range(options.rounds):
            rows.append(
                {
                    "documents a record": documents,
                    "postings": held,
                    "MB": sum(map(len, values)) / MB,
                    **{f"M/s, {name}": held / took / 1e6 for name, took in _took(config, file, values)},
                }
            )
    return _reported("recovery of the band-bucket table, millions of postings a second", rows)


def _took(config: Config, file: Path, values: Sequence[bytes]) -> Iterator[tuple[str, float]]:
    """Seconds of each method."""
    pipeline = config.pipelines[0]
    state = PipelineState(pipeline, PARTITIONS)
    shutil.rmtree(state_of(file))  # all of it is to come from the changelog
    with running_worker(file, observed=True) as worker:
        events = worker.events()
        yield "worker", events["recovery ended"] - events["recovery began"]
        worker.end()
    began = time.perf_counter()
    asyncio.run(_read(config, pipeline.changelog_topic("buckets")))
    yield "client alone", time.perf_counter() - began
    for partition in range(PARTITIONS):
        state.buckets.own(partition)
    began = time.perf_counter()
    for number, value in enumerate(values):
        state.buckets.recover(number % PARTITIONS, value, number // PARTITIONS)
    tables = [state.buckets[partition].table for partition in range(PARTITIONS)]  # with all that was put off
    yield "core alone", time.perf_counter() - began
    began = time.perf_counter()
    frames = [decode_buckets(value, state.fingerprint) for value in values]
    yield "bytes to columns", time.perf_counter() - began
    sent = sum(frame.postings.rows.size for frame in frames if frame.postings is not None)
    if sum(map(len, tables)) != sent:
        raise SystemExit(f"the tables hold {sum(map(len, tables))} postings, and {sent} were sent")
    began = time.perf_counter()
    for frame in frames:
        extent_of_buckets(frame)
    yield "what expires when", time.perf_counter() - began


def _values(pipeline: PipelineConfig, documents: int, postings: int) -> Iterator[bytes]:
    """Records of the changelog, in turns for each partition: new documents, a quarter of the buckets of each."""
    random, scheme = np.random.default_rng(1), PipelineState(pipeline, PARTITIONS).fingerprint
    each = documents * _BUCKETS // PARTITIONS
    for number in range(max(PARTITIONS, postings // each)):
        first = number // PARTITIONS * documents
        refs = np.array([make_ref(row % PARTITIONS, first + row) for row in range(documents)], np.uint64)
        rows = np.sort(np.arange(each) % documents)
        buckets = random.integers(0, 1 << 63, each, np.uint64) << np.uint64(1)
        times, come = np.zeros(documents, np.int64), np.zeros(documents, np.bool_)
        yield encode_buckets(BandsFrame(postings=Postings(refs, times, come, rows, buckets)), scheme)


def _fill(config: Config, values: Sequence[bytes]) -> None:
    feed = Feed(",".join(config.kafka.brokers), config.pipelines[0].changelog_topic("buckets"))
    for number, value in enumerate(values):
        feed.put(value, number % PARTITIONS)
    feed.flush()


async def _read(config: Config, topic: str) -> None:
    begins, ends = await bounds(config.kafka, [TP(*tp) for tp in partitions_of(topic, PARTITIONS)])
    async for _ in records(config.kafka, begins, ends):
        pass


# -- restart


def _restart(folder: Path, broker: WatchedBroker, options: argparse.Namespace) -> list[Row]:
    config, file = configured(folder, broker.address, "restart", PARTITIONS, retention="")
    with running_worker(file) as worker:
        _filled(config, broker, [worker], options.documents)
        worker.end()
    rows = [_started(file, options.documents) for _ in range(options.rounds)]
    _reported("a worker is stopped and started again", rows)
    killed = [_started(file, options.documents, signal.SIGKILL) for _ in range(options.rounds + 1)][1:]
    _reported("a worker is killed and started again", killed)
    rebuilt = []
    for _ in range(options.rounds):
        for place in state_of(file).glob("worker-*/*/buckets-*"):
            shutil.rmtree(place)
        row = _started(file, options.documents)
        rebuilt.append(row | {"M postings a second": options.documents * _BUCKETS / row["recovery, s"] / 1e6})
    _reported("a worker without its buckets is started again, from the changelog that it has written itself", rebuilt)
    return [*rows, *killed, *rebuilt]


def _started(file: Path, documents: int, end: signal.Signals = signal.SIGTERM) -> Row:
    """How long a start takes; the worker is ended by a signal."""
    with running_worker(file, observed=True) as worker:
        ready, events = time.time() - worker.started_at, worker.events()
        row: Row = {
            "documents": documents,
            "ready after, s": ready,
            "loaded after, s": events["loaded"],
            "in the group after, s": events["recovery began"],
            "recovery, s": events["recovery ended"] - events["recovery began"],
            "MB resident": memory_of(worker.process.pid)["resident"] / MB,
        }
        worker.end(end)
    return row


def _filled(config: Config, broker: WatchedBroker, workers: Sequence[WorkerProcess], documents: int) -> list[str]:
    """Feed documents and wait until they are taken; the texts of the first ones."""
    news, known = News(LITTLE, updated=0.0, deleted=0.0), list[str]()
    feed = Feed(broker.address, config.pipelines[0].source)
    with closing(Topics(config, broker.logs)) as topics:
        while (taken := topics.taken()) < documents:
            for worker in workers:
                worker.check()
            if feed.sent < min(documents, taken + _AHEAD):
                block = news.block(min(BLOCK, documents - feed.sent))
                known += [json.loads(value)["text"] for _, value in block[: _KNOWN - len(known)] if value]
                feed.send(block)
            else:
                time.sleep(0.1)
    feed.flush()
    return known


# -- rebalance


def _rebalance(folder: Path, broker: WatchedBroker, options: argparse.Namespace) -> list[Row]:
    rows = []
    for documents in (LITTLE, options.rebalanced):
        name = f"rebalance{documents}"
        config, file = configured(folder, broker.address, name, PARTITIONS, standbys=options.standbys, retention="")
        with ExitStack() as stack:
            one = stack.enter_context(running_worker(file, 0))
            known = _filled(config, broker, [one], documents)
            probes = stack.enter_context(closing(Probes(config, known)))
            for _ in range(options.rounds):
                for what, pause in _events(probes, file, one, stack, options.standbys):
                    row = {"event": what, "postings": documents * _BUCKETS, "standbys": options.standbys}
                    row |= {"until work again, s": pause.until_s, "longest wait, s": pause.longest_s}
                    rows.append(row | {"usual wait, s": pause.usual_s})
            one.end()
    return _reported("two workers, one of which joins and leaves", rows)


def _events(
    probes: Probes, file: Path, one: WorkerProcess, stack: ExitStack, standbys: int
) -> Iterator[tuple[str, Pause]]:
    """A second worker joins and leaves, joins and dies."""
    for what, sent in (("leaves", signal.SIGTERM), ("is killed", signal.SIGKILL)):
        others: list[WorkerProcess] = []
        ready = one.ready
        joined = probes.pause(
            lambda: others.append(WorkerProcess(file, 1)),  # noqa: B023 - used at once
            lambda: others[0].ready > 0 and one.ready > ready,  # noqa: B023
        )
        stack.callback(others[0].process.kill)
        yield "joins", joined
        while standbys and not (one.standing_by and others[0].standing_by):
            one.check()
            others[0].check()
            time.sleep(0.1)
        ready = one.ready
        yield (
            what,
            probes.pause(
                lambda: others[0].process.send_signal(sent),  # noqa: B023 - used at once
                lambda: others[0].process.poll() is not None and one.ready > ready,  # noqa: B023
            ),
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
