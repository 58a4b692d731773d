"""Public topics read as they come, and each message as a line."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaConnectionError  # type: ignore[import-untyped]

from stream_lsh.config.model import KafkaConfig
from stream_lsh.errors import ConfigError
from stream_lsh.worker.security import client_security, unreachable

_WAIT_MS = 200
_METADATA_S = 15.0


async def messages(kafka: KafkaConfig, topic: str, from_beginning: bool, *, follow: bool) -> AsyncIterator[Any]:
    """The records of a topic: from its beginning or from now on, for ever or up to where it ends now.

    Raises:
        ConfigError: there is no such topic -> start a worker first; it creates them.
    """
    consumer = AIOKafkaConsumer(
        bootstrap_servers=list(kafka.brokers), isolation_level="read_committed", **client_security(kafka)
    )
    try:
        await consumer.start()
        if topic not in await consumer.topics():
            raise ConfigError(f"{topic}: the topic does not exist; a worker creates it when it starts")
        consumer.subscribe([topic])
        async with asyncio.timeout(_METADATA_S):
            while not consumer.assignment():  # a consumer without a group gets all partitions once it knows them
                await asyncio.sleep(0.01)
        partitions = sorted(consumer.assignment())
        ends = await consumer.end_offsets(partitions)
        await (consumer.seek_to_beginning(*partitions) if from_beginning else consumer.seek_to_end(*partitions))
        while follow or any([await consumer.position(tp) < ends[tp] for tp in partitions]):
            for records in (await consumer.getmany(timeout_ms=_WAIT_MS)).values():
                for record in records:
                    yield record
    except KafkaConnectionError as error:
        raise unreachable(kafka, error) from error
    finally:
        await consumer.stop()


def readable(kind: str, record: Any, *, as_json: bool) -> bytes:
    """One message as one line, for people or for programs."""
    key = None if record.key is None else record.key.decode("utf-8", "replace")
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    if as_json:
        value = None if record.value is None else _parsed(record.value)
        return json.dumps({"key": key, "value": value, "headers": headers}, ensure_ascii=False).encode()
    return _line(kind, key or "", record.value, headers).encode("utf-8", "replace")


def _parsed(value: bytes) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value.decode("utf-8", "replace")


def _line(kind: str, key: str, value: bytes | None, headers: dict[str, str]) -> str:
    why = headers.get("reason") or headers.get("merged_into", "")
    if kind == "dead-letters":
        return f"{headers.get('reason', '?'):<6} {key}  {headers.get('error', '')}"
    if value is None:
        return f"gone   {key}  {why}".rstrip()
    said = json.loads(value)
    if kind == "matches":
        return f"{said['similarity']:.4f}  {said['left']}  {said['right']}"
    if kind == "members":
        return f"{key}  in {said['cluster']}"
    return f"{said['event']:<8} {said['cluster']}  {said['size']} members: {', '.join(said['members'][:5])}"
