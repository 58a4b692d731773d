"""Processor time of each step, for the model of `stream-lsh plan`: `python -m benchmarks.worker.costs [--part PART]`.

steps     the in-memory chain over generated documents, with the encoding and decoding of all its messages: microseconds
          of each step per document and per pair, for all kinds of data, sizes and densities
worker    one worker on a real broker: processor time of the process, and the messages of each topic; the difference
          to the steps is the cost of a message
marks     one worker with many partitions and few documents: the cost of a mark of event time
stored    the on-disk copy of documents: processor time and bytes of each, and the time to read it

Processor time, not wall time: the figures hold on a machine that is shared.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import TopicPartition

from benchmarks.worker.broker import Bench, KeyValue, cpu_seconds, documents
from stream_lsh.config import PipelineConfig, parse
from stream_lsh.kinds.examples import words
from stream_lsh.ledger.changes import Settled
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import Append, Effect, Publish
from stream_lsh.pipeline.agents.state import DocumentsState
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame, EdgesFrame, Frame, VerificationsFrame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.wire.frames import decode_bands, decode_candidates, decode_edges, decode_verifications, encode
from stream_lsh.wire.outgoing import parts_of
from tests.evaluation.brokers import choose_broker

_BATCH = 200
_DECODERS: Mapping[type, tuple[str, Any]] = {
    BandsFrame: ("index", decode_bands),
    CandidatesFrame: ("gather", decode_candidates),
    VerificationsFrame: ("verify", decode_verifications),
    EdgesFrame: ("settle", decode_edges),
}
_LOADS: Mapping[str, tuple[str, int, int, int]] = {
    "text, 3,000 bytes, no matches": ("", 3_000, 4_000, 1),
    "text, 500 bytes, no matches": ("", 500, 8_000, 1),
    "text, 3,000 bytes, groups of 2": ("", 3_000, 4_000, 2),
    "text, 500 bytes, groups of 2": ("", 500, 8_000, 2),
    "text, 3,000 bytes, groups of 50": ("max_candidates = 0", 3_000, 4_000, 50),
    "text, 3,000 bytes, batches of 20": ("", 3_000, 4_000, -1),
    "record, no matches": ("kind = 'record'\nprofile = 'people'", 0, 4_000, 1),
    "record, groups of 2": ("kind = 'record'\nprofile = 'people'", 0, 4_000, 2),
    "record, groups of 10": ("kind = 'record'\nprofile = 'people'", 0, 4_000, 10),
    "set, 500 bytes, no matches": ("kind = 'set'", 500, 8_000, 1),
    "set, 500 bytes, groups of 2": ("kind = 'set'", 500, 8_000, 2),
    "set, 500 bytes, groups of 10": ("kind = 'set'", 500, 8_000, 10),
    "vector of 256, no matches": ("kind = 'vector'\ndimension = 256\ndistance = 10.0", 0, 4_000, 1),
    "vector of 256, groups of 2": ("kind = 'vector'\ndimension = 256\ndistance = 10.0", 0, 4_000, 2),
    "vector of 256, groups of 10": ("kind = 'vector'\ndimension = 256\ndistance = 10.0", 0, 4_000, 10),
}
"""The keys of a pipeline, bytes of a document, documents, and documents of a group; -1: alone, in small batches."""
_STEPS = ("parse", "sign", "index", "gather", "verify", "settle")


class Timed(LocalPipeline):
    """The chain in memory; encodes and decodes every message, and measures the processor time of each step."""

    def __init__(self, pipeline: PipelineConfig) -> None:
        limits = replace(pipeline.limits(), retention_ms=None)
        super().__init__(pipeline.kind.scheme(), pipeline.kind.least, limits)
        self.seconds = dict.fromkeys(_STEPS, 0.0)
        self.messages: Counter[str] = Counter()
        self._steps = ["sign"]
        self._results = pipeline.kind.results(pipeline.name)
        self._since = time.process_time()

    def _held(self) -> Mapping[int, DocumentsState]:
        return {}

    def _charge(self) -> None:
        now = time.process_time()
        self.seconds[self._steps[-1]] += now - self._since
        self._since = now

    def begin(self, step: str) -> None:
        """Charge from now on to a step, until `end`."""
        self._charge()
        self._steps.append(step)

    def end(self) -> None:
        """Charge to the step before."""
        self._charge()
        self._steps.pop()

    def _passed_on(self, sent: Frame) -> EdgesFrame:
        data = encode(sent, 0)
        step, decode = _DECODERS[type(sent)]
        self.begin(step)
        passed = super()._passed_on(decode(data, 0))
        self.end()
        return passed

    def _settle(self, frame: EdgesFrame) -> list[Settled]:
        self.begin("settle")
        settled = super()._settle(frame)
        self.end()
        return settled

    def _carried_out(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            if isinstance(effect, Append):
                parts_of(effect, 0)
            elif isinstance(effect, Publish):
                record = effect.settlement.record
                for topic, messages in self._results.messages(
                    effect.settlement.settled, 1_700_000_000_000, record.offset
                ):
                    self.messages[topic] += len(messages)
            yield effect


def steps(only: str) -> dict[str, Any]:
    """The part `steps`, of loads whose name begins with `only`."""
    print(
        "us a document" + "".join(f"{step:>9}" for step in _STEPS) + "    pairs a document   public messages a document"
    )
    found = {}
    for name, (lines, size, count, group) in _LOADS.items():
        if not name.startswith(only):
            continue
        pipeline = parse(f'[pipeline]\nname = "p"\nsource = "s"\n{lines}\n', name, {}).pipelines[0]
        numbers = np.random.default_rng(1).permutation(count)
        messages = [
            pipeline.kind.example(number // abs(group), number % abs(group), size, pipeline.fields)
            for number in numbers.tolist()
        ]
        chain, batch = Timed(pipeline), 20 if group < 0 else _BATCH
        for start in range(0, count, batch):
            chain.begin("parse")
            some = [pipeline.document(value, key, 1_700_000_000_000) for key, value in messages[start : start + batch]]
            chain.end()
            chain.process(some)
        row = {step: chain.seconds[step] / count * 1e6 for step in _STEPS}
        row["pairs"] = chain.messages["matches"] / count
        row["public"] = chain.messages.total() / count
        row["candidates"] = chain.counts.candidates / count
        found[name] = row
        print(
            "".join(f"{row[step]:9.1f}" for step in _STEPS)
            + f"{row['pairs']:9.2f}{row['public']:9.2f}{row['candidates']:9.2f}  {name}",
            flush=True,
        )
    return found


def near(count: int, group: int, size: int) -> list[KeyValue]:
    """Texts in groups of near-duplicates, in random order."""
    pipeline = parse('[pipeline]\nname = "p"\nsource = "s"\n', "near", {}).pipelines[0]
    numbers = np.random.default_rng(2).permutation(count).tolist()
    found = [pipeline.kind.example(number // group, number % group, size, pipeline.fields) for number in numbers]
    return [(key, value or b"") for key, value in found]


def in_memory(messages: Sequence[KeyValue]) -> float:
    """The processor time of the chain in memory, without reading the messages."""
    pipeline = parse('[pipeline]\nname = "p"\nsource = "s"\nmax_candidates = 0\n', "check", {}).pipelines[0]
    given = [pipeline.document(value, key, 1_700_000_000_000) for key, value in messages]
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    began = time.process_time()
    for start in range(0, len(given), BATCH):
        chain.process(given[start : start + BATCH])
    return time.process_time() - began


def worker(bench: Bench, rounds: int, only: str) -> list[dict[str, Any]]:
    """The part `worker`, of loads whose name begins with `only`."""
    found = []
    for _ in range(rounds):
        sparse, twins = documents(20_000)
        dense = near(5_000, 50, 3_000)
        loads: Sequence[tuple[str, Sequence[KeyValue], int, int]] = (
            ("sparse, 4 partitions", sparse, len(twins), 4),
            ("sparse, 16 partitions", sparse, len(twins), 16),
            ("dense, 4 partitions", dense, 100 * 50 * 49 // 2, 4),
            ("dense, 16 partitions", dense, 100 * 50 * 49 // 2, 16),
        )
        for name, messages, pairs, partitions in loads:
            if not name.startswith(only):
                continue
            config, file = bench.configured(partitions, max_candidates=0)
            with bench.workers(config, file, 1) as (process,), closing(bench.stream(config.pipelines[0])) as stream:
                stream.feed(messages[:200])
                time.sleep(3.0)
                spent = cpu_seconds(process.pid)
                stream.feed(messages[200:])
                stream.matches(pairs * 999 // 1_000)  # a pair at the threshold is found with the probability `recall`
                spent = cpu_seconds(process.pid) - spent
                counts = _messages(bench, config.pipelines[0], partitions)
            row: dict[str, Any] = {
                "name": name,
                "us": spent / (len(messages) - 200) * 1e6,
                "pairs": pairs / len(messages),
            }
            row |= {"messages": {topic: count / len(messages) for topic, count in counts.items()}}
            print(json.dumps(row), flush=True)
            found.append(row)
    return found


def marks(bench: Bench) -> list[dict[str, Any]]:
    """The part `marks`."""
    found = []
    for partitions in (4, 16, 32):
        config, file = bench.configured(partitions)
        messages = [
            (b"%08d" % number, json.dumps({"text": " ".join(words(number, 0, 20))}).encode()) for number in range(2_000)
        ]
        with bench.workers(config, file, 1) as (process,), closing(bench.stream(config.pipelines[0])) as stream:
            stream.feed_paced(messages[:300], 50)
            before, spent, began = (
                _messages(bench, config.pipelines[0], partitions),
                cpu_seconds(process.pid),
                time.time(),
            )
            stream.feed_paced(messages[300:1_300], 50)
            seconds, spent = time.time() - began, cpu_seconds(process.pid) - spent
            after = _messages(bench, config.pipelines[0], partitions)
        row: dict[str, Any] = {"partitions": partitions, "cores": spent / seconds}
        row |= {"messages a second": {topic: (after[topic] - before[topic]) / seconds for topic in after}}
        print(json.dumps(row), flush=True)
        found.append(row)
    return found


def _messages(bench: Bench, pipeline: PipelineConfig, partitions: int) -> dict[str, int]:
    """The messages that each topic has received."""
    names = {topic: 1 for topic in ("edges", "ledger-changelog")}
    names |= dict.fromkeys(
        ("bands", "candidates", "verifications", "documents-changelog", "buckets-changelog"), partitions
    )
    topics = {pipeline.internal_topic(name): (name, count) for name, count in names.items()}
    topics |= {topic: (name, partitions) for name, topic in pipeline.public_topics.items()}
    with closing(bench.consumer(pipeline.matches_topic)) as consumer:
        return {
            name: sum(
                consumer.get_watermark_offsets(TopicPartition(topic, partition), 30)[1] for partition in range(count)
            )
            for topic, (name, count) in topics.items()
        }


def stored(folder: Path) -> dict[str, Any]:
    """The part `stored`."""
    from stream_lsh.pipeline.changelog.head import LogHead, extent_of_documents  # noqa: PLC0415
    from stream_lsh.worker.storage.documents import DocumentStore  # noqa: PLC0415
    from stream_lsh.worker.storage.folder import Identity  # noqa: PLC0415

    found = {}
    for size in (500, 3_000):
        pipeline = parse('[pipeline]\nname = "p"\nsource = "s"\n', "stored", {}).pipelines[0]
        chain, records = _Kept(pipeline), 20_000 // _BATCH
        for number in range(records):
            chain.process(_documents(pipeline, number * _BATCH, size))
        place = folder / str(size)
        place.mkdir()
        identity = Identity("costs", "p", "documents", 0, 1, "0" * 16, None)
        store = DocumentStore(place, identity, chain.scheme.slots, chain.scheme.width)
        table, head, began = store.table(), LogHead(), time.process_time()
        for offset, record in enumerate(chain.records):
            rows = table.apply(record)
            head.note(offset, extent_of_documents(record))
            store.write(record, np.asarray(rows) >= 0, offset, head)
        spent = time.process_time() - began
        store.save(table)
        store.close()
        count = records * _BATCH
        disk = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        raw = sum(sum(map(len, record.texts)) + 4 * record.signatures.size for record in chain.records)
        found[str(size)] = {"us": spent / count * 1e6, "bytes": disk / count, "raw": raw / count}
        print(size, found[str(size)], flush=True)
    return found


class _Kept(Timed):
    """The chain in memory; keeps the records of the documents."""

    def __init__(self, pipeline: PipelineConfig) -> None:
        super().__init__(pipeline)
        self.records: list[DocumentsRecord] = []

    def _carried_out(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            if isinstance(effect, Append) and isinstance(effect.record, DocumentsRecord):
                self.records += [part.record for part in parts_of(effect, 0) if part.record is not None]
            yield effect


def _documents(pipeline: PipelineConfig, start: int, size: int) -> list[Document]:
    messages = (pipeline.kind.example(number, 0, size, pipeline.fields) for number in range(start, start + _BATCH))
    return [pipeline.document(value, key, 1_700_000_000_000) for key, value in messages]


def main(argv: Sequence[str]) -> int:
    """Run the parts; tables go to standard output, data to the file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worker.costs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=("steps", "worker", "marks", "stored"), action="append", help="only this")
    parser.add_argument("--only", default="", help="of the parts steps and worker: loads whose name begins like this")
    parser.add_argument("--rounds", type=int, default=3, help="of the part worker")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    parts, results = options.part or ("steps", "worker", "marks", "stored"), dict[str, Any]()
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder:
        if "steps" in parts:
            results["steps"] = steps(options.only)
        if "stored" in parts:
            results["stored"] = stored(Path(folder))
        if {"worker", "marks"} & {*parts}:
            with choose_broker(Path(folder) / "broker") as broker:
                bench = Bench(broker, Path(folder))
                if "worker" in parts:
                    results["worker"] = worker(bench, options.rounds, options.only)
                if "marks" in parts:
                    results["marks"] = marks(bench)
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
