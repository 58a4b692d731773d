"""Messages as lines: the pairs that a pipeline compares."""

import asyncio
import json
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from aiokafka import TopicPartition  # type: ignore[import-untyped]
from aiokafka.errors import KafkaTimeoutError  # type: ignore[import-untyped]

from stream_lsh.config import parse
from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.errors import DoubtError, FingerprintMismatch
from stream_lsh.model import make_ref
from stream_lsh.pipeline.batches import CANDIDATE, RECHECK, Candidates, CandidatesFrame, Mark, Watermarks
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import encode
from stream_lsh.worker.clients import tail
from stream_lsh.worker.clients.tail import candidate_lines, readable
from tests.unit.worker.clients.fakes import FakeClient

PIPELINE = parse('[[pipeline]]\nname = "p"\nsource = "s"\n', "test.toml", {}).pipelines[0]
OTHER = parse('[[pipeline]]\nname = "p"\nsource = "s"\nseed = 7\n', "test.toml", {}).pipelines[0]
PAIRS = Candidates(
    np.array([make_ref(2, 17), make_ref(0, 9)], np.uint64),
    np.array([make_ref(1, 4), make_ref(0, 3)], np.uint64),
    np.array([CANDIDATE, RECHECK], np.uint8),
)


def record(frame: CandidatesFrame) -> SimpleNamespace:
    return SimpleNamespace(value=encode(frame, fingerprint(PIPELINE.kind.stored_settings())))


def test_each_pair_is_a_line_of_text_and_of_json() -> None:
    candidates = record(CandidatesFrame(candidates=PAIRS))
    assert candidate_lines(PIPELINE, candidates, as_json=False) == [
        b"candidate  s[2]:17  s[1]:4",
        b"recheck    s[0]:9  s[0]:3",
    ]
    first, second = map(json.loads, candidate_lines(PIPELINE, candidates, as_json=True))
    assert first == {
        "kind": "candidate",
        "new": {"partition": 2, "offset": 17},
        "old": {"partition": 1, "offset": 4},
    }
    assert second["kind"] == "recheck"


def test_messages_without_pairs_have_no_line_and_other_settings_are_rejected() -> None:
    only_time = CandidatesFrame(watermarks=Watermarks(0, (Mark(0, 5, False, 0),)))
    assert candidate_lines(PIPELINE, record(only_time), as_json=False) == []
    with pytest.raises(FingerprintMismatch):
        candidate_lines(OTHER, record(only_time), as_json=False)


def test_two_sites_are_a_line_with_both_shares() -> None:
    value = {"left": "a.org", "right": "b.org", "left_share": 0.125, "right_share": 1.0}
    message = SimpleNamespace(key=b'["a.org","b.org"]', value=json.dumps(value).encode(), headers=[])
    assert readable("mirror-sites", message, as_json=False) == "12.5% of a.org in b.org  100.0% of b.org in a.org"
    gone = SimpleNamespace(key=message.key, value=None, headers=[])
    assert readable("mirror-sites", gone, as_json=False) == 'gone   ["a.org","b.org"]'


@pytest.mark.parametrize("kind", ["matches", "members", "clusters", "entities", "reviews", "mirror-sites"])
@pytest.mark.parametrize("value", [b"garbage\xff", b"[1]", b"5", b'{"a": 1}'])
def test_a_message_of_another_program_is_shown_as_it_is(kind: str, value: bytes) -> None:
    message = SimpleNamespace(key=b"k", value=value, headers=[])
    assert readable(kind, message, as_json=False) == f"not a result  k  {value.decode('utf-8', 'replace')}"


def test_partitions_that_no_broker_reports_are_an_error_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "_METADATA_S", 0.02)
    with pytest.raises(DoubtError, match=r"^p-matches: no broker reported the partitions within 0 s; try again$"):
        asyncio.run(tail._assigned(SimpleNamespace(assignment=set), ["p-matches"]))


def test_a_broker_that_stops_answering_is_an_error_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = TopicPartition("m", 0)

    class Consumer(FakeClient):
        async def topics(self) -> set[str]:
            return {"m"}

        def subscribe(self, topics: Sequence[str]) -> None:
            pass

        def assignment(self) -> set[TopicPartition]:
            return {partition}

        async def end_offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
            raise KafkaTimeoutError("no leader")

    async def read() -> None:
        async for _ in tail.messages(KafkaConfig(), ["m"], True, follow=False):
            raise AssertionError

    monkeypatch.setattr(tail, "AIOKafkaConsumer", Consumer)
    with pytest.raises(DoubtError, match="got no answer from localhost:9092"):
        asyncio.run(read())
