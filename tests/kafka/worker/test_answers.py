"""The pipeline live: the same answers as the chain in memory, whatever the number of partitions and workers."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import Config
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.audit import audit
from stream_lsh.worker.clients.health import WRONG
from stream_lsh.worker.topology import build_app, source_partitions
from tests.evaluation.oracles import word_windows
from tests.kafka.harness import read, running, until
from tests.kafka.pipelines import articles, configured, expected, published, send


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
