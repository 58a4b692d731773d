"""Each message is used, is rejected with its reason, or ends the worker; none is lost or blocks later ones."""

import asyncio
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import pytest
from aiokafka.admin import RecordsToDelete  # type: ignore[import-untyped]
from aiokafka.codec import has_zstd  # type: ignore[import-untyped]
from aiokafka.errors import UnsupportedCodecError  # type: ignore[import-untyped]
from aiokafka.structs import TopicPartition  # type: ignore[import-untyped]

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import admin_at, committed, make_topics, read, running, until
from tests.kafka.messages import (
    FOX,
    NOW_MS,
    Message,
    document,
    eventually,
    letters,
    matched,
    pair,
    producing,
    put,
    started,
    twins,
    with_a_bug,
)
from tests.kafka.pipelines import configured

LIMIT = 4_096
REFUSED: Mapping[str, tuple[str, str, Message]] = {
    "not JSON": ("json", "not JSON", Message(b"a", b"{text: 1}")),
    "an array": ("json", "an array", Message(b"a", b"[1]")),
    "nested": ("json", "nested too deeply", Message(b"a", b"[" * 4_000)),
    "nothing": ("json", "not JSON", Message(b"a", b"")),
    "not UTF-8": ("utf8", "not UTF-8", Message(b"a", b'{"text": "\xff\xfe"}')),
    "no text": ("text", "no `text`", Message(b"a", b'{"body": "x"}')),
    "null text": ("text", "no `text`", Message(b"a", b'{"text": null}')),
    "text of a wrong type": ("text", "a number 5", Message(b"a", b'{"text": 5}')),
    "too large": ("size", "expected at most 4096", Message(b"a", document("x " * 3_000))),
    "unreadable time": ("time", "ISO 8601", Message(b"a", document(FOX, time="yesterday"))),
    "time near 1970": ("time", "expected seconds or", Message(b"a", document(FOX, time=NOW_MS // 1_000_000))),
    "far future": ("time", "later than `max_ahead` allows", Message(b"a", document(FOX, time=NOW_MS + 3_600_001))),
    "null key": ("key", "null key", Message(None, document(FOX))),
    "empty key": ("key", "0 bytes", Message(b"", document(FOX))),
    "long key": ("key", "1025 bytes", Message(b"k" * 1_025, document(FOX))),
    "key not UTF-8": ("key", "not UTF-8", Message(b"\xff\x00", document(FOX))),
    "another id": ("key", "expected them to be equal", Message(b"a", document(FOX, id="b"))),
    "id of a wrong type": ("id", "an array", Message(b"a", document(FOX, id=[1]))),
    "null bytes": ("json", "not JSON", Message(b"a", b"\x00" * 64)),
    "null key and value": ("key", "null key", Message(None, None)),
    "larger than a message may be": ("size", "left out", Message(b"a", b"x" * 400_000)),
}


def test_unusable_messages_are_rejected_unchanged_and_the_stream_continues(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1, max_document_bytes=LIMIT)
    messages = [Message(b"first", document(FOX))]
    for index, (_, _, message) in enumerate(REFUSED.values()):  # something good behind every bad one
        messages += [message, Message(b"good-%d" % index, document(f"{FOX} nr{index}"))]
    pairs = {("first", f"good-{index}") for index in range(len(REFUSED))}

    async def run() -> tuple[list[int], set[tuple[str, str]], dict[int, Any], dict[str, int]]:
        app = await started(config)
        async with running(app):
            offsets = await put(broker, config.pipelines[0].source, messages)

            async def with_first() -> set[tuple[str, str]]:
                return {pair for pair in await matched(config) if pair[0] == "first"}

            found = await eventually(with_first, pairs)
        return offsets, found, await letters(config), app.pipelines[f"{name}-p"].counts.dead_letters

    offsets, found, dead, counted = asyncio.run(run())
    assert found == pairs
    assert sorted(dead) == offsets[1::2]
    for offset, (case, (reason, error, message)) in zip(offsets[1::2], REFUSED.items(), strict=True):
        record = dead[offset]
        headers = {key: value.decode() for key, value in record.headers}
        assert headers.pop("error").count(error) == 1, case
        expected = {"reason": reason, "topic": config.pipelines[0].source, "partition": "0", "offset": str(offset)}
        key = message.key
        if case == "long key":
            digest = sha256(b"k" * 1_025).hexdigest()
            expected, key = expected | {"key": "k" * 256, "key_sha256": digest, "key_bytes": "1025"}, None
        assert headers == expected, case
        kept = b"" if case in ("larger than a message may be", "null key and value") else message.value
        assert (record.key, record.value) == (key, kept), case
    reasons = [reason for reason, _, _ in REFUSED.values()]
    assert counted == {reason: reasons.count(reason) for reason in set(reasons)}


def test_odd_but_valid_messages_are_used(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    null, lone = "a \x00 byte that is null stands in this text", "half of a pair \ud800 was lost on the way to here"
    messages = [
        Message(b"null-1", document(null)),
        Message(b"null-2", document(null)),
        Message(b"lone-1", document(lone)),  # escaped in the JSON, and not to be had in UTF-8
        Message(b"lone-2", document(lone)),
        Message(b"empty-1", document("")),
        Message(b"empty-2", document("")),
        Message(b"short-1", document("two words")),
        Message(b"short-2", document("two words")),
        Message(b"mark-1", b"\xef\xbb\xbf" + document("a byte order mark stands before this text")),
        Message(b"mark-2", document("a byte order mark stands before this text")),
        Message(b"early-1", document("this came long before the epoch began to count", time="0001-01-01")),
        Message(b"early-2", document("this came long before the epoch began to count", time=-62_135_596_800_000)),
        Message("ü\x00\n".encode(), document("the key of this one is not what one expects", id="ü\x00\n")),
        Message(b"7", document("the key of this one is not what one expects", id=7)),
        # One id three times in a batch: the last one counts.
        Message(b"again", document("something else that nothing here is like at all")),
        Message(b"again", document(FOX)),
        Message(b"again", document("the last word of this document is the one that counts")),
        Message(b"other", document("the last word of this document is the one that counts")),
        # Deleted before and after there was something to compare with.
        Message(b"gone-1", document("this is deleted with a null value and matches nothing")),
        Message(b"gone-2", document("this is deleted with a field and matches nothing either")),
        Message(b"gone-1", None),
        Message(b"gone-2", b'{"deleted": true, "text": "ignored"}'),
        Message(b"left-1", document("this is deleted with a null value and matches nothing")),
        Message(b"left-2", document("this is deleted with a field and matches nothing either")),
        Message(b"never", None),
    ]
    pairs = {("null-1", "null-2"), ("lone-1", "lone-2"), ("mark-1", "mark-2"), ("early-1", "early-2")}
    pairs |= {("7", "ü\x00\n"), ("again", "other"), ("short-1", "short-2")}

    async def run() -> tuple[Any, Any, Any]:
        async with running(await started(config)):
            await put(broker, config.pipelines[0].source, messages)
            found = await eventually(lambda: matched(config), pairs)
            # And a delete of what has been matched takes the pair back.
            await put(
                broker, config.pipelines[0].source, [Message(b"other", None), Message(b"7", b'{"deleted": true}')]
            )
            left = await eventually(lambda: matched(config), pairs - {("again", "other"), ("7", "ü\x00\n")})
        return found, left, await letters(config)

    found, left, dead = asyncio.run(run())
    assert found == pairs
    assert left == pairs - {("again", "other"), ("7", "ü\x00\n")}
    assert dead == {}


def test_transactions_and_deleted_records_are_read_as_they_are_meant(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source, address = config.pipelines[0].source, broker.address

    async def transaction(producer: Any, messages: Sequence[Message], *, commit: bool) -> None:
        await producer.begin_transaction()
        for one in messages:
            await producer.send_and_wait(source, one.value, key=one.key, partition=0)
        await (producer.commit_transaction() if commit else producer.abort_transaction())

    async def run() -> tuple[int | None, dict[int, Any]]:
        await make_topics(address, source, partitions=1)
        await put(broker, source, [Message(b"deleted", document("gone before a worker came")), *twins(0)])
        async with admin_at(address) as admin:  # the log starts with a gap
            await admin.delete_records({TopicPartition(source, 0): RecordsToDelete(1)})
        app = await started(config)
        async with running(app), producing(broker, transactional_id=name) as producer:
            await transaction(producer, twins(1), commit=True)
            await transaction(producer, twins(2), commit=False)
            await transaction(producer, twins(3)[:1], commit=True)
            await put(broker, source, twins(4))
            await transaction(producer, [*twins(3)[1:], *twins(0, 3)[2:]], commit=True)
            await transaction(producer, twins(5), commit=False)
            wanted = {pair(0), ("0-0", "0-2"), ("0-1", "0-2"), pair(1), pair(3), pair(4)}
            found = await eventually(lambda: matched(config), wanted)
            # The log ends with an aborted transaction and its marker: there is nothing to wait for all the same.
            held = app.pipelines[f"{name}-p"].documents.owned()
            await until(lambda: held[0].watermarks.at_end)
            async with admin_at(address) as admin:  # everything is deleted, the transactions too
                await admin.delete_records({TopicPartition(source, 0): RecordsToDelete(-1)})
            await put(broker, source, twins(6))
            wanted_then = wanted | {pair(6)}
            then = await eventually(lambda: matched(config), wanted_then)
            assert (found, then) == (wanted, wanted_then)
        last = await committed(address, name, source)
        async with running(await started(config)):  # and it is taken up again behind the gaps
            await put(broker, source, twins(7))
            again = await eventually(lambda: matched(config), wanted_then | {pair(7)})
            assert again == wanted_then | {pair(7)}
        return last, await letters(config)

    last, dead = asyncio.run(run())
    assert dead == {}
    assert last is not None


def test_records_of_any_codec_are_read(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    codecs = ("gzip", "snappy", "lz4", "zstd")

    async def run() -> Any:
        async with running(await started(config)):
            for number, codec in enumerate(codecs):
                await put(broker, config.pipelines[0].source, twins(number), compression_type=codec)
            return await eventually(lambda: matched(config), {pair(number) for number in range(len(codecs))})

    assert asyncio.run(run()) == {pair(number) for number in range(len(codecs))}


def test_a_record_larger_than_a_fetch_is_rejected_and_does_not_block_later_ones(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source, huge = config.pipelines[0].source, b"x" * (5 << 20)

    async def run() -> tuple[list[int], Any, dict[int, Any]]:
        await make_topics(broker.address, source, partitions=1, max_message_bytes=str(6 << 20))
        app = await started(config)
        assert app.conf.consumer_max_fetch_size < len(huge)
        async with running(app), producing(broker, max_request_size=6 << 20) as producer:
            offset = (await producer.send_and_wait(source, huge, key=b"huge", partition=0)).offset
            await put(broker, source, twins(0))
            found = await eventually(lambda: matched(config), {pair(0)})
        return [offset], found, await letters(config)

    offsets, found, dead = asyncio.run(run())
    assert found == {pair(0)}
    assert list(dead) == offsets
    headers = dict(dead[offsets[0]].headers)
    assert headers["reason"] == b"size"
    assert headers["error"] == (
        b"got a value of 5242880 bytes, expected at most 524288; the value is left out here, the source has it"
    )


COMPACTED = {"cleanup_policy": "compact", "segment_ms": "1000", "min_cleanable_dirty_ratio": "0.01"}


def test_a_compacted_source_is_read_across_its_gaps(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source, address = config.pipelines[0].source, broker.address

    async def put_at(minute: int, *messages: Message) -> list[int]:
        """In a segment of its own: the broker begins a new one when the time of the messages has moved on."""
        time_ms = NOW_MS + minute * 60_000
        return await put(broker, source, [one._replace(time_ms=time_ms) for one in messages])

    async def compacted(*gone: int) -> None:
        async def offsets() -> set[int]:
            return {record.offset for record in await read(address, source)} & set(gone)

        assert await eventually(offsets, set()) == set()

    async def run() -> Any:
        await make_topics(address, source, partitions=1, **COMPACTED, delete_retention_ms="0")
        old = await put_at(0, Message(b"1-1", document(FOX)), Message(b"gone", document(FOX)), *twins(2))
        old += await put_at(1, twins(1)[0], Message(b"2-0", document(FOX)), Message(b"gone", None))
        await put_at(2, twins(1)[1], twins(2)[0])
        await put_at(3, *twins(3))
        await compacted(*old[:3], old[5])  # at the head, and in the middle
        async with running(await started(config)):
            first = await eventually(lambda: matched(config), {pair(1), pair(2), pair(3)})
            await put_at(4, Message(b"3-0", document(FOX)), *twins(4))
            second = await eventually(lambda: matched(config), {pair(1), pair(2), pair(4)})
        last = await committed(address, name, source)
        newer = await put_at(5, Message(b"5-0", document(FOX)))
        await put_at(6, *twins(5))
        await put_at(7, *twins(6))
        await compacted(*newer)
        async with running(await started(config)):  # what it has to begin with is not there any more
            third = await eventually(lambda: matched(config), {pair(1), pair(2), pair(4), pair(5), pair(6)})
        return first, second, third, [last] == newer, await letters(config)

    first, second, third, began_in_a_gap, dead = asyncio.run(run())
    assert first == {pair(1), pair(2), pair(3)}
    assert second == {pair(1), pair(2), pair(4)}
    assert third == second | {pair(5), pair(6)}
    assert began_in_a_gap
    assert dead == {}


def test_a_document_that_meets_a_bug_is_rejected_where_that_is_asked_for(
    broker: Broker, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(broker, name, 1, on_bug="dead-letter")
    with_a_bug(monkeypatch)

    async def run() -> tuple[list[int], Any, dict[int, Any]]:
        async with running(await started(config)):
            messages = [Message(b"bad-1", document("a bug")), *twins(0), Message(b"bad-2", document("a bug"))]
            offsets = await put(broker, config.pipelines[0].source, [*messages, Message(b"1-0", None), *twins(1)])
            found = await eventually(lambda: matched(config), {pair(0), pair(1)})
        return offsets, found, await letters(config)

    offsets, found, dead = asyncio.run(run())
    assert found == {pair(0), pair(1)}
    assert sorted(dead) == [offsets[0], offsets[3]]
    assert {dict(record.headers)["reason"] for record in dead.values()} == {b"bug"}
    assert {record.value for record in dead.values()} == {document("a bug")}


def test_a_source_that_the_broker_compresses_is_read_or_ends_the_worker(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source

    async def run() -> tuple[Any, BaseException | None, int | None]:
        await make_topics(broker.address, source, partitions=1, compression_type="zstd")
        app = await started(config)
        async with running(app):
            await put(broker, source, twins(0))
            if has_zstd():
                await eventually(lambda: matched(config), {pair(0)})
            else:
                await until(lambda: app.crash_reason)
        return await matched(config), app.crash_reason, await committed(broker.address, name, source)

    found, reason, position = asyncio.run(run())
    if has_zstd():
        assert (found, reason, position) == ({pair(0)}, None, 2)
    else:  # the codec is not installed: the records are read once it is
        assert isinstance(reason, UnsupportedCodecError)
        assert (found, position) == (set(), None)
