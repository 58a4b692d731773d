"""`stream-lsh check` on a fresh, a running and a broken set-up; `--audit` on results that are true and that are not."""

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.admin import RecordsToDelete  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.cli.main import main
from stream_lsh.config import Config
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.clients.audit import audit
from stream_lsh.worker.clients.health import Finding, check
from tests.kafka.harness import admin_at, committed, make_topics, read, running, until
from tests.kafka.messages import FOX, NOW_MS, Message, document, eventually, matched, pair, put, started, twins
from tests.kafka.pipelines import articles, configured, edits, expected, send, survivors, written
from tests.kafka.worker.test_records import ANN, groups, resolving
from tests.kafka.worker.test_records import send as send_records
from tests.kafka.worker.test_startup import altered, ran, replaced, topics_of
from tests.patience import PATIENCE
from tests.unit.kinds.test_record_linker import PROFILE


def by_subject(findings: list[Finding]) -> dict[str, Finding]:
    assert len({finding.subject for finding in findings}) == len(findings)
    return {finding.subject: finding for finding in findings}


def wrong(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state == "wrong"]


def test_a_cluster_on_which_no_worker_has_run_is_fine_and_stays_as_it_is(
    broker: Broker, name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config = configured(broker, name, 4)
    assert main(["check", "--config", str(written(config, tmp_path)), "--audit"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert f"ok    source {name}-source: will be created with 4 partitions" in lines
    assert f"ok    topic {name}-{name}-p-manifest: will be created with 1 partition" in lines
    assert f"ok    group {name}: no worker has run yet" in lines
    assert f"ok    results of {name}-p: no results yet" in lines
    assert f"ok    dead letters of {name}-p: 0" in lines
    assert f"note  audit of {name}-p: nothing to audit: no worker has run yet" in lines
    assert all(line.startswith(("ok    ", "note  ")) for line in lines)
    assert asyncio.run(topics_of(broker, name)) == set()


def test_check_reports_each_part_of_a_running_pipeline_in_one_line(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source

    async def run() -> tuple[list[Finding], list[Finding]]:
        async with running(await started(config)):
            await put(broker, source, [*twins(0), Message(b"bad", b"no JSON")])
            await eventually(lambda: matched(config), {pair(0)})
            during = await check(config, config.pipelines)
        await put(broker, source, twins(1))
        return during, await check(config, config.pipelines)

    during, after = map(by_subject, asyncio.run(run()))
    assert not wrong([*during.values(), *after.values()])
    assert during[f"group {name}"].message == "stable, 1 worker"
    assert after[f"group {name}"].state == "note"
    assert (
        after[f"group {name}"].message
        == "empty, 0 workers: no worker runs, and 2 messages of the sources wait: start one"
    )
    assert after[f"source {source}"].message == "1 partition, 1 copy"
    assert after[f"lag of {source}"].message == "2 messages"
    assert after[f"steps of {name}-p"].message == "idle"
    assert after[f"settings of {name}-p"].message.endswith("as of the state")
    assert after[f"identity of {source}"].message.endswith("as of the state")
    assert after[f"results of {name}-p"].message == f"written by {name} only"
    assert after[f"dead letters of {name}-p"].state == "note"
    assert after[f"dead letters of {name}-p"].message.startswith("1: ")


def test_every_problem_has_a_line_with_its_remedy(
    broker: Broker, name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config = configured(broker, name, 1)
    broken = altered(config, shingles="char:4")

    async def breaking() -> None:
        await ran(broker, config)
        await replaced(broker, f"{name}-source", 1)
        await replaced(broker, f"{name}-p-dead-letters", 3)
        await publish(broker, f"{name}-p-clusters", {b"x": b"{}"}, app_id=b"another")

    asyncio.run(breaking())
    assert main(["check", "--config", str(written(broken, tmp_path)), "--audit", "--json"]) == 2
    found = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    problems = {one["subject"]: one["message"] for one in found if one["state"] == "wrong"}
    assert problems.keys() == {
        f"topic {name}-p-dead-letters",
        f"settings of {name}-p",
        f"identity of {name}-source",
        f"results of {name}-p",
    }
    assert problems[f"topic {name}-p-dead-letters"].startswith("has 3 partitions, not 1: see ")
    assert "shingles: ours 'char:4', theirs 'mixed:3'" in problems[f"settings of {name}-p"]
    assert "was deleted and recreated" in problems[f"identity of {name}-source"]
    assert "the application another writes to it" in problems[f"results of {name}-p"]
    assert not any(subject.startswith("audit") for subject in (one["subject"] for one in found))


def test_a_source_that_was_deleted_is_reported_with_the_rest(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)

    async def run() -> list[Finding]:
        await ran(broker, config)
        await replaced(broker, f"{name}-source", None)
        return await check(config, config.pipelines)

    findings = asyncio.run(run())
    (problem,) = wrong(findings)
    assert "no longer exists" in problem.message
    assert by_subject(findings)[f"steps of {name}-p"].state == "ok"


def test_brokers_that_do_not_answer_are_one_wrong_line(
    name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], unused_tcp_port: int
) -> None:
    file = tmp_path / "check.toml"
    file.write_text(f'[kafka]\nbrokers = "127.0.0.1:{unused_tcp_port}"\n[pipeline]\nsource = "s"\n')
    assert main(["check", "--config", str(file)]) == 2
    (line,) = capfdbinary.readouterr().out.decode().splitlines()
    assert line.startswith(f"wrong broker: kafka.brokers: got no answer from 127.0.0.1:{unused_tcp_port}")


@pytest.fixture
def unused_tcp_port() -> int:
    import socket  # noqa: PLC0415 - of this fixture only

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def publish(
    broker: Broker, topic: str, values: Mapping[bytes, bytes | None], app_id: bytes = b"by hand", partition: int = 0
) -> None:
    """Write to a topic of results, past the worker."""
    producer = AIOKafkaProducer(bootstrap_servers=broker.address)
    await producer.start()
    try:
        for key, value in values.items():
            await producer.send_and_wait(topic, value, key=key, headers=[("app_id", app_id)], partition=partition)
    finally:
        await producer.stop()


async def newest(address: str, topic: str) -> dict[bytes, Any]:
    """The last value of each key that is not null."""
    last = {record.key: record.value for record in await read(address, topic)}
    return {key: json.loads(value) for key, value in last.items() if value is not None}


async def settled(config: Config) -> list[Finding]:
    """The audit, once nothing is under way, or patience ends."""
    end = time.monotonic() + PATIENCE
    while True:
        findings = await audit(config, config.pipelines[0])
        if not any("under way" in finding.message for finding in findings) or time.monotonic() > end:
            return findings
        await asyncio.sleep(0.25)


def test_an_audit_is_clean_after_a_run_and_finds_everything_that_is_altered_by_hand(
    broker: Broker, name: str, data_dir: Path, seed: int
) -> None:
    config = configured(broker, name, 1)
    matches, members = config.pipelines[0].matches_topic, config.pipelines[0].members_topic
    stream = edits(articles(data_dir, 800), seed)
    pairs, _ = expected(config, survivors(stream))
    assert len(pairs) > 25

    async def run() -> tuple[list[Finding], list[Finding], dict[str, bytes]]:
        app = await started(config)
        counts = app.pipelines[f"{name}-p"].counts
        async with running(app):
            await put(broker, config.pipelines[0].source, [Message(b"bad", b"no JSON")])
            await send(broker.address, config.pipelines[0].source, stream)
            await until(lambda: counts.documents >= len(stream))
            clean = await settled(config)
        pairs_now, members_now = await newest(broker.address, matches), await newest(broker.address, members)
        gone, changed, *_ = sorted(pairs_now)
        lost, *_, moved = sorted(members_now)
        similar = pairs_now[changed] | {"similarity": 0.123}
        await publish(broker, matches, {gone: None, changed: json.dumps(similar).encode(), ADDED: ADDED_VALUE})
        cluster = json.dumps({"cluster": "another", "time": 1}).encode()
        await publish(broker, members, {lost: None, b"unknown": cluster, moved: cluster})
        altered_keys = {
            "1 pairs are missing": gone,
            "1 similarities differ": changed,
            "1 pairs are wrong": ADDED,
            "1 documents have no cluster": lost,
            "1 documents have a cluster and no match": b"unknown",
        }
        return clean, await settled(config), altered_keys

    clean, then, altered_keys = asyncio.run(run())
    assert [finding.state for finding in clean] == ["ok"], clean
    assert clean[0].message.startswith(f"{len(pairs):,} pairs and ")
    assert {finding.state for finding in then} == {"wrong"}
    messages = {finding.message.partition(": ")[0]: finding.message.partition(": ")[2] for finding in then}
    for what, key in altered_keys.items():
        case = json.loads(key) if key.startswith(b"[") else key.decode()
        assert messages.pop(what) == f"{json.dumps(case)}; see `Wrong results` in docs/operations/monitoring.md"
    (regrouped,) = messages  # the moved document, and its former group
    assert regrouped.endswith("documents are in another group")


ADDED = b'["a","b"]'
ADDED_VALUE = b'{"left": "a", "right": "b", "similarity": 0.9}'


def test_an_audit_reports_messages_in_flight_and_no_faults(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)

    async def run() -> list[Finding]:
        async with running(await started(config)):
            await put(broker, config.pipelines[0].source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}
            await settled(config)
        await put(broker, config.pipelines[0].source, twins(1))  # no worker is there
        await publish(broker, config.pipelines[0].matches_topic, {b'["0-0","0-1"]': None}, name.encode())
        return await audit(config, config.pipelines[0])

    findings = asyncio.run(run())
    assert not wrong(findings)
    assert findings[0].message.startswith("2 messages are under way")
    assert findings[1].message.startswith("1 pairs are missing")


def test_an_audit_ignores_documents_that_the_source_has_deleted(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source

    async def run() -> list[Finding]:
        async with running(await started(config)):
            await put(broker, source, [*twins(0), *twins(1)])
            await eventually(lambda: matched(config), {pair(0), pair(1)})
            await settled(config)
            async with admin_at(broker.address) as admin:
                await admin.delete_records({TopicPartition(source, 0): RecordsToDelete(1)})
            return await settled(config)

    findings = asyncio.run(run())
    assert [finding.state for finding in findings] == ["note", "ok"]
    assert "Kafka has deleted records of the source" in findings[0].message
    assert findings[1].message.startswith("1 pair and 3 members")


def test_an_audit_of_sources_that_are_rekeyed_reads_the_sources(broker: Broker, name: str) -> None:
    config = altered(configured(broker, name, 2, rekey=True), sources=(f"{name}-source", f"{name}-more"))
    keyless = [Message(None, document(FOX, id=one)) for one in "abc"]

    async def run() -> tuple[list[Finding], list[Finding], list[Finding]]:
        await make_topics(broker.address, *config.pipelines[0].sources, partitions=1)
        async with running(await started(config)):
            await put(broker, f"{name}-source", keyless[:2])
            await put(broker, f"{name}-more", keyless[2:])
            await eventually(lambda: matched(config), {("a", "b"), ("a", "c"), ("b", "c")})
            clean, checked = await settled(config), await check(config, config.pipelines)
            await put(broker, f"{name}-more", keyless[:1])  # "a" comes from two places now
            return clean, checked, await settled(config)

    clean, checked, then = asyncio.run(run())
    assert [(finding.state, finding.message[:7]) for finding in clean] == [("ok", "3 pairs")], clean
    assert not wrong(checked)
    assert {f"source {name}-more", f"topic {name}-{name}-p-intake"} <= by_subject(checked).keys()
    assert [finding.state for finding in then] == ["note", "ok"]


def test_messages_that_were_deleted_before_they_were_read_are_reported(
    broker: Broker, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source

    async def run() -> tuple[list[Finding], Any]:
        async with running(await started(config)):
            await put(broker, source, twins(0))
            await eventually(lambda: matched(config), {pair(0)})
        assert await committed(broker.address, name, source) == 2
        await put(broker, source, [*twins(1), *twins(2)])
        async with admin_at(broker.address) as admin:
            await admin.delete_records({TopicPartition(source, 0): RecordsToDelete(4)})
        found = await check(config, config.pipelines)
        async with running(await started(config)):
            pairs = await eventually(lambda: matched(config), {pair(0), pair(2)})
            await until(errors)  # the worker reports it beside its work, at any time
            return found, pairs

    def errors() -> list[str]:
        return [
            one.getMessage()
            for one in caplog.records
            if one.name == "stream_lsh.worker.maintenance" and one.levelname == "ERROR"
        ]

    found, pairs = asyncio.run(run())
    lost = "2 messages were deleted before they were read: see `A gap` in docs/operations/errors.md"
    assert wrong(found) == [Finding("wrong", f"lag of {source}", lost)]
    assert pairs == {pair(0), pair(2)}
    (line,) = errors()
    assert line.startswith(f"{source}[0]: 2 messages before offset 4 were deleted before they were read")


def test_an_audit_ignores_documents_that_may_have_expired(broker: Broker, name: str) -> None:
    config = altered(configured(broker, name, 1), retention_ms=60_000, lateness_ms=0)
    source = config.pipelines[0].source

    def at(number: int, minutes: int) -> list[Message]:
        return [one._replace(time_ms=NOW_MS + minutes * 60_000) for one in twins(number)]

    async def run() -> tuple[list[Finding], list[Finding]]:
        app = await started(config)
        async with running(app):
            await put(broker, source, at(0, 0))
            await eventually(lambda: matched(config), {pair(0)})
            await put(broker, source, [Message(b"far", at(0, 0)[0].value, NOW_MS + 90_000)])  # too far apart
            await put(broker, source, at(1, 10))
            await eventually(lambda: matched(config), {pair(0), pair(1)})
            ledger = app.pipelines[f"{name}-p"].ledger
            await until(lambda: "0-0" not in ledger[0].settler.ledger.graph.nodes.slots)
            clean = await settled(config)
        await publish(broker, config.pipelines[0].matches_topic, {b'["1-0","1-1"]': None}, name.encode())
        return clean, await settled(config)

    clean, then = asyncio.run(run())
    assert [finding.state for finding in clean] == ["note", "ok"], clean
    assert clean[0].message == "3 documents may have expired, or have no newest version, and are not audited"
    assert clean[1].message.startswith("1 pair and 2 members")
    assert [finding.message.partition(":")[0] for finding in wrong(then)] == ["1 pairs are missing"]


def test_a_pipeline_of_records_is_checked_with_its_decisions_and_not_audited(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    (pipeline,) = config.pipelines

    async def run() -> tuple[list[Finding], list[Finding], list[Finding]]:
        before = await check(config, config.pipelines)
        async with running(await started(config)):
            await send_records(broker, pipeline.source, [("1", ANN), ("2", ANN)])
            assert await eventually(lambda: groups(config), [["1", "2"]]) == [["1", "2"]]
        await send_records(broker, pipeline.decisions_topic, [('["1","2"]', {"decision": "different"})])
        return before, await check(config, config.pipelines), await audit(config, pipeline)

    found, after, audited = asyncio.run(run())
    assert not wrong([*found, *after])
    before, then = by_subject(found), by_subject(after)
    for topic in (pipeline.decisions_topic, *pipeline.public_topics.values()):
        partitions = "1 partition" if topic == pipeline.decisions_topic else "2 partitions"
        assert before[f"topic {topic}"].message == f"will be created with {partitions}"
        assert then[f"topic {topic}"].message == f"{partitions}, 1 copy"
    assert f"topic {name}-p-clusters" not in then
    assert then[f"lag of {pipeline.decisions_topic}"].message == "1 message"
    assert then[f"lag of {pipeline.source}"].message == "0 messages"
    assert then[f"settings of {name}-p"].message.endswith("as of the state")
    assert then[f"results of {name}-p"].message == f"written by {name} only"
    assert [(finding.state, finding.subject) for finding in audited] == [("note", f"audit of {name}-p")]
    assert audited[0].message.startswith("records are not audited yet")
