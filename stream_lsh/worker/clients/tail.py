"""Reads public topics as messages arrive, and formats each message as a line."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import ConfigError, DoubtError
from stream_lsh.model import ref_offset, ref_partition
from stream_lsh.pipeline.batches import RECHECK
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_candidates
from stream_lsh.worker.engine.rights import naming_rights
from stream_lsh.worker.security import client_security, unreachable

_WAIT_MS = 200
_METADATA_S = 15.0


async def messages(
    kafka: KafkaConfig, topics: Sequence[str], from_beginning: bool, *, follow: bool
) -> AsyncIterator[Any]:
    """The records of topics: from their beginning or from now on, without end or up to their current ends.

    Raises:
        ConfigError: there is no such topic -> start a worker first; it creates them.  Or the user may not read it.
        DoubtError: a broker does not answer -> try again.
    """
    consumer = AIOKafkaConsumer(
        bootstrap_servers=list(kafka.brokers),
        isolation_level="read_committed",
        auto_offset_reset="earliest",  # of a partition whose head is deleted meanwhile, show the rest
        **client_security(kafka),
    )
    try:
        await consumer.start()
        missing = [topic for topic in topics if topic not in await consumer.topics()]
        if missing:
            raise ConfigError(
                [f"{topic}: the topic does not exist; a worker creates it when it starts" for topic in missing]
            )
        consumer.subscribe(topics)
        await _assigned(consumer, topics)
        partitions = sorted(consumer.assignment())
        ends = await consumer.end_offsets(partitions)
        begins = await consumer.beginning_offsets(partitions) if from_beginning else ends
        # Not `seek_to_beginning` or `seek_to_end`: they take the answer to a request for another offset that is under
        # way, such as the first one of a new assignment (aiokafka 0.14.0).
        for tp in partitions:
            consumer.seek(tp, begins[tp])
        while follow or any([await consumer.position(tp) < ends[tp] for tp in partitions]):
            with naming_rights():
                batches = await consumer.getmany(timeout_ms=_WAIT_MS)
            for records in batches.values():
                for record in records:
                    yield record
    except KafkaError as error:
        raise unreachable(kafka, error) from error
    finally:
        await consumer.stop()


async def _assigned(consumer: Any, topics: Sequence[str]) -> None:
    """Wait until the consumer, which has no group, knows the partitions of its topics and so has them all."""
    try:
        async with asyncio.timeout(_METADATA_S):
            while {tp.topic for tp in consumer.assignment()} != {*topics}:
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise DoubtError(
            f"{', '.join(topics)}: no broker reported the partitions within {_METADATA_S:.0f} s; try again"
        ) from None


def readable(kind: str, record: Any, *, as_json: bool) -> str:
    """One message as one line, for people or for programs; control characters are not escaped for a terminal."""
    key = None if record.key is None else record.key.decode("utf-8", "replace")
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    if as_json:
        value = None if record.value is None else _parsed(record.value)
        return json.dumps({"key": key, "value": value, "headers": headers}, ensure_ascii=False)
    return _line(kind, key or "", record.value, headers)


def candidate_lines(pipeline: PipelineConfig, record: Any, *, as_json: bool) -> list[bytes]:
    """The pairs of a message of the topic `candidates`, a line each, for people or for programs.

    A version is identified by the partition and the offset of its message in the topic that sign reads.

    Raises:
        StateError: the message was written under other settings, or is damaged.
    """
    frame = decode_candidates(record.value, fingerprint(pipeline.kind.stored_settings()))
    if frame.candidates is None:
        return []
    pairs, lines = frame.candidates, []
    for new, old, kind in zip(pairs.new.tolist(), pairs.old.tolist(), pairs.kinds.tolist(), strict=True):
        what = "recheck" if kind == RECHECK else "candidate"
        places = [(ref_partition(ref), ref_offset(ref)) for ref in (new, old)]
        if as_json:
            json_places = [{"partition": partition, "offset": offset} for partition, offset in places]
            lines.append(json.dumps({"kind": what, "new": json_places[0], "old": json_places[1]}).encode())
        else:
            text_places = "  ".join(f"{pipeline.documents_topic}[{partition}]:{offset}" for partition, offset in places)
            lines.append(f"{what:<9}  {text_places}".encode())
    return lines


def _parsed(value: bytes) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value.decode("utf-8", "replace")


def _weights(weights: dict[str, float]) -> str:
    """The contribution of each field, the largest first."""
    ordered = sorted(weights.items(), key=lambda one: -abs(one[1]))
    return ", ".join(f"{field} {bits:+.1f}" for field, bits in ordered)


def _line(kind: str, key: str, value: bytes | None, headers: dict[str, str]) -> str:
    why = headers.get("reason") or headers.get("merged_into", "")
    if kind == "dead-letters":
        return f"{headers.get('reason', '?'):<6} {key or headers.get('key', '')}  {headers.get('error', '')}"
    if value is None:
        return f"gone   {key}  {why}".rstrip()
    try:
        return _result_line(kind, key, json.loads(value))
    except (AttributeError, LookupError, TypeError, ValueError):  # of another program
        return f"not a result  {key}  {value.decode('utf-8', 'replace')}"


def _result_line(kind: str, key: str, row: dict[str, Any]) -> str:
    """A result that holds now, as a line."""
    if kind in ("matches", "reviews"):
        why = f"  {row['score']:.1f}: {_weights(row['weights'])}" if "weights" in row else ""
        why += f"  distance {row['distance']:.6g}" if "distance" in row else ""
        return f"{row['similarity']:.4f}  {row['left']}  {row['right']}{why}"
    if kind == "members":
        return f"{key}  in {row.get('cluster') or row['entity']}"
    if kind == "entities":
        golden = "; ".join(f"{field} {value}" for field, value in row["golden"].items())
        named = ", ".join(member["id"] for member in row["members"][:5])
        return f"{row['event']:<8} {row['entity']}  {row['size']} records: {named}  {golden}"
    if kind == "mirror-sites":
        left, right = row["left"], row["right"]
        return f"{row['left_share']:.1%} of {left} in {right}  {row['right_share']:.1%} of {right} in {left}"
    headline = f"  {row['headline']}" if row.get("headline") else ""
    return f"{row['event']:<8} {row['cluster']}  {row['size']} members: {', '.join(row['members'][:5])}{headline}"
