"""The method `exact` live: every pair, through updates, deletes and restarts."""

import asyncio
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from stream_lsh.config import Config
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.audit import audit
from stream_lsh.worker.clients.health import WRONG
from stream_lsh.worker.topology import build_app, source_partitions
from tests.evaluation import oracles
from tests.kafka.harness import running
from tests.kafka.messages import eventually
from tests.kafka.pipelines import configured, published, send

THRESHOLD = 0.9


def texts(rng: random.Random, count: int) -> list[Document]:
    """In groups of nearly equal ones, of 5 to 200 words: shorter and longer than what is stored of a text."""
    found: list[Document] = []
    while len(found) < count:
        words = [f"w{rng.randrange(5_000)}" for _ in range(rng.randint(5, 200))]
        for _ in range(4):
            copy = [rng.choice(words) if rng.random() < 0.03 else word for word in words]
            found.append(Document(str(len(found)), " ".join(copy), len(found)))
    return found


def pairs_of(documents: dict[str, Document]) -> dict[tuple[str, str], float]:
    live = [(id, set((one.text or "").split())) for id, one in sorted(documents.items()) if one.text]
    compared = {(a, b): oracles.jaccard(one, other) for (a, one), (b, other) in combinations(live, 2)}
    return {pair: similarity for pair, similarity in compared.items() if similarity >= THRESHOLD}


def test_every_pair_is_published_through_all_changes_and_restarts(
    broker: Broker, name: str, tmp_path: Path, seed: int
) -> None:
    config = configured(broker, name, 2, threshold=THRESHOLD, method="exact", shingles="word:1", slots=16)
    elsewhere = replace(config, worker=replace(config.worker, data_dir=tmp_path / "empty"))
    rng, held, source = random.Random(seed), dict[str, Document](), config.pipelines[0].source
    first = texts(rng, 80)
    swapped = [one._replace(text=rng.choice(first).text) for one in rng.sample(first, 25)]
    deleted = [one._replace(text=None) for one in rng.sample(first, 20)]

    async def step(config: Config, documents: list[Document]) -> None:
        held.update({one.id: one for one in documents})
        wanted = pairs_of(held)
        assert len(wanted) > 10

        async def pairs() -> dict[tuple[str, str], float]:
            return (await published(config))[0]

        async with running(build_app(config, await source_partitions(config))):
            await send(broker.address, source, documents)
            assert await eventually(pairs, wanted) == wanted

    async def run() -> None:
        # The second worker has its state from the disk, the third from the changelogs.
        await step(config, first)
        await step(config, [*swapped, *deleted])
        await step(elsewhere, [*rng.sample(first, 30), *deleted[:5]])

    asyncio.run(run())
    findings = asyncio.run(audit(config, config.pipelines[0]))
    assert [finding.message for finding in findings if finding.state == WRONG] == []
