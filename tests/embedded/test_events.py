"""The events of a running application: as they happen, from a place on, and for listeners that misbehave."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from faust.types import TP

from stream_lsh import AsyncClient
from stream_lsh.client.event_stream import Event
from stream_lsh.worker.query.resources import events, public_results
from tests.embedded.applications import Application, application, configured
from tests.patience import PATIENCE
from tests.unit.worker.query.client import in_loop

PATH = "/v1/pipelines/docs/events"
TEXT = "one text of eight words in all here and more of them"


@asynccontextmanager
async def asking(running: Application, number: int = 0) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(f"http://{running.shares[number].address}", "docs") as asked:
        yield asked


async def first(count: int, stream: Any) -> list[Event]:
    """The first events of a stream, which is then closed."""
    found = list[Event]()
    async with asyncio.timeout(PATIENCE), aclosing(stream):
        async for event in stream:
            found.append(event)
            if len(found) == count:
                break
    return found


async def begun(running: Application, number: int = 0) -> Any:
    """A raw stream that has begun."""
    url = f"http://{running.shares[number].address}{PATH}"
    response = await running.clients[number].session.get(url)
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/event-stream"
    assert (await response.content.readline()).startswith(b"id: clusters:")
    return response


@in_loop
async def test_events_arrive_and_another_process_continues_after_them() -> None:
    async with (
        application(configured(3, ""), processes=2) as running,
        asking(running) as one,
        asking(running, 1) as two,
    ):
        response = await begun(running)  # the consumer reads from here on
        reading = asyncio.create_task(first(1, one.events(["matches"], "matches:0,0,0")))
        await running.send([("a", {"text": TEXT}), ("b", {"text": TEXT})])
        (match,) = await reading
        assert (match.type, match.value["left"], match.value["right"]) == ("matches", "a", "b")
        assert match.value["similarity"] == 1
        await running.send([("c", {"text": TEXT})])
        await running.send([("b", {"deleted": True})])
        later = await first(5, two.events(["matches"], "matches:0,0,0"))
        assert {event.key for event in later} == {'["a","b"]', '["a","c"]', '["b","c"]'}
        withdrawn = {event.key: event.headers["reason"] for event in later if event.value is None}
        assert withdrawn == {key: "deleted" for key in ('["a","b"]', '["b","c"]')}
        # All types arrive in the stream that asked for none.
        found = set[bytes]()
        async with asyncio.timeout(PATIENCE):
            while found < {b"matches", b"members", b"clusters"}:
                line = await response.content.readline()
                found |= {line[7:-1]} if line.startswith(b"event: ") else set()
        response.close()


@in_loop
async def test_a_stream_continues_behind_the_last_id() -> None:
    async with application(configured(2, "")) as running, asking(running) as one:
        await running.send([(f"a{number}", {"text": TEXT}) for number in range(4)])
        every = await first(6, one.events(["matches"], "matches:0,0"))
        assert len({event.key for event in every}) == 6
        response = await begun(running)
        await running.send([("other", {"text": "quite another text than those before it, with words"})])
        await running.send([("copy", {"text": "quite another text than those before it, with words"})])
        async with asyncio.timeout(PATIENCE):
            while await response.content.readline() != b"event: clusters\n":
                pass
            data = await response.content.readline()
        assert set(json.loads(data.removeprefix(b"data: "))["value"]["members"]) == {"copy", "other"}
        response.close()


@in_loop
async def test_wrong_requests_are_problems() -> None:
    async with application(configured(2, "")) as running:
        (requests,) = running.clients
        for query in ("?types=news", "?types=matches,", "?types=entities", "?other=1"):
            assert (await requests.get(PATH + query)).problem == "malformed", query
        for place in ("x", "matches:1", "matches:1,2;clusters:1,2", "matches:1,-2", f"matches:1,{9**40}"):
            answer = await requests.get(f"{PATH}?types=matches", headers={"Last-Event-ID": place})
            assert answer.problem == "malformed", place
        assert (await requests.get("/v1/pipelines/other/events")).problem == "unknown-pipeline"
        assert (await requests.send("GET", PATH, data=b"body")).problem == "malformed"


@in_loop
async def test_there_is_a_limit_on_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_results, "MOST_LISTENERS", 1)
    async with application(configured(2, "")) as running:
        response = await begun(running)
        answer = await running.clients[0].get(PATH)
        assert (answer.status, answer.problem) == (429, "busy")
        response.close()


@in_loop
async def test_a_listener_that_stops_reading_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    listeners = list[public_results.Listener]()

    def noted(*args: Any) -> public_results.Listener:
        listeners.append(public_results.Listener(*args))
        return listeners[-1]

    monkeypatch.setattr(events, "Listener", noted)
    async with application(configured(2, "")) as running:
        host, _, port = running.shares[0].address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 10)
        writer.write(f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        await reader.readuntil(b"id: clusters:")  # from here on, it reads no more than its small buffer holds
        lines, tp = b"data: x\n\n" * 20_000, TP(next(iter(listeners[0].types)), 0)
        async with asyncio.timeout(PATIENCE):
            while not listeners[0].ended:
                listeners[0].add({tp: lines}, {tp: 1})
                await asyncio.sleep(0)
            while public_results.READING in {task.get_name() for task in asyncio.all_tasks()}:
                await asyncio.sleep(0.05)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(len(lines) * 1_000)  # more than the worker has written
        assert listeners[0].ended
        writer.close()


@in_loop
async def test_a_listener_that_leaves_is_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(events, "COMMENT_SECONDS", 0.05)
    caplog.set_level(logging.WARNING)
    async with application(configured(2, "")) as running:
        for _ in range(3):
            response = await begun(running)
            async with asyncio.timeout(PATIENCE):
                while not (await response.content.readline()).startswith(b":"):
                    pass
            response.close()
        async with asyncio.timeout(PATIENCE):
            # The consumer ends with the last listener.
            while public_results.READING in {task.get_name() for task in asyncio.all_tasks()}:
                await asyncio.sleep(0.05)
    assert [record for record in caplog.records if "query" in record.name or "aiohttp" in record.name] == []


@in_loop
async def test_streams_end_with_the_worker() -> None:
    async with application(configured(2, "")) as running:
        response = await begun(running)
        ended = asyncio.create_task(response.read())
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait([ended])
    assert ended.done()
