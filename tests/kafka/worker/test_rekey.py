"""Sources that are several or not keyed by id: copied to one topic that is, and then the answers are the same."""

import asyncio
import json
import random
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.errors import NotEnoughReplicasError  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.config import Config
from stream_lsh.errors import ConfigError, DoubtError
from stream_lsh.model import Document
from stream_lsh.wire.message import as_iso
from stream_lsh.wire.origin import Origin, origin_header, origin_of
from stream_lsh.worker import maintenance
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.engine.reading.fetch_gate import SourceGate
from tests.kafka.harness import committed, make_topics, read, running, until
from tests.kafka.messages import (
    FOX,
    NOW_MS,
    Message,
    document,
    eventually,
    matched,
    pair,
    producing,
    put,
    started,
    twins,
    with_a_bug,
)
from tests.kafka.pipelines import articles, configured, edits, expected, published, survivors, thirds
from tests.kafka.processes import fed_and_killed
from tests.kafka.worker.test_input import LIMIT, REFUSED
from tests.kafka.worker.test_maintenance import often, starts

SOURCES = {"one": 3, "two": 2}
PARTITIONS = 4


class Sent(NamedTuple):
    topic: str
    partition: int
    message: Message


def rekeyed(broker: Broker, name: str, **pipeline: Any) -> Config:
    return configured(broker, name, PARTITIONS, source=sources(name), rekey=True, **pipeline)


def sources(name: str) -> list[str]:
    return [f"{name}-{which}" for which in SOURCES]


async def make_sources(broker: Broker, name: str, **config: str) -> None:
    for which, partitions in SOURCES.items():
        await make_topics(broker.address, f"{name}-{which}", partitions=partitions, **config)


def scattered(name: str, stream: Iterable[Document], seed: int) -> list[Sent]:
    """Messages for the sources, keyed by anything.

    Those of an id stay on one partition, as only there they have an order.  The id stands in the value, but for those
    whose messages are keyed by it.
    """
    rng, homes, sent = random.Random(seed), dict[str, tuple[str, int, bool]](), list[Sent]()
    for one in stream:
        if one.id not in homes:
            which = rng.choice(list(SOURCES))
            homes[one.id] = f"{name}-{which}", rng.randrange(SOURCES[which]), rng.random() < 0.3
        topic, partition, keyed = homes[one.id]
        key = one.id.encode() if keyed else rng.choice([None, b"", b"\xff", b"same", rng.randbytes(8)])
        fields: dict[str, Any] = {} if keyed else {"id": one.id}
        fields |= {"deleted": True} if one.text is None else {"text": one.text, "time": as_iso(one.time_ms)}
        value = None if keyed and one.text is None else json.dumps(fields).encode()
        sent.append(Sent(topic, partition, Message(key, value)))
    return sent


async def send_to(broker: Broker, sent: Sequence[Sent]) -> None:
    async with producing(broker, linger_ms=5) as producer:
        deliveries = [
            await producer.send(one.topic, one.message.value, key=one.message.key, partition=one.partition)
            for one in sent
        ]
        await asyncio.gather(*deliveries)


def test_sources_that_are_not_keyed_by_id_give_the_results_of_the_in_memory_pipeline(
    broker: Broker, name: str, data_dir: Path, seed: int
) -> None:
    config = rekeyed(broker, name)
    stream = edits(articles(data_dir, 1_500), seed)
    wanted = expected(config, survivors(stream))
    assert len(wanted[0]) > 50

    async def run() -> Any:
        await make_sources(broker, name)
        app = await started(config)
        async with running(app):
            await send_to(broker, scattered(name, stream, seed))
            found = await eventually(lambda: published(config), wanted)
        return found, app.pipelines[f"{name}-p"].counts

    found, counts = asyncio.run(run())
    assert found == wanted
    assert (counts.documents, counts.dead_letters, counts.late_copies) == (len(stream), {}, 0)


def test_two_workers_of_which_one_is_killed_copy_everything(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path, seed: int
) -> None:
    config = rekeyed(broker, name)
    stream = edits(articles(data_dir, 3_000), seed)
    parts = [partial(send_to, broker, part) for part in thirds(scattered(name, stream, seed))]

    async def run() -> list[str]:
        await make_sources(broker, name)
        return await fed_and_killed(config, tmp_path, survivors(stream), parts)

    assert asyncio.run(run()) == []


def test_a_copy_that_is_not_stored_ends_the_worker_and_the_next_one_copies_it_again(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = rekeyed(broker, name)
    topic, copies = f"{name}-one", config.pipelines[0].documents_topic

    async def run() -> tuple[BaseException | None, int | None, Any]:
        await make_sources(broker, name)
        app = await started(config)
        produce = app.produce

        async def lossy(to: str, key: bytes | None, *more: Any, **headers: Any) -> Any:
            if (to, key) != (copies, b"0-1"):
                return await produce(to, key, *more, **headers)
            lost = asyncio.get_running_loop().create_future()
            lost.set_exception(NotEnoughReplicasError())
            return lost

        monkeypatch.setattr(app, "produce", lossy)
        async with running(app):
            await put(broker, topic, [*twins(0), *twins(1)])
            await until(lambda: app.crash_reason)
        position = await committed(broker.address, name, topic)
        async with running(await started(config)):
            found = await eventually(lambda: matched(config), {pair(0), pair(1)})
        return app.crash_reason, position, found

    reason, position, found = asyncio.run(run())
    assert isinstance(reason, DoubtError)
    assert not position
    assert found == {pair(0), pair(1)}


# Of Apache Kafka's own tests of `Utils.murmur2`: what the Java client makes of these bytes.
MURMUR2 = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


def test_a_copy_has_the_key_and_the_place_of_the_id_and_all_else_of_the_source(broker: Broker, name: str) -> None:
    config = rekeyed(broker, name)
    topic = f"{name}-one"
    spelt = [b' {"text":"%s" , "id": "%s", "more": [1.50]}\n' % (FOX.encode(), id.encode()) for id in MURMUR2]
    messages = [Message(b"a key", value, NOW_MS + number) for number, value in enumerate(spelt)]
    messages += [Message(b"abc", None, NOW_MS + 100), Message(b"of none", None, NOW_MS + 101)]
    messages += [Message(b"7", document(FOX, id=7, time="1970-01-01T00:00:00.005Z"), NOW_MS + 102)]
    ids = [*MURMUR2, "abc", "of none", "7"]
    live = {*MURMUR2, "7"} - {"abc"}
    pairs = {(left, right) for left in live for right in live if left < right}

    async def run() -> tuple[list[int], list[Any], list[Any]]:
        await make_sources(broker, name)
        async with running(await started(config)):
            offsets = await put(broker, topic, messages)
            assert await eventually(lambda: matched(config), pairs) == pairs
        copies = await read(broker.address, config.pipelines[0].documents_topic)
        return offsets, copies, await read(broker.address, config.pipelines[0].matches_topic)

    offsets, copies, matches = asyncio.run(run())
    copies.sort(key=lambda record: origin_of(record.headers).offset)
    assert [(record.key, record.value) for record in copies] == [
        (id.encode(), message.value) for id, message in zip(ids, messages, strict=True)
    ]
    for record in copies:
        known = MURMUR2.get(record.key.decode())
        assert known is None or record.partition == (known & 0x7FFFFFFF) % PARTITIONS
    assert len({record.partition for record in copies}) > 1
    origins = [origin_of(record.headers) for record in copies]
    assert [(one.topic, one.partition, one.offset) for one in origins] == [(topic, 0, offset) for offset in offsets]
    # The time of a document that has none is that of its message in the source, not that of the copy.
    times: dict[str, int] = {}
    for match in [json.loads(record.value) for record in matches if record.value is not None]:
        times |= {match["left"]: match["left_time"], match["right"]: match["right_time"]}
    assert times == {id: NOW_MS + number for number, id in enumerate(MURMUR2) if id != "abc"} | {"7": 5}


def test_unusable_messages_are_rejected_once_with_their_place_in_the_source(broker: Broker, name: str) -> None:
    config = rekeyed(broker, name, max_document_bytes=LIMIT)
    topic = f"{name}-two"
    refused = {case: one for case, one in REFUSED.items() if case != "another id"}
    refused |= {
        "null key": ("id", "neither a key nor the field `id`", Message(None, document(FOX))),
        "null key and value": ("id", "neither key nor value", Message(None, None)),
        "half of a pair": ("id", "expected UTF-8", Message(b"a", document(FOX, id="\ud800"))),
        "bytes and no value": ("key", "not UTF-8", Message(b"\xff", None)),
    }
    fine = [
        Message(None, document(FOX, id="null key")),
        Message(b"\xff", document(FOX, id="key not UTF-8")),
        Message(b"k" * 2_000, document(FOX, id="long key")),
        Message(b"a", document(FOX, id="another id")),
    ]

    async def run() -> tuple[list[int], Any, list[Any], dict[str, int]]:
        await make_sources(broker, name)
        app = await started(config)
        async with running(app):
            offsets = await put(broker, topic, [message for _, _, message in refused.values()])
            await put(broker, topic, fine)
            found = await eventually(lambda: _ids(config), {"null key", "key not UTF-8", "long key", "another id"})
        dead = await read(broker.address, config.pipelines[0].dead_letters_topic)
        return offsets, found, dead, app.pipelines[f"{name}-p"].counts.dead_letters

    offsets, found, dead, counted = asyncio.run(run())
    assert found == {"null key", "key not UTF-8", "long key", "another id"}
    headers = [{key: value.decode() for key, value in record.headers} for record in dead]
    by_offset = {int(of["offset"]): (of, record) for of, record in zip(headers, dead, strict=True)}
    assert len(dead) == len(refused)
    assert sorted(by_offset) == offsets
    for offset, (case, (reason, error, message)) in zip(offsets, refused.items(), strict=True):
        of, record = by_offset[offset]
        assert error in of.pop("error"), case
        expected = {"reason": reason, "topic": topic, "partition": "0", "offset": str(offset)}
        key = message.key
        if case == "long key":
            digest = sha256(b"k" * 1_025).hexdigest()
            expected, key = expected | {"key": "k" * 256, "key_sha256": digest, "key_bytes": "1025"}, None
        assert of == expected, case
        kept = b"" if case in ("larger than a message may be", "null key and value") else message.value
        assert (record.key, record.value) == (key, kept), case
    reasons = [reason for reason, _, _ in refused.values()]
    assert counted == {reason: reasons.count(reason) for reason in set(reasons)}


def test_a_copy_that_meets_a_bug_is_rejected_with_its_place_in_the_source(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = rekeyed(broker, name, on_bug="dead-letter")
    with_a_bug(monkeypatch)

    async def run() -> tuple[int, Any, list[Any]]:
        await make_sources(broker, name)
        async with running(await started(config)):
            bad = [Message(None, document("a bug", id=str(number))) for number in range(3)]
            offsets = await put(broker, f"{name}-one", [*twins(0), *bad, *twins(1)])
            found = await eventually(lambda: matched(config), {pair(0), pair(1)})
        return offsets[2], found, await read(broker.address, config.pipelines[0].dead_letters_topic)

    first, found, dead = asyncio.run(run())
    assert found == {pair(0), pair(1)}
    headers = [{key: value.decode() for key, value in record.headers} for record in dead]
    places = {(of["reason"], of["topic"], of["partition"], int(of["offset"])) for of in headers}
    assert len(dead) == 3
    assert places == {("bug", f"{name}-one", "0", first + number) for number in range(3)}


async def _ids(config: Config) -> set[str]:
    return {id for one in await matched(config) for id in one}


async def set_back(broker: Broker, group: str, topics: dict[str, int]) -> None:
    """The committed offsets of a group that has no members are 0 again, as if it had crashed before it could commit."""
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.address, group_id=group, enable_auto_commit=False)
    await consumer.start()
    try:
        tps = [TopicPartition(topic, number) for topic, partitions in topics.items() for number in range(partitions)]
        consumer.assign(tps)
        await consumer.commit(dict.fromkeys(tps, 0))
    finally:
        await consumer.stop()


def test_a_repeated_copy_is_the_same_version_and_changes_nothing(broker: Broker, name: str) -> None:
    config = rekeyed(broker, name)
    pipeline = config.pipelines[0]
    messages = [one for number in range(1, 31) for one in twins(number)]
    log = pipeline.changelog_topic("documents")

    async def run() -> tuple[Any, Any, list[list[int]]]:
        await make_sources(broker, name)
        await put(broker, f"{name}-one", messages)
        wanted = {pair(number) for number in range(1, 31)}
        counts = []
        for attempt in (1, 2):
            app = await started(config)
            async with running(app):
                await eventually(lambda: matched(config), wanted)
                await until_committed(broker, name, pipeline.documents_topic, attempt * len(messages))
            topics = (pipeline.documents_topic, log, pipeline.matches_topic, pipeline.members_topic)
            counts.append([len(await read(broker.address, topic)) for topic in topics])
            await set_back(broker, name, {f"{name}-{which}": count for which, count in SOURCES.items()})
        return wanted, await matched(config), counts

    wanted, found, (first, second) = asyncio.run(run())
    assert found == wanted
    assert first[0] == len(messages)
    assert second == [2 * first[0], *first[1:]]


async def until_committed(broker: Broker, group: str, topic: str, total: int) -> None:
    """Wait until the committed offsets of a topic add up to something."""

    async def summed() -> int:
        return sum([await committed(broker.address, group, topic, number) or 0 for number in range(PARTITIONS)])

    assert await eventually(summed, total) == total


def test_late_copies_of_a_zombie_are_skipped(broker: Broker, name: str) -> None:
    config = rekeyed(broker, name)
    pipeline, topic = config.pipelines[0], f"{name}-one"
    first, second = twins(0)

    async def run() -> tuple[Any, int]:
        await make_sources(broker, name)
        app = await started(config)
        counts = app.pipelines[pipeline.name].counts
        async with running(app):
            offsets = await put(broker, topic, [Message(b"0-1", document("an older version")), first, second])
            await eventually(lambda: matched(config), {pair(0)})
            async with producing(broker) as producer:
                headers = origin_header(Origin(topic, 0, offsets[0], NOW_MS, 0))
                value = document("an older version")
                copy = {"key": b"0-1", "headers": list(headers.items())}
                await producer.send_and_wait(pipeline.documents_topic, value, **copy)
            await until(lambda: counts.late_copies)
            await put(broker, topic, twins(1))  # and it continues
            return await eventually(lambda: matched(config), {pair(0), pair(1)}), counts.late_copies

    assert asyncio.run(run()) == ({pair(0), pair(1)}, 1)


def test_late_copies_of_a_zombie_are_skipped_by_a_new_owner(broker: Broker, name: str) -> None:
    """The copy arrives while no worker runs; the newer copies that make it late lie before the committed offset."""
    config = rekeyed(broker, name)
    pipeline, topic = config.pipelines[0], f"{name}-one"

    async def run() -> tuple[Any, int]:
        await make_sources(broker, name)
        async with running(await started(config)):
            offsets = await put(broker, topic, [Message(b"0-1", document("an older version")), *twins(0)])
            await eventually(lambda: matched(config), {pair(0)})
        async with producing(broker) as producer:
            headers = list(origin_header(Origin(topic, 0, offsets[0], NOW_MS, 0)).items())
            value = document("an older version")
            await producer.send_and_wait(pipeline.documents_topic, value, key=b"0-1", headers=headers)
        app = await started(config)
        async with running(app):
            await put(broker, topic, twins(1))
            found = await eventually(lambda: matched(config), {pair(0), pair(1)})
            return found, app.pipelines[pipeline.name].counts.late_copies

    assert asyncio.run(run()) == ({pair(0), pair(1)}, 1)


def test_all_sources_wait_while_too_much_is_in_flight_and_read_copies_are_deleted(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "REMEMBERED", 0)
    config = rekeyed(broker, name)
    copies, messages = config.pipelines[0].documents_topic, [one for number in range(20) for one in twins(number)]

    async def run() -> tuple[frozenset[str], int, int]:
        await make_sources(broker, name)
        app = often(await started(config))
        counts = app.pipelines[f"{name}-p"].counts
        async with running(app):
            measure, pretended = app.maintenance.bytes_under_way, [1 << 30]
            app.maintenance.bytes_under_way = lambda: pretended[0] or measure()  # type: ignore[method-assign]
            gate: SourceGate = cast(Any, app.consumer).gate
            await until(lambda: gate.held)
            held = frozenset(gate.held)
            await put(broker, f"{name}-one", messages[:20])
            await put(broker, f"{name}-two", messages[20:])
            await asyncio.sleep(1.0)
            read_while_held = counts.documents
            pretended[0] = 0
            await until(lambda: counts.documents == len(messages))

            async def deleted() -> int:
                return (await starts(broker.address, [copies]))[copies]

            return held, read_while_held, await eventually(deleted, len(messages))

    assert asyncio.run(run()) == (frozenset(sources(name)), 0, len(messages))


def test_a_source_that_is_not_there_is_a_mistake_where_it_is_rekeyed(broker: Broker, name: str) -> None:
    config = rekeyed(broker, name)

    async def run() -> None:
        await make_topics(broker.address, f"{name}-one", partitions=3)
        async with running(await started(config)):
            pass

    with pytest.raises(ConfigError, match=rf"^{name}-two: the topic does not exist, and a worker does not create it$"):
        asyncio.run(run())
