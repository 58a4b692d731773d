"""A running application describes documents, clusters and entities as the classes in memory do."""

from typing import Any
from urllib.parse import quote

import pytest

from stream_lsh import NearDuplicates
from stream_lsh.worker.query.distributed.steps import Part
from stream_lsh.worker.query.resources import lookups
from tests.embedded.applications import Application, application, configured
from tests.embedded.test_similar import people, texts
from tests.unit.worker.query.client import TestClient, in_loop

DOCUMENTS = 300
BASE = "/v1/pipelines/docs"


def id_of(number: int) -> str:
    """Ids that need an encoded path."""
    return f"d/{number}?ä~{number % 7}%2F"


async def found(client: TestClient, path: str) -> dict[str, Any]:
    answer = await client.get(f"{BASE}/{path}")
    assert answer.status == 200, answer
    value: dict[str, Any] = answer.value
    assert value.pop("lag") >= 0
    return value


async def pages(client: TestClient, path: str, rows: str, parameter: str, limit: int) -> list[Any]:
    """All rows of a list."""
    read, at = list[Any](), ""
    while True:
        value = await found(client, f"{path}{'&' if '?' in path else '?'}limit={limit}{at}")
        assert len(value[rows]) <= limit
        read += value[rows]
        if value["next"] is None:
            assert value.get("total", len(read)) == len(read)
            return read
        at = f"&{parameter}={quote(str(value['next']))}"


async def started(app: Application, values: list[str]) -> NearDuplicates:
    """An application with texts, of which one was deleted and one replaced, and the same in memory."""
    near = NearDuplicates(threshold=0.5, shingles="word:2")
    await app.send((id_of(number), {"text": text}) for number, text in enumerate(values))
    await app.send([(id_of(3), {"deleted": True}), (id_of(4), {"text": values[5]})])
    for number, text in enumerate(values):
        near.add(id_of(number), text)
    near.remove(id_of(3))
    near.add(id_of(4), values[5])
    return near


TEXTS = "kind = 'text'\nthreshold = 0.5\nshingles = 'word:2'"


@in_loop
async def test_documents_and_clusters_are_those_of_memory() -> None:
    values = texts(11, DOCUMENTS)
    async with application(configured(3, TEXTS), processes=2) as app:
        near = await started(app, values)
        members = {cluster.id: set(cluster.members) for cluster in near.clusters()}
        cluster_of = {id: cluster for cluster, ids in members.items() for id in ids}
        partners: dict[str, dict[str, float]] = {}
        for match in near.matches():
            partners.setdefault(match.left, {})[match.right] = match.similarity
            partners.setdefault(match.right, {})[match.left] = match.similarity
        groups, log = set[frozenset[str]](), dict[str, list[Any]]()
        for key, value in await app.log("clusters"):
            log.setdefault(key, []).append(value)
        for number in range(DOCUMENTS):
            id, client = id_of(number), app.clients[number % 2]
            if number == 3:
                document = await found(client, f"documents/{quote(id, safe='')}")
                assert (document["live"], document["cluster"], document["matches"]) == (False, None, [])
                continue
            matches = await pages(client, f"documents/{quote(id, safe='')}", "matches", "after", 4)
            shown = {({match["left"], match["right"]} - {id}).pop(): match["similarity"] for match in matches}
            assert shown == partners.get(id, {})
            assert [*shown.values()] == sorted(shown.values(), reverse=True)
            document = await found(client, f"documents/{quote(id, safe='')}")
            assert document["live"]
            assert (document["cluster"] is None) == (id not in cluster_of)
        for cluster in await pages(app.clients[1], "clusters?sort=size&least_size=2", "clusters", "after", 7):
            path = f"clusters/{quote(cluster['cluster'], safe='')}"
            of = await pages(app.clients[0], path, "members", "start", 3)
            groups.add(frozenset(member["id"] for member in of))
            assert len(of) == cluster["size"]
            described = await found(app.clients[1], path)
            history, ids = described["history"], [member["id"] for member in of]
            inside = {(ids[left], ids[right]): similarity for left, right, similarity in described["links"]["inside"]}
            assert {frozenset(pair): one for pair, one in inside.items()} == {
                frozenset((left, right)): partners[left][right]
                for left in ids
                for right in ids
                if right in partners.get(left, {})
            }
            assert described["links"]["outside"] == []
            published = [(one["event"], one["size"]) for one in log[cluster["cluster"]] if one is not None]
            assert [(one["event"], one["size"]) for one in history["events"]][:1] == published[-1:]
            assert sum(one["changes"] for one in history["events"]) == len(published)
            assert history["since"] <= min(one["time"] for one in history["events"])
            for member in of:
                best = max((partners.get(member["id"], {}).get(one["id"], 0.0) for one in of), default=0.0)
                assert (member["similarity"] or 0.0) == best
                assert (member["partner"] is None) == (member["similarity"] is None)
        assert groups == {frozenset(ids) for ids in members.values() if len(ids) > 1}


@in_loop
async def test_an_id_that_no_document_has_is_a_problem() -> None:
    async with application(configured(2, TEXTS), processes=2) as app:
        await app.send([("a", {"text": "the quick brown fox jumps"}), ("b", {"text": "over a lazy old dog"})])
        for client in app.clients:
            assert (await client.get(f"{BASE}/documents/nothing")).problem == "unknown-id"
            assert (await client.get(f"{BASE}/clusters/nothing")).problem == "unknown-id"
            assert (await client.get(f"{BASE}/entities/nothing")).problem == "wrong-kind"
            reviews = await client.get(f"{BASE}/reviews")
            assert (reviews.problem, reviews.value["detail"]) == (
                "wrong-kind",
                "got a pipeline that publishes clusters, dead-letters, matches, members, expected one that publishes "
                "reviews",
            )
            assert (await client.get(f"{BASE}/mirrors")).problem == "wrong-kind"
            assert (await client.get(f"{BASE}/clusters?after=%21")).problem == "malformed"
            assert (await client.get(f"{BASE}/clusters?sort=worst")).problem == "malformed"
        document = await found(app.clients[0], "documents/a")
        assert (document["live"], document["cluster"], document["total"]) == (True, None, 0)
        app.shares[0].lost = True
        for path in ("documents/a", "clusters", "pairs/a/b"):
            answer = await app.clients[1].get(f"{BASE}/{path}")
            assert (answer.status, answer.problem) == (503, "not-now")
            assert answer.value["missing"]
        assert await found(app.clients[1], "documents/a?stale=allow") == document
        assert (await found(app.clients[1], "clusters?stale=allow"))["total"] == 0
        assert (await found(app.clients[1], "pairs/a/b?stale=allow"))["reason"] == "below"


@in_loop
async def test_a_merged_cluster_names_the_one_that_has_its_oldest_document() -> None:
    one, other = "a b c d e f g h", "a b c d e f g h i j k l"
    async with application(configured(1, TEXTS)) as app:
        far = "z y x w v u t s"
        await app.send([(id, {"text": text}) for id, text in (("1", one), ("2", one), ("3", far), ("4", far))])
        first = await pages(app.clients[0], "clusters", "clusters", "after", 10)
        assert {cluster["cluster"] for cluster in first} == {"1", "3"}
        await app.send([("3", {"text": other}), ("4", {"text": other})])
        closed = await app.clients[0].get(f"{BASE}/clusters/3")
        assert (closed.status, closed.problem, closed.value["into"]) == (410, "closed", "1")


@in_loop
async def test_a_cluster_that_is_merged_while_it_is_described_is_closed() -> None:
    one, other, far = "a b c d e f g h", "a b c d e f g h i j k l", "z y x w v u t s"
    async with application(configured(1, TEXTS)) as app:
        await app.send([(id, {"text": text}) for id, text in (("1", one), ("2", one), ("3", far), ("4", far))])

        async def merging(part: Part) -> None:
            await app.send([("3", {"text": other}), ("4", {"text": other})])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lookups, "_other_work", merging)
            closed = await app.clients[0].get(f"{BASE}/clusters/3")
        assert (closed.status, closed.problem, closed.value.get("into")) == (410, "closed", "1")


@in_loop
async def test_stories_are_found_by_headline_and_outlets() -> None:
    text = "the council met on monday and voted to repair the old bridge before winter comes again"
    async with application(configured(2, f"{TEXTS}\nstories = true"), processes=2) as app:
        stories = [("wire-1", "wire", "Council votes", 5), ("post-2", "post", "Bridge agreed", 7_200_000)]
        await app.send(
            (id, {"text": text, "source": source, "title": title, "time": 1_700_000_000_000 + time})
            for id, source, title, time in stories
        )
        for client in app.clients:
            (story,) = await pages(client, "clusters?text=VOTES&least_sources=2", "clusters", "after", 5)
            assert (story["headline"], story["source_count"], story["grew"]) == ("Council votes", 2, 1)
            assert await pages(client, "clusters?least_sources=3", "clusters", "after", 5) == []
            document = await found(client, "documents/post-2")
            assert (document["title"], document["source"]) == ("Bridge agreed", "post")
            members = await pages(client, f"clusters/{story['cluster']}", "members", "start", 1)
            assert [(member["source"], member["title"]) for member in members] == [
                ("wire", "Council votes"),
                ("post", "Bridge agreed"),
            ]


@in_loop
async def test_entities_and_reviews_are_those_of_the_topics() -> None:
    values = people(DOCUMENTS)
    async with application(configured(3, "kind = 'record'\nprofile = 'people'"), processes=2) as app:
        await app.send((str(number), value) for number, value in enumerate(values))
        members_of, reviews_of = dict[str, set[str]](), dict[tuple[str, str], float]()
        for key, value in await app.read("members"):
            members_of.setdefault(value["entity"], set()).add(key)
        for _, value in await app.read("reviews"):
            reviews_of[value["left"], value["right"]] = value["similarity"]
        shown = dict[str, set[str]]()
        for entity in await pages(app.clients[0], "entities?sort=size", "entities", "after", 9):
            members = await pages(app.clients[1], f"entities/{entity['entity']}", "members", "start", 5)
            shown[entity["entity"]] = {member["id"] for member in members}
            fields = {member["id"]: member["fields"] for member in members}
            for id, found_fields in fields.items():
                assert {*found_fields.values()} == {*values[int(id)]["fields"].values()}
            origins = (await found(app.clients[0], f"entities/{entity['entity']}"))["origins"]
            assert entity["golden"] == {name: fields[id][name] for name, id in origins.items()}
            assert entity["golden"]
        assert shown == members_of
        assert len(shown) > 20
        unknown = await app.clients[0].get(f"{BASE}/entities/nothing")
        assert unknown.value["detail"] == "got 'nothing', which no entity of this pipeline has"
        document = await found(app.clients[0], "documents/7")
        assert {*document["fields"].values()} == {*values[7]["fields"].values()}
        reviews = await pages(app.clients[1], "reviews", "reviews", "after", 6)
        assert [one["similarity"] for one in reviews] == sorted((one["similarity"] for one in reviews), reverse=True)
        assert {(one["left"], one["right"]): one["similarity"] for one in reviews} == reviews_of
        assert reviews_of


@in_loop
async def test_titles_that_are_not_valid_unicode_are_escaped() -> None:
    text, title = "the council met on monday and voted to repair the old bridge", "\ud800 votes"
    async with application(configured(2, f"{TEXTS}\nstories = true"), processes=2) as app:
        await app.send((id, {"text": text, "title": title, "source": "\ud800"}) for id in "ab")
        for client in app.clients:
            (story,) = await pages(client, "clusters", "clusters", "after", 5)
            assert story["headline"] == title
            members = await pages(client, "clusters/a", "members", "start", 5)
            assert [(member["title"], member["source"]) for member in members] == [(title, "\ud800")] * 2
