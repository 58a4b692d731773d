"""The pipeline live: the same answers as the chain in memory, whatever the number of partitions and workers."""

import asyncio
import gzip
import json
import tempfile
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config import Config, parse
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.wire.message import as_iso
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.audit import audit
from stream_lsh.worker.clients.health import WRONG
from stream_lsh.worker.topology import build_app, source_partitions
from tests.evaluation.oracles import word_windows
from tests.kafka.harness import read, running, until


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


def configured(broker: Broker, name: str, partitions: int, **pipeline: Any) -> Config:
    chosen = {"source": f"{name}-source", "retention": 0, "threshold": 0.5} | pipeline
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in chosen.items())
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
"""
    return parse(text, "test.toml", {})


def articles(data_dir: Path, count: int) -> list[Document]:
    with gzip.open(data_dir / "newsgroups20" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    return [Document(one["id"], one["text"], one["ts"] * 1000) for one in found]


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


@pytest.mark.parametrize(("partitions", "workers"), [(1, 1), (4, 1), (7, 2)])
def test_the_stream_finds_the_results_of_the_in_memory_pipeline(
    broker: Broker, name: str, data_dir: Path, partitions: int, workers: int
) -> None:
    config = configured(broker, name, partitions)
    documents = articles(data_dir, 1500)
    pairs, groups = expected(config, documents)
    assert len(pairs) > 50
    found, signed = asyncio.run(streamed(config, documents, len(pairs), workers))
    assert found == (pairs, groups)
    assert sum(signed) == len(documents)
    assert all(signed), "every worker has to do"


def test_clusters_with_guards_are_those_of_the_chain_in_memory(broker: Broker, name: str, data_dir: Path) -> None:
    guards = {"guards.representative_similarity": 0.6, "guards.max_size": 3}
    config = configured(broker, name, 4, **guards)
    documents = articles(data_dir, 1500)
    pairs, groups = expected(config, documents)
    assert groups != expected(configured(broker, name, 4), documents)[1]
    found, _ = asyncio.run(streamed(config, documents, len(pairs), 1))
    assert found == (pairs, groups)
    findings = asyncio.run(audit(config, config.pipelines[0]))
    assert [(finding.state, finding.message) for finding in findings if finding.state == WRONG] == []
    assert any(" are true" in finding.message for finding in findings)


def test_pairs_by_containment_are_those_of_the_in_memory_pipeline_and_have_both_sizes(
    broker: Broker, name: str, data_dir: Path
) -> None:
    config = configured(broker, name, 4, measure="containment", threshold=0.8)
    whole = articles(data_dir, 400)
    parts = [one._replace(id=f"{one.id} part", text=_part(one.text or "")) for one in whole[::5]]
    documents = [*whole, *parts]
    pairs, groups = expected(config, documents)
    assert len(pairs) > len(expected(configured(broker, name, 4, threshold=0.8), documents)[0]) + 40
    found, _ = asyncio.run(streamed(config, documents, len(pairs), 1))
    assert found == (pairs, groups)
    records = asyncio.run(read(broker.address, config.pipelines[0].matches_topic))
    sizes = {one.id: len(set(word_windows(one.text or "", 3))) for one in documents}
    for match in (json.loads(record.value) for record in records):
        assert match["measure"] == "containment"
        assert (match["left_shingles"], match["right_shingles"]) == (sizes[match["left"]], sizes[match["right"]])
    findings = asyncio.run(audit(config, config.pipelines[0]))
    assert [finding.message for finding in findings if finding.state == WRONG] == []
    assert any(" are true" in finding.message for finding in findings)


def _part(text: str) -> str:
    words = text.split()
    return " ".join(words[: round(0.6 * len(words))])


async def streamed(config: Config, documents: list[Document], pairs: int, workers: int) -> Any:
    """The published results, and the number of documents that each worker has signed."""
    pipeline = config.pipelines[0]
    partitions = await source_partitions(config)
    apps = [build_app(config, partitions) for _ in range(workers)]
    async with AsyncExitStack() as stack:
        for app in apps:
            await stack.enter_async_context(running(app))
        states = [app.pipelines[pipeline.name] for app in apps]
        await until(lambda: all(state.documents.owned() for state in states))
        await send(config.kafka.brokers[0], pipeline.source, documents)
        await until(lambda: sum(state.counts.matches for state in states) >= pairs)
        await asyncio.sleep(1.0)
    return await published(config), [state.counts.documents for state in states]
