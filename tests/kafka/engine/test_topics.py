"""Topics that are missing, topics that are wrong, topics that are cut off."""

import asyncio
from typing import Any

import pytest
from faust.types import TP

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine import TopicSpec, Trimmer, ensure_topics, own_topic, public_topic
from stream_lsh.worker.engine.topics.required import find_topics
from tests.kafka.harness import admin_at, engine_app, feed, make_topics, numbers, read


async def ensured(address: str, *wanted: TopicSpec, request_bytes: int | None = None) -> dict[str, int]:
    """The topics and their partitions after the check."""
    async with admin_at(address) as admin:
        await ensure_topics(admin, wanted, request_bytes=request_bytes)
        return {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}


def test_missing_topics_are_created_as_wanted_and_a_second_worker_agrees(broker: Broker, name: str) -> None:
    specs = (
        own_topic(f"{name}-bands", 4, message_bytes=600_000, replication=1),
        public_topic(f"{name}-matches", 2, retention_ms=86_400_000),
    )
    found = asyncio.run(ensured(broker.address, *specs))
    assert (found[f"{name}-bands"], found[f"{name}-matches"]) == (4, 2)
    asyncio.run(ensured(broker.address, *specs))


def test_topics_of_ours_have_small_segments_unless_their_operator_wants_others(broker: Broker, name: str) -> None:
    specs = [
        own_topic(f"{name}-bands", 1, message_bytes=600_000),
        own_topic(f"{name}-large", 1, message_bytes=100_000_000),
        public_topic(f"{name}-matches", 1, retention_ms=86_400_000),
    ]

    async def scenario() -> dict[str, str]:
        settings = {key.replace(".", "_"): value for key, value in specs[0].config.items()}
        await make_topics(broker.address, specs[0].name, partitions=1, **{**settings, "segment_bytes": "50000000"})
        await ensured(broker.address, *specs)
        async with admin_at(broker.address) as admin:
            found, _ = await find_topics(admin, [spec.name for spec in specs])
        return {topic.removeprefix(f"{name}-"): one.config["segment.bytes"] for topic, one in found.items()}

    assert asyncio.run(scenario()) == {"bands": "50000000", "large": "100000512", "matches": "16777216"}


def test_all_problems_are_reported_together_and_nothing_is_created(broker: Broker, name: str) -> None:
    async def scenario() -> tuple[ConfigError, list[str]]:
        await make_topics(broker.address, f"{name}-few", partitions=2)
        await make_topics(broker.address, f"{name}-timed", cleanup_policy="delete", retention_ms="1000")
        await make_topics(broker.address, f"{name}-small", max_message_bytes="1000")
        await make_topics(broker.address, f"{name}-brief", cleanup_policy="compact,delete", retention_ms="2000")
        await make_topics(broker.address, f"{name}-lone")
        with pytest.raises(ConfigError) as caught:
            await ensured(
                broker.address,
                TopicSpec(f"{name}-few", 4, replication=3),
                own_topic(f"{name}-timed", 4, message_bytes=1000),
                TopicSpec(f"{name}-small", 4, message_bytes=500_000),
                public_topic(f"{name}-brief", 4, retention_ms=4_000, least_retention_ms=3_000),
                TopicSpec(f"{name}-lone", 4, {"min.insync.replicas": "2"}),
                TopicSpec(f"{name}-source", None),
                own_topic(f"{name}-copies", 4, message_bytes=2_000_000, replication=100),
                own_topic(f"{name}-fine", 4, message_bytes=1000),
                request_bytes=1_000_000,
            )
        async with admin_at(broker.address) as admin:
            return caught.value, await admin.list_topics()

    error, topics = asyncio.run(scenario())
    message = "\n".join(error.problems)
    for part in (
        "few: has 2 partitions, not 4",
        "few: has 1 copy, not 3",
        "timed: has retention.ms=1000, not -1",
        "timed: has message.timestamp.type=CreateTime, not LogAppendTime",
        "small: has max.message.bytes=1000",
        "brief: has retention.ms=2000, and at least 3000 are needed",
        "lone: has min.insync.replicas=1, and at least 2 are needed",
        "source: the topic does not exist",
        "copies: cannot have 100 copies",
        "copies: messages of 2000000 bytes do not fit the producer's requests of 1000000",
    ):
        assert part in message
    assert f"{name}-fine" not in topics


def test_an_app_with_a_wrong_topic_does_not_join(broker: Broker, name: str) -> None:
    async def scenario() -> Any:
        await make_topics(broker.address, f"{name}-in", partitions=1)
        app = engine_app(broker.address, name, required_topics=[TopicSpec(f"{name}-in", 4)])
        with pytest.raises(ConfigError, match="has 1 partition, not 4"):
            await app.start()
        return app.consumer.started

    assert not asyncio.run(scenario())


def test_own_topics_are_cut_off_and_others_are_never_touched(broker: Broker, name: str) -> None:
    async def scenario() -> tuple[Any, Any, list[bytes]]:
        own = f"{name}-own"
        await make_topics(broker.address, own, partitions=1)
        await feed(broker.address, own, numbers(0, 1000), partitions=1)
        async with admin_at(broker.address) as admin:
            trimmer = Trimmer(admin, [own], step=100)
            done = await trimmer.trim({TP(own, 0): 700})
            again = await trimmer.trim({TP(own, 0): 750})
            with pytest.raises(InvariantError, match="documents"):
                await trimmer.trim({TP("documents", 0): 10_000})
        return done, again, [record.value for record in await read(broker.address, own)]

    done, again, left = asyncio.run(scenario())
    assert list(done.values()) == [700]
    assert not again  # not worth a request
    assert left == numbers(700, 1000)
