"""Generated and hostile requests to a running application: every answer is as docs/openapi.yaml describes it."""

import asyncio
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from tests.embedded.applications import application, configured
from tests.openapi import DOCUMENT, check_answer
from tests.patience import PATIENCE
from tests.unit.worker.query.client import in_loop
from tests.unit.worker.query.hostile import run_hostile

SCHEMA: Any = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS: list[Any] = [result.ok() for result in SCHEMA.get_all_operations()]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
EXAMPLES = 25
HOSTILE = 400


def answered(case: Any, address: str) -> int:
    """The status of the answer to a generated request; a stream of events is closed at once."""
    sent = case.as_transport_kwargs(base_url=f"http://{address}")
    with requests.request(**sent, stream=True, timeout=PATIENCE, allow_redirects=False) as response:
        if response.headers.get("Content-Type") == "text/event-stream":
            return response.status_code
        path = urlsplit(str(response.request.url)).path
        check_answer(case.method, path, response.status_code, response.headers, response.content)
        return response.status_code


def generated(address: str) -> Counter[int]:
    """The statuses of the answers to valid and invalid requests to every operation."""
    statuses = Counter[int]()
    quiet = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in OPERATIONS:
        # Any text is an id, so nothing is wrong with a request that has only a path.
        can_be_wrong = any(one.location != "path" for one in operation.iter_parameters()) or len(operation.body) > 0
        for mode in MODES if can_be_wrong else MODES[:1]:

            @quiet
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                statuses[answered(case, address)] += 1

            ask()
    return statuses


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # schemathesis does
@in_loop
async def test_every_answer_to_a_generated_request_is_described() -> None:
    async with application(configured(2, "")) as running:
        await running.send([("a", {"text": "one text of some words for the contract to find"})])
        statuses = await asyncio.to_thread(generated, running.shares[0].address)
    assert statuses[500] == 0
    assert statuses[200] > 0
    assert sum(count for status, count in statuses.items() if 400 <= status < 500) > 0


@in_loop
async def test_hostile_requests_do_no_harm() -> None:
    async with application(configured(2, "")) as running:
        outcome = await run_hostile(running.shares[0].address, HOSTILE, seed=1)
        assert (await running.clients[0].get("/v1")).value["state"] == "ready"
    assert outcome.wrong == []
    assert sum(outcome.statuses.values()) > HOSTILE // 2
