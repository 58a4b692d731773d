"""The message of a document and of a record."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from aiokafka.errors import (  # type: ignore[import-untyped]
    KafkaError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from stream_lsh.config import parse
from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.kinds.record.messages import parse_record, record_message
from stream_lsh.kinds.text.messages import message, parse_document
from stream_lsh.model import About, Document
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules
from stream_lsh.worker.clients import producer
from tests.unit.worker.clients.fakes import FakeClient


@pytest.mark.parametrize("text", ["plain", "", "\x00", "half a pair \ud800", "\U0001f600", None])
def test_a_message_reads_as_the_document_that_it_was_made_of(text: str | None) -> None:
    names = FieldNames(id="guid", text="body", time="at", deleted="gone")
    document = Document("\u00fc", text, -5)
    key, value = message(document, names)
    assert parse_document(value, key, ParseRules(names=names), fallback_time_ms=-5) == document


def test_the_metadata_of_a_document_survive_its_message() -> None:
    names = FieldNames(title="head", source="site")
    document = Document("a", "Words", 0, About("Title \ud800", "Wire", 5))
    key, value = message(document, names)
    assert parse_document(value, key, ParseRules(names=names), fallback_time_ms=0, stories=True) == document


def test_an_id_that_cannot_be_a_key_is_rejected() -> None:
    with pytest.raises(UnusableDocument, match="expected UTF-8"):
        message(Document("\ud800", "text", 0), FieldNames())


PEOPLE = Profile(
    name="people",
    fields=(Field(name="name", type="name"), Field(name="kind", columns=("id", "deleted", "source", "fields"))),
    comparisons=(),
    id_columns=("rec_id", "id"),
    source_columns=("data source", "source"),
)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Ann Lee"},
        {"name": ["Ann", "Bob"], "shoes": 9, "tags": None},
        {"name": "Ann", "id": "another one"},
        {"name": "Ann", "ID": 7},
        {"name": "Ann", "time": "noon"},
        {"name": "Ann", "deleted": "no"},
        {"name": "Ann", "Source": "web"},
        {"name": "Ann", "fields": "many"},
        {"name": "Ann \U0001f600", "size": 10**30},
        {},
    ],
)
@pytest.mark.parametrize("source", ["", "a/b \u00fc"])
@pytest.mark.parametrize("names", [FieldNames(), FieldNames(time="at", deleted="gone")])
def test_a_record_reads_as_the_one_that_was_sent(fields: dict[str, object], source: str, names: FieldNames) -> None:
    record, reader = Record("crm/\u00fc", fields, source, 5_000), Reader(PEOPLE)
    key, value = record_message(record, PEOPLE, names)
    found = parse_record(value, key, reader, ParseRules(names=names), fallback_time_ms=9_000)
    assert (found.id, found.time_ms, found.deleted) == (record.id, 5_000, False)
    if source or "Source" not in fields:
        assert found.source == source
    assert found.values == reader.values(record)


def test_a_record_without_a_time_has_that_of_its_message_and_looks_plain() -> None:
    key, value = record_message(Record("7", {"name": "Ann"}), PEOPLE, FieldNames())
    assert (key, json.loads(value or b"")) == (b"7", {"rec_id": "7", "name": "Ann"})
    assert parse_record(value, key, Reader(PEOPLE), fallback_time_ms=9).time_ms == 9


def test_only_a_record_whose_flag_is_true_has_no_value() -> None:
    assert record_message(Record("7", {"deleted": True}), PEOPLE, FieldNames()) == (b"7", None)
    assert record_message(Record("7", {"deleted": "true"}), PEOPLE, FieldNames())[1] is not None
    assert record_message(Record("7", {"deleted": True}), PEOPLE, FieldNames(deleted="gone"))[1] is not None


def test_a_profile_without_columns_of_id_and_source_has_the_key() -> None:
    bare = replace(PEOPLE, id_columns=(), source_columns=())
    key, value = record_message(Record("7", {"name": "Ann"}, "crm"), bare, FieldNames())
    assert parse_record(value, key, Reader(bare), fallback_time_ms=9).id == "7"


class ProducerWithoutTopic(FakeClient):
    """A client of a broker that does not have the topic and does not create it."""

    async def partitions_for(self, topic: str) -> set[int]:
        return {0}

    async def send(self, topic: str, value: bytes | None, key: bytes) -> Any:
        raise UnknownTopicOrPartitionError


class WaitingProducer(ProducerWithoutTopic):
    """A client that waits for a topic that does not appear, as aiokafka does for 40 s."""

    async def partitions_for(self, topic: str) -> set[int]:
        await asyncio.sleep(40)
        raise UnknownTopicOrPartitionError


class RefusedProducer(ProducerWithoutTopic):
    """A client of a user who may describe the topic, but not write to it."""

    async def send(self, topic: str, value: bytes | None, key: bytes) -> Any:
        refused = asyncio.get_running_loop().create_future()
        refused.set_exception(TopicAuthorizationFailedError(topic))
        return refused


class HiddenTopicProducer(ProducerWithoutTopic):
    """A client of a user without any right on the topic."""

    async def partitions_for(self, topic: str) -> set[int]:
        raise TopicAuthorizationFailedError(topic)


def no_admin(kafka: object) -> None:
    raise KafkaError


async def fed(keys: str) -> None:
    config = parse(f"[[pipeline]]\n{keys}", "c.toml", {})
    async with producer.Feeder(config.kafka, config.pipelines[0]) as feeder:
        await feeder.send([Document("a", "text", 0)])


@pytest.mark.parametrize("client", [ProducerWithoutTopic, WaitingProducer])
@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('source = "news"', "news: the topic does not exist; a worker creates it when it starts"),
        ('source = ["news"]\nrekey = true', "news: the topic does not exist; create it"),
    ],
)
def test_a_source_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, keys: str, problem: str, client: type[ProducerWithoutTopic]
) -> None:
    monkeypatch.setattr(producer, "admin_of", no_admin)
    monkeypatch.setattr(producer, "AIOKafkaProducer", client)
    monkeypatch.setattr(producer, "_APPEAR_SECONDS", 0.1)
    with pytest.raises(ConfigError, match=problem):
        asyncio.run(asyncio.wait_for(fed(keys), 10))


@pytest.mark.parametrize("client", [RefusedProducer, HiddenTopicProducer])
def test_a_source_that_the_user_may_not_write_to_is_named_with_the_right(
    monkeypatch: pytest.MonkeyPatch, client: type[ProducerWithoutTopic]
) -> None:
    monkeypatch.setattr(producer, "admin_of", no_admin)
    monkeypatch.setattr(producer, "AIOKafkaProducer", client)
    with pytest.raises(ConfigError, match="news: the broker refuses to write to it: this user lacks the right Write"):
        asyncio.run(fed('source = "news"'))


class StoringProducer(ProducerWithoutTopic):
    """A client whose messages are stored at once."""

    async def send(self, topic: str, value: bytes | None, key: bytes) -> Any:
        stored = asyncio.get_running_loop().create_future()
        stored.set_result(None)
        return stored


def test_a_document_that_a_worker_would_not_use_is_rejected_with_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer, "admin_of", no_admin)
    monkeypatch.setattr(producer, "AIOKafkaProducer", StoringProducer)
    config = parse('[[pipeline]]\nname = "p"\nsource = "s"\nmax_document_bytes = 100\n', "c.toml", {})
    values = {b"fits": b"w" * 100, b"large": b"w" * 101, b"gone": None}

    async def run() -> tuple[int, list[tuple[str, str]]]:
        async with producer.Feeder(config.kafka, config.pipelines[0]) as feeder:
            await feeder.send_messages(values.items())
        return feeder.sent, [(id, str(error)) for id, error in feeder.rejected]

    problem = (
        "got a value of 101 bytes, expected at most 100: shorten it, or raise `max_document_bytes` of the pipeline p"
    )
    assert asyncio.run(run()) == (2, [("large", problem)])
