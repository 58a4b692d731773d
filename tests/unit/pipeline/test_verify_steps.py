"""Step 4 in steps of bounded work: the same edges, whatever comes and goes between two steps."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.record import comparer as record_comparer
from stream_lsh.kinds.record.kind import RecordKind
from stream_lsh.kinds.shingled import comparer as shingled_comparer
from stream_lsh.kinds.vector import comparer as vector_comparer
from stream_lsh.ledger.edges import Edges
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import CANDIDATE, RECHECK, Verifications, VerificationsFrame
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.verify import verify, verify_in_steps
from stream_lsh.wire.frames import decode_edges
from stream_lsh.worker.agents.pipeline_agents import PipelineAgents
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.pipeline.makers import asked, signed

KINDS = {
    "text": "threshold = 0.3",
    "containment": 'measure = "containment"\nthreshold = 0.5',
    "record": 'kind = "record"\nprofile = "people"',
    "vector": 'kind = "vector"\nmeasure = "euclidean"\ndimension = 4\ndistance = 3.0',
}
NEW = 1_000_000


def pipeline(kind: str) -> PipelineConfig:
    return parse(f'[[pipeline]]\nname = "p"\nsource = "s"\n{KINDS[kind]}\n', "test.toml", {}).pipelines[0]


def document(config: PipelineConfig, kind: str, id: str, rng: random.Random) -> Document:
    """One that is like many others, and sometimes large."""
    words = [rng.choice("ann bob carl dora emil".split()) for _ in range(rng.choice((3, 3, 3, 400)))]
    fields: dict[str, object]
    if kind == "vector":
        fields = {"vector": [rng.randint(0, 2) for _ in range(4)]}
    elif kind == "record":
        names = [rng.choice(words), *words[:8]] if len(words) > 3 else words[0]
        fields = {"name": " ".join(words[:2]), "surname": names, "city": words, "source": rng.choice("xy")}
    else:
        fields = {"text": " ".join(words)}
    return config.document(json.dumps(fields).encode(), id.encode(), 1_714_521_600_000)


class Batch:
    """Pairs of a kind whose new ends stand side by side, and the table of their old ends."""

    def __init__(self, kind: str, seed: int, news: int = 12, olds: int = 30) -> None:
        rng = random.Random(seed)
        self.config = pipeline(kind)
        self.scheme = self.config.kind.scheme()
        self.table = DocumentTable(self.scheme.slots, counts=self.scheme.counts())
        self.olds = [document(self.config, kind, f"o{number}", rng) for number in range(olds)]
        signed(self.table, self.scheme, 0, self.olds)
        new = [(NEW + number, document(self.config, kind, f"n{number}", rng)) for number in range(news)]
        pairs = [(row, old, rng.choice((CANDIDATE, RECHECK))) for row in range(news) for old in range(olds + 2)]
        self.asked = replace(asked(self.scheme, new, pairs), abouts=[one.about for _, one in new])
        self.criteria = self.scheme.criteria(self.config.kind.least, None)


def rows_of(edges: Sequence[Edges | None]) -> list[tuple[object, ...]]:
    return [
        row
        for part in edges
        if part is not None
        for row in zip(
            part.left.ids,
            part.right.ids,
            part.similarity.tolist(),
            part.shared.tolist(),
            part.union.tolist(),
            [None] * len(part) if part.shingles is None else part.shingles.tolist(),
            part.evidence or [""] * len(part),
            strict=True,
        )
    ]


def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shingled_comparer, "_CHARACTERS", 5_000)
    monkeypatch.setattr(record_comparer, "_WORK", 40)
    monkeypatch.setattr(vector_comparer, "_NUMBERS", 12)


@pytest.mark.parametrize("most", [1, 7, 1_024])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_have_the_edges_of_one_call_in_the_same_order(
    kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    little_work(monkeypatch)
    for seed in range(5):
        batch = Batch(kind, seed)
        arguments = batch.asked, batch.table, batch.criteria
        whole = rows_of([verify(*arguments, batch.scheme.comparer())])
        steps = [*verify_in_steps(*arguments, batch.scheme.comparer(), most)]
        assert rows_of(steps) == whole
        assert whole
        assert len(steps) > 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_batch_is_one_step(kind: str) -> None:
    batch = Batch(kind, 1, news=2)
    assert len([*verify_in_steps(batch.asked, batch.table, batch.criteria, batch.scheme.comparer())]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_documents_may_come_and_go_between_two_steps(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    little_work(monkeypatch)
    batch = Batch(kind, 3)
    comparer, edges = batch.scheme.comparer(), list[Edges | None]()
    for step in verify_in_steps(batch.asked, batch.table, batch.criteria, comparer, 50):
        edges.append(step)
        if len(edges) == 2:  # their rows are free then, and used again
            deletes = [Document(one.id, None) for one in batch.olds[:10]]
            signed(batch.table, batch.scheme, 1_000, deletes)
            more = [one._replace(id=f"later {one.id}") for one in batch.olds[10:25]]
            signed(batch.table, batch.scheme, 2_000, more)
    done, same = len(rows_of(edges[:2])), Batch(kind, 3)
    rows, whole = rows_of(edges), rows_of([verify(same.asked, same.table, same.criteria, same.scheme.comparer())])
    assert rows[:done] == whole[:done]
    gone = {one.id for one in batch.olds[:10]}
    if kind == "record":  # the frequencies have changed with the table, and with them the scores
        assert {row[1] for row in rows[done:]} <= {one.id for one in batch.olds[10:]}
    else:
        assert rows[done:] == [row for row in whole[done:] if row[1] not in gone]


def test_the_work_of_a_step_is_bounded_or_that_of_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records as large as they may be, with as many values as are kept."""
    config = pipeline("record")
    scheme = config.kind.scheme()
    table = DocumentTable(scheme.slots, counts=scheme.counts())
    rng = random.Random(4)

    def hostile(number: int) -> Document:
        def value() -> str:
            return "".join(rng.choice("abcdefgh ") for _ in range(500))

        fields = {name: [value() for _ in range(8)] for name in as_kind(config.kind, RecordKind).loaded_profile.names}
        return config.document(json.dumps(fields).encode(), f"{number}".encode(), 1_714_521_600_000)

    olds = [hostile(number) for number in range(6)]
    assert all(len(one.text or "") < 17_000 for one in olds)
    signed(table, scheme, 0, olds)
    batch = asked(scheme, [(NEW, hostile(7))], [(0, old, RECHECK) for old in range(6)])
    steps = [*verify_in_steps(batch, table, scheme.criteria(config.kind.least, None), scheme.comparer())]
    assert [len(step) for step in steps if step is not None] == [1] * 6


def test_a_text_that_is_longer_than_a_step_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shingled_comparer, "_CHARACTERS", 100)
    batch = Batch("text", 5, news=2, olds=8)
    steps = [*verify_in_steps(batch.asked, batch.table, batch.criteria, batch.scheme.comparer())]
    assert rows_of(steps) == rows_of([verify(batch.asked, batch.table, batch.criteria, batch.scheme.comparer())])


class Worker:
    """A worker with one partition of texts, of which verify is there."""

    def __init__(self) -> None:
        self.config = pipeline("text")
        self.state = PipelineState(self.config, 1)
        self.state.documents.own(0)
        self.sent = list[bytes]()
        self.passed_over = list[object]()
        app: Any = SimpleNamespace(produce=self._produce, pass_over=self.passed_over.append)
        self.agents = PipelineAgents(app, self.state, {})

    async def _produce(self, topic: str, key: None, value: bytes, partition: int) -> Any:
        self.sent.append(value)
        delivery = asyncio.get_running_loop().create_future()
        delivery.set_result(None)
        return delivery

    async def verify(self, asked: Verifications) -> bool:
        """Verify a batch of the partition, as the agent does."""
        states, acked = self.state.documents, list[object]()

        async def add_batch(batch: object, deliveries: Sequence[Any]) -> None:
            await asyncio.gather(*deliveries)
            acked.append(batch)

        agent = verify_agent(self.state.shared, states[0], Input(0, [VerificationsFrame(asked)], 1, 1))
        batch: Any = SimpleNamespace(partition=0, events=["event"])
        acker: Any = SimpleNamespace(add_batch=add_batch)
        held = await self.agents._run(agent, batch, acker, states)
        assert (acked, self.passed_over) == (([batch], []) if held else ([], ["event"]))
        return held

    def pairs(self) -> list[tuple[object, ...]]:
        """The edges that were sent."""
        return rows_of([decode_edges(value, self.state.fingerprint).edges for value in self.sent])


def test_between_two_steps_others_have_their_turn_and_the_edges_are_those_of_one_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    little_work(monkeypatch)
    worker, batch = Worker(), Batch("text", 6)
    signed(worker.state.documents[0].table, worker.state.scheme, 0, batch.olds)
    turns = list[int]()

    async def beside() -> None:
        while True:
            turns.append(len(worker.sent))
            await asyncio.sleep(0)

    async def run() -> bool:
        other = asyncio.create_task(beside())
        held = await worker.verify(batch.asked)
        other.cancel()
        return held

    assert asyncio.run(run())
    assert worker.pairs() == rows_of([verify(batch.asked, batch.table, batch.criteria, batch.scheme.comparer())])
    assert len(set(turns)) > 3, "other tasks ran before all parts were sent"


def test_a_partition_that_goes_between_two_steps_is_verified_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    little_work(monkeypatch)
    worker, batch = Worker(), Batch("text", 6)
    signed(worker.state.documents[0].table, worker.state.scheme, 0, batch.olds)

    async def run() -> bool:
        asyncio.get_running_loop().call_soon(worker.state.documents.drop, 0)
        return await worker.verify(batch.asked)

    assert not asyncio.run(run())
    assert len(worker.sent) == 1
