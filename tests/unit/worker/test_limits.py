"""A message beyond the limit of a topic never reaches the client, and dead letters fit whatever their contents."""

import asyncio
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.load import parse
from stream_lsh.errors import ConfigError, InvariantError, UnusableDocument
from stream_lsh.wire.manifest import Manifest
from stream_lsh.wire.origin import Origin
from stream_lsh.worker.agents.dead_letters import dead_letter
from stream_lsh.worker.checks import startup
from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.topics.limits import TopicLimits
from stream_lsh.worker.engine.topics.required import FoundTopic, TopicSpec, topic_problems
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.topology import build_app

TEXTS = "[worker]\nweb=''\n[pipeline]\nname='news'\nsource='docs'\n"


def app_of(text: str) -> Any:
    config = parse(text, "news.toml", {})
    return build_app(config, {one.name: 1 for one in config.pipelines}, embedded=True)


def test_the_least_limit_of_producer_and_topic_counts() -> None:
    limits = TopicLimits(1_000)
    limits.set({"small": 300, "large": 5_000})
    assert [limits.of(topic) for topic in ("small", "large", "unknown")] == [300, 1_000, 1_000]
    limits.check("small", b"k" * 50, b"v" * 100, {"h": b"x" * 50})
    for key, value, headers in (
        (b"k" * 300, None, None),
        (None, b"v" * 300, None),
        (None, b"v", {"h": b"x" * 300}),
        (b"k" * 100, b"v" * 100, {"h": b"x" * 100}),
    ):
        with pytest.raises(InvariantError, match=r"small: got a record of \d+ bytes, expected at most 300"):
            limits.check("small", key, value, headers)


@pytest.mark.parametrize("headers", [None, [], {}, [("reason", b"updated")]])
def test_a_record_is_refused_exactly_where_the_client_estimates_more_than_the_limit(headers: Any) -> None:
    limits, estimate = TopicLimits(1_000), DefaultRecordBatchBuilder.estimate_size_in_bytes
    pairs = [*headers.items()] if isinstance(headers, dict) else headers or []
    for key in (None, b"", b"k" * 40):
        for size in range(700, 1_050):
            assert bool(limits.excess("a", key, b"v" * size, headers)) == (estimate(key, b"v" * size, pairs) > 1_000)
        assert not limits.excess("a", key, None, headers)


@pytest.mark.parametrize("limit", [0, 300])
def test_a_manifest_that_is_too_large_is_reported_before_anything_is_written(limit: int) -> None:
    (pipeline,) = parse(TEXTS, "news.toml", {}).pipelines
    large = {"columns": "x" * (pipeline.max_message_bytes if not limit else limit)}
    manifest = Manifest("news", "docs", {}, 1, {}, 0.8, large)
    expected = (
        rf"manifest: got a record of \d+ bytes, expected at most {limit or pipeline.max_message_bytes}, .*profile"
    )
    with pytest.raises(ConfigError, match=expected):
        asyncio.run(startup._write(KafkaConfig(brokers=("nowhere:1",)), pipeline, manifest, limit))


def test_a_record_that_is_too_large_never_reaches_the_producer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    class Batches:
        async def append(self, topic: str, partition: Any, key: bytes, value: bytes, **_: Any) -> None:
            sent.append(len(value))

        async def append_all(self, topic: str, records: Any) -> None:
            sent.extend(len(value) for _, value, _ in records)

    async def run() -> None:
        app = EngineApp("limits", broker="kafka://nowhere:1")
        app.limits.set({"matches": 1_000})
        monkeypatch.setattr(app, "_open_batches", Batches)
        await app.produce("matches", b"k", b"v" * 800)
        await app.produce_all("matches", [(b"k", b"v" * 700, [("h", b"x")]), (b"k", b"v" * 600, [])])
        with pytest.raises(InvariantError, match="matches"):
            await app.produce("matches", b"k", b"v" * 1_000)
        with pytest.raises(InvariantError, match="matches"):
            await app.produce_all("matches", [(b"k", b"v" * 800, []), (b"k", b"v" * 800, [("h", b"x" * 200)])])

    asyncio.run(run())
    assert sent == [800, 700, 600]


def test_of_several_pipelines_each_topic_has_the_limit_of_its_own() -> None:
    news, ads = "name='news'\nsource='docs'\nmax_document_bytes='4MB'\n", "name='ads'\nsource='ads'\n"
    app = app_of(f"[worker]\nweb=''\n[[pipeline]]\n{news}[[pipeline]]\n{ads}")
    large, small = app.config.pipelines
    assert app.limits.of(large.internal_topic("bands")) > 4_000_000
    assert app.limits.of(small.internal_topic("bands")) < 600_000
    assert app.limits.of(large.matches_topic) == app.limits.of(small.matches_topic) < 300_000


def test_a_topic_of_results_that_takes_less_than_a_result_forbids_the_start() -> None:
    app = app_of(TEXTS)
    needed = app.limits.of(app.config.pipelines[0].clusters_topic)
    spec = TopicSpec("clusters", 1, message_bytes=needed - 512)
    assert topic_problems(spec, FoundTopic(1, 1, {"max.message.bytes": str(needed)}), 1) == []
    assert topic_problems(spec, FoundTopic(1, 1, {"max.message.bytes": str(needed - 1)}), 1) == [
        f"clusters: has max.message.bytes={needed - 1}, and at least {needed} are needed"
    ]


# -- dead letters


class Sending:
    """An app that checks and stores the messages that it sends."""

    def __init__(self) -> None:
        self.app = app_of(TEXTS)
        self.limits = self.app.limits
        self.sent: list[tuple[bytes | None, bytes | None, dict[str, bytes]]] = []

    async def produce(self, topic: str, key: Any, value: Any, *, headers: dict[str, bytes]) -> Any:
        self.limits.check(topic, key, value, headers)
        assert key is not None or value is not None, "the client sends nothing that has neither"
        self.sent.append((key, value, headers))


def letter(key: bytes | None, value: bytes | None, error: str = "got nonsense") -> Any:
    app: Any = Sending()
    state = PipelineState(app.app.config.pipelines[0], 1)
    record = SimpleNamespace(key=key, value=value, topic="t" * 249, partition=2**31 - 1, offset=2**63 - 1)
    origin = Origin("o" * 249, 2**31 - 1, 2**63 - 1, 5, 2**31 - 1)
    asyncio.run(dead_letter(app, state, record, UnusableDocument("decision", error), origin))
    ((key, value, headers),) = app.sent
    return key, value, headers


def test_a_key_longer_than_an_id_moves_to_the_headers() -> None:
    long = b"\xff" + b"k" * 700_000
    key, value, headers = letter(long, b"text")
    assert (key, value) == (None, b"text")
    assert headers["key"] == long[:256]
    assert headers["key_sha256"] == sha256(long).hexdigest().encode()
    assert headers["key_bytes"] == b"700001"
    key, value, headers = letter(b"k" * 1_024, b"text")
    assert (key, value) == (b"k" * 1_024, b"text")
    assert not headers.keys() & {"key", "key_sha256", "key_bytes"}


@pytest.mark.parametrize("key", [None, b"", b"k", b"k" * 1_024, b"k" * 1_025, b"k" * 1_000_000])
@pytest.mark.parametrize("size", [None, 0, 500_000, 584_699, 584_700, 585_728, 585_729, 589_824, 1_000_000])
def test_every_dead_letter_fits_its_topic(key: bytes | None, size: int | None) -> None:
    for error in ("x", "x" * 100_000, "ü" * 100_000, "\ud800" * 100_000):
        _, value, headers = letter(key, None if size is None else b"v" * size, error)
        assert len(headers["error"]) <= 2_000
        headers["error"].decode()
        if size is not None and size < 584_000:
            assert value == b"v" * size
        elif value == b"" and size:
            assert headers["error"].endswith(b"; the value is left out here, the source has it")
