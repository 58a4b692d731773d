"""Pipelines on a broker: documents with updates and deletes, configurations, expected and published results."""

import asyncio
import gzip
import json
import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import Config, parse
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.wire.message import as_iso
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import read

_UPDATED, _DELETED = 0.1, 0.05
"""The shares of documents behind which another one is updated, or deleted."""


def articles(data_dir: Path, count: int) -> list[Document]:
    with gzip.open(data_dir / "newsgroups20" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    return [Document(one["id"], one["text"], one["ts"] * 1000) for one in found]


def edits(documents: list[Document], seed: int) -> list[Document]:
    """The documents in their order, with updates (words cut or added, some as they were) and deletes between."""
    rng, stream, known = random.Random(seed), list[Document](), list[Document]()
    for document in documents:
        stream.append(document)
        known.append(document)
        if rng.random() < _UPDATED:
            old = rng.choice(known)
            words = (old.text or "").split()
            cut = " ".join(words[: max(1, int(len(words) * rng.choice((0.5, 0.9, 1.0))))])
            stream.append(Document(old.id, f"{cut} corrected" if rng.random() < 0.8 else old.text, old.time_ms + 1))
        if rng.random() < _DELETED:
            stream.append(rng.choice(known)._replace(text=None))
    return stream


def survivors(stream: list[Document]) -> list[Document]:
    newest: dict[str, Document] = {}
    for document in stream:
        newest.pop(document.id, None)
        if document.text is not None:
            newest[document.id] = document
    return list(newest.values())


def thirds(items: Sequence[Any]) -> list[Sequence[Any]]:
    size = len(items) // 3
    return [items[:size], items[size : 2 * size], items[2 * size :]]


async def send(address: str, topic: str, documents: Iterable[Document]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=5, max_request_size=2 << 20)
    await producer.start()
    try:
        sent = []
        for one in documents:
            value = None if one.text is None else json.dumps({"text": one.text, "time": as_iso(one.time_ms)}).encode()
            sent.append(await producer.send(topic, value, key=one.id.encode()))
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


def configured(broker: Broker, name: str, partitions: int, **pipeline: Any) -> Config:
    """A pipeline of texts: all are kept, and pairs match from a similarity of 0.5 on, unless the keys say otherwise."""
    keys: dict[str, Any] = {"source": f"{name}-source", "retention": 0, "threshold": 0.5} | pipeline
    return parsed(broker, name, partitions, **keys)


def parsed(broker: Broker, name: str, partitions: int, more: str = "", **pipeline: Any) -> Config:
    """A pipeline with these keys, and further lines, as `stream-lsh worker` reads it."""
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in pipeline.items())
    text = f"""
[kafka]
brokers = "{broker.address}"
[worker]
app_id = "{name}"
session_timeout = "120s"
data_dir = "{tempfile.mkdtemp(prefix="stream-lsh-test-")}"
[[pipeline]]
name = "{name}-p"
partitions = {partitions}
{keys}
{more}
"""
    return parse(text, "test.toml", {})


def written(config: Config, folder: Path, **worker: Any) -> Path:
    """A configuration of one pipeline as a file, for workers and commands that are processes."""
    pipeline = config.pipelines[0]
    kind = as_kind(pipeline.kind, TextKind)
    keys = {"app_id": config.worker.app_id, "data_dir": str(folder), **worker}
    of_pipeline = {
        "name": pipeline.name,
        "source": list(pipeline.sources) if pipeline.rekey else pipeline.source,
        "rekey": pipeline.rekey,
        "partitions": pipeline.partitions,
        "shingles": kind.shingles,
        "threshold": kind.threshold,
        "stories": kind.stories,
        "retention": 0,
        **{f"guards.{name}": value for name, value in pipeline.guards.settings().items()},
    }
    file = folder / "worker.toml"
    lines = ["[kafka]", f'brokers = "{config.kafka.brokers[0]}"', "[worker]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    lines += ["[[pipeline]]", *(f"{key} = {json.dumps(value)}" for key, value in of_pipeline.items())]
    file.write_text("\n".join(lines) + "\n")
    return file


def expected(config: Config, documents: list[Document]) -> tuple[dict[tuple[str, str], float], set[frozenset[str]]]:
    pipeline = config.pipelines[0]
    local = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    for start in range(0, len(documents), BATCH):
        local.process(documents[start : start + BATCH])
    snapshot = local.settler.ledger.snapshot()
    groups: dict[str, set[str]] = {}
    for node in snapshot.nodes:
        groups.setdefault(node.cluster, set()).add(node.id)
    pairs = {(pair.left, pair.right): pair.similarity for pair in snapshot.pairs}
    return pairs, {frozenset(group) for group in groups.values()}


async def published(config: Config) -> tuple[dict[tuple[str, str], float], set[frozenset[str]]]:
    pipeline, address = config.pipelines[0], config.kafka.brokers[0]
    matches: dict[bytes, bytes | None] = {}
    for record in await read(address, pipeline.matches_topic):
        matches[record.key] = record.value
    live = [json.loads(value) for value in matches.values() if value is not None]
    members: dict[bytes, bytes | None] = {}
    for record in await read(address, pipeline.members_topic):
        members[record.key] = record.value
    groups: dict[str, set[str]] = {}
    for key, value in members.items():
        if value is not None:
            groups.setdefault(json.loads(value)["cluster"], set()).add(key.decode())
    pairs = {(one["left"], one["right"]): one["similarity"] for one in live}
    return pairs, {frozenset(group) for group in groups.values()}
