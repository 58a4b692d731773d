"""Mirror sites live: published, kept up to date and withdrawn, over restarts from the disk and from the changelogs."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import Config
from stream_lsh.worker.agents import reports
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.topology import build_app, source_partitions
from tests.asyncapi import Seen
from tests.kafka.harness import read, running
from tests.kafka.messages import NOW_MS, Message, document, eventually, put
from tests.kafka.pipelines import configured


def text(number: int, words: int = 60) -> str:
    return " ".join(f"page{number}word{place}" for place in range(words))


def page(site: str, number: int, body: str, time: int = NOW_MS) -> Message:
    url = f"https://www.{site}/{number}"
    html = f"<html><body><h1>Page {number}</h1><p>{body}</p></body></html>"
    return Message(url.encode(), document(html, url=url, time=time))


FULL, EXCERPTS = "full.example", "excerpts.example"
PAGES = [
    *(page(FULL, number, text(number), NOW_MS + number) for number in range(4)),
    page(EXCERPTS, 0, text(0, 30), NOW_MS + 50),
    page(EXCERPTS, 1, text(1), NOW_MS + 60),
    *(page("alone.example", number, text(100 + number)) for number in range(2)),
]


def sites(pages: tuple[int, int], mirrored: tuple[int, int], direction: str) -> dict[str, Any]:
    return {
        "left": EXCERPTS,
        "right": FULL,
        "left_pages": pages[0],
        "right_pages": pages[1],
        "left_mirrored": mirrored[0],
        "right_mirrored": mirrored[1],
        "left_share": mirrored[0] / pages[0],
        "right_share": mirrored[1] / pages[1],
        "direction": direction,
        "first_time": NOW_MS + 50,
    }


async def run_worker(broker: Broker, config: Config, messages: list[Message], expected: dict[str, Any] | None) -> None:
    """Start a worker, send it messages, and wait for the expected results."""
    pipeline = config.pipelines[0]

    async def published() -> Any:
        last = {
            one.key: one.value and json.loads(one.value)
            for one in await read(broker.address, pipeline.mirror_sites_topic)
        }
        assert last.keys() <= {json.dumps([EXCERPTS, FULL], separators=(",", ":")).encode()}
        return next(iter(last.values()), None)

    async with running(build_app(config, await source_partitions(config))):
        await put(broker, pipeline.source, messages)
        assert await eventually(published, expected) == expected


def test_mirror_sites_follow_the_pages_and_outlive_the_worker(
    broker: Broker, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "PAGES_TICKS", 1)
    config = configured(broker, name, 2, preset="mirrors", threshold=0.8, mirror_share=0.4)
    elsewhere = replace(config, worker=replace(config.worker, data_dir=tmp_path / "empty"))
    pipeline = config.pipelines[0]
    # A full page is in no excerpt; the excerpt of page 0 is in the full one.
    first = sites((2, 4), (2, 1), "left_in_right")
    more = [page(EXCERPTS, 2, text(2), NOW_MS + 70), page(EXCERPTS, 9, text(109), NOW_MS + 80)]
    gone = [Message(f"https://www.{EXCERPTS}/{number}".encode(), None) for number in (0, 1, 2)]

    async def run() -> None:
        await run_worker(broker, config, PAGES, first)
        # The next worker has its state from the disk, the one behind it from the changelogs.
        await run_worker(broker, config, more, sites((4, 4), (3, 2), "both"))
        await run_worker(broker, elsewhere, [page(FULL, 7, text(207))], sites((4, 5), (3, 2), "both"))
        await run_worker(broker, elsewhere, gone, None)
        seen = Seen()
        for record in await read(broker.address, pipeline.mirror_sites_topic):
            seen.take("mirror_sites", record.key, record.value, record.headers)
        assert seen.messages == {"mirrorSites", "mirrorSitesGone"}
        assert seen.values["mirrorSites", "payload", "direction"] >= {"left_in_right", "both"}

    asyncio.run(run())
