"""The answers of brokers about topics while they disagree."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import UnknownTopicOrPartitionError  # type: ignore[import-untyped]

from stream_lsh.config import parse
from stream_lsh.worker.engine.topics.required import FoundTopic, find_topics, topic_problems
from stream_lsh.worker.topology import topics


class Brokers:
    """Two brokers: one lists a new topic, and the other knows it at the third request."""

    asked = 0

    async def describe_cluster(self) -> dict[str, Any]:
        return {"brokers": [1, 2, 3]}

    async def describe_topics(self) -> list[dict[str, Any]]:
        return [{"topic": "new", "error_code": 0, "partitions": [{"replicas": [1, 2, 3]}]}]

    async def describe_configs(self, asked: list[Any]) -> list[Any]:
        self.asked += 1
        code = 0 if self.asked == 3 else UnknownTopicOrPartitionError.errno
        return [SimpleNamespace(resources=[(code, "", 2, "new", [("retention.ms", "-1")] if not code else [])])]


def test_a_topic_that_a_broker_does_not_know_yet_is_requested_again() -> None:
    found, brokers = asyncio.run(find_topics(Brokers(), ["new"]))
    assert (found, brokers) == ({"new": FoundTopic(1, 3, {"retention.ms": "-1"})}, 3)


DAY = 86_400_000


def results_of(settings: str, retention_ms: str | None = None) -> list[str]:
    """The problems of the results of a pipeline, as it creates them or with this retention."""
    config = parse(f"[pipeline]\nsource = 's'\nname = 'news'\n{settings}", "news.toml", {})
    specs = {spec.name: spec for spec in topics(config, config.pipelines[0], 4)}
    found = []
    for name in ("matches", "members", "clusters"):
        spec = specs[f"news-{name}"]
        altered = {} if retention_ms is None else {"retention.ms": retention_ms}
        found += topic_problems(spec, FoundTopic(4, 3, {"max.message.bytes": "1000000", **spec.config, **altered}), 3)
    return found


@pytest.mark.parametrize("lateness_days", [0, 1, 7, 400])
def test_results_are_kept_for_longer_than_any_document_lives(lateness_days: int) -> None:
    settings = f"retention = '3d'\nlateness = '{lateness_days}d'"
    config = parse(f"[pipeline]\nsource = 's'\nname = 'news'\n{settings}", "news.toml", {})
    kept = {spec.name: spec.config.get("retention.ms") for spec in topics(config, config.pipelines[0], 4)}
    assert {kept[f"news-{name}"] for name in ("matches", "members", "clusters")} == {str((4 + lateness_days) * DAY)}
    assert results_of(settings) == []


def test_an_existing_topic_of_results_may_keep_more_and_must_not_keep_less() -> None:
    settings = "retention = '3d'\nlateness = '7d'"
    for enough in ("-1", str(10 * DAY), str(100 * DAY)):
        assert results_of(settings, enough) == []
    for less in (str(4 * DAY), str(10 * DAY - 1), "0"):
        assert results_of(settings, less) == [
            f"news-{name}: has retention.ms={less}, and at least {10 * DAY} are needed, or Kafka deletes results of "
            "live documents"
            for name in ("matches", "members", "clusters")
        ]
    for endless in ("retention = ''", "topics.keep_forever = true"):
        assert results_of(endless) == []
        assert results_of(endless, str(100 * DAY))[0] == f"news-matches: has retention.ms={100 * DAY}, not -1"
