"""Changes for browsers: what a listener gets, and events in any parts of a stream."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from stream_lsh.web import changes
from stream_lsh.web.changes import COMMENT, CONNECTED, LOST, Changes, Listener
from stream_lsh.web.source import EventLines, HttpSource
from stream_lsh.worker.brokers.maven import free_port
from tests.browser.answers import FixedSource
from tests.unit.worker.query.client import in_loop

STREAM = (
    b'event: matches\ndata: {"key":"[\\"a\\",\\"b\\"]","value":{"left":"a"},"headers":{}}\n\n'
    b": no events\n\n"
    b'event: clusters\ndata: {"key":"' + b"i" * 9_000 + b'","value":null}\n\n'
    b'event: dead-letters\ndata: {"key":null,"value":"\xff"}\n\n'
    b"id: clusters:1;matches:2\n\n"
)
READ = [("matches", '["a","b"]'), ("clusters", ""), ("dead-letters", "")]


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1 << 20])
def test_events_are_read_in_any_parts(size: int) -> None:
    lines = EventLines()
    parts = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [one for part in parts for one in lines.read(part)] == READ


def read(lines: bytes) -> Any:
    """The data of the only `changed` event."""
    assert lines.count(b"event: changed") == 1
    return json.loads(lines.split(b"event: changed\ndata: ")[1])


@in_loop
async def test_a_listener_that_reads_slowly_holds_numbers_and_few_keys() -> None:
    listener = Listener()
    for number in range(50_000):
        listener.add("clusters", f"wire-{number}\n")
    listener.add("members", "a\nb")
    listener.set_connected(connected=True)
    lines = await listener.taken()
    assert lines.startswith(CONNECTED)
    assert len(lines) < 200
    assert read(lines) == {"clusters": {"count": 50_000, "keys": None}, "members": {"count": 1, "keys": ["a\nb"]}}


@in_loop
async def test_a_listener_without_changes_gets_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_COMMENT_S", 0.01)
    assert await Listener().taken() == COMMENT


@in_loop
async def test_all_listeners_of_a_pipeline_share_a_subscription() -> None:
    source = FixedSource({})
    open_pages = Changes(source)
    async with open_pages.listening("news") as one, open_pages.listening("news") as other:
        assert len(open_pages._feeds) == 1
        source.changed.append(("clusters", "wire-1"))
        while not (lines := await one.taken()).count(b"changed"):
            assert lines in (CONNECTED, LOST)
        while not (same := await other.taken()).count(b"changed"):
            assert same in (CONNECTED, LOST)
        assert read(lines) == read(same) == {"clusters": {"count": 1, "keys": ["wire-1"]}}
        source.reports_changes = False
        assert await one.taken() == LOST
    assert open_pages._feeds == {}
    left = [task for task in asyncio.all_tasks() if task.get_name().startswith("changes of")]
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*left, return_exceptions=True))


@in_loop
async def test_changes_of_a_worker_are_read_from_its_events() -> None:
    async def events(request: Any) -> web.StreamResponse:
        assert (request.path, request.headers["Authorization"]) == ("/v1/pipelines/news/events", "Bearer secret")
        return web.Response(body=STREAM, content_type="text/event-stream")

    port = free_port()
    runner = web.ServerRunner(web.Server(events))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    source = HttpSource([f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{port}"], "secret")
    try:
        assert [one async for one in source.changes("news")] == [("", ""), *READ]
        await runner.cleanup()
        assert [one async for one in source.changes("news")] == []
    finally:
        await source.close()


@in_loop
async def test_the_number_of_open_pages_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_LISTENERS", 1)
    open_pages = Changes(FixedSource({}))
    assert not open_pages.is_full
    async with open_pages.listening("news"):
        assert open_pages.is_full
    assert not open_pages.is_full
