"""Queries while faults happen: no answer is wrong, and none that claims to be complete is short."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from stream_lsh.arrays import U64
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document

_PER_SECOND = 4
_ASKED = 400
"""Documents, of the beginning of the stream, whose texts are the queries."""
_REFUSED = {429, 503, 504}


class Queries:
    """Asks workers in turn for documents that are never updated, and checks the answers.

    A worker answers from state that may be ahead of its changelog, so a crash may take back what it has just found.
    That ends once the changelog is stored.  So a pair is *firm* some time after an answer has contained it: from then
    on, each complete answer must contain it.

    Args:
        pipeline: of texts without retention.
        stream: its input.
        addresses: of the query APIs of the workers.
        firm_seconds: longer than any time for which no changelog can be stored.

    Attributes:
        statuses: how many answers had each status; 0: no answer.
        firm: how many expected matches answers contained.
        failures: wrong answers, and short ones.
    """

    def __init__(
        self, pipeline: PipelineConfig, stream: Sequence[Document], addresses: Sequence[str], firm_seconds: float
    ) -> None:
        self._name, self._addresses, self._firm_seconds = pipeline.name, addresses, firm_seconds
        self._least = pipeline.kind.least
        versions = Counter(one.id for one in stream)
        scheme = as_kind(pipeline.kind, TextKind).scheme()
        self._texts = {one.id: one.text for one in stream if versions[one.id] == 1 and one.text is not None}
        self._asked = [*self._texts][:_ASKED]
        self._sets = dict(zip(self._texts, scheme.shingle_sets([*self._texts.values()]), strict=True))
        self._seen: dict[tuple[str, str], float] = {}
        self.statuses: Counter[int] = Counter()
        self.firm = 0
        self.failures = list[str]()

    async def run(self, seed: int, over: asyncio.Event) -> None:
        """Ask until it is over."""
        rng, number = random.Random(seed), 0
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
            while not over.is_set():
                number += 1
                await self._ask(session, self._addresses[number % len(self._addresses)], rng.choice(self._asked))
                await asyncio.sleep(1 / _PER_SECOND)

    async def _ask(self, session: aiohttp.ClientSession, address: str, id: str) -> None:
        url, began = f"http://{address}/v1/pipelines/{self._name}/similar", time.monotonic()
        try:
            async with session.post(url, json={"text": self._texts[id], "limit": 1_000}) as response:
                status, answer = response.status, await response.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError):
            self.statuses[0] += 1
            return
        self.statuses[status] += 1
        if status == 200:
            self._check(id, answer, began)
        elif status not in _REFUSED:
            self.failures.append(f"a query for {id} was answered with {status}: {answer}")

    def _check(self, id: str, answer: Mapping[str, Any], began: float) -> None:
        found = {one["id"]: one["similarity"] for one in answer["matches"] if one["id"] in self._texts}
        for other, similarity in found.items():
            if similarity != self._similarity(id, other) or similarity < self._least:
                self.failures.append(f"a query for {id} found {other} with {similarity}")
            self._seen.setdefault((id, other), time.monotonic())
        if answer["capped"] or not answer["complete"]:
            return
        firm = {other for (one, other), at in self._seen.items() if one == id and at < began - self._firm_seconds}
        self.firm += len(firm)
        if firm - found.keys():
            self.failures.append(f"a query for {id} found {sorted(found)}, not {sorted(firm - found.keys())}")

    def _similarity(self, id: str, other: str) -> float:
        left: U64 = self._sets[id]
        right: U64 = self._sets[other]
        shared = len({*left.tolist()} & {*right.tolist()})
        return shared / (left.size + right.size - shared)

    def __str__(self) -> str:
        refused = sum(count for status, count in self.statuses.items() if status in _REFUSED)
        return (
            f"{self.statuses[200]} queries were answered, {refused} refused, {self.statuses[0]} without an answer; "
            f"{self.firm} known matches were expected, {len(self.failures)} answers were wrong or short"
        )
