"""The largest message of every kind that the limits allow, through the worker's own agents: each fits its topic.

The engine is replaced by logs in memory that take what the real check of sizes lets pass.
"""

import asyncio
import base64
import json
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from faust.types import TP

from stream_lsh.config.load import parse
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.record.kind import RecordKind
from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES
from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.ledger.changes import MirrorChange
from stream_lsh.ledger.sites.mirrors import SiteMirrors, SitePair
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.pipeline.batches import (
    BandsFrame,
    CandidatesFrame,
    EdgesFrame,
    Mark,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.records.profile import Comparison, Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.retention import Horizon
from stream_lsh.wire.frames import encode
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.public import mirror_messages
from stream_lsh.wire.split import cut_pages
from stream_lsh.worker.agents import pipeline_agents as agents_module
from stream_lsh.worker.agents.pipeline_agents import PipelineAgents
from stream_lsh.worker.engine import Batch
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.topology import build_app

NOW_MS = 1_700_000_000_000
PARTITIONS = 3_000
"""Partitions of a source, each of which has a mark in a watermark message."""


class Acker:
    """Confirms at once."""

    def __init__(self, *_: Any) -> None:
        pass

    async def add_batch(self, batch: Batch, deliveries: Sequence[Any]) -> None:
        await asyncio.gather(*deliveries)

    async def drain(self) -> None:
        pass


class Worker:
    """A worker that owns the one partition of everything; its messages are checked, and kept in logs."""

    def __init__(self, pipeline: PipelineConfig) -> None:
        config = replace(parse("[worker]\nweb=''\n[pipeline]\nsource='s'\n", "x", {}), pipelines=(pipeline,))
        self.app: Any = build_app(config, {pipeline.name: 1}, embedded=True)
        self.config, self.state = pipeline, PipelineState(pipeline, 1)
        self.logs, self.read = defaultdict[str, list[Any]](list), defaultdict[str, int](int)
        self.app.__dict__.update(
            may_write=lambda: asyncio.sleep(0),
            rounds=self._rounds,
            current=self._current,
            committed_offset=lambda _: 0,
            postpone=lambda topic, until: None,
            rebalancing=True,  # so pairs pass all topics
        )
        batches = SimpleNamespace(append=self._append_record, append_all=self._append_records)
        self.app.__dict__["_open_batches"] = lambda: batches
        states: dict[str, Any] = {
            "documents": self.state.documents, "buckets": self.state.buckets, "ledger": self.state.ledger
        }  # fmt: skip
        for name, one in states.items():
            one.name = pipeline.changelog_topic(name)
            one.own(0)
        tables: Any = {name: SimpleNamespace(append=self._append(one)) for name, one in states.items()}
        self.agents = PipelineAgents(self.app, self.state, tables)

    async def _append_records(self, topic: str, records: Any) -> list[Any]:
        return [await self._append_record(topic, None, key, value, headers=headers) for key, value, headers in records]

    async def _append_record(
        self, topic: str, partition: Any, key: Any, value: Any, *, timestamp_ms: Any = None, headers: Any = ()
    ) -> Any:
        log = self.logs[topic]
        place = {"topic": topic, "partition": 0, "offset": len(log), "timestamp": NOW_MS}
        log.append(SimpleNamespace(**place, key=key, value=value, headers=[*headers]))
        delivery = asyncio.get_running_loop().create_future()
        delivery.set_result(log[-1])
        return delivery

    def _append(self, states: Any) -> Any:
        async def append(app: Any, partition: int, value: bytes, *taken: Any) -> Any:
            delivery = await app.produce(states.name, None, value, partition)
            delivery.add_done_callback(states.appended(partition, *taken) if taken else lambda _: None)
            return delivery

        return append

    async def _rounds(self, stream: Batch, _: Any) -> AsyncIterator[list[Batch]]:
        yield [stream]

    async def _current(self, stream: Batch, _: Any) -> AsyncIterator[Batch]:
        yield stream

    def batch(self, topic: str, most: int = 200) -> Batch:
        """The records of a topic that were not read yet."""
        records = self.logs[topic][self.read[topic] : self.read[topic] + most]
        self.read[topic] += len(records)
        message = SimpleNamespace(tp=TP(topic, 0), generation_id=1, topic=topic, offset=records[-1].offset)
        return Batch(SimpleNamespace(value=records, message=message))

    def run(self) -> None:
        """Run all agents until nothing is left to read."""
        config, agents = self.config, self.agents
        steps: dict[str, Callable[[Any], Any]] = {
            config.documents_topic: agents.sign,
            config.internal_topic("bands"): agents.index,
            config.internal_topic("candidates"): agents.gather,
            config.internal_topic("verifications"): agents.verify,
            config.internal_topic("edges"): agents.settle,
        }
        if config.kind.name == "record":
            steps[config.decisions_topic] = agents.decide
        if config.rekey:
            steps[config.source] = agents.copy

        async def go() -> None:
            while waiting := [topic for topic in steps if self.read[topic] < len(self.logs[topic])]:
                await steps[waiting[0]](self.batch(waiting[0]))

        asyncio.run(go())

    def put(self, topic: str, *messages: tuple[bytes | None, bytes | None]) -> None:
        """Messages of users, which nothing checks."""
        for key, value in messages:
            asyncio.run(self._append_record(topic, None, key, value))

    def largest(self, topic: str) -> int:
        """Bytes of the largest message of a topic."""
        return max((len(one.key or b"") + len(one.value or b"") for one in self.logs[topic]), default=0)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_module, "OrderedAcker", Acker)


# -- the largest of each kind of data


Value = Callable[[int, int], dict[str, Any]]
"""From a number of bytes and a variant, which is nearly the same as any other, to the value of a message."""


@cache
def common_words(size: int) -> str:
    """The words that all variants begin with."""
    chance = random.Random(1)
    letters = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\<>&')
    text = " ".join("".join(chance.choices(letters, k=12)) for _ in range(size // 13 + 1))
    return text[: max(size - 20, 1)]


def words(size: int, variant: int) -> str:
    """A text of a number of bytes that hardly compress."""
    return common_words(size) + f" variant {variant}"


def of_text(size: int, variant: int) -> dict[str, Any]:
    return {"text": words(size - 30, variant)}


def of_story(size: int, variant: int) -> dict[str, Any]:
    about = {"title": "\U00020000" * 300, "source": "\x01" * 100}
    return of_text(size - len(json.dumps(about)) - 10, variant) | about


def of_page(size: int, variant: int) -> dict[str, Any]:
    """Named characters of five bytes that are six."""
    chance = random.Random(1)
    return {"text": "<p>" + "".join(chance.choices(("&nGt;", "&nLt;", " "), k=max(size // 5 - 20, 1))) + str(variant)}


def of_items(size: int, variant: int) -> dict[str, Any]:
    chance = random.Random(1)
    items = [words(1_000, number)[:500] + chance.randbytes(200).hex() for number in range(size // 960)]
    return {"items": [*items, variant]}


def of_squares(size: int, variant: int) -> dict[str, Any]:
    return {"items": [*range(min((size - 60) // 5, 9_999)), variant % 2]}


def of_digits(size: int, variant: int) -> dict[str, Any]:
    """A bag: every repetition is a line of its own."""
    chance = random.Random(1)
    return {"items": [*(chance.randrange(10) for _ in range(max((size - 30) // 2, 1))), variant]}


def of_vector(size: int, variant: int) -> dict[str, Any]:
    values = np.random.default_rng(1).standard_normal(65_536).astype("<f4")
    values[0] += variant / 1_000
    return {"vector": base64.b64encode(values.tobytes()).decode()}


def of_bits(size: int, variant: int) -> dict[str, Any]:
    bits = np.random.default_rng(1).integers(0, 2, 65_536, dtype=np.uint8)
    bits[0] = variant % 2
    return {"vector": np.packbits(bits).tobytes().hex()}


def of_record(profile: Profile) -> Value:
    """Rare characters of four bytes in every field, as many as are compared; the rest in one of them."""
    text = next(field.name for field in profile.fields if field.type == "text")

    @cache
    def common(size: int) -> dict[str, Any]:
        chance, room = random.Random(1), min(size, MAX_RECORD_BYTES)
        rare = [chr(0x20000 + code) for code in range(30_000)]
        fields: dict[str, Any] = {}
        for field in profile.fields:
            longest = min(4_096 if field.type == "text" else 512, room // (5 * len(profile.fields)))
            fields[field.name] = "".join(chance.choices(rare, k=longest))
        held = len(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode())
        fields[text] += " " + "x" * max(min(room - held, size - held - 1_000) - 1, 0)
        return fields

    def record(size: int, variant: int) -> dict[str, Any]:
        return common(size) | {"source": "\U00020000" * 80 + f"{variant:020}"}

    return record


WIDE = Profile(
    name="wide",
    fields=tuple(Field(name=f"f{number}", type="text") for number in range(8)),
    comparisons=tuple(Comparison(field=f"f{number}", comparator="exact", weight=1.0) for number in range(8)),
    rules=("f0",),
)


@dataclass(frozen=True)
class Kind:
    """A configuration, and how the largest of its documents are made.

    Attributes:
        updates: versions of one id in a batch.
        members: of a cluster.
        fills: whether what is compared hardly compresses.
    """

    keys: str
    value: Value
    profile: Profile | None = None
    updates: int = 200
    members: int = 120
    fills: bool = True

    @property
    def pipeline(self) -> PipelineConfig:
        text = f"[pipeline]\nname='p'\nsource='s'\npartitions=1\n{self.keys}"
        (pipeline,) = parse(text, "x", {}).pipelines
        return pipeline if self.profile is None else replace(pipeline, kind=RecordKind(reader=Reader(self.profile)))


RECORD = "kind='record'\nprofile='people'\n"
KINDS = {
    "text": Kind("", of_text),
    "small": Kind("max_document_bytes=100000\n", of_text),
    "large": Kind("max_document_bytes='4MB'\n", of_text),
    "exact": Kind("method='exact'\n", of_text),
    "many bands": Kind("slots=65536\nbands=65536\nrows=1\nmax_document_bytes=3000\n", of_text, updates=3, members=0),
    "containment": Kind("measure='containment'\n", of_text),
    "stories": Kind("stories=true\nmirror_share=0.1\n", of_story),
    "page": Kind("html='page'\n", of_page, fills=False),
    "rekey": Kind("rekey=true\n", of_text),
    "set": Kind("kind='set'\n", of_items, fills=False),
    "bag": Kind("kind='set'\nbag=true\n", of_digits),
    "cosine": Kind(
        "kind='vector'\nmeasure='cosine'\ndimension=65536\ndistance=20\nslots=32\nrecall=0.5\n",
        of_vector,
        updates=9,
        members=0,
    ),
    "grid": Kind("kind='set'\nfamily='grid'\n[pipeline.grid]\nsquares=10000\n", of_squares, fills=False),
    "hamming": Kind("kind='vector'\nmeasure='hamming'\ndimension=65536\ndistance=4\n", of_bits, fills=False),
    "wide record": Kind(RECORD, of_record(WIDE), WIDE),
    "small record": Kind(f"{RECORD}max_document_bytes=100000\n", of_record(WIDE), WIDE),
    **{
        name: Kind(RECORD.replace("people", name), of_record(bundled(name)))
        for name in ("people", "companies", "products", "bibliography")
    },
}


def longest_id(number: int) -> str:
    """An id of 1 KB, each byte of which takes six in JSON."""
    return "\x01" * (MAX_ID_BYTES - 4) + f"{number:04}"


def message(pipeline: PipelineConfig, id: str, fields: dict[str, Any]) -> tuple[bytes, bytes]:
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    assert len(value) <= pipeline.max_document_bytes, "larger than the source may have"
    return id.encode(), value


@pytest.mark.parametrize("name", KINDS)
def test_everything_that_follows_from_the_largest_documents_fits(name: str) -> None:
    kind = KINDS[name]
    pipeline = kind.pipeline
    worker, most = Worker(pipeline), pipeline.max_document_bytes

    def put(*documents: tuple[int, int, int]) -> None:
        """Number of the id, bytes and variant of each."""
        worker.put(
            pipeline.source,
            *(message(pipeline, longest_id(id), kind.value(size, variant)) for id, size, variant in documents),
        )
        worker.run()

    small = min(most, 1_500)
    # Of one id, which all are retired by the last; others that match that one; a newer version that does so too.
    put(*((0, small, number) for number in range(kind.updates - 1)), (0, most, 0))
    put((1, most, 1), (2, most, 2))
    put((1, most, 3))
    # A cluster of more than a message lists.
    put(*((10 + number, small, number if pipeline.kind.name == "record" else 0) for number in range(kind.members)))
    worker.put(pipeline.source, (longest_id(1).encode(), None), (longest_id(10).encode(), None))
    worker.run()
    assert worker.state.counts.dead_letters == {}
    topics = pipeline.named_topics
    for key in ("matches", "members", pipeline.kind.clusters):
        assert worker.logs[topics[key]], f"nothing was published on {key}"
    if kind.fills:
        assert worker.largest(pipeline.changelog_topic("documents")) > 0.4 * min(most, 2 * MAX_RECORD_BYTES)
    listed = [json.loads(one.value) for one in worker.logs[topics[pipeline.kind.clusters]]
              if one.value]  # fmt: skip
    assert max(one.get("members_omitted", 0) for one in listed) > 0 or not kind.members


@pytest.mark.parametrize("name", KINDS)
def test_unusable_messages_fit_among_the_dead_letters(name: str) -> None:
    pipeline = KINDS[name].pipeline
    worker, most = Worker(pipeline), pipeline.max_document_bytes
    keys = (None, b"", b"k", b"\xff" * MAX_ID_BYTES, b"\x01" * 700_000)
    values = (None, b"", b"{" * most, b"{" * (most + 1), b"{" * (most + 70_000))
    worker.put(pipeline.source, *((key, value) for key in keys for value in values))
    if pipeline.kind.name == "record":
        worker.put(pipeline.decisions_topic, *((key, value) for key in keys for value in values))
    worker.run()
    assert len(worker.logs[pipeline.dead_letters_topic]) >= (len(keys) - 1) * len(values) - 4


def frames() -> Iterator[tuple[str, Any]]:
    """A watermark message of a source with many partitions."""
    marks = tuple(Mark(number, 1 << 52, True, 1 << 47, 1 << 30, 1 << 60) for number in range(PARTITIONS))
    watermarks, horizon = Watermarks(0, marks), Horizon(1 << 52, tuple(range(PARTITIONS)))
    yield "bands", BandsFrame(watermarks=watermarks, horizon=horizon)
    yield "candidates", CandidatesFrame(watermarks=watermarks, horizon=horizon)
    yield "verifications", VerificationsFrame(watermarks=watermarks)
    yield "edges", EdgesFrame(watermarks=watermarks)


@pytest.mark.parametrize("name", ["small", "text", "small record"])
def test_event_time_of_thousands_of_partitions_fits(name: str) -> None:
    worker = Worker(KINDS[name].pipeline)
    for step, frame in frames():
        worker.app.limits.check(worker.config.internal_topic(step), None, encode(frame, 1), None)


def test_pages_and_mirrors_of_the_longest_names_fit() -> None:
    worker = Worker(replace(KINDS["stories"].pipeline, max_document_bytes=1))
    sites = [f"{number:04}" + "\U00020000" * 96 for number in range(5_000)]
    pages = PageCounts(0, AsOf(1, 1), sites, np.arange(5_000, dtype=np.uint32), True, True)
    for part in cut_pages(pages):
        worker.app.limits.check(worker.config.internal_topic("edges"), None, encode(EdgesFrame(pages=part), 1), None)
    pair = SitePair("\x01" * 100, "\x02" * 100, 1 << 40, 1 << 40, 1 << 40, 1 << 40)
    for key, value, _ in mirror_messages([MirrorChange(pair.left, pair.right, SiteMirrors(pair, 5))], 0.1):
        worker.app.limits.check(worker.config.named_topics["mirror_sites"], key, value, {"app_id": b"x" * 249})


def test_a_batch_of_decisions_about_the_longest_ids_fits() -> None:
    worker = Worker(KINDS["small record"].pipeline)
    pairs = [(longest_id(number), longest_id(number + 1)) for number in range(400)]
    decided = [(json.dumps(pair).encode(), b'{"decision": "same"}') for pair in pairs]
    worker.put(worker.config.decisions_topic, *decided)
    worker.run()
    assert worker.largest(worker.config.internal_topic("edges")) > 200_000
    assert worker.state.counts.dead_letters == {}
