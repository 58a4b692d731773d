"""Reads stretches of offsets from topics: committed records only, without a consumer group.

Each read has a client of its own: one with earlier assignments would go on fetching them, and keep requests waiting.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    IncompatibleBrokerVersion,
    KafkaError,
)
from faust.types import TP

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine.admin import ANSWER_MS, start_admin
from stream_lsh.worker.engine.rights import group_refused, naming_rights
from stream_lsh.worker.security import client_security, unreachable

_WAIT_MS = 200
_STALL_SECONDS = 30.0
_COORDINATOR_SECONDS = 10.0

Offsets = Mapping[TP, int]


@asynccontextmanager
async def admin_of(kafka: KafkaConfig) -> AsyncIterator[Any]:
    """A started admin client; raises DoubtError if no broker answers."""
    admin = AIOKafkaAdminClient(
        bootstrap_servers=",".join(kafka.brokers), request_timeout_ms=ANSWER_MS, **client_security(kafka)
    )
    try:
        try:
            await start_admin(admin)
        except KafkaError as error:
            raise unreachable(kafka, error) from error
        yield admin
    finally:
        await admin.close()


@asynccontextmanager
async def _consumer(kafka: KafkaConfig) -> AsyncIterator[Any]:
    """A started consumer; raises DoubtError if no broker answers, ConfigError if the user may not read a topic."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=list(kafka.brokers),
        isolation_level="read_committed",
        enable_auto_commit=False,
        auto_offset_reset="earliest",  # of a partition whose head is deleted meanwhile, read the rest
        fetch_max_wait_ms=_WAIT_MS,
        request_timeout_ms=ANSWER_MS,
        **client_security(kafka),
    )
    try:
        try:
            await consumer.start()
        except KafkaError as error:
            raise unreachable(kafka, error) from error
        await asyncio.sleep(0)  # aiokafka's `stop` raises CancelledError if its tasks have not begun
        with naming_rights():
            yield consumer
    finally:
        await consumer.stop()


async def bounds(kafka: KafkaConfig, partitions: Collection[TP]) -> tuple[dict[TP, int], dict[TP, int]]:
    """The first offset and the one behind the last committed record, of each of these existing partitions."""
    if not partitions:
        return {}, {}
    async with _consumer(kafka) as consumer:
        named = [TopicPartition(*tp) for tp in partitions]
        # Assigned topics are looked up together; each other topic takes the client .1 s.
        consumer.assign(named)
        consumer.pause(*named)
        return await consumer.beginning_offsets(named), await consumer.end_offsets(named)


async def records(kafka: KafkaConfig, begins: Offsets, ends: Offsets) -> AsyncGenerator[list[Any], None]:
    """The records from `begins` to before `ends`, as chunks of one partition each, in its order.

    Raises:
        DoubtError: a broker stops answering -> try again.
        ConfigError: the user may not read a topic -> grant the right Read on it.
    """
    left = {tp for tp, end in ends.items() if begins[tp] < end}
    if not left:
        return
    async with _consumer(kafka) as consumer:
        consumer.assign(sorted(left))
        for tp in left:
            consumer.seek(tp, begins[tp])
        clock = asyncio.get_running_loop().time
        read_at = clock()
        while left:
            for tp, batch in (await consumer.getmany(*left, timeout_ms=_WAIT_MS)).items():
                read_at = clock()
                chunk = [record for record in batch if record.offset < ends[tp]]
                if chunk:
                    yield chunk
            # A position also passes offsets without a record: markers, and aborted or compacted records.
            left = {tp for tp in left if await consumer.position(tp) < ends[tp]}
            if clock() - read_at > _STALL_SECONDS:
                raise DoubtError(f"nothing could be read for {_STALL_SECONDS:.0f} s of {_named(left)}: try again")


async def newest(kafka: KafkaConfig, begins: Offsets, ends: Offsets) -> dict[bytes, Any]:
    """The last record of each key, as after a compaction; null values too."""
    values: dict[bytes, Any] = {}
    async for chunk in records(kafka, begins, ends):
        values.update((record.key, record) for record in chunk)
    return values


def partitions_of(topic: str, count: int) -> list[TP]:
    """The partitions of a topic."""
    return [TP(topic, partition) for partition in range(count)]


def _named(partitions: Iterable[TP]) -> str:
    return ", ".join(f"{tp.topic}[{tp.partition}]" for tp in sorted(partitions))


async def described_offsets(admin: Any, group: str, partitions: Collection[TP]) -> dict[TP, int] | None:
    """`committed_offsets` of a user who may describe the group.

    A broker leaves a group out of its list if the user may not describe it, as if no worker had run.

    Raises:
        ConfigError: the user lacks the right Describe on the group -> grant it.
    """
    offsets = await committed_offsets(admin, group, partitions)
    if offsets is None:
        try:
            (response,) = await _coordinated(lambda: admin.describe_consumer_groups([group]))
        except IncompatibleBrokerVersion:
            return None
        except GroupAuthorizationFailedError as error:
            raise group_refused(group, "Describe") from error
        if response.groups[0][0] == GroupAuthorizationFailedError.errno:
            raise group_refused(group, "Describe")
    return offsets


async def committed_offsets(admin: Any, group: str, partitions: Collection[TP] = ()) -> dict[TP, int] | None:
    """The committed offsets of the group; None if there is no such group.

    Args:
        admin: a started admin client of aiokafka.
        group: the name of the group.
        partitions: to ask for, on a broker that lists no groups, such as an embedded one.
    """
    try:
        has_committed = group in {name for name, *_ in await admin.list_consumer_groups()}
        offsets = await _coordinated(lambda: admin.list_consumer_group_offsets(group)) if has_committed else {}
    except IncompatibleBrokerVersion:
        offsets = await _coordinated(lambda: admin.list_consumer_group_offsets(group, partitions=[*partitions]))
        has_committed = any(stored.offset >= 0 for stored in offsets.values())
    return {TP(*tp): stored.offset for tp, stored in offsets.items() if stored.offset >= 0} if has_committed else None


async def _coordinated(ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer of a group's coordinator; a new broker has none until it has made the topic of offsets."""
    clock = asyncio.get_running_loop().time
    end = clock() + _COORDINATOR_SECONDS
    while True:
        try:
            return await ask()
        except GroupCoordinatorNotAvailableError:
            if clock() > end:
                raise
        await asyncio.sleep(_WAIT_MS / 1_000)
