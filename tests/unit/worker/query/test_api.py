"""The query API of a worker that has not joined its group."""

from stream_lsh.config import parse
from stream_lsh.worker.topology import build_app
from tests.unit.worker.query.client import client, free_port, in_loop


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
