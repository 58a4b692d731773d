"""A stream that is too dense for settle: `python -m benchmarks.long_runs.dense --out dense.json`.

Two workers share a pipeline in which every document matches dozens of others: more matches come than the one worker
that settles can publish.  The run is done twice: once as it is, and once with workers that ignore what waits for settle
on the other one.  Watched are the lag of `edges` and what the tables of both workers hold.  Documents expire after
`--retained` messages of event time, so what is held beyond these is there because the watermark lags.

`--limit-mb` is what may be under way before sources pause, so that a short run shows it.  The broker is Kafka from its
jars.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, TopicPartition

from benchmarks.long_runs.common import PARTITIONS
from benchmarks.long_runs.news import START_MS, STEP_MS, KeyValue
from benchmarks.long_runs.watching import MB, Sample, Topics, last_line
from benchmarks.worker.running import Feed, configured, running_broker, running_worker
from stream_lsh.config import Config

_WORDS, _FAMILY, _FAMILIES = 20, 300, 4
_BLOCK = 500
_PADDING = "x" * 3_000
"""No step reads it: a client fetches megabytes ahead, which should be some hundred documents and not ten thousand."""
_SUMMED = ("documents", "postings", "documents taken", "bytes under way")


def main(argv: Sequence[str]) -> int:
    """Run both; the table goes to standard output, the data to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_runs.dense",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=120.0, help="how long each of the two runs is fed")
    parser.add_argument("--rate", type=int, default=2_000, help="documents a second that are fed")
    parser.add_argument("--retained", type=int, default=1_000, help="how many messages the retention holds")
    parser.add_argument("--limit-mb", type=int, default=8, help="what may be under way before sources pause")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two samples")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    found = {}
    for name, ignoring in (("with reports", False), ("without", True)):
        with tempfile.TemporaryDirectory(prefix="stream-lsh-dense-") as temporary:
            found[name] = _run(Path(temporary), options, ignoring)
    _print(found)
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def family(first: int, count: int, random: np.random.Generator) -> list[KeyValue]:
    """Documents in families of near-duplicates, of which `_FAMILIES` are written side by side."""
    made = list[KeyValue]()
    for number in range(first, first + count):
        generation, which = divmod(number, _FAMILIES)
        words = [f"f{generation // _FAMILY}x{which}w{at}" for at in range(_WORDS)]
        words[int(random.integers(_WORDS))] = f"n{number}"
        value = {"text": " ".join(words), "time": START_MS + number * STEP_MS, "padding": _PADDING}
        made.append((b"%09d" % number, json.dumps(value).encode()))
    return made


def _run(folder: Path, options: argparse.Namespace, ignoring: bool) -> list[Sample]:
    more = ["--limit-mb", str(options.limit_mb), "--every", "1", *(["--ignore-lag"] if ignoring else [])]
    lateness_ms = options.retained * STEP_MS // 10
    kept: dict[str, Any] = {
        "retention": f"{options.retained * STEP_MS - lateness_ms}ms",
        "lateness": f"{lateness_ms}ms",
    }
    random, samples = np.random.default_rng(1), list[Sample]()
    with running_broker(folder / "broker") as broker, ExitStack() as stack:
        config, file = configured(folder, broker.address, "dense", PARTITIONS, threshold=0.6, max_candidates=0, **kept)
        feed = Feed(broker.address, config.pipelines[0].source)
        workers = [
            stack.enter_context(running_worker(file, number, observed=True, options=more)) for number in range(2)
        ]
        topics, edges = stack.enter_context(closing(Topics(config, broker.logs))), _Edges(config)
        began = time.monotonic()
        while (passed := time.monotonic() - began) < options.seconds:
            if feed.sent < passed * options.rate:
                feed.send(family(feed.sent, _BLOCK, random))
            if passed > len(samples) * options.every:
                newest = [last_line(worker.samples) for worker in workers]
                samples.append({"at": passed, "taken": topics.taken(), "edges lag": edges.lag(), **_summed(newest)})
                print(" ".join(f"{name} {value:,.0f}" for name, value in samples[-1].items()), flush=True)
            time.sleep(0.02)
        for worker in workers:
            worker.check()
    return samples


def _summed(samples: Sequence[Sample]) -> Sample:
    found = {name: sum(one.get(name, 0.0) for one in samples) for name in _SUMMED}
    return {**found, "workers whose sources wait": sum(one.get("sources wait", 0.0) for one in samples)}


class _Edges:
    """How many messages of `edges` wait for settle."""

    def __init__(self, config: Config) -> None:
        self._tp = TopicPartition(config.pipelines[0].internal_topic("edges"), 0)
        brokers = ",".join(config.kafka.brokers)
        self._consumer = Consumer({"bootstrap.servers": brokers, "group.id": config.worker.app_id})

    def lag(self) -> float:
        (committed,) = self._consumer.committed([self._tp], 30)
        _, end = self._consumer.get_watermark_offsets(self._tp, 30)
        return float(end - max(0, committed.offset))


def _print(found: dict[str, list[Sample]]) -> None:
    names = [name for name in found["without"][-1] if name != "at"]
    print(f"\n{'at the end / at most':<32}" + "".join(f"{run:>28}" for run in found))
    for name in names:
        unit = MB if name.startswith("bytes") else 1
        cells = [(run[-1][name] / unit, max(one[name] for one in run) / unit) for run in found.values()]
        print(f"{name:<32}" + "".join(f"{f'{last:,.0f} / {most:,.0f}':>28}" for last, most in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
