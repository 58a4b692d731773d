"""The public messages of a worker are those of docs/asyncapi.yaml, headers and dead letters included."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.worker.brokers import Broker
from tests.asyncapi import Seen, described
from tests.kafka.harness import read, running
from tests.kafka.messages import NOW_MS, Message, document, eventually, put, started
from tests.kafka.pipelines import configured
from tests.kafka.worker.test_input import LIMIT, REFUSED
from tests.kafka.worker.test_records import ANN, resolving
from tests.unit.kinds.test_record_linker import PROFILE

HOUR_MS = 3_600_000
TEXT = " ".join(f"word{number}" for number in range(20))
MOST = TEXT.rpartition(" ")[0]
OTHER = "nothing of this is like anything in the texts before or behind"
BUG = "a text at which the scheme stumbles"
STEPS = [
    [Message(b"a", document(TEXT)), Message(b"b", document(MOST)), Message(b"c", document(TEXT))],
    [Message(b"d", document(OTHER)), Message(b"e", document(OTHER))],
    [Message(b"b", document("words of its own now that no other has"))],
    [Message(b"a", None)],
    [Message(b"late", document(BUG)), *(message for _, _, message in REFUSED.values())],
    [Message(b"untold", document(OTHER, **{field: [5]})) for field in ("title", "source", "url")],
    # Event time advances, so everything before expires.
    [Message(b"f", document("much later", time=NOW_MS + 20 * HOUR_MS), NOW_MS + 20 * HOUR_MS)],
]
"""The messages, step by step: those of one step may be settled together."""


def test_a_worker_publishes_the_described_messages(broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configured(broker, name, 1, max_document_bytes=LIMIT, on_bug="dead-letter", stories=True)
    pipeline = replace(config.pipelines[0], retention_ms=HOUR_MS, lateness_ms=0)
    config, address = replace(config, pipelines=(pipeline,)), config.kafka.brokers[0]
    sign = TextScheme.sign

    def stumbling(self: TextScheme, texts: list[str]) -> Signatures:
        if BUG in texts:
            raise RuntimeError("stumbled")
        return sign(self, texts)

    monkeypatch.setattr(TextScheme, "sign", stumbling)

    async def published(key: str) -> list[Any]:
        return await read(address, pipeline.public_topics[key])

    async def run() -> dict[str, list[Any]]:
        async def gone(key: str) -> bool:
            last = {record.key: record.value for record in await published(key)}
            return bool(last) and not any(last.values())

        async with running(await started(config)):
            for step in STEPS:
                await put(broker, pipeline.source, step)
                await asyncio.sleep(1.0)
            assert await eventually(lambda: gone("members"), True)
        return {key: await published(key) for key in pipeline.public_topics}

    seen = Seen()
    for channel, records in asyncio.run(run()).items():
        for record in records:
            seen.take(channel, record.key, record.value, record.headers)
    letters = described(["dead_letters"])
    assert {"match", "matchWithdrawn", "member", "memberGone", "cluster", "clusterGone", "deadLetter"} == seen.messages
    assert seen.properties["deadLetter", "headers"] == letters.properties["deadLetter", "headers"]
    of_texts = letters.values["deadLetter", "headers", "reason"] - {"field", "items", "vector", "decision"}
    assert seen.values["deadLetter", "headers", "reason"] == of_texts
    assert seen.values["matchWithdrawn", "headers", "reason"] == {"updated", "deleted"}
    assert "expired" in seen.values["memberGone", "headers", "reason"]


def records(*messages: tuple[str, dict[str, Any] | None]) -> list[Message]:
    return [Message(key.encode(), None if fields is None else json.dumps(fields).encode()) for key, fields in messages]


NAMELESS = {"name": "Ann Lee"}
OF_RECORDS: list[tuple[str, list[Message]]] = [
    ("source", records(("1", ANN | {"source": "crm"}), ("2", ANN), ("3", NAMELESS), ("4", NAMELESS))),
    ("decisions", records(('["1","3"]', {"decision": "same"}))),
    ("source", records(("2", {"name": "Bob Ray", "born": "1955"}))),
    ("decisions", records(('["1","3"]', {"decision": "different"}))),
    ("decisions", records(("no pair", {"decision": "same"}), ('["1","3"]', {"decision": "maybe"}))),
    ("source", [*records(("bad", {"name": {"first": "Ann"}})), Message(b"late", b'{"name": "Ann", "source": 5}')]),
    ("source", records(("2", ANN))),
    ("source", records(("4", None), ("1", None))),
]
"""The messages and their topics, step by step."""


def test_a_worker_of_records_publishes_the_described_messages(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path, partitions=1)
    (pipeline,) = config.pipelines
    address, topics = config.kafka.brokers[0], {"source": pipeline.source, **pipeline.named_topics}

    async def run() -> dict[str, list[Any]]:
        async def members() -> set[bytes]:
            last = {record.key: record.value for record in await read(address, topics["members"])}
            return {key for key, value in last.items() if value is not None}

        async with running(await started(config)):
            for topic, messages in OF_RECORDS:
                await put(broker, topics[topic], messages)
                await asyncio.sleep(1.0)
            assert await eventually(members, set()) == set()
        return {key: await read(address, topic) for key, topic in pipeline.public_topics.items()}

    seen = Seen()
    for key, found in asyncio.run(run()).items():
        channel = {"matches": "record_matches", "members": "record_members"}.get(key, key)
        for record in found:
            seen.take(channel, record.key, record.value, record.headers)
    expected = described(["record_matches", "reviews", "record_members", "entities", "dead_letters"])
    assert seen.messages == expected.messages
    assert seen.properties["recordMatch", "payload"] == expected.properties["recordMatch", "payload"]
    assert seen.properties["review", "payload"] == expected.properties["review", "payload"]
    of_all = {"entity", "event", "size", "members", "golden", "first_time", "last_time", "version"}
    assert seen.properties["entity", "payload"] >= of_all
    reasons = {message: seen.values[message, "headers", "reason"] for message in seen.messages}
    assert reasons["deadLetter"] == {"key", "decision", "field", "source"}
    assert reasons["recordMatchWithdrawn"] == {"updated", "deleted", "decided"}
    assert reasons["recordMemberGone"] >= {"deleted", "decided"}
