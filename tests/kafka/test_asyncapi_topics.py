"""What a worker sends to the public topics is what docs/asyncapi.yaml says, headers and dead letters included."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from stream_lsh.pipeline.scheme import Signatures, TextScheme
from stream_lsh.worker.brokers import Broker
from tests.asyncapi import Seen, described
from tests.kafka.harness import read, running
from tests.kafka.messages import NOW_MS, Message, document, eventually, put, started
from tests.kafka.test_worker import configured
from tests.kafka.test_worker_input import LIMIT, REFUSED

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
    [Message(b"untold", document(OTHER, **{field: 5})) for field in ("title", "source", "url")],
    # Event time goes on, so that everything before expires.
    [Message(b"f", document("much later", time=NOW_MS + 20 * HOUR_MS), NOW_MS + 20 * HOUR_MS)],
]
"""What is sent, step by step: what is in one step may be settled at once."""


def test_a_worker_publishes_what_is_described(broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert seen.values["deadLetter", "headers", "reason"] == letters.values["deadLetter", "headers", "reason"]
    assert seen.values["matchWithdrawn", "headers", "reason"] == {"updated", "deleted"}
    assert "expired" in seen.values["memberGone", "headers", "reason"]
