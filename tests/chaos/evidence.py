"""Writes the history of wrong pairs in the topics, to find the reason."""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TextIO

from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.model import make_ref
from stream_lsh.pipeline.changelog.records import LedgerSlice
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_edges
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.worker.clients.topic_reader import admin_of, bounds, partitions_of, records
from stream_lsh.worker.engine.topics.required import find_topics

_MOST_PAIRS = 20


async def write_evidence(
    config: Config, pipeline: PipelineConfig, pairs: Collection[tuple[str, str]], file: Path
) -> None:
    """The history of some pairs and their documents, topic by topic: time, place and content."""
    chosen = set(sorted(pairs)[:_MOST_PAIRS])
    ids = {one for pair in chosen for one in pair}
    scheme = fingerprint(pipeline.kind.stored_settings())
    assembler = LedgerAssembler(scheme)

    def source(record: Any) -> Iterator[str]:
        if record.key.decode() in ids:
            size = "deleted" if record.value is None else f"{len(record.value)} bytes"
            yield f"{record.key.decode()} ref {make_ref(record.partition, record.offset):x} {size}"

    def match(record: Any) -> Iterator[str]:
        left, right = json.loads(record.key)
        if (left, right) in chosen:
            similarity = None if record.value is None else json.loads(record.value)["similarity"]
            yield f"{left} {right}: {similarity} {dict(record.headers).get('reason', b'').decode()}"

    def edge(record: Any) -> Iterator[str]:
        frame = decode_edges(record.value, scheme)
        for retired in frame.retirements:
            if retired.id in ids:
                yield f"{retired.id} retired below {retired.ref:x}{' deleted' if retired.deleted else ''}"
        for one in () if frame.edges is None else frame.edges.rows():
            if tuple(sorted((one.left.id, one.right.id))) in chosen:
                yield f"{one.left.id} {one.left.ref:x}, {one.right.id} {one.right.ref:x}: {one.similarity}"

    def ledger(record: Any) -> Iterator[str]:
        found = assembler.take(record.value, record.offset)
        if found is None:
            return
        whole = found.record if isinstance(found, LedgerSlice) else found
        for pair in whole.changes.pairs:
            if (pair.left, pair.right) in chosen:
                yield f"of edges {whole.offset}: {pair}"
        for gone in whole.changes.pairs_gone:
            if tuple(gone) in chosen:
                yield f"of edges {whole.offset}: {gone} gone"

    readers: dict[str, Callable[[Any], Iterator[str]]] = {
        pipeline.documents_topic: source,
        pipeline.internal_topic("edges"): edge,
        pipeline.changelog_topic("ledger"): ledger,
        pipeline.matches_topic: match,
    }
    with file.open("w") as out:
        for topic, lines in readers.items():
            await _write(config, topic, lines, out)


async def _write(config: Config, topic: str, lines: Callable[[Any], Iterator[str]], out: TextIO) -> None:
    async with admin_of(config.kafka) as admin:
        found, _ = await find_topics(admin, [topic])
    begins, ends = await bounds(config.kafka, partitions_of(topic, found[topic].partitions))
    out.write(f"{topic}, from {min(begins.values())} on\n")
    async for chunk in records(config.kafka, begins, ends):
        for record in chunk:
            for line in lines(record):
                out.write(f"  {record.timestamp} {record.partition}:{record.offset} {line}\n")
