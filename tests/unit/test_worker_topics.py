"""What brokers say of topics, where they do not agree yet."""

import asyncio
from types import SimpleNamespace
from typing import Any

from aiokafka.errors import UnknownTopicOrPartitionError  # type: ignore[import-untyped]

from stream_lsh.worker.engine.topics import FoundTopic, find_topics


class Brokers:
    """One that tells of a topic, and another one that knows it at the third question."""

    asked = 0

    async def describe_cluster(self) -> dict[str, Any]:
        return {"brokers": [1, 2, 3]}

    async def describe_topics(self) -> list[dict[str, Any]]:
        return [{"topic": "new", "error_code": 0, "partitions": [{"replicas": [1, 2, 3]}]}]

    async def describe_configs(self, asked: list[Any]) -> list[Any]:
        self.asked += 1
        code = 0 if self.asked == 3 else UnknownTopicOrPartitionError.errno
        return [SimpleNamespace(resources=[(code, "", 2, "new", [("retention.ms", "-1")] if not code else [])])]


def test_a_topic_that_one_of_the_brokers_does_not_know_yet_is_asked_for_again() -> None:
    found, brokers = asyncio.run(find_topics(Brokers(), ["new"]))
    assert (found, brokers) == ({"new": FoundTopic(1, 3, {"retention.ms": "-1"})}, 3)
