"""The worker on a real broker: `python -m benchmarks.worker.streaming --data DIR [--out FILE] [--part PART]`.

answers      newsgroups20 through Kafka, 1 and 2 workers, 1, 4 and 7 partitions, against the command `dedup`
throughput   documents of 3 KB, one in ten a near-duplicate of an earlier one, fed as fast as they are taken; beside it
             datasketch on a file of them, without Kafka, and a consumer with datasketch and Redis on the same broker
             (`redis-server` has to be there)
dense        texts of 3 KB in groups of 50 near-duplicates, one worker process, 1 and 4 partitions; beside it the chain
             in memory, without Kafka
growth       a million documents like those of throughput, and what each costs the worker meanwhile; only if named
latency      documents at 100 and at 1,000 documents a second: a document sent, its match received; beside it the same
             messages over as many hops with the client alone, and the time at which each hop has stored its message
way          what one worker process does all the time, by agent, from samples under load

Broker, feeder and worker share the machine.  The broker is the first that there is: a given address, Docker, Maven.
"""

import argparse
import gzip
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.worker.broker import NEAR, SIZE, Bench, KeyValue, cpu_seconds, documents, kernel_seconds
from benchmarks.worker.costs import in_memory, near
from benchmarks.worker.latency import WARM, latency
from stream_lsh.arrays import F64
from stream_lsh.config.model import PipelineConfig
from tests.evaluation.brokers import choose_broker

Pairs = dict[tuple[str, str], float]

_BY_DATASKETCH = 4_000
_BY_REDIS = 2_000
_LAYOUTS = ((1, 1), (1, 4), (1, 7), (2, 1), (2, 4), (2, 7))
_GROUP = 50
_PARTS = ("answers", "throughput", "dense", "way", "latency")
_LONG_PARTS = ("growth",)
_WINDOWS = (10_000, *range(100_000, 1_000_001, 100_000))
_STEPS = ("sign", "index", "gather", "verify", "settle")


@dataclass(frozen=True, slots=True)
class Answers:
    """Whether a run through Kafka and `dedup` gave the same pairs and groups."""

    workers: int
    partitions: int
    pairs: int
    same_pairs: bool
    same_groups: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """Documents a second from the first one sent to the last match received, and the processor time of a document.

    `datasketch_per_second` is that of `datasketch_dedup` on a file of the first documents, `redis_per_second` that of
    `datasketch_redis` on the same broker; both measured in the same round.
    """

    documents: int
    matches: int
    documents_per_second: float
    cpu_us_per_document: float
    datasketch_per_second: float
    redis_per_second: float | None


@dataclass(frozen=True, slots=True)
class Growth:
    """The cost of the documents since the last row, once a worker has this many; and the part of it in the kernel."""

    documents: int
    cpu_us_per_document: float
    kernel_us_per_document: float
    documents_per_second: float


@dataclass(frozen=True, slots=True)
class Dense:
    """Pairs a second from the first document sent to the last match received, and the processor time of a pair."""

    partitions: int
    pairs: int
    pairs_per_second: float
    cpu_us_per_pair: float
    in_memory_us_per_pair: float


def main(argv: Sequence[str]) -> int:
    """Run the parts; tables go to standard output, data to the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker.streaming", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    parser.add_argument(
        "--part",
        choices=(*_PARTS, *_LONG_PARTS),
        action="append",
        help="only this; may be repeated; growth if named only",
    )
    parser.add_argument("--documents", type=int, default=40_000, help="of a round of throughput")
    parser.add_argument("--rounds", type=int, default=3, help="of throughput and latency")
    options = parser.parse_args(argv)
    parts = options.part or _PARTS
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder:
        with choose_broker(Path(folder) / "broker") as broker:
            bench = Bench(broker, Path(folder))
            if "answers" in parts:
                results["answers"] = [asdict(one) for one in _answers(bench, options.data)]
            if "throughput" in parts:
                results["throughput"] = [asdict(one) for one in _throughput(bench, options.documents, options.rounds)]
            if "dense" in parts:
                results["dense"] = [asdict(one) for one in _dense(bench, options.documents // 8, options.rounds)]
            if "growth" in parts:
                results["growth"] = [asdict(one) for one in _growth(bench)]
            if "way" in parts:
                results["way"] = _way(bench, options.documents)
            if "latency" in parts:
                results["latency"] = [asdict(one) for one in latency(bench, options.rounds)]
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


# -- answers


def _answers(bench: Bench, data: Path) -> list[Answers]:
    source = data / "newsgroups20" / "docs.jsonl.gz"
    wanted, groups = _of_dedup(source)
    articles = [json.loads(line) for line in gzip.open(source, "rt", encoding="utf-8")]
    messages = [(one["id"].encode(), json.dumps({"text": one["text"]}).encode()) for one in articles]
    print(f"newsgroups20, {len(messages)} documents, T = .5; `dedup` finds {len(wanted)} pairs, {len(groups)} groups\n")
    print("workers  partitions   pairs  same pairs  same groups  seconds")
    rows = []
    for workers, partitions in _LAYOUTS:
        config, file = bench.configured(partitions, threshold=0.5, retention=0)
        with bench.workers(config, file, workers), closing(bench.stream(config.pipelines[0])) as stream:
            start = time.perf_counter()
            stream.feed(messages)
            seconds = stream.matches(len(wanted), patience=60.0) - start
            pairs, found = _published(bench, config.pipelines[0])
        row = Answers(workers, partitions, len(pairs), pairs == wanted, found == groups, seconds)
        print(
            f"{row.workers:>7}{row.partitions:>12}{row.pairs:>8}{row.same_pairs!s:>12}{row.same_groups!s:>13}"
            f"{row.seconds:>9.1f}",
            flush=True,
        )
        rows.append(row)
    print()
    return rows


def _of_dedup(source: Path) -> tuple[Pairs, set[frozenset[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        matches, clusters = Path(folder) / "matches.jsonl", Path(folder) / "clusters.jsonl"
        command = [sys.executable, "-m", "stream_lsh", "dedup", str(source), "--threshold", "0.5", "--quiet"]
        subprocess.run([*command, "--matches", str(matches), "--clusters", str(clusters)], check=True)  # noqa: S603
        pairs = [json.loads(line) for line in matches.open(encoding="utf-8")]
        groups = [json.loads(line)["members"] for line in clusters.open(encoding="utf-8")]
    return {(one["left"], one["right"]): one["similarity"] for one in pairs}, {frozenset(one) for one in groups}


def _published(bench: Bench, pipeline: PipelineConfig) -> tuple[Pairs, set[frozenset[str]]]:
    """Pairs and groups, once nothing has come for five seconds."""
    consumer = bench.consumer(pipeline.matches_topic, pipeline.members_topic)
    matches: dict[bytes, bytes | None] = {}
    members: dict[bytes, bytes | None] = {}
    last = time.monotonic()
    while not members or time.monotonic() - last < 5.0:
        for message in consumer.consume(1_000, 0.2):
            if message.error() is None:
                table = matches if message.topic() == pipeline.matches_topic else members
                table[message.key() or b""] = message.value()
                last = time.monotonic()
    consumer.close()
    live = [json.loads(value) for value in matches.values() if value is not None]
    groups: dict[str, set[str]] = {}
    for key, value in members.items():
        if value is not None:
            groups.setdefault(json.loads(value)["cluster"], set()).add(key.decode())
    return {(one["left"], one["right"]): one["similarity"] for one in live}, {frozenset(one) for one in groups.values()}


# -- throughput


def _throughput(bench: Bench, count: int, rounds: int) -> list[Throughput]:
    print(f"{count} documents of {SIZE} characters, {NEAR:.0%} near-duplicates, one worker process, 4 partitions\n")
    if shutil.which("redis-server") is None:
        print("no redis-server in the PATH: the consumer with Redis is not measured\n")
    print("documents/s  worker's us a document  matches  datasketch  gain  with Redis  gain")
    rows = []
    messages, twins = documents(WARM + count)
    for _ in range(rounds):
        config, file = bench.configured(4)
        with bench.workers(config, file, 1) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
            stream.feed(messages[:WARM])
            stream.matches(sum(number < WARM for number in twins))
            began, spent = time.perf_counter(), cpu_seconds(worker.pid)
            stream.feed(messages[WARM:])
            ended = stream.matches(len(twins))
            spent = cpu_seconds(worker.pid) - spent
        rate, peer = count / (ended - began), _by_datasketch(messages[:_BY_DATASKETCH])
        with_redis = _with_redis(bench, messages[:_BY_REDIS], twins)
        row = Throughput(count, len(twins), rate, spent / count * 1e6, peer, with_redis)
        print(
            f"{rate:>11.0f}{row.cpu_us_per_document:>24.0f}{row.matches:>9}{peer:>12.0f}{rate / peer:>5.1f}x"
            + ("" if with_redis is None else f"{with_redis:>12.0f}{rate / with_redis:>5.1f}x"),
            flush=True,
        )
        rows.append(row)
    print()
    return rows


def _growth(bench: Bench) -> list[Growth]:
    print(
        f"{_WINDOWS[-1]} documents of {SIZE} characters, {NEAR:.0%} near-duplicates, one worker process, 4 partitions\n"
    )
    print("documents  worker's us a document  of it in the kernel  documents/s")
    rows = []
    (messages, twins), (config, file) = documents(WARM + _WINDOWS[-1]), bench.configured(4)
    matches = np.searchsorted(sorted(twins), [WARM + last for last in _WINDOWS])
    with bench.workers(config, file, 1) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
        stream.feed(messages[:WARM])
        stream.matches(sum(number < WARM for number in twins))
        for first, last, enough in zip((0, *_WINDOWS), _WINDOWS, matches.tolist(), strict=False):
            began, before = time.perf_counter(), _spent(worker.pid)
            stream.feed(messages[WARM + first : WARM + last])
            seconds = stream.matches(enough, patience=60.0) - began
            spent, kernel = (_spent(worker.pid) - before) / (last - first) * 1e6
            row = Growth(last, spent, kernel, (last - first) / seconds)
            print(f"{last:>9}{spent:>24.0f}{kernel:>21.1f}{row.documents_per_second:>13.0f}", flush=True)
            rows.append(row)
    print()
    return rows


def _spent(pid: int) -> F64:
    """float64[2]: the processor time of a process in seconds, and its part in the kernel."""
    return np.array((cpu_seconds(pid), kernel_seconds(pid)))


def _dense(bench: Bench, count: int, rounds: int) -> list[Dense]:
    pairs, messages = count * (_GROUP - 1) // 2, near(count, _GROUP, SIZE)
    print(f"{count} documents of {SIZE} characters in groups of {_GROUP}, {pairs} pairs, one worker process\n")
    print("partitions  pairs/s  worker's us a pair  in memory, us a pair  ratio")
    rows = []
    for partitions in (1, 4) * rounds:
        config, file = bench.configured(partitions, max_candidates=0)
        with bench.workers(config, file, 1) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
            began, spent = time.perf_counter(), cpu_seconds(worker.pid)
            stream.feed(messages)
            # A pair exactly at the threshold is found with the probability `recall`.
            seconds = stream.matches(pairs * 999 // 1_000, patience=60.0) - began
            spent = cpu_seconds(worker.pid) - spent
        row = Dense(partitions, pairs, pairs / seconds, spent / pairs * 1e6, in_memory(messages) / pairs * 1e6)
        print(
            f"{partitions:>10}{row.pairs_per_second:>9.0f}{row.cpu_us_per_pair:>20.1f}{row.in_memory_us_per_pair:>22.1f}"
            f"{row.cpu_us_per_pair / row.in_memory_us_per_pair:>7.2f}",
            flush=True,
        )
        rows.append(row)
    print()
    return rows


def _by_datasketch(messages: Sequence[KeyValue]) -> float:
    """Documents a second of `datasketch_dedup` on a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.jsonl.gz", Path(folder) / "out.jsonl"
        with gzip.open(source, "wt", encoding="utf-8", compresslevel=1) as file:
            for key, value in messages:
                file.write(json.dumps({"id": key.decode(), "text": json.loads(value)["text"]}) + "\n")
        command = [sys.executable, "-m", "benchmarks.documents.datasketch_dedup", str(source), str(target), "0.8"]
        began = time.perf_counter()
        subprocess.run(command, check=True)  # noqa: S603 - ours
        return len(messages) / (time.perf_counter() - began)


def _with_redis(bench: Bench, messages: Sequence[KeyValue], twins: dict[int, int]) -> float | None:
    """Documents a second of a consumer with datasketch and Redis, once it has done a few; None without Redis.

    It finds fewer matches, so its last one is waited for by number: those before it have come as well.
    """
    if shutil.which("redis-server") is None:
        return None
    warm, enough = len(messages) // 5, sum(number < len(messages) for number in twins) * 3 // 4
    with bench.redis_peer(0.8) as stream, closing(stream):
        stream.feed(messages[:warm])
        stream.matches(sum(number < warm for number in twins) // 2)
        time.sleep(1.0)
        known, began = len(stream.seen), time.perf_counter()
        stream.feed(messages[warm:])
        ended = stream.matches(enough)
    newest = [max(json.loads(pair)) for pair in list(stream.seen)[known:]]
    return (int(newest[-1]) - warm) / (ended - began)


# -- way


def _way(bench: Bench, count: int) -> dict[str, float]:
    """The share of each agent in the samples of a worker that has all it can do."""
    messages, twins = documents(WARM + count)
    config, file = bench.configured(4)
    samples = file.with_suffix(".samples")
    with bench.workers(config, file, 1) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
        stream.feed(messages[:WARM])
        stream.matches(sum(number < WARM for number in twins))
        spy = [str(Path(sys.executable).with_name("py-spy")), "record", "--rate", "200", "--format", "raw"]
        spy += ["--pid", str(worker.pid), "--output", str(samples)]
        with subprocess.Popen(spy, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as spying:  # noqa: S603 - ours
            time.sleep(2.0)
            stream.feed(messages[WARM:])
            stream.matches(len(twins))
            spying.send_signal(signal.SIGINT)
    shares = _shares(samples.read_text().splitlines())
    print("where a worker's time goes, of one with all it can do\n")
    for name, share in sorted(shares.items(), key=lambda one: -one[1]):
        print(f"{share:>6.1%}  {name}")
    print()
    return shares


def _shares(stacks: Sequence[str]) -> dict[str, float]:
    """The share of samples in each agent, and in parts of the engine and of the client.

    A thread that leaves its selector waits for the interpreter's lock, which another thread has.
    """
    found: Counter[str] = Counter()
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        if not stack.rpartition(";")[2].startswith("EpollSelector.select"):
            found[_belongs_to(stack)] += int(count)
    total = found.total()
    return {name: count / total for name, count in found.items()}


def _belongs_to(stack: str) -> str:
    for step in _STEPS:
        # Sign handles its partitions in tasks of their own.
        at = max(stack.find(f"PipelineAgents.{name} (") for name in (step, f"_{step}"))
        if at >= 0:
            inner = stack[at:]
            within = {"TextScheme.sign": "signatures", " (stream_lsh/wire": "bytes", "EngineApp.produce": "sending"}
            return f"{step}: {next((name for mark, name in within.items() if mark in inner), 'the step')}"
    if "Outbox._store" in stack:
        return "frames between the steps"
    if "aiokafka/producer" in stack:
        return "the client: sending"
    if "aiokafka/consumer" in stack or "WorkerThread" in stack:
        return "the client: reading"
    return "the loop and the engine"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
