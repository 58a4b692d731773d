"""docs/asyncapi.yaml says what the code does: nothing less, and nothing more.

Here the pipeline runs in memory, and the messages are those of `wire.public`; tests/kafka/test_asyncapi_topics.py has
the headers that a worker adds, and the dead letters.
"""

import ast
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from stream_lsh import __version__
from stream_lsh.config import parse
from stream_lsh.errors import InputError
from stream_lsh.measure.catalog import JACCARD
from stream_lsh.measure.containment import Containment
from stream_lsh.model import NO_ABOUT, About, Document
from stream_lsh.pipeline.local import Limits, LocalPipeline
from stream_lsh.pipeline.scheme import TextScheme
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.public import cluster_messages, match_messages, member_messages
from stream_lsh.wire.source import parse_document
from stream_lsh.worker.topology import topics
from tests.asyncapi import CHANNELS, DOCUMENT, Seen, described, key_of, problems

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ("matches", "members", "clusters")
NOW_MS = 1_700_000_000_000
WORDS = [f"word{number}" for number in range(60)]
RETENTION_MS = 10_000


def documents(count: int) -> list[list[Document]]:
    """Batches of new, changed, identical and deleted documents, while event time goes on."""
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
    """What a pipeline publishes while many things happen; every message is held against the document."""
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
    return found


def test_every_message_every_property_and_every_value_is_published(seen: Seen) -> None:
    expected = described(RESULTS)
    assert seen.messages == expected.messages
    assert seen.properties == expected.properties
    assert seen.values == expected.values


def test_what_is_not_described_is_noticed() -> None:
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


def test_topics_are_named_and_made_as_described() -> None:
    text = '[pipeline]\nname = "news"\nsource = "documents"\nstories = true\nmirror_share = 0.1\n'
    config = parse(text, "news.toml", {})
    (pipeline,) = config.pipelines
    public = {"source": pipeline.source, **pipeline.public_topics}
    specs = {spec.name: spec for spec in topics(config, pipeline, pipeline.partitions)}
    assert set(CHANNELS) == set(public)
    for name, channel in CHANNELS.items():
        assert channel["address"].format(source="documents", pipeline="news") == public[name]
        spec, binding = specs[public[name]], channel["bindings"]["kafka"]
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
        {"text": "words", "time": 253_402_300_800_000},
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
        parse_document(json.dumps(value).encode(), key, fallback_time_ms=NOW_MS, max_ahead_ms=None, stories=True)
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


# -- dead letters


def reasons(source: str) -> set[str]:
    """The reasons of the errors that a module raises for documents, all of them written out."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            at = {"MalformedMessage": 0, "UnusableDocument": 0, "InputError": 0, "_typed": 3}.get(node.func.id)
            if at is not None and isinstance(node.args[at], ast.Constant):
                found.add(str(ast.literal_eval(node.args[at])))
    return found


def test_every_reason_of_the_code_is_described_and_no_other() -> None:
    paths = [ROOT / "stream_lsh" / "wire" / "source.py", *(ROOT / "stream_lsh" / "worker").rglob("*.py")]
    of_the_code = set().union(*(reasons(path.read_text(encoding="utf-8")) for path in paths))
    reason = CHANNELS["dead_letters"]["messages"]["deadLetter"]["headers"]["properties"]["reason"]
    assert set(reason["enum"]) == of_the_code
    assert set(re.findall(r"(\w+): ", reason["description"])) == of_the_code
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = operations.split("## Dead letters")[1].split("| reason |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == of_the_code
