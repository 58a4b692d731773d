"""The query API of a worker that has not joined its group."""

import pytest

from stream_lsh.config import parse
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.query.api import QueryApi
from stream_lsh.worker.query.following import FollowerStanding
from stream_lsh.worker.topology import build_app
from tests.unit.worker.query.client import client, in_loop


@in_loop
async def test_a_worker_without_its_state_describes_itself() -> None:
    address = f"127.0.0.1:{free_port()}"
    config = parse(f"pipeline = {{source = 'news', name = 'news'}}\nworker.ask = '{address}'", "news.toml", {})
    app = build_app(config, {"news": 4}, embedded=True)
    await app.query_api.start()
    try:
        async with client(address) as requests:
            answer = await requests.get("/v1")
    finally:
        await app.query_api.stop()
    assert answer.value["worker"] == app.instance
    assert (answer.value["state"], answer.value["complete"]) == ("joining", False)
    (pipeline,) = answer.value["pipelines"]
    assert (pipeline["name"], pipeline["kind"], pipeline["partitions"]) == ("news", "text", 4)
    assert pipeline["missing"] == {"documents": [0, 1, 2, 3], "buckets": [0, 1, 2, 3], "ledger": [0]}


@in_loop
async def test_a_worker_reports_that_another_process_has_its_address(caplog: pytest.LogCaptureFixture) -> None:
    ask, other = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"

    def api_of(advertised: str) -> QueryApi:
        keys = f"worker.ask = '{ask}'\nworker.ask_advertised = '{advertised}'"
        config = parse(f"pipeline = {{source = 'news', name = 'news'}}\n{keys}", "news.toml", {})
        standing = FollowerStanding()
        standing.ready = True
        return QueryApi(config, {}, standing)

    for advertised, reported in ((ask, ""), (other, f"at http://{other}/v1, where this worker found")):
        caplog.clear()
        api = api_of(advertised)
        await api.start()
        try:
            await api.check_address()
        finally:
            await api.stop()
        assert reported in caplog.text if reported else caplog.text == ""
