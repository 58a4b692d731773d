"""A worker does not start on foreign state or beside another application, and reports all problems together."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewPartitions  # type: ignore[import-untyped]

from stream_lsh.config import Config, TopicsConfig
from stream_lsh.errors import ConfigError, DamagedBytes, FutureFormat, StateError, StreamLSHError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.checks import startup
from stream_lsh.worker.engine.topics.ids import topic_ids
from stream_lsh.worker.topology import build_app, source_partitions
from tests.kafka.harness import admin_at, feed, make_topics, read, running, until
from tests.kafka.messages import Message, eventually, matched, pair, put, started, twins
from tests.kafka.pipelines import configured
from tests.patience import PATIENCE


async def ran(broker: Broker, config: Config) -> None:
    """A worker that found a pair, and ended in order."""
    async with running(await started(config)):
        await put(broker, config.pipelines[0].source, twins(0))
        assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}


async def refused(config: Config) -> StreamLSHError:
    """The error with which a worker refuses to start."""
    app = await started(config)
    with pytest.raises(StreamLSHError) as caught:
        await app.start()
    assert not app.consumer.started
    return caught.value


async def topics_of(broker: Broker, name: str) -> set[str]:
    async with admin_at(broker.address) as admin:
        return {topic for topic in await admin.list_topics() if topic.startswith(name)}


async def replaced(broker: Broker, topic: str, partitions: int | None) -> None:
    """Delete a topic and, with a number of partitions, create it again."""
    async with admin_at(broker.address) as admin:
        await admin.delete_topics([topic])
        async with asyncio.timeout(PATIENCE):
            while topic in await admin.list_topics():
                await asyncio.sleep(0.05)
    if partitions is not None:
        await make_topics(broker.address, topic, partitions=partitions)


def test_a_restarted_worker_continues_with_the_manifest_of_the_first(broker: Broker, name: str) -> None:
    config = configured(broker, name, 2)

    async def run() -> tuple[list[Any], dict[str, str] | None]:
        for _ in range(2):
            async with running(await started(config)):
                pass
        async with admin_at(broker.address) as admin:
            ids = await topic_ids(admin, [f"{name}-source"])
        return await read(broker.address, config.pipelines[0].internal_topic("manifest")), ids

    records, ids = asyncio.run(run())
    (manifest,) = (json.loads(record.value) for record in records)
    assert (manifest["format"], manifest["documents"], manifest["partitions"]) == (1, f"{name}-source", 2)
    assert manifest["sources"] == ids


async def source_recreated(broker: Broker, config: Config) -> Config:
    await replaced(broker, config.pipelines[0].source, 1)
    return config


async def source_gone(broker: Broker, config: Config) -> Config:
    await replaced(broker, config.pipelines[0].source, None)
    return config


async def source_grown(broker: Broker, config: Config) -> Config:
    source = config.pipelines[0].source
    async with admin_at(broker.address) as admin:
        await admin.create_partitions({source: NewPartitions(3)})
        async with asyncio.timeout(PATIENCE):
            while (await source_partitions(config))[config.pipelines[0].name] != 3:
                await asyncio.sleep(0.05)
    return config


async def other_settings(broker: Broker, config: Config) -> Config:
    return altered(config, shingles="char:5", threshold=0.7)


async def other_threshold(broker: Broker, config: Config) -> Config:
    """A little higher: the bands, and so the fingerprint, stay; the ledger would keep pairs that are below it."""
    other = altered(config, threshold=0.501)
    assert other.pipelines[0].kind.scheme().settings == config.pipelines[0].kind.scheme().settings
    return other


async def other_measure(broker: Broker, config: Config) -> Config:
    return altered(config, measure="containment")


async def other_source(broker: Broker, config: Config) -> Config:
    return altered(config, sources=(f"{config.worker.app_id}-elsewhere",))


async def other_results(broker: Broker, config: Config) -> Config:
    return altered(config, topics=TopicsConfig(matches=f"{config.worker.app_id}-pairs"))


def altered(config: Config, **keys: Any) -> Config:
    """The same with other values of its pipeline, or of the settings of its kind."""
    (pipeline,) = config.pipelines
    kind = as_kind(pipeline.kind, TextKind)
    own = {field.name for field in fields(TextKind)}
    kind = replace(kind, **{name: keys.pop(name) for name in [*keys] if name in own})
    return replace(config, pipelines=(replace(pipeline, kind=kind, **keys),))


CHANGES: dict[str, tuple[Callable[[Broker, Config], Awaitable[Config]], type[StreamLSHError], list[str]]] = {
    "source recreated": (source_recreated, StateError, ["{}-source: was deleted and recreated", "`app_id`"]),
    "source gone": (source_gone, StateError, ["{}-source: no longer exists", "start over"]),
    "source grown": (
        source_grown,
        ConfigError,
        ["{}-source: has 3 partitions, and the state of {}-p was built from 1", "{}-{}-p-bands: has 1 partition"],
    ),
    "other settings": (other_settings, ConfigError, ["shingles: ours 'char:5', theirs 'mixed:3'", "ours 0.7, theirs"]),
    "other threshold": (other_threshold, ConfigError, ["(threshold: ours 0.501, theirs 0.5)", "restore them"]),
    "other measure": (
        other_measure,
        ConfigError,
        ["measure: ours 'containment', theirs 'jaccard'", "size_ratio: ours 2.0, theirs not set"],
    ),
    "other source": (other_source, ConfigError, ["was built from {}-source, not from {}-elsewhere"]),
    "other results": (other_results, ConfigError, ["matches: ours '{}-pairs', theirs '{}-p-matches'"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_worker_does_not_go_on_with_the_state_of_something_else(broker: Broker, name: str, change: str) -> None:
    config = configured(broker, name, 1)
    make, kind, parts = CHANGES[change]

    async def run() -> tuple[StreamLSHError, set[str], set[str]]:
        async with running(await started(config)):
            pass
        other = await make(broker, config)
        before = await topics_of(broker, name)
        return await refused(other), before, await topics_of(broker, name)

    error, before, after = asyncio.run(run())
    assert type(error) is kind
    for part in parts:
        assert part.replace("{}", name) in str(error)
    assert before == after  # nothing was created


def test_results_of_another_application_are_not_written_to(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    theirs: Any = config.pipelines[0].public_topics
    other = altered(configured(broker, f"{name}-2", 1), topics=TopicsConfig(**theirs))

    async def run() -> tuple[StreamLSHError, set[str]]:
        await ran(broker, config)
        error = await refused(other)
        async with running(await started(config)):  # the first worker continues
            pass
        return error, await topics_of(broker, f"{name}-2")

    error, made = asyncio.run(run())
    assert isinstance(error, ConfigError)
    assert [problem.split(":")[0] for problem in error.problems] == [f"{name}-p-{kind}" for kind in KINDS]
    assert f"the application {name} writes to it" in error.problems[0]
    assert made == set()


KINDS = ("matches", "members", "clusters")


def test_all_problems_that_prevent_a_start_are_reported_together(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)

    async def run() -> StreamLSHError:
        await ran(broker, config)
        await replaced(broker, f"{name}-source", 1)
        await replaced(broker, f"{name}-p-dead-letters", 3)
        foreign = [Message(b"x", None)]
        await put(broker, f"{name}-p-clusters", foreign)  # without an application: accepted
        return await refused(altered(config, shingles="char:4"))

    error = asyncio.run(run())
    assert isinstance(error, ConfigError)
    assert [problem.partition(" ")[0] for problem in error.problems] == [
        f"{name}-p:",
        f"{name}-source:",
        f"{name}-p-dead-letters:",
    ]


def test_a_folder_that_cannot_be_used_is_reported_before_any_topic_is_created(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "news.toml").touch()
    config = configured(broker, name, 1)
    config = replace(config, worker=replace(config.worker, data_dir=tmp_path / "news.toml"))

    async def run() -> tuple[StreamLSHError, set[str]]:
        await make_topics(broker.address, f"{name}-p-matches", partitions=3)
        return await refused(config), await topics_of(broker, name)

    error, made = asyncio.run(run())
    assert isinstance(error, ConfigError)
    assert error.problems[0].startswith(f"worker.data_dir: {tmp_path / 'news.toml'} cannot be used")
    assert f"{name}-p-matches: has 3 partitions, not 1" in error.problems[1]
    assert made == {f"{name}-p-matches"}


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (b'{"format": 2}', FutureFormat, "got format 2, expected 1"),
        (b"no manifest", DamagedBytes, "got a first record that is not a manifest"),
        (b'{"format": 1, "pipeline": "p"}', DamagedBytes, "it has no field 'documents'"),
    ],
)
def test_a_manifest_that_cannot_be_read_ends_the_start(
    broker: Broker, name: str, value: bytes, kind: type[StateError], expected: str
) -> None:
    config = configured(broker, name, 1)
    topic = config.pipelines[0].internal_topic("manifest")

    async def run() -> StreamLSHError:
        settings = {"retention_ms": "-1", "retention_bytes": "-1", "message_timestamp_type": "LogAppendTime"}
        await make_topics(broker.address, topic, partitions=1, **settings)
        await feed(broker.address, topic, [value], partitions=1)
        return await refused(config)

    error = asyncio.run(run())
    assert type(error) is kind
    assert str(error).startswith(f"{topic}: ")
    assert expected in str(error)


def test_of_two_first_workers_under_different_settings_one_ends(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that there is no manifest, and both write one: the first that is stored counts."""
    ours, theirs = configured(broker, name, 1), configured(broker, name, 1, seed=7)
    waiting, looked = 2, startup.state_problems

    def together(*arguments: Any) -> Any:
        nonlocal waiting
        waiting -= 1
        return looked(*arguments)

    monkeypatch.setattr(startup, "state_problems", together)
    write = startup._write

    async def after_both(*arguments: Any) -> None:
        await until(lambda: waiting == 0)
        await write(*arguments)

    monkeypatch.setattr(startup, "_write", after_both)

    async def start(config: Config) -> StreamLSHError | None:
        app = build_app(config, await source_partitions(config))
        async with admin_at(broker.address) as admin:
            try:
                await app.on_first_start()
            except StreamLSHError as error:
                return error
            await startup.after_topics(admin, config, {f"{name}-p": 1})
            if app.folder is not None:
                app.folder.close()
        return None

    async def run() -> list[StreamLSHError | None]:
        return list(await asyncio.gather(start(ours), start(theirs)))

    (error,) = (error for error in asyncio.run(run()) if error is not None)
    assert "seed: ours" in str(error)
