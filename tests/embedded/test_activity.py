"""The rates and hot buckets of a running application, and the near misses of a cluster, against counts by hand."""

import asyncio
from urllib.parse import quote

import pytest

from stream_lsh import NearDuplicates
from tests.embedded.applications import Application, application, configured
from tests.embedded.test_lookups import BASE, TEXTS, found
from tests.embedded.test_similar import texts
from tests.patience import PATIENCE
from tests.unit.worker.query.client import TestClient, in_loop

BANNER = "we use cookies to improve this site and to show you what you like"


async def counted(client: TestClient, name: str) -> float:
    """The messages that the rates amount to, once the ring has a sample behind the last one."""
    async with asyncio.timeout(PATIENCE):
        while True:
            rates = (await client.get(f"{BASE}/activity")).value["rates"]
            if any(rates[name]) and rates[name][-1] == 0:
                return float(sum(rates[name]) * rates["interval_ms"] / 1_000)
            await asyncio.sleep(0.1)


@in_loop
async def test_rates_amount_to_the_messages() -> None:
    async with application(configured(2, TEXTS)) as app:
        (client,) = app.clients
        await asyncio.sleep(0.1)  # the first sample
        await app.send((f"d{number}", {"text": text}) for number, text in enumerate(texts(3, 120)))
        await app.send([("bad", {"no": "text"})])
        counts = app.worker._app.pipelines["docs"].counts
        assert counts.documents == 120
        # A sample that is late makes its interval longer, and the rate in it lower.
        assert await counted(client, "documents") == pytest.approx(120, rel=0.3)
        rates = (await client.get(f"{BASE}/activity")).value["rates"]
        assert sum(rates["dead_letters"]) > 0
        assert sum(rates["matches"]) > 0
        assert (await client.get(f"{BASE}/activity")).value["missing"] == {}
        assert (await client.get("/v1/pipelines/other/activity")).problem == "unknown-pipeline"


@in_loop
async def test_the_hottest_bucket_has_an_example_of_its_documents() -> None:
    async with application(configured(3, f"{TEXTS}\nmax_candidates = 1"), processes=2) as app:
        copies = [(f"copy-{number}", {"text": BANNER}) for number in range(150)]
        others = [(f"d{number}", {"text": text}) for number, text in enumerate(texts(4, 50))]
        await app.send([*others, *copies])
        hot = (await app.clients[1].get(f"{BASE}/activity")).value["hot_buckets"]
        assert 0 < len(hot) <= 5
        assert hot == sorted(hot, key=lambda one: -one["left_out"])
        for bucket in hot:
            assert bucket["postings"] == 150
            assert bucket["example"]["id"].startswith("copy-")
            assert bucket["example"]["text"] == BANNER
        await app.send([(id, {"deleted": True}) for id, _ in copies])
        assert (await app.clients[0].get(f"{BASE}/activity")).value["hot_buckets"] == []


SAME = range(50, 70)
"""The first words that a document has in common with the member of the cluster, of 100."""


def words(first: int, last: int) -> str:
    return " ".join(f"word{number}" for number in range(first, last))


async def near(app: Application, client: TestClient, cluster: str) -> dict[str, float]:
    value = await found(client, f"clusters/{quote(cluster, safe='')}?near=50")
    assert value["near_misses"]["compared"]
    return {one["id"]: one["similarity"] for one in value["near_misses"]["documents"]}


@in_loop
async def test_near_misses_are_the_documents_just_below_the_threshold() -> None:
    stored = {"a": words(0, 100), "b": words(0, 101), "member": words(0, 150)}
    stored |= {f"near-{same}": f"{words(0, same)} {words(1_000 * same, 1_000 * same + 100 - same)}" for same in SAME}
    memory = NearDuplicates(threshold=0.05, shingles="word:2", max_candidates=None)
    for id, text in stored.items():
        memory.add(id, text)
    expected = {
        match.id: match.similarity
        for match in memory.query(stored["a"])
        if 0.375 <= match.similarity < 0.5 and match.id != "member"
    }
    async with application(configured(3, TEXTS), processes=2) as app:
        await app.send((id, {"text": text}) for id, text in stored.items())
        cluster = (await found(app.clients[0], "documents/a"))["cluster"]
        members = {one["id"] for one in (await found(app.clients[0], f"clusters/{cluster}"))["members"]}
        shown = await near(app, app.clients[1], cluster)
        assert not shown.keys() & members
        assert all(0.375 <= similarity < 0.5 for similarity in shown.values())
        assert {id: one for id, one in shown.items() if id in expected} == {
            id: one for id, one in expected.items() if id in shown
        }
        assert len(shown.keys() & expected.keys()) > 5
        assert "near_misses" not in await found(app.clients[1], f"clusters/{cluster}")
