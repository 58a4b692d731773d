"""Answers of the query API for pages, each compared with docs/openapi.yaml."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from stream_lsh.web.asks import Answer, Ask, unanswered
from tests.openapi import check_answer

URL = "http://127.0.0.1:6067/v1"


def answer(ask: Ask, value: Any, status: int = 200) -> Answer:
    """An answer to a request, which must be as docs/openapi.yaml describes it."""
    kind = "application/json" if status < 400 else "application/problem+json"
    method = "GET" if ask.body is None else "POST"
    check_answer(method, f"/v1{ask.path}", status, {"Content-Type": kind}, json.dumps(value).encode())
    return Answer(status, value, URL)


def problem(ask: Ask, name: str, status: int, detail: str, **members: Any) -> Answer:
    """A problem in place of an answer."""
    value = {"type": f"urn:stream-lsh:problem:{name}", "title": name, "status": status, "detail": detail, **members}
    return answer(ask, value, status)


def service(name: str = "4f1c2d3e5a6b7c8d", state: str = "ready", **changes: Any) -> dict[str, Any]:
    """A worker about itself."""
    pipelines = [
        {
            "name": pipeline,
            "kind": kind,
            "types": [*types, "dead-letters", "matches", "members"],
            "partitions": 4,
            "owned": {"documents": [0, 1], "buckets": [0, 1], "ledger": [0]},
            "lag": {"documents": [0, 12], "buckets": [0, 0], "ledger": [0]},
            "missing": {},
        }
        for pipeline, kind, types in (
            ("news", "text", ("clusters", "mirror-sites")),
            ("people", "record", ("entities", "reviews")),
        )
    ]
    whole = {"worker": name, "version": "0.1.0", "state": state, "generation": 7, "complete": state == "ready"}
    return {**whole, "pipelines": pipelines, **changes}


def activity(count: int = 300, **changes: Any) -> tuple[int, Any]:
    """Rates and a hot bucket."""
    documents = [800 + 90.5 * (number % 7) for number in range(count)]
    rates = {"documents": documents, "matches": [one / 20 for one in documents], "dead_letters": [0.0] * count}
    example = {"id": "shop-7", "text": "We use cookies to improve this site."}
    hot = {"rule": None, "identical": False, "left_out": 4_812, "postings": 1_000, "example": example}
    value = {"rates": {"interval_ms": 2_000, **rates}, "hot_buckets": [hot], "missing": {}}
    return 200, {**value, **changes}


class FixedSource:
    """A source with fixed answers.

    Args:
        answers: by the path below `/v1`; a path without one is answered with `unknown-id`.
        workers: the answers of the workers about themselves.
    """

    def __init__(self, answers: Mapping[str, tuple[int, Any]], workers: Sequence[Any] | None = None) -> None:
        self.answers, self.workers = dict(answers), [service()] if workers is None else list(workers)
        self.urls = [f"http://127.0.0.1:{6067 + number}/v1" for number in range(len(self.workers))]
        self.needs_token = False
        self.silent_since: float | None = None
        self.asked: list[Ask] = []
        self.changed: list[tuple[str, str]] = []
        self.reports_changes = True

    async def ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        if self.silent_since is not None:
            return unanswered("Connection refused")
        if not ask.segments:
            return answer(ask, self.workers[0])
        if ask.path not in self.answers and ask.path.endswith("/activity"):
            return answer(ask, activity()[1])
        if ask.path not in self.answers:
            return problem(ask, "unknown-id", 404, "the pipeline has no such id")
        status, value = self.answers[ask.path]
        return answer(ask, value, status)

    async def changes(self, pipeline: str) -> AsyncIterator[tuple[str, str]]:
        """The pairs that a test appends to `changed`."""
        if self.reports_changes:
            yield "", ""
        while self.reports_changes:
            while self.changed:
                yield self.changed.pop(0)
            await asyncio.sleep(0.02)

    async def ask_each(self, ask: Ask) -> list[Answer]:
        if self.silent_since is not None:
            return [unanswered("Connection refused") for _ in self.urls]
        return [unanswered("Connection refused") if one is None else answer(ask, one) for one in self.workers]
