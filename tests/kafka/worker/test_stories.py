"""Stories live: titles and outlets go through all steps, and outlive the worker on disk and in the changelogs."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from stream_lsh.config import Config
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.topology import build_app, source_partitions
from tests.kafka.harness import read, running
from tests.kafka.messages import NOW_MS, Message, document, eventually, put
from tests.kafka.pipelines import configured

TEXT = "two ships burn in the port of the town and sailors wonder what set them on fire last night"
FIRST = [
    Message(b"b", document(TEXT, time=NOW_MS, url="https://www.wire.example/1", title="Fire in the port")),
    Message(b"a", document(f"{TEXT}\nsays the mayor", time=NOW_MS + 5, source="Herald", title="Two ships burn")),
    Message(b"c", document(TEXT, time=NOW_MS + 9, url="http://post.example:80/x")),
    Message(b"lone", document("a text of its own that resembles nothing else at all", title="Alone")),
]
RETITLED = Message(b"a", document(f"{TEXT}\nsays the mayor", time=NOW_MS + 5, source="Herald", title="Port in flames"))
MOVED = Message(b"b", document(TEXT, time=NOW_MS, source="Agency", title="Fire in the port"))


def story(headline: str, first: str) -> dict[str, Any]:
    return {
        "representative": "a",
        "headline": headline,
        "sources": [
            {"source": first, "first_time": NOW_MS, "documents": 1},
            {"source": "Herald", "first_time": NOW_MS + 5, "documents": 1},
            {"source": "post.example", "first_time": NOW_MS + 9, "documents": 1},
        ],
        "source_count": 3,
        "first": {"id": "b", "source": first, "time": NOW_MS},
    }


async def run_worker(broker: Broker, config: Config, messages: list[Message], expected: dict[str, Any]) -> None:
    """Start a worker, send it messages, and wait for the expected results."""
    pipeline = config.pipelines[0]

    async def published() -> Any:
        last = [json.loads(one.value) for one in await read(broker.address, pipeline.clusters_topic) if one.value]
        return {key: last[-1].get(key) for key in expected} if last else None

    async with running(build_app(config, await source_partitions(config))):
        await put(broker, pipeline.source, messages)
        assert await eventually(published, expected) == expected


def test_stories_outlive_the_worker_and_follow_changes_of_titles(broker: Broker, name: str, tmp_path: Path) -> None:
    config = configured(broker, name, 2, stories=True)
    elsewhere = replace(config, worker=replace(config.worker, data_dir=tmp_path / "empty"))

    async def run() -> None:
        await run_worker(broker, config, FIRST, story("Two ships burn", "wire.example"))
        # The next worker has its state from the disk, the last one from the changelogs.
        await run_worker(broker, config, [RETITLED], story("Port in flames", "wire.example"))
        await run_worker(broker, elsewhere, [MOVED], story("Port in flames", "Agency"))
        events = [json.loads(one.value) for one in await read(broker.address, config.pipelines[0].clusters_topic)]
        assert [event["event"] for event in events[-2:]] == ["changed", "changed"]
        assert {event["cluster"] for event in events} == {events[0]["cluster"]}

    asyncio.run(run())


FACTS = (
    "The council met on Monday and voted to repair the old bridge before winter comes, after a debate in which nine of "
    "the eleven members spoke. Engineers had warned in spring that two of the four piers were not safe for lorries."
)


def test_the_preset_for_news_reads_pages_and_leaves_flashes_alone(broker: Broker, name: str) -> None:
    config = configured(broker, name, 2, preset="news")
    page = (
        "<html><head><title>Bridge repair agreed</title><link rel=canonical href='https://www.herald.example/17'></head>"
        f"<body><nav>Home News Sport Weather Culture</nav><article><p>{FACTS}</p></article></body></html>"
    )
    messages = [
        Message(b"text", document(f"{FACTS} Work begins soon.", time=NOW_MS, source="Agency", title="Old bridge")),
        Message(b"page", document(page, time=NOW_MS + 5)),
        Message(b"flash", document(FACTS[:150], time=NOW_MS + 9, source="Radio")),
    ]
    expected = {
        "size": 2,
        "members": ["page", "text"],
        "representative": "text",
        "headline": "Old bridge",
        "sources": [
            {"source": "Agency", "first_time": NOW_MS, "documents": 1},
            {"source": "herald.example", "first_time": NOW_MS + 5, "documents": 1},
        ],
    }
    asyncio.run(run_worker(broker, config, messages, expected))
