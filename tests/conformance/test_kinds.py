"""Every kind of data against its interface, and every class in memory; a fifth kind shows what a new one needs."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from stream_lsh import NearDuplicates, NearestNeighbours, Record, RecordLinker, SimilarSets, kinds
from stream_lsh.config import Config, PipelineConfig, TopicsConfig, parse
from stream_lsh.config.message_sizes import most_retired
from stream_lsh.kinds import in_memory
from stream_lsh.kinds.in_memory import InMemory
from stream_lsh.kinds.registry import KINDS, kind_class
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.settings.schema import keys_of
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.worker.clients.producer import Feeder
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import live_worker
from tests.asyncapi import Seen
from tests.conformance.number_kind.kind import NumberKind
from tests.conformance.number_kind.scheme import NumberScheme
from tests.kafka.harness import read
from tests.simulation.schedules import regime, schedule

NOW_MS = 1_714_521_600_000
STORY = "one two three four five six seven eight nine ten eleven twelve"
PEOPLE = [
    {"given_name": "Ann", "surname": "Lee", "date_of_birth": "1980-02-03", "email": "ann@lee.org", "city": "York"},
    {"given_name": "Bob", "surname": "Ray", "date_of_birth": "1971-11-30", "email": "bob@ray.org", "city": "Hull"},
]


class Case(NamedTuple):
    """Settings of a pipeline and the fields of some messages; the first two messages match, the last one is alone."""

    lines: str
    messages: Sequence[dict[str, Any]]
    nothing: dict[str, Any] | None = None


TEXTS: list[dict[str, Any]] = [
    {"text": STORY},
    {"text": f"{STORY} thirteen"},
    {"text": "nothing like any of the others at all"},
]
BASKETS: list[dict[str, Any]] = [{"items": [*range(20)]}, {"items": [*range(1, 20)]}, {"items": ["milk", "bread"]}]
POINTS: list[dict[str, Any]] = [{"vector": [1.0, 0.0, 0.0]}, {"vector": [1.0, 0.01, 0.0]}, {"vector": [-1.0, 5.0, 2.0]}]
BITS: list[dict[str, Any]] = [{"vector": "01" * 32}, {"vector": "01" * 31 + "00"}, {"vector": "10" * 32}]
NUMBERS: list[dict[str, Any]] = [{"text": 5}, {"text": 5.5}, {"text": 9}]
CASES = {
    "text": Case("", TEXTS, {"text": ""}),
    "exact": Case("method = 'exact'", TEXTS, {"text": ""}),
    "stories": Case("preset = 'mirrors'\nhtml = 'off'\nthreshold = 0.5", TEXTS, {"text": ""}),
    "set": Case("kind = 'set'", BASKETS, {"items": []}),
    "bag": Case("kind = 'set'\nbag = true\nmeasure = 'containment'", BASKETS, {"items": []}),
    "grid": Case("kind = 'set'\nfamily = 'grid'\ngrid.squares = 40", [BASKETS[0], BASKETS[1], {"items": [30, 31, 39]}]),
    "cosine": Case("kind = 'vector'\ndimension = 3\ndistance = 5.0", POINTS),
    "hamming": Case("kind = 'vector'\nmeasure = 'hamming'\ndimension = 64\ndistance = 4", BITS),
    "record": Case("kind = 'record'\nprofile = 'people'", [PEOPLE[0], PEOPLE[0], PEOPLE[1]]),
    "number": Case("kind = 'number'\ndistance = 1.0", NUMBERS),
}
every_case = pytest.mark.parametrize("name", CASES)


@pytest.fixture(autouse=True)
def fifth_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the registry; its folder is `number_kind`."""
    monkeypatch.setitem(KINDS, NumberKind.name, "tests.conformance.number_kind.kind:NumberKind")


def config_of(name: str) -> Config:
    return parse(f'[pipeline]\nname = "p"\nsource = "s"\npartitions = 2\n{CASES[name].lines}\n', f"{name}.toml", {})


def pipeline_of(name: str) -> PipelineConfig:
    return config_of(name).pipelines[0]


def documents_of(name: str, pipeline: PipelineConfig) -> list[Document]:
    return [
        pipeline.document(json.dumps(one).encode(), f"id{at}".encode(), NOW_MS + at, now_ms=NOW_MS)
        for at, one in enumerate(CASES[name].messages)
    ]


# -- the registry


def test_every_folder_with_a_kind_is_registered() -> None:
    folders = {path.parent.name for path in Path(kinds.__path__[0]).glob("*/kind.py")}
    assert folders | {"number"} == KINDS.keys()
    assert {name: kind_class(name).name for name in KINDS} == {name: name for name in KINDS}


@pytest.mark.parametrize("name", [*KINDS, "number"])
def test_names_in_a_kind_exist(name: str) -> None:
    kind = kind_class(name)
    own, shared = {key.field for key in keys_of(kind).values()}, {one.name for one in fields(PipelineConfig)}
    assert not own & shared
    assert kind.defaults.keys() <= own | shared
    assert all(preset.keys() <= own | shared for preset in kind.presets.values())
    assert kind.fields <= {one.name for one in fields(FieldNames)}
    assert kind.topic_keys <= keys_of(TopicsConfig).keys()
    assert kind.clusters in kind.topic_keys
    assert ("decisions" in kind.topic_keys) == kind.takes_decisions


@every_case
def test_a_pipeline_writes_topics_of_its_kind_only(name: str) -> None:
    pipeline = pipeline_of(name)
    assert pipeline.public_topics.keys() == pipeline.kind.topics <= pipeline.kind.topic_keys
    assert pipeline.clusters_topic == pipeline.public_topics[pipeline.kind.clusters]


# -- examples


@every_case
def test_examples_of_one_group_match_and_those_of_two_groups_do_not(name: str) -> None:
    pipeline = pipeline_of(name)
    messages = [pipeline.kind.example(group, member, 600, pipeline.fields) for group in range(4) for member in range(3)]
    assert len({key for key, _ in messages}) == len(messages)
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    settled = chain.process([pipeline.document(value, key, NOW_MS, now_ms=NOW_MS) for key, value in messages])
    pairs = {(match.left, match.right) for one in settled for match in one.matches}
    groups = [sorted(key.decode() for key, _ in messages[start : start + 3]) for start in range(0, len(messages), 3)]
    assert pairs == {(a, b) for group in groups for a in group for b in group if a < b}


# -- settings and limits


@every_case
def test_settings_are_the_same_for_equal_pipelines(name: str) -> None:
    kind, again = pipeline_of(name).kind, pipeline_of(name).kind
    assert kind == again
    stored = kind.stored_settings()
    assert all(type(value) in (str, int, float) for value in stored.values())
    assert fingerprint(stored) == fingerprint(again.stored_settings())
    assert kind.scheme().settings.items() <= stored.items()


def test_settings_distinguish_all_pipelines() -> None:
    found = {fingerprint(pipeline_of(name).kind.stored_settings()) for name in CASES if name != "stories"}
    assert len(found) == len(CASES) - 1  # the preset changes what is published, and with a threshold of its own bands


@every_case
def test_limits_keep_the_settings_of_the_pipeline(name: str) -> None:
    kind, limits = pipeline_of(name).kind, Limits(retention_ms=7, lateness_ms=3, max_documents=5)
    made = kind.limits(limits)
    assert (made.retention_ms, made.lateness_ms, made.max_documents) == (7, 3, 5)
    assert 0 < kind.least <= (kind.link_from or 1) <= 1
    assert made.stories == kind.stories


@every_case
def test_a_record_has_room_for_the_versions_that_another_one_retires(name: str) -> None:
    pipeline = pipeline_of(name)
    assert most_retired(pipeline, pipeline.kind.scheme()) >= 2
    size, scheme = pipeline.kind.stored_size(), pipeline.kind.scheme()
    assert size.document is not None or size.slots == scheme.slots


# -- messages


@every_case
def test_a_message_made_of_a_document_is_read_as_that_document(name: str) -> None:
    pipeline = pipeline_of(name)
    for document in documents_of(name, pipeline):
        key, value = pipeline.kind.message(document, pipeline.fields)
        assert pipeline.document(value, key, NOW_MS) == document
        assert pipeline.kind.message(Document(document.id, None), pipeline.fields) == (key, None)
        assert pipeline.document(None, key, NOW_MS) == Document(document.id, None, NOW_MS)


# -- schemes


@every_case
def test_signatures_do_not_depend_on_the_batch(name: str) -> None:
    pipeline = pipeline_of(name)
    scheme, texts = pipeline.kind.scheme(), [one.text or "" for one in documents_of(name, pipeline)]
    together = scheme.sign(texts)
    assert together.values.shape == (len(texts), scheme.slots)
    assert together.values.dtype == np.uint32
    buckets = scheme.buckets(together)
    assert buckets.shape == (len(texts), scheme.width)
    assert buckets.dtype == np.uint64
    for at, text in enumerate(texts):
        alone = pipeline.kind.scheme().sign([text])
        assert (alone.values[0] == together.values[at]).all()
        assert alone.digests[0] == together.digests[at] != 0
        assert (scheme.buckets(alone)[0] == buckets[at]).all()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.nothing is not None])
def test_documents_without_content_are_in_no_bucket(name: str) -> None:
    pipeline = pipeline_of(name)
    scheme, nothing = pipeline.kind.scheme(), json.dumps(CASES[name].nothing).encode()
    signatures = scheme.sign([pipeline.document(nothing, b"x", NOW_MS).text or ""])
    assert signatures.digests.tolist() == [0]
    assert not scheme.buckets(signatures).any()


@every_case
def test_a_pairwise_similarity_is_the_published_one(name: str) -> None:
    pipeline = pipeline_of(name)
    scheme, documents = pipeline.kind.pairwise(), documents_of(name, pipeline)
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    matches = [match for settled in chain.process(documents) for match in settled.matches]
    assert [(match.left, match.right) for match in matches] == [("id0", "id1")]
    if scheme is None:
        assert pipeline.kind.takes_decisions
        return
    one, other, alone = (document.text or "" for document in documents)
    assert matches[0].similarity == scheme.similarity(one, other) == scheme.similarity(other, one)
    found = scheme.explain(one, other).comparison
    assert found is not None
    assert (found.similarity, found.identical) == (matches[0].similarity, False)
    assert found.met > 0
    far = scheme.explain(one, alone).comparison
    assert far is not None
    assert far.similarity < pipeline.kind.least
    assert scheme.explain(one, None).comparison is None


# -- results

CHANNELS = {
    "record": {"matches": "record_matches", "members": "record_members"},
    "vector": {"matches": "vector_matches"},
}


@pytest.mark.parametrize("name", [name for name in CASES if name != "number"])
def test_results_are_as_the_contract_describes_them(name: str) -> None:
    pipeline, seen = pipeline_of(name), Seen()
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    results, channels = pipeline.kind.results(pipeline.name), CHANNELS.get(pipeline.kind.name, {})
    documents = documents_of(name, pipeline)
    topics = set()
    for version, batch in enumerate((documents, [Document("id0", None, NOW_MS)])):
        for settled in chain.process(batch):
            for topic, messages in results.messages(settled, NOW_MS, version):
                for key, value, headers in messages:
                    topics.add(topic)
                    seen.take(channels.get(topic, topic), key, value, [*headers, ("app_id", b"worker")])
    assert {"matches", "members", pipeline.kind.clusters} <= topics <= pipeline.kind.topics


# -- classes in memory


class Library(NamedTuple):
    """A class of the library, the items of a case, and how it answers."""

    make: Callable[[], Any]
    items: list[Any]
    query: Callable[[Any, Any], Sequence[Any]]


def _pairs(texts: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(f"id{at}", text) for at, text in enumerate(texts)]


LIBRARY = {
    "text": Library(NearDuplicates, _pairs([one["text"] for one in TEXTS]), lambda all, one: all.query(one[1])),
    "set": Library(SimilarSets, _pairs([one["items"] for one in BASKETS]), lambda all, one: all.query(one[1])),
    "vector": Library(
        lambda: NearestNeighbours(3, 5.0),
        _pairs([one["vector"] for one in POINTS]),
        lambda all, one: all.within(one[1]),
    ),
    "record": Library(
        lambda: RecordLinker("people"),
        [Record(f"id{at}", {**one}) for at, one in enumerate((PEOPLE[0], PEOPLE[0], PEOPLE[1]))],
        lambda all, one: all.search(one.fields),
    ),
}
every_class = pytest.mark.parametrize("name", LIBRARY)


def _add(memory: Any, item: Any) -> Any:
    return memory.add(item) if isinstance(item, Record) else memory.add(*item)


def _state(memory: Any) -> tuple[Any, ...]:
    pairs = memory.pairs() if isinstance(memory, NearestNeighbours) else memory.matches()
    return memory.clusters(), pairs, [memory.cluster_of(f"id{at}") for at in range(3)], len(memory)


def test_every_class_in_memory_is_tried() -> None:
    def below(cls: type) -> Iterator[type]:
        found: list[type] = cls.__subclasses__()
        for one in found:
            yield one
            yield from below(one)

    of_the_package = {cls for cls in below(InMemory) if cls.__module__.startswith("stream_lsh.")}
    assert of_the_package == {type(library.make()) for library in LIBRARY.values()}


@every_class
def test_items_one_by_one_and_together_give_the_same(name: str) -> None:
    make, items, _ = LIBRARY[name]
    one_by_one, together = make(), make()
    found = [match for item in items for match in _add(one_by_one, item)]
    for matches in (found, together.add_many(items)):
        assert [(match.left, match.right) for match in matches] == [("id0", "id1")]
    assert _state(one_by_one)[0] == _state(together)[0]
    assert [cluster.members for cluster in together.clusters()] in ([("id0", "id1")], [("id1", "id0")])


@every_class
def test_items_are_counted_found_and_removed(name: str) -> None:
    make, items, query = LIBRARY[name]
    memory = make()
    memory.add_many(items)
    assert (len(memory), "id0" in memory, "id3" in memory, 0 in memory) == (3, True, False, False)
    assert {one.id for one in query(memory, items[0])} == {"id0", "id1"}
    assert memory.remove("id0")
    assert not memory.remove("id0")
    assert (len(memory), "id0" in memory, memory.clusters()) == (2, False, [])
    assert {one.id for one in query(memory, items[0])} == {"id1"}


@every_class
def test_a_saved_state_answers_like_the_live_one(name: str, tmp_path: Path) -> None:
    make, items, query = LIBRARY[name]
    memory = make()
    memory.add_many(items[:2])
    memory.save(tmp_path / "state")
    loaded = type(memory).load(tmp_path / "state")
    assert _state(loaded) == _state(memory)
    _add(memory, items[2])
    _add(loaded, items[2])
    assert _state(loaded) == _state(memory)
    assert query(loaded, items[0]) == query(memory, items[0])


@every_class
def test_compaction_changes_no_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, items, query = LIBRARY[name]
    memory, compacted = make(), make()
    for some in (memory, compacted):
        some.add_many(items)
        some.remove("id2")
    before = compacted._pipeline
    compacted._compact()
    assert compacted._pipeline is not before
    assert _state(compacted) == _state(memory)
    assert query(compacted, items[0]) == query(memory, items[0])
    monkeypatch.setattr(in_memory, "_REMOVED", 0)
    kept = compacted._pipeline
    compacted.remove("id0")
    compacted.remove("id1")
    assert compacted._pipeline is not kept, "removals compact"
    assert len(compacted) == 0


# -- the fifth kind, from end to end


class FirstNumbers(NumberScheme):
    """Numbers for the schedules of the simulation, whose texts are numbers such as `1 3 5`: the first one counts."""

    measure: Measure = JACCARD

    def number(self, text: str) -> float:
        return super().number(text.partition(" ")[0])


def brute_force(numbers: dict[str, float], distance: float) -> dict[tuple[str, str], float]:
    ids = sorted(numbers)
    return {
        (one, other): 1 / (1 + abs(numbers[one] - numbers[other]))
        for at, one in enumerate(ids)
        for other in ids[at + 1 :]
        if abs(numbers[one] - numbers[other]) <= distance
    }


@pytest.mark.parametrize("seed", range(20))
def test_a_fifth_kind_keeps_the_protocol_of_the_simulated_log(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme, drawn = FirstNumbers(1.0), regime.draw

    def draw(*arguments: Any) -> Any:
        rng, setup, regime = drawn(*arguments)
        plain: dict[str, Any] = {"scheme": scheme, "threshold": 0.5, "retention_ms": None, "max_documents": 0}
        setup = replace(setup, **plain, cap_postings=0, stories=False, mirror_share=0.0)
        return rng, setup, replace(regime, report=0.0, tick=0.0, expires=False)

    monkeypatch.setattr(schedule, "draw", draw)
    run = schedule.Run(seed)
    run.go()
    newest: dict[str, Document] = {}
    for partition in run.broker.partitions("source"):
        newest |= {message.value.id: message.value for message in run.broker.read("source", partition)}
    numbers = {id: scheme.number(one.text) for id, one in newest.items() if one.text}
    published = {message.key: message.value[-1] for message in run.broker.read("matches", 0)}
    found = {key: match.similarity for key, match in published.items() if match.similarity is not None}
    assert found == brute_force(numbers, scheme.distance)


def test_a_fifth_kind_runs_in_memory() -> None:
    pipeline, rng = pipeline_of("number"), random.Random(1)
    values = {f"n{at:03}": round(rng.uniform(-50, 50), 2) for at in range(200)}
    messages = [(json.dumps({"text": value}).encode(), id.encode()) for id, value in values.items()]
    documents = [pipeline.document(value, key, NOW_MS) for value, key in messages]
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, pipeline.limits())
    settled = [one for start in range(0, 200, 7) for one in chain.process(documents[start : start + 7])]
    found = {tuple(sorted((m.left, m.right))): m.similarity for one in settled for m in one.matches}
    assert found == brute_force(values, 1.0)


def test_a_fifth_kind_runs_on_the_embedded_broker() -> None:
    rng = random.Random(2)
    values = {f"n{at:02}": round(rng.uniform(-20, 20), 2) for at in range(40)}
    gone = [id for at, id in enumerate(values) if at % 5 == 0]
    documents = [Document(id, repr(value), NOW_MS) for id, value in values.items()]

    async def published(config: Config, partitions: Any) -> dict[tuple[str, str], float]:
        pipeline = config.pipelines[0]
        async with live_worker(partitions) as worker, Feeder(config.kafka, pipeline) as feeder:
            await feeder.send([*documents, *(Document(id, None, NOW_MS) for id in gone)])
            await feeder._delivered()
            await worker.settled()
            last = {one.key: one.value for one in await read(config.kafka.brokers[0], pipeline.matches_topic)}
        found = (json.loads(value) for value in last.values() if value is not None)
        return {tuple(sorted((one["left"], one["right"]))): one["similarity"] for one in found}

    config = config_of("number")
    config = replace(config, worker=replace(config.worker, web=""))
    with embedded(config) as here:
        found = asyncio.run(published(here.config, here))
    assert found == brute_force({id: value for id, value in values.items() if id not in gone}, 1.0)
