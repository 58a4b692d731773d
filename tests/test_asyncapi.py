"""docs/asyncapi.yaml describes exactly what the code publishes.

Here the pipeline runs in memory, and the messages are those of `wire.public`; the headers that a worker adds, and the
dead letters, are in tests/kafka/clients/test_asyncapi_topics.py.
"""

import ast
import itertools
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stream_lsh import __version__
from stream_lsh.config import parse
from stream_lsh.errors import InputError
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.kinds.record.golden import limits_of_records
from stream_lsh.kinds.record.messages import parse_record, record_document
from stream_lsh.kinds.record.results import RecordResults, entity_messages
from stream_lsh.kinds.record.scheme import RecordScheme
from stream_lsh.kinds.results import TextResults
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.kinds.single_field import Form, parse_valued
from stream_lsh.kinds.text.messages import parse_document
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.kinds.vector.results import vector_matches
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.ledger.changes import ClusterChange, EntitySummary
from stream_lsh.ledger.decisions import DIFFERENT, SAME
from stream_lsh.measure.catalog import JACCARD
from stream_lsh.measure.containment import Containment
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.records.model import Record
from stream_lsh.records.reading import Reader
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.message import ParseRules
from stream_lsh.wire.public import cluster_messages, match_messages, member_messages
from stream_lsh.worker.engine import TopicSpec
from stream_lsh.worker.topology import topics
from tests.asyncapi import CHANNELS, DOCUMENT, Seen, described, key_of, problems
from tests.unit.kinds.test_record_linker import PROFILE

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ("matches", "members", "clusters")
OF_VECTORS = ("vector_matches", "members", "clusters")
OF_RECORDS = ("record_matches", "reviews", "record_members", "entities")
CHANNEL_OF = {"matches": "record_matches", "members": "record_members"}
"""Channels of records that share a name with one of texts."""
NOW_MS = 1_700_000_000_000
ANY_TIME = ParseRules(max_ahead_ms=None)
WORDS = [f"word{number}" for number in range(60)]
RETENTION_MS = 10_000
LONG_IDS = tuple(f"{number:0340}" + "\x01" * 680 for number in range(100))
"""Of which a message cannot hold a hundred."""


def documents(count: int) -> list[list[Document]]:
    """Batches of new, changed, identical and deleted documents, while event time advances."""
    chance = random.Random(3)
    batches = []
    for step in range(count):
        time_ms = NOW_MS + step * 150
        batch = []
        for _ in range(chance.choice((1, 1, 2, 5))):
            start, length = chance.randrange(0, 40, 2), chance.choice((10, 12))
            text = None if chance.random() < 0.2 else " ".join(WORDS[start : start + length])
            number = chance.randrange(30)
            about = NO_ABOUT if text is None else About(f"Title {start}", ("", "wire")[number % 2], len(text))
            batch.append(Document(f"doc{number}", text, time_ms - chance.randrange(3_000), about))
        batches.append(batch)
    return batches


@pytest.fixture(scope="module")
def seen() -> Seen:
    """The messages of a pipeline with many kinds of changes; each is compared with the document."""
    found = Seen()
    for measure in (JACCARD, Containment()):
        scheme = TextScheme(0.5, "word:1", measure=measure)
        pipeline = LocalPipeline(scheme, 0.5, Limits(RETENTION_MS, lateness_ms=1_000, stories=True))
        for version, settled in enumerate(one for batch in documents(120) for one in pipeline.process(batch)):
            messages = [
                *(("matches", one) for one in match_messages("news", settled.matches, NOW_MS, measure.name)),
                *(("members", one) for one in member_messages(settled.members)),
                *(("clusters", one) for one in cluster_messages(settled.clusters, version)),
            ]
            for channel, (key, value, headers) in messages:
                found.take(channel, key, value, [*headers, ("app_id", b"newsroom")])  # as the worker has it
    large = ClusterChange("a", "merged", 200, LONG_IDS, "b", LONG_IDS, None, NOW_MS, NOW_MS)
    for key, value, headers in cluster_messages([large], 1):
        found.take("clusters", key, value, [*headers, ("app_id", b"newsroom")])
    return found


NAMES, TOWNS = ("Ann Lee", "Bob Ray", "Cid Fox", "Ann Leigh"), ("Leeds", "York", "")
WEIGHTED = replace(
    PROFILE, comparisons=tuple(replace(one, m=(), u=()) for one in PROFILE.comparisons), match=0.8, review=0.5
)


def records(count: int, reader: Reader) -> list[list[Document]]:
    """The same for records: new, changed and deleted ones, while event time advances."""
    chance = random.Random(5)
    batches = []
    for step in range(count):
        batch, time_ms = [], NOW_MS + step * 150
        for _ in range(chance.choice((1, 1, 2, 5))):
            id, source = f"r{chance.randrange(24)}", chance.choice(("crm", "shop", ""))
            fields = {"name": chance.choice(NAMES), "born": chance.choice(("1955", "1980", "")), "town": "Leeds"}
            fields["town"] = chance.choice(TOWNS)
            made = record_document(reader, Record(id, fields, source, time_ms - chance.randrange(3_000)))
            batch.append(Document(id, None, time_ms) if chance.random() < 0.2 else made)
        batches.append(batch)
    return batches


@pytest.fixture(scope="module")
def seen_of_records() -> Seen:
    """The messages of pipelines of records, with decisions about some pairs."""
    found, chance = Seen(), random.Random(7)
    for profile in (PROFILE, WEIGHTED):
        limits = limits_of_records(Limits(RETENTION_MS, lateness_ms=1_000), profile)
        pipeline = LocalPipeline(RecordScheme(profile), profile.review, limits)
        results, versions = RecordResults("crm", profile), itertools.count()
        for batch in records(240, Reader(profile)):
            changed = pipeline.process(batch)
            pairs = pipeline.settler.ledger.snapshot().pairs
            if pairs and chance.random() < 0.3:
                pair, verdict = chance.choice([*pairs]), chance.choice((SAME, DIFFERENT, None))
                changed += pipeline.decide(pair.left, pair.right, verdict)
            for settled in changed:
                for topic, messages in results.messages(settled, NOW_MS, next(versions)):
                    for key, value, headers in messages:
                        found.take(CHANNEL_OF.get(topic, topic), key, value, [*headers, ("app_id", b"sales")])
    summary = EntitySummary(tuple((id, "") for id in LONG_IDS), json.dumps({"name": "x" * 200_000, "town": "York"}))
    large = ClusterChange("a", "merged", 200, (), "b", LONG_IDS, None, NOW_MS, NOW_MS, None, summary)
    for key, value, headers in entity_messages([large], 1):
        found.take("entities", key, value, [*headers, ("app_id", b"sales")])
    return found


VECTORS = (
    VectorMeasure(name="cosine", dimension=2, distance=30.0),
    VectorMeasure(name="euclidean", dimension=2, distance=1.5),
    VectorMeasure(name="hamming", dimension=2, distance=1.0),
)


def vectors(count: int, measure: VectorMeasure) -> list[list[Document]]:
    """The same of vectors, as `documents`."""
    chance, form = random.Random(9), VectorForm(measure.dimension, measure.name)
    batches = []
    for step in range(count):
        batch, time_ms = [], NOW_MS + step * 150
        for _ in range(chance.choice((1, 1, 2, 5))):
            value = [
                chance.randrange(2),
                chance.randrange(1, 2) if measure.name != "euclidean" else chance.randrange(9),
            ]
            text = None if chance.random() < 0.2 else form.text(value, "vector")
            batch.append(Document(f"v{chance.randrange(20)}", text, time_ms - chance.randrange(3_000)))
        batches.append(batch)
    # Event time advances, so everything before expires.
    return [*batches, [Document("late", form.text([1, 1], "vector"), time_ms + 9 * RETENTION_MS)]]


@pytest.fixture(scope="module")
def seen_of_vectors() -> Seen:
    """The messages of pipelines of vectors."""
    found = Seen()
    for measure in VECTORS:
        pipeline = LocalPipeline(VectorScheme(measure), measure.least, Limits(RETENTION_MS, lateness_ms=1_000))
        results, versions = TextResults("points", measure.name, matches=vector_matches), itertools.count()
        for batch in vectors(160, measure):
            for settled in pipeline.process(batch):
                for topic, messages in results.messages(settled, NOW_MS, next(versions)):
                    for key, value, headers in messages:
                        channel = {"matches": "vector_matches"}.get(topic, topic)
                        found.take(channel, key, value, [*headers, ("app_id", b"near")])
    large = ClusterChange("a", "merged", 200, LONG_IDS, "b", LONG_IDS, None, NOW_MS, NOW_MS)
    for key, value, headers in cluster_messages([large], 1):
        found.take("clusters", key, value, [*headers, ("app_id", b"near")])
    return found


def test_every_message_every_property_and_every_value_is_published(seen: Seen, seen_of_records: Seen) -> None:
    for one, channels in ((seen, RESULTS), (seen_of_records, OF_RECORDS)):
        expected = described(channels)
        assert one.messages == expected.messages
        assert one.properties == expected.properties
        assert one.values == expected.values


def test_every_message_and_every_property_of_vectors_is_published(seen_of_vectors: Seen) -> None:
    seen, expected = seen_of_vectors, described(OF_VECTORS)
    assert seen.messages == expected.messages
    of_stories = {"headline", "sources", "source_count", "first"}
    assert seen.properties == {part: names - of_stories for part, names in expected.properties.items()}
    assert seen.values == expected.values


def test_undescribed_messages_are_detected() -> None:
    right = b'{"cluster":"a","time":5}'
    Seen().take("members", b"b", right, {"app_id": b"x"})
    for key, value, headers in (
        (b"b", b'{"cluster":"a","time":5,"more":1}', {"app_id": b"x"}),
        (b"b", b'{"cluster":"a"}', {"app_id": b"x"}),
        (b"", right, {"app_id": b"x"}),
        (b"b", right, {}),
        (b"b", right, {"app_id": b"x", "more": b"y"}),
        (b"b", None, {"app_id": b"x"}),
        (b"b", None, {"app_id": b"x", "reason": b"bored"}),
    ):
        with pytest.raises(AssertionError):
            Seen().take("members", key, value, headers)


def test_examples_are_as_the_schemas_say() -> None:
    count = 0
    for channel in CHANNELS.values():
        for name, message in channel["messages"].items():
            for example in message["examples"]:
                count += 1
                assert problems(message["payload"], example["payload"]) == [], name
                assert problems(message.get("headers", {}), example.get("headers", {})) == [], name
                assert not message.get("headers") or example["headers"], name
    assert count > 10


def test_references_point_to_something_and_everything_is_used() -> None:
    used = set(re.findall(r'"\$ref": "#/components/(\w+)/(\w+)"', json.dumps(DOCUMENT)))
    assert used == {(kind, name) for kind, parts in DOCUMENT["components"].items() for name in parts}
    operated = {one["channel"]["$ref"].split("/")[-1] for one in DOCUMENT["operations"].values()}
    assert operated == set(DOCUMENT["channels"])


def test_the_document_is_of_this_version() -> None:
    assert DOCUMENT["info"]["version"] == __version__


# -- topics


TEXTS = '[pipeline]\nname = "news"\nsource = "documents"\nstories = true\nmirror_share = 0.1\n'
RECORDS = '[pipeline]\nname = "crm"\nsource = "customers"\nkind = "record"\nprofile = "people"\n'


SETS = '[pipeline]\nname = "near"\nsource = "items"\nkind = "set"\n'
VECTOR = '[pipeline]\nname = "near"\nsource = "items"\nkind = "vector"\ndimension = 2\ndistance = 9\n'
SOURCE_OF = {"text": "source", "set": "sets", "vector": "vectors"}


def public_of(text: str) -> tuple[dict[str, str], dict[str, TopicSpec]]:
    """The topics that users know of a pipeline, by the channel that describes them; all that a worker makes."""
    config = parse(text, "news.toml", {})
    (pipeline,) = config.pipelines
    kind = pipeline.kind.name
    if kind != "record":
        public = {SOURCE_OF[kind]: pipeline.source, **pipeline.named_topics}
        if kind == "vector":
            public["vector_matches"] = public.pop("matches")
    else:
        named = {CHANNEL_OF.get(key, key): topic for key, topic in pipeline.named_topics.items()}
        public = {"records": pipeline.source, **named}
    return public, {spec.name: spec for spec in topics(config, pipeline, pipeline.partitions)}


def test_every_channel_is_a_topic_of_one_kind_or_the_other() -> None:
    texts, of_records = public_of(TEXTS)[0], public_of(RECORDS)[0]
    of_sets, of_vectors = public_of(SETS)[0], public_of(VECTOR)[0]
    assert set(CHANNELS) == {*texts, *of_records, *of_sets, *of_vectors}
    assert {*texts} & {*of_records} == {"dead_letters"}
    assert {*of_sets} - {*texts} == {"sets"}
    assert {*of_vectors} - {*texts} == {"vectors", "vector_matches"}


@pytest.mark.parametrize(
    ("text", "source", "name_of"),
    [(TEXTS, "documents", "news"), (RECORDS, "customers", "crm"), (SETS, "items", "near"), (VECTOR, "items", "near")],
)
def test_topics_are_named_and_made_as_described(text: str, source: str, name_of: str) -> None:
    public, specs = public_of(text)
    for name, topic in public.items():
        channel = CHANNELS[name]
        assert channel["address"].format(source=source, pipeline=name_of) == topic
        spec, binding = specs[topic], channel["bindings"]["kafka"]
        assert (binding["partitions"], binding["replicas"]) == (spec.partitions, spec.replication), name
        described_as = {
            key: ",".join(value) if isinstance(value, list) else str(value)
            for key, value in binding.get("topicConfiguration", {}).items()
        }
        # What only concerns operators, such as copies in sync, is no part of the contract.
        of_the_contract = ("cleanup.policy", "retention.ms", "retention.bytes", "max.message.bytes")
        assert described_as == {key: value for key, value in spec.config.items() if key in of_the_contract}, name


# -- the source


@pytest.mark.parametrize(
    "value",
    [
        {"text": "words"},
        {"text": ""},
        {"text": None},
        {"text": 5},
        {"text": "words", "id": "a"},
        {"text": "words", "id": ""},
        {"text": "words", "id": "a" * 1_025},
        {"text": "words", "id": None},
        {"text": "words", "id": ["a"]},
        {"text": "words", "id": True},
        {"text": "words", "id": 1.5},
        {"text": "words", "time": NOW_MS},
        {"text": "words", "time": 0.5},
        {"text": "words", "time": None},
        {"text": "words", "time": True},
        {"text": "words", "time": [1]},
        {"text": "words", "time": -62_135_596_800_001},
        {"text": "words", "time": -100_000_000_000},
        {"text": "words", "time": -99_999_999_999},
        {"text": "words", "time": 0},
        {"text": "words", "time": 99_999_999},
        {"text": "words", "time": 100_000_000},
        {"text": "words", "time": 1_714_564_800.5},
        {"text": "words", "time": 99_999_999_999_999_999_999},
        {"text": "words", "time": 100_000_000_000_000_000_000},
        {"text": "words", "time": "2024-05-01T12:00:00Z"},
        {"text": "words", "deleted": False},
        {"text": "words", "deleted": None},
        {"text": "words", "deleted": 1},
        {"text": "words", "more": {"of": ["anything"]}},
        {"text": "words", "title": "Words", "source": None, "url": "https://example.org/"},
        {"text": "words", "title": 5},
        {"text": "words", "source": ["wire"]},
        {"text": "words", "url": True},
        {"deleted": True},
        {"deleted": True, "text": None},
        {"deleted": True, "text": 5},
        {"deleted": False},
        {},
        [],
        "words",
        5,
    ],
    ids=json.dumps,
)
def test_a_document_is_read_if_and_only_if_the_schema_takes_it(value: Any) -> None:
    schema = CHANNELS["source"]["messages"]["document"]["payload"]
    assert reads(value) == (problems(schema, value) == [])


def reads(value: Any) -> bool:
    named = value.get("id") if isinstance(value, dict) else None
    key = b"a" if named is None else str(named).encode()  # both have to be equal, which no schema can say
    try:
        parse_document(json.dumps(value).encode(), key, ANY_TIME, fallback_time_ms=NOW_MS, stories=True)
    except InputError:
        return False
    return True


def test_a_message_without_a_value_deletes_as_described() -> None:
    message = CHANNELS["source"]["messages"]["documentDeleted"]
    assert problems(message["payload"], None) == []
    assert parse_document(None, b"a", fallback_time_ms=NOW_MS).text is None


def test_keys_are_as_long_as_described() -> None:
    for message in CHANNELS["source"]["messages"].values():
        assert key_of(message)["maxLength"] == MAX_ID_BYTES
        assert problems(key_of(message), "k" * MAX_ID_BYTES) == []
        assert problems(key_of(message), "") != []


# -- what users write of sets and vectors

READ: list[dict[str, Any]] = [
    {"id": "a"}, {"id": ""}, {"id": 7}, {"id": None}, {"id": 1.5}, {"id": "a" * 1_025},
    {"time": NOW_MS}, {"time": True}, {"time": "2024-05-01T12:00:00Z"}, {"time": -62_135_596_800_001},
    {"deleted": None}, {"deleted": "no"}, {"more": [1]},
]  # fmt: skip
WHOLE: list[Any] = [{"deleted": True}, {"deleted": False}, {}, [], "a", 5]


ITEMS: list[Any] = [
    [], ["a"], ["a", 1, "a"], [-(1 << 63)], [1 << 64], ["a" * 1_024], ["a" * 1_025],
    None, "a", {}, [None], [True], [1.5], [["a"]], 5,
]  # fmt: skip
GIVEN: list[Any] = [[1, 0.5], "AACAPwAAAAA=", None, {}, 5, True, ["1", "2"], [None, 1], [True, 1]]


@pytest.mark.parametrize(
    "value",
    [*({"items": items} for items in ITEMS), *({"items": ["a"], **one} for one in READ), *WHOLE],
    ids=lambda value: json.dumps(value)[:60],
)
def test_a_set_is_read_if_and_only_if_the_schema_takes_it(value: Any) -> None:
    schema = CHANNELS["sets"]["messages"]["set"]["payload"]
    assert reads_valued(value, ItemsForm()) == (problems(schema, value) == [])


@pytest.mark.parametrize(
    "value",
    [*({"vector": vector} for vector in GIVEN), *({"vector": [1, 2], **one} for one in READ), *WHOLE],
    ids=lambda value: json.dumps(value)[:60],
)
def test_a_vector_is_read_if_and_only_if_the_schema_takes_it(value: Any) -> None:
    schema = CHANNELS["vectors"]["messages"]["vector"]["payload"]
    assert reads_valued(value, VectorForm(2, "cosine")) == (problems(schema, value) == [])


def reads_valued(value: Any, form: Form) -> bool:
    named = value.get("id") if isinstance(value, dict) else None
    key = b"a" if named is None else str(named).encode()
    try:
        parse_valued(json.dumps(value).encode(), key, form, ANY_TIME, fallback_time_ms=NOW_MS)
    except InputError:
        return False
    return True


# -- what users write of records


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ann Lee", "born": 1980, "town": ["Leeds", None]},
        {"name": "Ann Lee", "id": "a"},
        {"name": "Ann Lee", "id": ""},
        {"name": "Ann Lee", "id": 7},
        {"name": "Ann Lee", "id": None},
        {"name": "Ann Lee", "id": 1.5},
        {"name": "Ann Lee", "id": "a" * 1_025},
        {"name": "Ann Lee", "source": "crm"},
        {"name": "Ann Lee", "source": None},
        {"name": "Ann Lee", "source": 5},
        {"name": "Ann Lee", "source": "s" * 100},
        {"name": "Ann Lee", "source": "s" * 101},
        {"name": "Ann Lee", "time": NOW_MS},
        {"name": "Ann Lee", "time": "2024-05-01T12:00:00Z"},
        {"name": "Ann Lee", "time": True},
        {"name": "Ann Lee", "time": -62_135_596_800_001},
        {"name": "Ann Lee", "time": None, "deleted": False},
        {"name": "Ann Lee", "deleted": "no"},
        {"deleted": True},
        {"fields": {"name": "Ann Lee", "time": "noon", "deleted": "no"}},
        {"fields": ["medicine"], "name": "Ann Lee"},
        {"shoe": {"size": 9}},
        {},
        [],
        "Ann Lee",
        5,
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_a_record_is_read_if_and_only_if_the_schema_takes_it(value: Any) -> None:
    schema = CHANNELS["records"]["messages"]["record"]["payload"]
    named = value.get("id") if isinstance(value, dict) else None
    key = b"a" if named is None else str(named).encode()
    try:
        parse_record(json.dumps(value).encode(), key, Reader(PROFILE), ANY_TIME, fallback_time_ms=NOW_MS)
        was_read = True
    except InputError:
        was_read = False
    assert was_read == (problems(schema, value) == [])


DECISION = CHANNELS["decisions"]["messages"]["decision"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (["a", "b"], {"decision": "same"}),
        (["b", "a"], {"decision": "different", "by": "ann"}),
        (["a", "b"], {"decision": None}),
        (["a", "b"], {"decision": "maybe"}),
        (["a", "b"], {"decision": True}),
        (["a", "b"], {"verdict": "same"}),
        (["a", "b"], "same"),
        (["a", "b"], []),
        (["a", "a"], {"decision": "same"}),
        (["a"], {"decision": "same"}),
        (["a", "b", "c"], {"decision": "same"}),
        (["a", ""], {"decision": "same"}),
        (["a", 5], {"decision": "same"}),
        ("a", {"decision": "same"}),
    ],
    ids=json.dumps,
)
def test_a_decision_is_read_if_and_only_if_the_schemas_take_it(key: Any, value: Any) -> None:
    try:
        was_read = parse_decision(json.dumps(key).encode(), json.dumps(value).encode(), 1) is not None
    except InputError:
        was_read = False
    assert was_read == (problems(key_of(DECISION), key) + problems(DECISION["payload"], value) == [])


def test_a_decision_and_a_record_without_a_value_are_taken_back_as_described() -> None:
    for channel, message in (("records", "recordDeleted"), ("decisions", "decisionTakenBack")):
        assert problems(CHANNELS[channel]["messages"][message]["payload"], None) == []
    assert parse_record(None, b"a", Reader(PROFILE), fallback_time_ms=NOW_MS).deleted
    assert parse_decision(b'["a","b"]', None, 1).verdict is None


# -- dead letters


REASON_AT = {"MalformedMessage": 0, "UnusableDocument": 0, "InputError": 0, "typed": 3, "_json": 1}
"""Which argument of what raises is the reason."""


def reasons(source: str) -> set[str]:
    """The reasons of the errors that a module raises for documents, all of them written out."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            at = REASON_AT.get(node.func.id)
            if at is not None and isinstance(node.args[at], ast.Constant):
                found.add(str(ast.literal_eval(node.args[at])))
    return found


def test_every_reason_of_the_code_is_described_and_no_other() -> None:
    wire, kinds = ROOT / "stream_lsh" / "wire", ROOT / "stream_lsh" / "kinds"
    read = [wire / "message.py", wire / "ids.py", kinds / "record" / "decisions.py", *kinds.rglob("messages.py")]
    standardise = ROOT / "stream_lsh" / "records" / "standardise"
    paths = [*read, *standardise.rglob("*.py"), *(ROOT / "stream_lsh" / "worker").rglob("*.py")]
    of_the_code = set().union(*(reasons(path.read_text(encoding="utf-8")) for path in paths))
    reason = CHANNELS["dead_letters"]["messages"]["deadLetter"]["headers"]["properties"]["reason"]
    assert set(reason["enum"]) == of_the_code
    assert set(re.findall(r"(\w+): ", reason["description"])) == of_the_code
    page = (ROOT / "docs" / "operations" / "dead-letters.md").read_text(encoding="utf-8")
    table = page.split("| reason |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == of_the_code
