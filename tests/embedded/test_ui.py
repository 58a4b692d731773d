"""A worker serves the web pages itself, with the access checks of `stream-lsh ui`."""

import dataclasses
import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from stream_lsh.config.model import Config
from stream_lsh.errors import ConfigError
from stream_lsh.settings.value_types import Secret
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import LiveWorker, live_worker
from tests.embedded.applications import PIPELINE, configured, sent
from tests.embedded.test_similar import people
from tests.unit.cli.runs import EDITED, STORY
from tests.unit.worker.query.client import in_loop

TOKEN = "a-token-of-the-query-api"  # noqa: S105 - of these tests only


def with_pages(pipeline: str = "threshold = 0.5", **keys: Any) -> tuple[Config, str]:
    """A configuration with pages, and their address."""
    config, address = configured(1, pipeline), f"127.0.0.1:{free_port()}"
    given = {"ask": f"127.0.0.1:{free_port()}", "ui": address, "ask_timeout_ms": 20_000, **keys}
    return dataclasses.replace(config, worker=dataclasses.replace(config.worker, **given)), f"http://{address}"


TWO = (("a", {"text": STORY}), ("b", {"text": EDITED}))


@asynccontextmanager
async def working(
    config: Config, documents: Iterable[tuple[str, Mapping[str, Any]]] = TWO
) -> AsyncIterator[tuple[LiveWorker, aiohttp.ClientSession]]:
    with embedded(config) as broker:
        async with live_worker(broker) as worker, aiohttp.ClientSession() as session:
            await sent(broker.address, documents)
            await worker.settled()
            yield worker, session


@in_loop
async def test_the_pages_of_a_worker_show_its_results_and_end_with_it() -> None:
    config, url = with_pages()
    async with working(config) as (_, session):
        async with session.get(f"{url}/p/{PIPELINE}/clusters") as response:
            page = await response.text()
            assert response.status == 200
            assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        assert "1 cluster" in page
        async with session.get(f"{url}/p/{PIPELINE}/pair.json?left=a&right=b") as response:
            assert (response.status, [one["id"] for one in (await response.json())["documents"]]) == (200, ["a", "b"])
        async with session.get(url, headers={"Host": "elsewhere.example"}) as response:
            assert response.status == 400
        async with session.post(
            f"{url}/p/{PIPELINE}/search", headers={"Origin": "http://elsewhere.example"}
        ) as response:
            assert response.status == 403
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(url)


@in_loop
async def test_pages_that_other_machines_can_reach_need_the_token_and_query_with_it() -> None:
    ask, port = free_port(), free_port()
    keys = {"ask": f"0.0.0.0:{ask}", "ask_advertised": f"127.0.0.1:{ask}", "ui": f"0.0.0.0:{port}"}
    config, _ = with_pages(**keys, ask_token=Secret(TOKEN))
    url = f"http://127.0.0.1:{port}"
    async with working(config) as (_, session):
        async with session.get(f"{url}/p/{PIPELINE}/clusters", allow_redirects=False) as response:
            assert (response.status, response.headers["Location"].partition("?")[0]) == (303, "/sign-in")
        form, origin = {"token": TOKEN, "next": f"/p/{PIPELINE}/clusters"}, {"Origin": url}
        async with session.post(f"{url}/sign-in", data=form, headers=origin, allow_redirects=False) as response:
            assert response.status == 303
            cookie = response.headers["Set-Cookie"].partition(";")[0]
        async with session.get(f"{url}/p/{PIPELINE}/clusters", headers={"Cookie": cookie}) as response:
            assert (response.status, "1 cluster" in await response.text()) == (200, True)


@in_loop
async def test_pairs_that_are_decided_together_leave_the_list_and_return_when_that_is_undone() -> None:
    config, url = with_pages("kind = 'record'\nprofile = 'people'")
    records = [(f"d{number}", record) for number, record in enumerate(people(80))]
    async with working(config, records) as (worker, session):

        async def waiting() -> list[tuple[str, str]]:
            async with session.get(f"{url}/p/{PIPELINE}/reviews.json") as response:
                return [(pair["left"], pair["right"]) for pair in (await response.json())["reviews"]]

        async def send(decision: str) -> str:
            form = {f"pair{number}": json.dumps(pair) for number, pair in enumerate(before[:3])}
            data = {**form, "decision": decision, "token": token}
            async with session.post(f"{url}/p/{PIPELINE}/reviews", data=data, headers={"Origin": url}) as response:
                assert response.status == 200
                shown = await response.text()
            await worker.settled()
            return shown

        before = await waiting()
        async with session.get(f"{url}/p/{PIPELINE}/reviews") as response:
            found = re.search(r'name="token" value="(\w+)"', await response.text())
        assert found is not None
        token = found[1]
        assert "3 pairs: different" in await send("different")
        assert not set(before[:3]) & set(await waiting())
        assert "3 pairs: decision withdrawn" in await send("undo")
        assert await waiting() == before


@in_loop
async def test_a_worker_whose_address_is_taken_works_without_pages(caplog: pytest.LogCaptureFixture) -> None:
    config, url = with_pages()
    async with working(config), working(with_pages(ui=config.worker.ui)[0]) as (worker, _):
        assert worker.counts.documents == 2
    assert f"worker.ui: web pages: {url.removeprefix('http://')} cannot be used" in caplog.text


@in_loop
async def test_without_the_extra_a_worker_with_pages_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    config, _ = with_pages()
    with pytest.raises(ConfigError, match=r'pip install "stream_lsh\[web\]"'):
        async with working(config):
            pass
