"""Apps that start and stop inside a test, and what a test sends, reads and breaks."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import faust
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, NewTopic  # type: ignore[import-untyped]

from stream_lsh.worker.engine import EngineApp, TopicSpec
from tests.patience import PATIENCE

PARTITIONS = 4
RAW: dict[str, Any] = {"key_type": bytes, "key_serializer": "raw", "value_type": bytes, "value_serializer": "raw"}


def settings(address: str) -> dict[str, Any]:
    """The settings of both kinds of app in tests."""
    return {
        "broker": f"kafka://{address}",
        "broker_commit_interval": 0.2,
        "broker_heartbeat_interval": 0.5,
        "broker_session_timeout": 30.0,
        "datadir": tempfile.mkdtemp(prefix="stream-lsh-test-"),
        "topic_partitions": PARTITIONS,
        "topic_replication_factor": 1,
    }


def stock_app(address: str, app_id: str, **more: Any) -> Any:
    """The engine as it comes."""
    chosen = {"web_enabled": False, "topic_disable_leader": True, "table_standby_replicas": 0, "store": "memory://"}
    return faust.App(app_id, **{**settings(address), **chosen, **more})


def engine_app(address: str, app_id: str, **more: Any) -> Any:
    """The engine as we use it."""
    return EngineApp(app_id, **{**settings(address), **more})


def either_app(repaired: bool, address: str, app_id: str, **more: Any) -> Any:
    """One of the two; settings of `EngineApp` only are left out of the stock one."""
    return engine_app(address, app_id, **more) if repaired else stock_app(address, app_id)


@asynccontextmanager
async def running(app: faust.App, seconds: float = PATIENCE) -> AsyncIterator[None]:
    """Start `app` in this loop and wait until it consumes; stop it at the end, crashed or not."""
    app.finalize()
    try:
        async with asyncio.timeout(seconds):
            await app.start()
            await until(lambda: is_ready(app))
        yield
    finally:
        if app.crash_reason is None:
            async with asyncio.timeout(seconds):
                await app.stop()
        else:
            await clear_up(app)


async def clear_up(app: Any) -> None:
    """Stop what is left of an app that crashed or never got ready; in a worker, the end of the process does."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(5):
            await app.stop()
    if app._producer is not None and app._producer._producer is not None:
        with contextlib.suppress(Exception):
            await app._producer._producer.stop()


def is_ready(app: Any) -> bool:
    """Whether the partitions are assigned and the tables recovered."""
    return bool(
        app.tables.recovery.completed.is_set()
        and not app.rebalancing
        and not app.in_recovery
        and app.consumer.flow_active
        and app.consumer.assignment()
    )


async def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until it is true.

    Raises:
        TimeoutError: it is not; the message has the place of the condition.
    """
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        code = getattr(condition, "__code__", None)
        place = "" if code is None else f": {code.co_filename}:{code.co_firstlineno}"
        raise TimeoutError(f"not true within {seconds:g} s{place}") from None


@asynccontextmanager
async def admin_at(address: str) -> AsyncIterator[Any]:
    """An admin client."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def make_topics(address: str, *names: str, partitions: int = PARTITIONS, **config: str) -> None:
    """Create topics and wait until they can be written; the underscores of a setting are dots.

    Nothing on them gets too old: a broker looks for that 30 s after its start, and the times in tests are long past.
    """
    settings_of = {"retention.ms": "-1"} | {key.replace("_", "."): value for key, value in config.items()}
    async with admin_at(address) as admin:
        await admin.create_topics([NewTopic(name, partitions, 1, topic_configs=settings_of) for name in names])
        async with asyncio.timeout(PATIENCE):
            while not set(names) <= {t["topic"] for t in await admin.describe_topics() if t["partitions"]}:
                await asyncio.sleep(0.05)


async def feed(address: str, topic: str, values: Iterable[bytes], partitions: int = PARTITIONS) -> None:
    """Send values, in turns over the partitions, and wait until they are stored."""
    producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=2)
    await producer.start()
    try:
        sent = [
            await producer.send(topic, value, key=value[:16], partition=number % partitions)
            for number, value in enumerate(values)
        ]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


async def read(address: str, topic: str, isolation: str = "read_uncommitted") -> list[Any]:
    """All records of a topic, as they lie there now."""
    consumer = AIOKafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest", isolation_level=isolation)
    await consumer.start()
    try:
        admin_partitions = await _partitions(consumer, topic)
        tps = [TopicPartition(topic, partition) for partition in admin_partitions]
        consumer.assign(tps)
        ends = await consumer.end_offsets(tps)
        records: list[Any] = []
        async with asyncio.timeout(PATIENCE):
            while any([await consumer.position(tp) < ends[tp] for tp in tps]):
                for of_tp in (await consumer.getmany(timeout_ms=100)).values():
                    records += of_tp
        return records
    finally:
        await consumer.stop()


async def _partitions(consumer: Any, topic: str) -> list[int]:
    await consumer._client.force_metadata_update()
    await consumer._client.add_topic(topic)
    return sorted(consumer.partitions_for_topic(topic) or ())


async def committed(address: str, group: str, topic: str, partition: int = 0) -> int | None:
    """The committed offset of a group."""
    async with admin_at(address) as admin:
        offsets = await admin.list_consumer_group_offsets(group)
        found = offsets.get(TopicPartition(topic, partition))
        return None if found is None or found.offset < 0 else int(found.offset)


def numbers(start: int, stop: int) -> list[bytes]:
    """Distinct values."""
    return [b"%06d" % number for number in range(start, stop)]


def topic_specs(*names: str) -> list[TopicSpec]:
    """Topics that exist, as an app asks for them."""
    return [TopicSpec(name, PARTITIONS) for name in names]


def hold_until(owner: Any, method: str, condition: Callable[[], Any], seconds: float) -> None:
    """Let a coroutine method of one object return only when `condition` is true, after `seconds` at the latest."""
    original: Callable[..., Awaitable[Any]] = getattr(owner, method)

    async def slow(*args: Any, **kwargs: Any) -> Any:
        result = await original(*args, **kwargs)
        with contextlib.suppress(TimeoutError):
            await until(condition, seconds)
        return result

    setattr(owner, method, slow)
