"""The plan of a stream against the simulated log: messages and bytes of each topic, and what the tables store.

The streams are generated here, by other means than the sample of the plan, and no number of the plan was fitted to
them.  The plan gets what an operator knows: documents, their size, their matches and candidates, partitions, the batch.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from stream_lsh.config import PipelineConfig, parse
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import Effect, Publish
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.settle import Settler
from stream_lsh.sizing.load import Load
from stream_lsh.sizing.plan import members_of
from stream_lsh.sizing.sample import sample_of
from stream_lsh.sizing.topics import mark_bytes, marks_of_event_time
from stream_lsh.sizing.traffic import BANDS, BUCKETS_LOG, DOCUMENTS_LOG, SOURCE, traffic_of
from tests.simulation.drivers.worker import Worker
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import decoded
from tests.simulation.log.producer import Flight, Message, is_lane
from tests.simulation.pipelines.setup import Setup

EXACT, NEAR, ROUGH = 0.03, 0.15, 0.3
"""Tolerances: of counts that follow from the settings, of means, and of counts of rare or crowded messages."""
_TIME_MS = 1_700_000_000_000
_AGENTS = ("settle", "verify", "gather", "index", "sign", "tick")
_PUBLIC = ("matches", "members", "clusters", "entities", "reviews")


@dataclass(frozen=True)
class Pipeline(Setup):
    """A run of a configured pipeline."""

    config: PipelineConfig = parse("[pipeline]\nsource = 's'", "default", {}).pipelines[0]

    @property
    def criteria(self) -> Criteria:
        """Those of the kind."""
        return self.config.kind.scheme().criteria(self.threshold, self.retention_ms)

    @property
    def table_settings(self) -> dict[str, Any]:
        """With the caps of the pipeline."""
        limits = self.config.limits()
        return {"cap_postings": limits.cap_postings, "cap_candidates": limits.cap_candidates}

    def new_settler(self) -> Settler:
        """With the limits of the pipeline."""
        return self.config.limits().settler(self.threshold, self.partitions)


class CountedWorker(Worker):
    """A worker that encodes its public messages."""

    def messages(self, effect: Effect, flight: Flight) -> Iterator[Message]:
        """The messages of an effect."""
        if not isinstance(effect, Publish):
            yield from super().messages(effect, flight)
            return
        setup, settlement = self.setup, effect.settlement
        assert isinstance(setup, Pipeline)
        results = setup.config.kind.results(setup.config.name)
        for topic, messages in results.messages(settlement.settled, _TIME_MS, settlement.record.offset):
            for key, value, headers in messages:
                size = len(key) + len(value or b"") + sum(len(name) + len(content) for name, content in headers)
                yield Message(topic, 0, key, size, flight)


@dataclass(frozen=True)
class Stream:
    """A stream of documents.

    Attributes:
        share: of documents that match an earlier one; all that match each other are a group.
        size: bytes of the compared value, on average.
    """

    lines: str
    messages: Sequence[bytes]
    share: float
    partitions: int
    batch: int

    @property
    def size(self) -> int:
        values = [json.loads(message) for message in self.messages]
        texts = [[one["text"]] if "text" in one else one.values() for one in values]
        return round(sum(len(value or "") for fields in texts for value in fields) / len(texts))


@dataclass(frozen=True)
class Run:
    """The outputs of a run: messages and bytes by topic, distinct candidates, and the rows of the tables."""

    counts: Counter[str]
    sizes: Counter[str]
    candidates: int
    documents: int
    postings: int
    members: int
    pairs: int


def started(
    pipeline: PipelineConfig, partitions: int, batch: int, workers: int = 1
) -> tuple[Broker, list[CountedWorker]]:
    """Workers that own the partitions, of which the first one settles, and their log."""
    scheme: Any = pipeline.kind.scheme()
    setup = Pipeline(partitions, pipeline.kind.least, None, 0, batch=batch, scheme=scheme, config=pipeline)
    broker = Broker()
    running = [CountedWorker(setup, broker) for _ in range(workers)]
    for number, worker in enumerate(running):
        worker.assign({*range(number, partitions, workers)}, number == 0, 1)
    return broker, running


def process(workers: Sequence[CountedWorker]) -> None:
    """Process everything that waits."""
    while ready := [(worker, task) for worker in workers for task in worker.ready()]:
        # Messages first, then the steps from the last one on: no step falls behind, so no messages are joined.
        lanes = [(worker, task) for worker, task in ready if is_lane(task)]
        for worker, task in lanes or [min(ready, key=lambda one: _AGENTS.index(str(one[1][0])))]:
            worker.step(task)


def written(broker: Broker) -> tuple[Counter[str], Counter[str]]:
    """Messages and bytes of each topic but the source."""
    counts, sizes = Counter[str](), Counter[str]()
    for topic in (*_PUBLIC, "bands", "candidates", "verifications", "edges", *{log for log, _ in broker.changelogs()}):
        for partition in broker.partitions(topic):
            values = [message.value for message in broker.read(topic, partition)]
            counts[topic] += len(values)
            sizes[topic] += sum(value if isinstance(value, int) else len(value) for value in values)
    return counts, sizes


def simulated(
    pipeline: PipelineConfig, documents: Sequence[Document], partitions: int, batch: int, workers: int = 1
) -> Run:
    """Process a stream, a batch of each partition at a time."""
    broker, running = started(pipeline, partitions, batch, workers)
    for start in range(0, len(documents), partitions * batch):
        for number, document in enumerate(documents[start : start + partitions * batch]):
            broker.append(SOURCE, number % partitions, document)
        process(running)
    counts, sizes = written(broker)
    frames = [
        decoded("candidates", message.value).candidates
        for partition in range(partitions)
        for message in broker.read("candidates", partition)
    ]
    pairs = {pair for frame in frames for pair in zip(frame.new.tolist(), frame.old.tolist(), strict=True)}
    states, settler = [state for worker in running for state in worker.partitions.values()], running[0].settler
    assert settler is not None
    settled = settler.snapshot().changes
    return Run(
        counts,
        sizes,
        len(pairs),
        sum(len(state.documents) for state in states),
        sum(len(state.table) for state in states),
        len(settled.nodes),
        len(settled.pairs),
    )


def words(rng: random.Random, count: int) -> list[str]:
    return [f"w{int(50_000 ** rng.random())}" for _ in range(count)]


def of_texts(groups: Sequence[int], length: int, seed: int) -> list[bytes]:
    """Texts in groups of these sizes, in random order; two of a group differ in some words in the middle."""
    rng = random.Random(seed)
    order = [group for group, size in enumerate(groups) for _ in range(size)]
    rng.shuffle(order)
    originals, found = [words(rng, length) for _ in groups], list[bytes]()
    changed = max(1, length // 60)
    for group in order:
        text, at = [*originals[group]], rng.randrange(length - changed)
        text[at : at + changed] = words(rng, changed)
        title, source = " ".join(text[:8]), f"outlet{rng.randrange(30)}.example"
        found.append(json.dumps({"text": " ".join(text), "title": title, "source": source}).encode())
    return found


def _name(rng: random.Random, syllables: int) -> str:
    return "".join(rng.choice("bcdfghjklmnprstvw") + rng.choice("aeiou") for _ in range(syllables))


def of_people(groups: Sequence[int], seed: int) -> list[bytes]:
    """Records of people in groups of these sizes, in random order; some lack a value."""
    rng = random.Random(seed)
    order = [group for group, size in enumerate(groups) for _ in range(size)]
    rng.shuffle(order)
    people = [
        {
            "given_name": _name(rng, 3),
            "surname": _name(rng, 4),
            "date_of_birth": f"{rng.randrange(1930, 2010)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 28):02}",
            "email": f"{_name(rng, 4)}{rng.randrange(100)}@{_name(rng, 3)}.org",
            "phone": f"{rng.randrange(10**9, 10**10)}",
            "address": f"{rng.randrange(200)} {_name(rng, 3)} road",
            "suburb": _name(rng, 4),
            "postcode": f"{rng.randrange(10_000, 99_999)}",
            "state": _name(rng, 2),
            "national_id": f"{rng.randrange(10**9)}",
        }
        for _ in groups
    ]
    records = [{**people[group], "nothing": None} for group in order]
    for record in records:
        record.pop(rng.choice(("address", "phone", "nothing", "state")), None)
    return [json.dumps(record).encode() for record in records]


STREAMS = {
    "sparse": Stream("", of_texts([1] * 500 + [2] * 100, 150, 1), 1 / 7, 4, 20),
    "sparse, many partitions": Stream("threshold = 0.7", of_texts([1] * 400 + [2] * 50, 90, 2), 50 / 500, 7, 5),
    "dense": Stream("", of_texts([8] * 80, 120, 3), 7 / 8, 4, 20),
    "dense, one partition": Stream("max_candidates = 0", of_texts([20] * 40, 120, 4), 19 / 20, 1, 10),
    "stories": Stream("preset = 'news'", of_texts([1] * 200 + [3] * 60, 150, 5), 120 / 380, 4, 20),
    "records": Stream("kind = 'record'\nprofile = 'people'", of_people([1] * 300 + [2] * 80, 6), 80 / 460, 4, 20),
}


@pytest.mark.parametrize("most_workers", [1, 2, 7])
@pytest.mark.parametrize("name", STREAMS)
def test_the_plan_predicts_what_the_simulated_log_counts(name: str, most_workers: int) -> None:
    stream = STREAMS[name]
    workers = min(most_workers, stream.partitions)
    pipeline = parse(f'[pipeline]\nname = "p"\nsource = "s"\n{stream.lines}\n', name, {}).pipelines[0]
    documents = [
        pipeline.document(value, b"document-%d" % number, _TIME_MS) for number, value in enumerate(stream.messages)
    ]
    run = simulated(pipeline, documents, stream.partitions, stream.batch, workers)

    count, pairs = len(documents), run.pairs
    matches = pairs / count
    load = Load(
        rate=count,
        size=stream.size,
        matches=matches,
        near_duplicates=min(stream.share, matches),
        candidates=max(0.0, (run.candidates - pairs) / count),
        batch=stream.batch,
    )
    sample = sample_of(pipeline, stream.size, load.partners)
    traffic = traffic_of(load, sample, stream.partitions, count, stream.batch, workers=workers)

    report = [
        f"{topic}: {run.counts[topic]} messages, planned {flow.messages:.0f}; {run.sizes[topic]} bytes, planned "
        f"{flow.bytes:.0f}"
        for topic, flow in traffic.topics.items()
    ]
    for topic, flow in traffic.topics.items():
        if topic in (SOURCE, "reviews"):
            continue
        certain = topic in (BANDS, BUCKETS_LOG, DOCUMENTS_LOG)
        assert flow.messages == pytest.approx(run.counts[topic], rel=NEAR if certain else ROUGH), report
        assert flow.bytes == pytest.approx(run.sizes[topic], rel=NEAR if certain else ROUGH), report
    assert run.documents == count
    assert traffic.postings == pytest.approx(run.postings, rel=NEAR)
    assert members_of(load, count) == pytest.approx(run.members, rel=NEAR)


def test_a_plan_of_another_density_is_refuted() -> None:
    stream = STREAMS["dense"]
    pipeline = parse('[pipeline]\nname = "p"\nsource = "s"\n', "dense", {}).pipelines[0]
    documents = [pipeline.document(value, b"%d" % number, _TIME_MS) for number, value in enumerate(stream.messages)]
    run = simulated(pipeline, documents, stream.partitions, stream.batch, stream.partitions)
    load = Load(rate=len(documents), size=700, matches=0.5, near_duplicates=0.5, batch=stream.batch)
    sample = sample_of(pipeline, 700, load.partners)
    traffic = traffic_of(load, sample, stream.partitions, len(documents), stream.batch, workers=stream.partitions)
    assert traffic.topics["matches"].messages < run.counts["matches"] / 2
    assert traffic.topics["candidates"].bytes < run.sizes["candidates"] / 2


@pytest.mark.parametrize("partitions", [3, 6])
def test_the_plan_predicts_the_marks_of_event_time(partitions: int) -> None:
    pipeline = parse("[pipeline]\nsource = 's'", "marks", {}).pipelines[0]
    broker, workers = started(pipeline, partitions, 1)
    before = written(broker)
    for turn in range(3):
        for partition in range(partitions):
            text = " ".join(words(random.Random(partitions * turn + partition), 20))
            broker.append(SOURCE, partition, Document(f"{turn}-{partition}", text, _TIME_MS + turn))
        process(workers)
        before = written(broker)
        workers[0].start_ticks(False)
        process(workers)
    counts, sizes = (after - earlier for after, earlier in zip(written(broker), before, strict=True))
    planned = marks_of_event_time(partitions, 1)
    for topic in ("candidates", "verifications", "edges", "ledger-changelog"):
        assert counts[topic] == planned[topic]
    for topic in ("verifications", "edges"):
        assert sizes[topic] == planned[topic] * mark_bytes(partitions)
