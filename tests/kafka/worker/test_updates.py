"""Updates as a way of life: versions leave nothing behind, and what does not change writes nothing."""

import asyncio
import random
from typing import Any

from stream_lsh.config import Config
from stream_lsh.model import Document
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions
from tests.kafka.harness import read, running, until
from tests.kafka.pipelines import configured, expected, published, send
from tests.kafka.worker.test_maintenance import often, words

PARTITIONS = 2
VERSIONS = 10_000
LEAST = 64


def prose(number: int) -> str:
    return f"{words(number)} {number}"


async def spans(config: Config) -> dict[str, tuple[int, int]]:
    """Records that the changelogs of documents and of buckets hold, and where they end, over all partitions."""
    pipeline, found = config.pipelines[0], {}
    for table in ("documents", "buckets"):
        begins, ends = await bounds(config.kafka, partitions_of(pipeline.changelog_topic(table), PARTITIONS))
        found[table] = sum(ends.values()) - sum(begins.values()), sum(ends.values())
    return found


def rewriting(app: WorkerApp, name: str) -> WorkerApp:
    """Rewrite a log as soon as some entries in it are dead."""
    for states in (app.pipelines[name].documents, app.pipelines[name].buckets):
        for state in states.owned().values():
            state.rewriter.least = LEAST
    return app


async def many_versions(config: Config, others: list[Document]) -> Any:
    pipeline, rng = config.pipelines[0], random.Random(1)
    partitions = await source_partitions(config)
    app, address = often(build_app(config, partitions)), config.kafka.brokers[0]
    async with running(app):
        state = rewriting(app, pipeline.name).pipelines[pipeline.name]
        await send(address, pipeline.source, others)
        versions = [Document("busy", prose(rng.randrange(1_000)), 1_000 + number) for number in range(VERSIONS - 1)]
        last = Document("busy", others[0].text, 1_000 + VERSIONS)
        for start in range(0, VERSIONS, 500):
            await send(address, pipeline.source, [*versions, last][start : start + 500])
            await until(lambda: state.counts.documents >= len(others) + min(start + 500, VERSIONS))  # noqa: B023
        await until(lambda: app.maintenance.bytes_under_way() == 0)
        await asyncio.sleep(2.5)  # ticks, which end a pass; and a trimming
        held = [len(one.table) for one in state.buckets.owned().values()]
        nbytes = sum(one.table.nbytes for one in state.buckets.owned().values())
    left = await spans(config)
    again = build_app(config, partitions)
    async with running(again):
        state = again.pipelines[pipeline.name]
        recovered = [len(one.table) for one in state.buckets.owned().values()]
        documents = sum(len(one.table) for one in state.documents.owned().values())
        changed = Document("0", f"{others[0].text} and more", 20_000)
        await send(address, pipeline.source, [changed])
        await until(lambda: state.counts.documents == 1)
        await asyncio.sleep(1.5)
    return held, nbytes, left, recovered, documents, changed


def test_ten_thousand_versions_of_one_document_leave_no_more_than_a_few(broker: Broker, name: str) -> None:
    config = configured(broker, name, PARTITIONS, threshold=0.5)
    others = [Document(str(number), prose(number), number) for number in range(20)]
    held, nbytes, left, recovered, documents, changed = asyncio.run(many_versions(config, others))
    assert recovered == held
    assert documents == len(others) + 1
    # How many versions a record has depends on what waits; that most records are gone does not.
    assert all(end > 100 and 2 * records < end for records, end in left.values()), left
    assert all(records < 400 for records, _ in left.values()), left
    assert nbytes < 4_000_000
    final = [changed, *others[1:], Document("busy", others[0].text, 1_000 + VERSIONS)]
    assert asyncio.run(published(config)) == expected(config, final)


async def crawled_again(config: Config, pages: list[Document]) -> tuple[Any, Any, int]:
    pipeline = config.pipelines[0]
    app, address = build_app(config, await source_partitions(config)), config.kafka.brokers[0]
    async with running(app):
        state = app.pipelines[pipeline.name]
        await send(address, pipeline.source, pages)
        await until(lambda: state.counts.documents == len(pages))
        await until(lambda: app.maintenance.bytes_under_way() == 0)
        await asyncio.sleep(1.0)
        before = await spans(config)
        for round in range(3):
            again = [page._replace(time_ms=page.time_ms + round) for page in pages]
            await send(address, pipeline.source, again)
            await until(lambda: state.counts.documents == (2 + round) * len(pages))  # noqa: B023 - awaited here
        await asyncio.sleep(1.0)
        return before, await spans(config), state.counts.signed.unchanged


def test_pages_that_are_crawled_again_unchanged_write_no_changelog_record(broker: Broker, name: str) -> None:
    config = configured(broker, name, PARTITIONS)
    pages = [Document(str(number), prose(number % 40), number) for number in range(60)]
    before, after, unchanged = asyncio.run(crawled_again(config, pages))
    assert after == before
    assert unchanged == 3 * len(pages)


async def corrected(config: Config, stories: list[Document]) -> list[Any]:
    pipeline = config.pipelines[0]
    app, address = build_app(config, await source_partitions(config)), config.kafka.brokers[0]
    async with running(app):
        state = app.pipelines[pipeline.name]
        await send(address, pipeline.source, stories)
        await until(lambda: state.counts.matches >= 1)
        for number in range(30):
            corrected = stories[number % 2]._replace(text=f"{stories[0].text} edition{number}", time_ms=100 + number)
            await send(address, pipeline.source, [corrected])
            await until(lambda: state.counts.documents == len(stories) + number + 1)  # noqa: B023 - awaited here
        await asyncio.sleep(2.0)
    topics = (pipeline.matches_topic, pipeline.members_topic, pipeline.clusters_topic)
    return [(topic, record.key) for topic in topics for record in await read(address, topic) if record.value is None]


def test_a_correction_that_still_matches_publishes_no_null(broker: Broker, name: str) -> None:
    config = configured(broker, name, PARTITIONS, threshold=0.8)
    stories = [Document(id, f"{prose(1)} {id}", 1) for id in ("one", "other")]
    assert asyncio.run(corrected(config, stories)) == []
