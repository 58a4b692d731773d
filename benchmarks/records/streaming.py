"""Records through a real broker: `python -m benchmarks.records.streaming --data DIR [--out FILE] [--only NAME ...]`.

quality     every corpus, its records sent in their order to one worker: pairs by the topic `matches`, entities by
            `entities`.  What each level is worth was learned from the records of the file, without labels; the
            profiles and their thresholds come with the package and are the same for all files.  The rate is from the
            first record sent to the last match received
rate        FEBRL3 again, round after round, with one partition of the source and with four
latency     records of FEBRL4, the second source after the first, at a steady rate: a record sent, its match received

Broker, feeder and worker share the machine.
"""

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.worker.broker import Bench, KeyValue
from stream_lsh import __version__
from stream_lsh.kinds.record.profiles import profile_text
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile
from tests.evaluation.brokers import choose_broker
from tests.evaluation.clustering import components
from tests.evaluation.linking import learned, measured, measured_within, profile_of
from tests.evaluation.record_corpora import CORPORA, Corpus, Pair, febrl, pair_of

_PARTITIONS = 4
_FEW = 1_000
"""Fewer records are in one partition: each partition knows how frequent a value is from its own records only."""
_PARTS = ("quality", "rate", "latency")


def main(argv: Sequence[str]) -> int:
    """Run the parts; tables go to standard output, data to the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records.streaming", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    parser.add_argument("--only", nargs="*", choices=list(CORPORA), default=list(CORPORA), help="these corpora")
    parser.add_argument("--part", choices=_PARTS, action="append", help="only this; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="of the rate")
    options = parser.parse_args(argv)
    parts = options.part or _PARTS
    results: dict[str, Any] = {"version": __version__, "python": platform.python_version()}
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder:
        with choose_broker(Path(folder) / "broker") as broker:
            bench = Bench(broker, Path(folder))
            if "quality" in parts:
                results["quality"] = [
                    streamed(bench, CORPORA[name][0](options.data), profile_of(CORPORA[name][1]), Path(folder))
                    for name in options.only
                ]
            if "rate" in parts:
                results["rate"] = [
                    rates(bench, febrl(options.data, 3), options.rounds, Path(folder), partitions)
                    for partitions in (1, _PARTITIONS)
                ]
            if "latency" in parts:
                results["latency"] = [latency(bench, febrl(options.data, 4), rate, Path(folder)) for rate in (50, 500)]
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def messages_of(records: Sequence[Record]) -> list[KeyValue]:
    """Records as a user would send them, each with a time, in order."""
    return [
        (one.id.encode(), json.dumps({**one.fields, "source": one.source, "time": 1_700_000_000_000 + at}).encode())
        for at, one in enumerate(records)
    ]


def learned_file(corpus: Corpus, profile: Profile, folder: Path) -> Path:
    """The profile with what the records say, as a file."""
    file = folder / f"{corpus.name}.toml"
    file.write_text(profile_text(learned(profile, corpus.records)[0]), encoding="utf-8")
    return file


def streamed(bench: Bench, corpus: Corpus, profile: Profile, folder: Path) -> dict[str, Any]:
    """The quality on a corpus, and the duration."""
    keys: dict[str, Any] = {"kind": "record", "profile": str(learned_file(corpus, profile, folder))}
    if corpus.clean:
        keys["guards.one_per_source"] = True
    partitions = 1 if len(corpus.records) < _FEW else _PARTITIONS
    config, file = bench.configured(partitions, **keys)
    pipeline = config.pipelines[0]
    with bench.workers(config, file, 1), closing(bench.stream(pipeline)) as stream:
        began = time.perf_counter()
        stream.feed(messages_of(corpus.records))
        last = until_quiet(stream)
        pairs, entities = results(bench, pipeline)
    row: dict[str, Any] = {
        "corpus": corpus.name,
        "records": len(corpus.records),
        "partitions": partitions,
        "guards": sorted(pipeline.limits().guards.settings()),
        "match": profile.match,
        "pairs": measured(pairs, corpus.truth),
        "components": measured_within([sorted(group) for group in components(pairs)], corpus.truth),
        "entities": measured_within(entities, corpus.truth),
        "records_per_second": len(corpus.records) / (last - began),
    }
    shown = "  ".join(
        f"{name} {row[name]['precision']:.4f} {row[name]['recall']:.4f} F1 {row[name]['f1']:.4f}"
        for name in ("pairs", "components", "entities")
    )
    print(f"{corpus.name:24}{len(corpus.records):>7}  {shown}  {row['records_per_second']:,.0f} /s", flush=True)
    return row


def until_quiet(stream: Any, still: float = 8.0) -> float:
    """Read matches until none has come for a while; when the last one came."""
    try:
        stream.matches(1 << 60, patience=still)
    except RuntimeError:
        pass
    return max(stream.seen.values(), default=time.perf_counter())


def results(bench: Bench, pipeline: Any) -> tuple[set[Pair], list[list[str]]]:
    """The pairs and the entities that are true at the end."""
    matches, members = bench.truths(pipeline.matches_topic), bench.truths(pipeline.members_topic)
    groups: dict[str, list[str]] = {}
    for id, member in members.items():
        groups.setdefault(member["entity"], []).append(id)
    return {pair_of(*json.loads(key)) for key in matches}, [*groups.values()]


def rates(bench: Bench, corpus: Corpus, rounds: int, folder: Path, partitions: int) -> dict[str, Any]:
    """Records a second, of one worker, in several rounds."""
    file_of_profile = learned_file(corpus, profile_of("people"), folder)
    found = []
    for _ in range(rounds):
        config, file = bench.configured(partitions, kind="record", profile=str(file_of_profile))
        with bench.workers(config, file, 1), closing(bench.stream(config.pipelines[0])) as stream:
            began = time.perf_counter()
            stream.feed(messages_of(corpus.records))
            last = until_quiet(stream)
        found.append(len(corpus.records) / (last - began))
        result = f"{found[-1]:,.0f} records a second, {len(stream.seen)} matches"
        print(f"{corpus.name}, {partitions} partitions: {result}", flush=True)
    median = statistics.median(found)
    return {"corpus": corpus.name, "partitions": partitions, "records_per_second": found, "median": median}


def latency(bench: Bench, corpus: Corpus, rate: int, folder: Path) -> dict[str, Any]:
    """Milliseconds from the sending of a record to the receipt of its first match."""
    file_of_profile = learned_file(corpus, profile_of("people"), folder)
    config, file = bench.configured(_PARTITIONS, kind="record", profile=str(file_of_profile))
    messages = messages_of(corpus.records)
    with bench.workers(config, file, 1), closing(bench.stream(config.pipelines[0])) as stream:
        stream.feed(messages[:5000])
        until_quiet(stream, 4.0)
        stream.seen.clear()
        sent = stream.feed_paced(messages[5000 : 5000 + min(5000, 10 * rate)], rate)
        until_quiet(stream, 3.0)
    took = sorted(
        1000 * (at - max(sent.get(id, 0.0) for id in json.loads(key)))
        for key, at in stream.seen.items()
        if any(id in sent for id in json.loads(key))
    )
    row = {
        "rate": rate,
        "matches": len(took),
        "p50_ms": statistics.median(took),
        "p99_ms": took[int(0.99 * len(took))],
        "longest_ms": took[-1],
    }
    print(f"{rate} records a second: p50 {row['p50_ms']:.1f} ms, p99 {row['p99_ms']:.1f} ms, {len(took)} matches")
    return row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
