"""Pipelines of records live: the same matches and entities as in memory, and what people decide is honoured."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stream_lsh import Record, RecordLinker
from stream_lsh.config import Config
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.record.in_memory import learned_from
from stream_lsh.kinds.record.profiles import bundled, profile_text
from stream_lsh.records.profile import Profile
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.topology import build_app, source_partitions
from tests.evaluation.linking import measured
from tests.evaluation.record_corpora import febrl
from tests.kafka.harness import read, running, until
from tests.kafka.messages import NOW_MS, document, eventually, letters, producing, started
from tests.kafka.pipelines import parsed
from tests.kafka.worker.test_startup import refused
from tests.patience import PATIENCE
from tests.unit.kinds.test_record_linker import PROFILE, record

ANN = {"name": "Ann Lee", "born": "1980"}


def resolving(
    broker: Broker, name: str, profile: Profile, folder: Path, *, partitions: int = 2, more: str = ""
) -> Config:
    """A pipeline of records, as `stream-lsh worker` reads it."""
    path = folder / f"{profile.name}.toml"
    path.write_text(profile_text(profile), encoding="utf-8")
    return parsed(broker, name, partitions, more, source=f"{name}-source", kind="record", profile=str(path))


async def send(broker: Broker, topic: str, messages: Iterable[tuple[str, dict[str, Any] | None]]) -> None:
    async with producing(broker, linger_ms=5) as producer:
        sent = []
        for key, fields in messages:
            value = None if fields is None else json.dumps(fields).encode()
            sent.append(await producer.send(topic, value, key=key.encode(), timestamp_ms=NOW_MS))
        await asyncio.gather(*sent)


async def truths(config: Config, name: str) -> dict[str, Any]:
    """The final state of a compacted topic: the last value of each key, unless it is null."""
    topic, last = config.pipelines[0].public_topics[name], dict[str, Any]()
    for one in await read(config.kafka.brokers[0], topic):
        last[one.key.decode()] = one.value
    return {key: json.loads(value) for key, value in last.items() if value is not None}


async def groups(config: Config) -> list[list[str]]:
    """The members of each entity, by the topic `entities`; the topic `members` agrees."""
    entities = await truths(config, "entities")
    found = sorted(sorted(member["id"] for member in entity["members"]) for entity in entities.values())
    members = dict[str, list[str]]()
    for id, member in (await truths(config, "members")).items():
        members.setdefault(member["entity"], []).append(id)
    return found if found == sorted(map(sorted, members.values())) else [["entities", "members", "differ"]]


def of_linker(linker: RecordLinker) -> tuple[dict[str, tuple[float, dict[str, float], list[str]]], list[list[str]]]:
    matches = {
        json.dumps([one.left, one.right], separators=(",", ":")): (one.score, dict(one.weights), list(one.rules))
        for one in linker.matches()
    }
    return matches, sorted(sorted(entity.members) for entity in linker.entities())


RECORDS = [
    record("1", "Ann Lee", "1980"), record("2", "Ann Lee", "1980", "Leeds", source="crm"), record("3", "Ann Lee"),
    record("4", "Bob Ray", "1955", "York"), record("5", "Bob Ray", "1955", "Leeds"), record("6", "Cid Fox", "1955"),
]  # fmt: skip


def fields_of(one: Record) -> dict[str, Any]:
    return {**one.fields, "source": one.source}


def test_matches_entities_and_reviews_are_those_of_the_linker_and_outlive_the_worker(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    elsewhere = replace(config, worker=replace(config.worker, data_dir=tmp_path / "empty"))
    source, linker = config.pipelines[0].source, RecordLinker(PROFILE)
    changes: list[list[tuple[str, dict[str, Any] | None]]] = [
        [(one.id, fields_of(one)) for one in RECORDS],
        [("5", None), ("6", {**ANN, "town": "Leeds"})],
        [("6", {"name": "Cid Fox", "born": "1955"}), ("3", {**ANN})],
    ]

    async def step(config: Config, messages: list[tuple[str, dict[str, Any] | None]]) -> None:
        for id, fields in messages:
            if fields is None:
                linker.remove(id)
            else:
                linker.add(Record(id, fields, str(fields.get("source", "")), NOW_MS))
        matches, entities = of_linker(linker)
        async with running(build_app(config, await source_partitions(config))):
            await send(broker, source, messages)
            assert await eventually(lambda: groups(config), entities) == entities

        async def published() -> dict[str, Any]:
            found = await truths(config, "matches")
            return {key: (one["score"], one["weights"], one["rules"]) for key, one in found.items()}

        assert await eventually(published, matches) == matches
        reviews = {json.dumps([one.left, one.right], separators=(",", ":")) for one in linker.reviews()}
        assert set(await truths(config, "reviews")) == reviews
        golden = {tuple(sorted(one.members)): dict(one.golden) for one in linker.entities()}
        entities_now = (await truths(config, "entities")).values()
        assert {
            tuple(sorted(member["id"] for member in one["members"])): one["golden"] for one in entities_now
        } == golden

    async def run() -> None:
        # The second worker has its state from the disk, the third from the changelogs.
        await step(config, changes[0])
        await step(config, changes[1])
        await step(elsewhere, changes[2])

    asyncio.run(run())
    assert linker.matches()
    assert of_linker(linker)[1] == [["1", "2", "3"], ["4", "6"]] or len(linker.entities()) >= 1


def test_decisions_are_honoured_from_then_on(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    pipeline = config.pipelines[0]

    async def decide(one: str, other: str, verdict: str | None) -> None:
        key = json.dumps([one, other], separators=(",", ":"))
        await send(broker, pipeline.decisions_topic, [(key, None if verdict is None else {"decision": verdict})])

    async def run() -> None:
        async with running(await started(config)):
            await send(broker, pipeline.source, [("1", ANN), ("2", ANN), ("3", {"name": "Ann Lee"})])
            assert await eventually(lambda: groups(config), [["1", "2"]]) == [["1", "2"]]
            assert set(await truths(config, "reviews")) == {'["1","3"]', '["2","3"]'}
            await decide("3", "1", "same")
            assert await eventually(lambda: groups(config), [["1", "2", "3"]]) == [["1", "2", "3"]]
            assert '["1","3"]' in await truths(config, "matches")
            assert set(await truths(config, "reviews")) == {'["2","3"]'}
            await decide("1", "2", "different")
            assert await eventually(lambda: groups(config), [["1", "3"]]) == [["1", "3"]]
            assert '["1","2"]' not in await truths(config, "matches")
        async with running(await started(config)):
            # The record changes, the decision stays.
            await send(broker, pipeline.source, [("2", {**ANN, "town": "York"}), ("4", {"name": "Bob", "born": "1"})])
            await send(broker, pipeline.source, [("5", {"name": "Bob", "born": "1"})])
            wanted = [["1", "3"], ["4", "5"]]
            assert await eventually(lambda: groups(config), wanted) == wanted
            await decide("1", "2", None)
            wanted = [["1", "2", "3"], ["4", "5"]]
            assert await eventually(lambda: groups(config), wanted) == wanted
            await send(broker, pipeline.decisions_topic, [("no pair", {"decision": "same"}), ('["1","3"]', {"is": 1})])

            async def reasons() -> list[str]:
                found = await letters(config)
                return sorted(dict(one.headers)["reason"].decode() for one in found.values())

            assert await eventually(reasons, ["decision", "key"]) == ["decision", "key"]

    asyncio.run(run())


def test_unusable_messages_are_rejected_and_no_others_are_lost(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path, partitions=1)
    source = config.pipelines[0].source
    bad: list[tuple[bytes | None, bytes, str]] = [
        (None, json.dumps(ANN).encode(), "key"),
        (b"a", b"[1, 2]", "json"),
        (b"b", b'{"name": {"first": "Ann"}}', "field"),
        (b"c", b'{"name": "Ann Lee", "time": "yesterday"}', "time"),
        (b"d", b'{"name": "Ann Lee", "id": "other"}', "key"),
        (b"e", b'{"name": "Ann \xff"}', "utf8"),
        (b"f", json.dumps({"name": "Ann", "source": "s" * 101}).encode(), "source"),
    ]
    odd: list[tuple[str, dict[str, Any] | None]] = [
        ("1", {**ANN, "born": "2021-02-30", "shoe size": {"eu": 44}}), ("2", {**ANN, "born": "2021-02-30"}),
        ("long", {"name": "x" * 10_000, "born": "1900"}), ("long too", {"name": "x" * 10_000, "born": "1900"}),
        ("控制", {"name": "Ann\u0000 \u0007Lee", "born": "19\u000080"}),
        ("empty", {"name": "", "born": None, "town": "n/a"}),
        ("greek", {"name": "Ελένη Παππά", "born": "1970"}), ("greek too", {"name": "ελενη παππα", "born": "1970"}),
    ]  # fmt: skip

    async def run() -> None:
        async with running(await started(config)):
            async with producing(broker) as producer:
                for key, value, _ in bad:
                    await producer.send_and_wait(source, value, key=key, timestamp_ms=NOW_MS)
            await send(broker, source, odd)
            wanted = [["1", "2"], ["greek", "greek too"], ["long", "long too"]]
            assert await eventually(lambda: groups(config), wanted) == wanted
        found = await letters(config)
        assert [dict(found[offset].headers)["reason"].decode() for offset in sorted(found)] == [one[2] for one in bad]

    asyncio.run(run())


def test_a_pipeline_of_texts_and_one_of_records_run_in_one_worker(broker: Broker, name: str, tmp_path: Path) -> None:
    more = f'[[pipeline]]\nname = "{name}-texts"\nsource = "{name}-articles"\npartitions = 2'
    config = resolving(broker, name, PROFILE, tmp_path, more=more)
    records, texts = config.pipelines
    text = "two ships burn in the port of the town and sailors wonder what set them on fire last night"

    async def run() -> None:
        async with running(await started(config)):
            await send(broker, records.source, [("1", ANN), ("2", ANN)])
            async with producing(broker) as producer:
                for id in (b"a", b"b"):
                    await producer.send_and_wait(texts.source, document(text), key=id, timestamp_ms=NOW_MS)
            assert await eventually(lambda: groups(config), [["1", "2"]]) == [["1", "2"]]

            async def pairs() -> list[bytes]:
                return [one.key for one in await read(broker.address, texts.matches_topic)]

            assert await eventually(pairs, [b'["a","b"]']) == [b'["a","b"]']

    asyncio.run(run())


def test_a_profile_that_contradicts_the_state_is_refused(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    folder = tmp_path / "other"
    folder.mkdir()
    other = resolving(broker, name, replace(PROFILE, match=0.8, rules=("name",)), folder)

    async def run() -> Any:
        async with running(await started(config)):
            pass
        return await refused(other)

    error = asyncio.run(run())
    assert isinstance(error, ConfigError)
    assert "match: ours 0.8, theirs 0.9" in str(error)
    assert "rules: ours 'name', theirs 'name; born; town + name:first1'" in str(error)


def test_febrl_streamed_through_a_broker_is_resolved(broker: Broker, name: str, data_dir: Path, tmp_path: Path) -> None:
    corpus = febrl(data_dir, 3)
    profile = learned_from(bundled("people"), corpus.records)
    config = resolving(broker, name, profile, tmp_path, partitions=4)
    messages = [(one.id, dict(one.fields)) for one in corpus.records]

    async def run() -> set[tuple[str, str]]:
        app = await started(config)
        async with running(app):
            state = app.pipelines[config.pipelines[0].name]
            await send(broker, config.pipelines[0].source, messages)
            await until(lambda: state.counts.matches >= 6_520)
        return {tuple(json.loads(key)) for key in await truths(config, "matches")}

    pairs: Any = asyncio.run(run())
    assert measured(pairs, corpus.truth)["f1"] >= 0.993


def test_results_can_be_followed_and_explained(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    file = tmp_path / "worker.toml"
    file.write_text(
        f'[kafka]\nbrokers = "{broker.address}"\n[worker]\napp_id = "{name}"\n[[pipeline]]\nname = "{name}-p"\n'
        f'source = "{name}-source"\npartitions = 2\nkind = "record"\nprofile = "{tmp_path / "people.toml"}"\n'
    )

    async def run() -> None:
        async with running(await started(config)):
            records = [("1", ANN), ("2", {**ANN, "town": "Leeds"}), ("3", {"name": "Ann Lee"})]
            await send(broker, config.pipelines[0].source, records)
            assert await eventually(lambda: groups(config), [["1", "2"]]) == [["1", "2"]]

    def output(*arguments: str) -> str:
        command = [sys.executable, "-m", "stream_lsh", *arguments, "--config", str(file)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)  # noqa: S603 - ourselves
        return ran.stdout

    asyncio.run(run())
    (entity,) = output("tail", "entities", "--from-beginning", "--no-follow").splitlines()[-1:]
    assert entity.split(maxsplit=2) == ["created", "1", "2 records: 2, 1  name Ann Lee; born 1980; town Leeds"]
    reviews = output("tail", "reviews", "--from-beginning", "--no-follow").splitlines()
    assert sorted(line.split()[1:3] for line in reviews) == [["1", "3"], ["2", "3"]]
    explained = json.loads(output("explain", "1", "2", "--json"))
    assert (explained["verdict"], round(explained["total"], 2)) == ("match", 7.73)
