"""The latency of a match, beside the client alone over as many hops, and the path of a document hop by hop."""

import json
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from subprocess import Popen
from typing import Any

from benchmarks.worker.broker import Bench, KeyValue, Stream, cpu_seconds, documents
from stream_lsh.config.model import PipelineConfig
from stream_lsh.model import make_ref
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_bands, decode_candidates, decode_edges

WARM = 2_000
_HOPS = ("source", "bands", "candidates", "edges", "matches")
"""Each is read, and the last one by the reader.  One worker has all old documents, and sends no verifications."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the sending of a document to the receipt of its match.

    `path` has the mean milliseconds from one hop to the next: the moment at which the broker stores the message of each
    topic, and the receipt at the end.
    """

    what: str
    rate: int
    matches: int
    p50_ms: float
    p99_ms: float
    longest_ms: float
    cores: float
    path: dict[str, float]


def latency(bench: Bench, rounds: int) -> list[Latency]:
    """The worker and the client alone in turns, at two rates."""
    print(
        "what                      documents/s  matches  p50 ms  p99 ms  longest ms  cores  "
        + "  ".join(("sent and received", *_HOPS[1:]))
    )
    rows = []
    for rate, seconds in ((100, 30), (1000, 15)):
        for _ in range(rounds):
            for row in (alone(bench, rate, rate * seconds), *(paced(bench, rate, rate * seconds, p) for p in (1, 4))):
                path = "  ".join(f"{ms:>{len(hop)}.1f}" for hop, ms in row.path.items())
                print(
                    f"{row.what:<26}{row.rate:>11}{row.matches:>9}{row.p50_ms:>8.1f}{row.p99_ms:>8.1f}"
                    f"{row.longest_ms:>12.1f}{row.cores:>7.2f}  {path}",
                    flush=True,
                )
                rows.append(row)
    print()
    return rows


def paced(bench: Bench, rate: int, count: int, partitions: int) -> Latency:
    """A worker, fed at a steady rate."""
    messages, twins = documents(WARM + count)
    config, file = bench.configured(partitions)
    with bench.workers(config, file, 1) as (worker,), closing(bench.stream(config.pipelines[0])) as stream:
        stream.feed(messages[:WARM])
        stream.matches(sum(number < WARM for number in twins))
        sent, cores = _fed(stream, messages[WARM:], rate, worker)
        stream.matches(len(twins))
        stored = _stored(bench, config.pipelines[0], partitions)
    newer = {pair: max(json.loads(pair)) for pair in stream.seen}
    took = {newer[pair]: at - sent[newer[pair]] for pair, at in stream.seen.items() if newer[pair] in sent}
    return _summary(f"worker, {partitions} partition{'s' * (partitions > 1)}", rate, cores, took, stored)


def alone(bench: Bench, rate: int, count: int) -> Latency:
    """The same messages over as many hops with the client alone, see `floor`."""
    messages, _ = documents(count)
    with bench.floor(len(_HOPS)) as (process, stream, topics), closing(stream):
        sent, cores = _fed(stream, messages, rate, process)
        stream.matches(len(messages))
        stored = [
            {(record.key() or b"").decode(): record.timestamp()[1] for record in bench.records(topic, 1)}
            for topic in topics
        ]
    took = {id: at - sent[id] for id, at in stream.seen.items()}
    return _summary(f"client alone, {len(_HOPS)} hops", rate, cores, took, stored)


def _fed(stream: Stream, messages: Sequence[KeyValue], rate: int, process: "Popen[Any]") -> tuple[Any, float]:
    """When each message was sent, and how many cores the process kept busy meanwhile."""
    spent, began = cpu_seconds(process.pid), time.perf_counter()
    sent = stream.feed_paced(messages, rate)
    return sent, (cpu_seconds(process.pid) - spent) / (time.perf_counter() - began)


def _stored(bench: Bench, pipeline: PipelineConfig, partitions: int) -> list[dict[str, int]]:
    """The broker's time of the first message of each document in each topic, in milliseconds, by document id."""
    scheme, ids = fingerprint(pipeline.kind.stored_settings()), dict[int, str]()
    source: dict[str, int] = {}
    for record in bench.records(pipeline.source, partitions):
        id = (record.key() or b"").decode()
        ids[make_ref(record.partition() or 0, record.offset() or 0)] = id
        source[id] = record.timestamp()[1]

    def first(topic: str, count: int, refs: Any) -> dict[str, int]:
        found: dict[str, int] = {}
        for record in bench.records(topic, count):
            for ref in refs(record.value()):
                found[ids[ref]] = min(found.get(ids[ref], record.timestamp()[1]), record.timestamp()[1])
        return found

    def bands(value: bytes) -> Iterable[int]:
        postings = decode_bands(value, scheme).postings
        return () if postings is None else postings.refs.tolist()

    def candidates(value: bytes) -> Iterable[int]:
        pairs = decode_candidates(value, scheme).candidates
        return () if pairs is None else pairs.new.tolist()

    def edges(value: bytes) -> Iterable[int]:
        found = decode_edges(value, scheme).edges
        return () if found is None else [*found.left.refs.tolist(), *found.right.refs.tolist()]

    readers = {"bands": bands, "candidates": candidates, "edges": edges}
    steps = [
        first(pipeline.internal_topic(name), 1 if name == "edges" else partitions, read)
        for name, read in readers.items()
    ]
    matches = {
        max(json.loads(record.key() or b"[]")): record.timestamp()[1]
        for record in bench.records(pipeline.matches_topic, partitions)
    }
    return [source, *steps, matches]


def _summary(
    what: str, rate: int, cores: float, took: Mapping[str, float], stored: Sequence[Mapping[str, int]]
) -> Latency:
    ms = [1000 * seconds for seconds in took.values()]
    cuts = statistics.quantiles(ms, n=100)
    known = [id for id in took if all(id in times for times in stored)]
    whole = statistics.fmean(1000 * took[id] for id in known)
    means = [statistics.fmean(times[id] for id in known) for times in stored]
    between = [later - earlier for earlier, later in pairwise(means)]
    # The clocks of sender and broker differ, so the way to the source and that to the reader share the rest.
    path = {"sent and received": whole - sum(between)} | dict(zip(_HOPS[1:], between, strict=True))
    return Latency(what, rate, len(ms), statistics.median(ms), cuts[98], max(ms), cores, path)
