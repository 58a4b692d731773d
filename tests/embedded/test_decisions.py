"""A running application sends decisions, and answers when they are in effect."""

import json
from typing import Any

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of, records
from tests.embedded.applications import Application, application, configured
from tests.embedded.test_similar import people
from tests.unit.worker.query.client import TestClient, in_loop

BASE = "/v1/pipelines/docs"


async def reviews(client: TestClient) -> list[dict[str, Any]]:
    """The pairs for review that are closest to a match."""
    answer = await client.get(f"{BASE}/reviews?limit=1000")
    assert answer.status == 200
    found: list[dict[str, Any]] = answer.value["reviews"]
    return found


async def decisions(running: Application) -> list[tuple[str, Any]]:
    kafka, partitions = KafkaConfig(brokers=(running.address,)), partitions_of("docs-decisions", 1)
    begins, ends = await bounds(kafka, partitions)
    found = []
    async for chunk in records(kafka, begins, ends):
        found += [(record.key.decode(), json.loads(record.value)) for record in chunk]
    return found


@in_loop
async def test_a_decision_is_in_effect_when_its_answer_is_final() -> None:
    async with application(configured(3, "kind = 'record'\nprofile = 'people'"), 2) as running:
        await running.send((f"d{number}", record) for number, record in enumerate(people(80)))
        client = running.clients[1]
        pair, other = (await reviews(client))[:2]
        body = {"left": pair["right"], "right": pair["left"], "decision": "same", "by": "ann", "note": "a \u00fc"}
        answer = await client.post(f"{BASE}/decisions", body, headers={"Prefer": "wait=60"})
        assert (answer.status, answer.value["in_effect"], answer.value["offset"]) == (200, True, 0)
        assert pair not in await reviews(client)
        assert (await client.get(f"{BASE}/documents/{pair['left']}")).value["cluster"] == (
            await client.get(f"{BASE}/documents/{pair['right']}")
        ).value["cluster"]

        body = {"left": other["left"], "right": other["right"], "decision": "different"}
        answer = await client.post(f"{BASE}/decisions", body)
        assert (answer.status, answer.value["in_effect"], answer.value["offset"]) == (202, False, 1)
        answer = await client.post(f"{BASE}/decisions", {**body, "decision": None}, headers={"Prefer": "wait=60"})
        assert (answer.status, answer.value["decision"]) == (200, None)
        assert other in await reviews(client)
        both = json.dumps([pair["left"], pair["right"]], separators=(",", ":"))
        others = json.dumps([other["left"], other["right"]], separators=(",", ":"))
        assert await decisions(running) == [
            (both, {"decision": "same", "by": "ann", "note": "a \u00fc"}),
            (others, {"decision": "different"}),
            (others, {"decision": None}),
        ]
        wrongs: list[Any] = [
            {**body, "left": body["right"]},
            {**body, "left": 7},
            {**body, "left": ""},
            {**body, "decision": "maybe"},
            {**body, "decision": ["same"]},
            {**body, "by": 7},
            {**body, "note": "x" * 5_000},
            {**body, "more": 1},
            {"left": "a", "right": "b"},
            [],
        ]
        for wrong in wrongs:
            answer = await client.post(f"{BASE}/decisions", wrong)
            assert (answer.status, answer.problem) == (400, "malformed"), wrong
        assert len(await decisions(running)) == 3


@in_loop
async def test_only_records_take_decisions() -> None:
    async with application(configured(1, "threshold = 0.5")) as running:
        answer = await running.clients[0].post(f"{BASE}/decisions", {"left": "a", "right": "b", "decision": "same"})
        assert (answer.status, answer.problem) == (409, "wrong-kind")
