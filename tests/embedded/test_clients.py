"""The methods of the clients with a running application: values of texts and of records."""

import asyncio

import pytest

from stream_lsh import AsyncClient, Client, ConfigError, UnknownId
from tests.embedded.applications import application, configured
from tests.unit.worker.query.client import in_loop

TEXT = "one text of eight words in all here and more of them"
PERSON = {"given_name": "Catherine", "surname": "Marlowe", "date_of_birth": "1969-09-25", "email": "cm@example.org"}


@in_loop
async def test_documents_clusters_and_lists_of_texts() -> None:
    async with application(configured(2, "")) as running:
        await running.send([("a/1", {"text": TEXT}), ("b", {"text": TEXT})])
        url = f"http://{running.shares[0].address}"
        async with AsyncClient(url, "docs") as asked:
            described = await asked.service()
            document = await asked.document("a/1")
            cluster = await asked.cluster(document.cluster or "")
            clusters = await asked.clusters(least_size=2, sort="size", limit=1)
            pair = await asked.pair("b", "a/1")
            with pytest.raises(UnknownId):
                await asked.document("c")
            with pytest.raises(ConfigError, match="sort"):
                await asked.clusters(sort="age")
        assert (described.state, described.pipelines[0].kind) == ("ready", "text")
        assert (document.live, document.cluster, document.matches[0].right) == (True, cluster.cluster, "b")
        assert {member.id for member in cluster.members} == {"a/1", "b"}
        assert (pair.together, pair.reason, pair.documents[0].text) == (True, "match", TEXT)
        assert pair.comparison is not None
        assert pair.comparison.identical
        assert (clusters.total, clusters.clusters[0].size, clusters.next) == (1, 2, None)


@in_loop
async def test_entities_and_reviews_of_records() -> None:
    async with application(configured(2, "kind = 'record'\nprofile = 'people'")) as running:
        await running.send([("1", PERSON), ("2", PERSON)])

        def ask(url: str) -> None:
            with Client(url, "docs") as asked:
                (match, *_) = asked.similar(record=PERSON).matches
                assert match.probability is not None
                assert match.evidence is not None
                (entity,) = asked.entities().entities
                assert asked.entity(entity.entity).golden == entity.golden
                assert asked.reviews(sort="closest").total == 0
                assert asked.document("1").cluster == entity.entity
                pair = asked.pair("1", "2")
                assert (pair.together, pair.reason) == (True, None)
                assert pair.pair is not None
                assert pair.pair.score is not None
                decided = asked.decide("2", "1", "different", by="ben", wait=5)
                assert (decided.left, decided.right, decided.decision) == ("1", "2", "different")
                if decided.in_effect:
                    assert not asked.pair("1", "2").together
                with pytest.raises(ConfigError, match="decision"):
                    asked.decide("1", "2", "perhaps")

        await asyncio.to_thread(ask, f"http://{running.shares[0].address}")
