"""Every topic exists, and has the required settings, before the worker joins its group.

Fault (faust-streaming 0.15.3): it creates changelogs and `internal=True` topics only, with replication 1 and without
looking at one that exists.  A source that is missing at the start is ignored, then created by the broker with the
broker's number of partitions.  A wrong number of partitions is noticed at the first write, or never.

Existing topics are compared with the requirements, and all problems are reported at once; only without any problem the
missing topics are created.  No existing topic is altered: that is the operator's task.

Delete when: the engine declares all topics before it subscribes and compares those that exist.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiokafka.admin import NewTopic  # type: ignore[import-untyped]
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    IncompatibleBrokerVersion,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
    for_code,
)

from stream_lsh.errors import ConfigError, StateError, StreamLSHError
from stream_lsh.settings.units import counted

_APPEAR_SECONDS = 15.0
_AT_LEAST = ("max.message.bytes", "min.insync.replicas")
"""Settings with a least value."""
_ANY = ("segment.bytes",)
"""Settings that a topic is created with, and that its operator may change."""
_SEGMENT_BYTES = 16 << 20
"""Kafka deletes and compacts whole segments, and never the one it writes.  By default that is a gigabyte of each
partition, most of it trimmed long ago."""
_RECORD_OVERHEAD = 512  # of a batch with one record, headers included


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """The requirements of a worker for a topic.

    Attributes:
        name: of the topic.
        partitions: their number; None accepts any (such a topic has to exist).
        config: settings that it is created with, and that it must have, except for the size of segments; policies
            compare as sets.
        least_retention_ms: the shortest accepted retention, if it need not be that of `config`.
        replication: the number of copies; None creates with three, or with as many as there are brokers, and accepts
            any.
        message_bytes: the largest message that is ever written; it must fit.
    """

    name: str
    partitions: int | None
    config: Mapping[str, str] = field(default_factory=dict)
    replication: int | None = None
    message_bytes: int = 0
    least_retention_ms: int | None = None

    @property
    def least_limit(self) -> int:
        """The least `max.message.bytes` with which every message fits."""
        return int(self.config.get("max.message.bytes", self.message_bytes and self.message_bytes + _RECORD_OVERHEAD))


def own_topic(name: str, partitions: int, *, message_bytes: int, replication: int | None = None) -> TopicSpec:
    """An internal topic or a changelog: kept until the worker trims it, with timestamps of the broker.

    Retention by the wall clock would delete state while event time stands still, and state that is filled with a
    backlog at once.
    """
    config = {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "segment.bytes": str(max(_SEGMENT_BYTES, message_bytes + _RECORD_OVERHEAD)),
        "message.timestamp.type": "LogAppendTime",
        "max.message.bytes": str(message_bytes + _RECORD_OVERHEAD),
    }
    return TopicSpec(name, partitions, config, replication, message_bytes)


def public_topic(
    name: str,
    partitions: int,
    *,
    retention_ms: int,
    least_retention_ms: int | None = None,
    message_bytes: int = 0,
    replication: int | None = None,
) -> TopicSpec:
    """A topic of results: the newest value of each key, for as long as it can matter."""
    config = {
        "cleanup.policy": "compact,delete",
        "retention.ms": str(retention_ms),
        "segment.bytes": str(_SEGMENT_BYTES),
    }
    return TopicSpec(name, partitions, config, replication, message_bytes, least_retention_ms=least_retention_ms)


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """An existing topic.

    Attributes:
        partitions: their number.
        replication: of its partition with the fewest copies.
        config: its settings.
        described: whether the broker describes settings at all; the embedded one does not.
    """

    partitions: int
    replication: int
    config: Mapping[str, str]
    described: bool = True

    @property
    def limit(self) -> int:
        """`max.message.bytes`, of the topic or of its broker; 0 where the broker does not report it."""
        return int(self.config.get("max.message.bytes", 0))


async def ensure_topics(
    admin: Any,
    wanted: Sequence[TopicSpec],
    *,
    request_bytes: int | None = None,
    errors: Sequence[StreamLSHError] = (),
) -> dict[str, FoundTopic]:
    """Check the topics that exist and create those that do not.

    Args:
        admin: a started admin client of aiokafka.
        wanted: each topic once.
        request_bytes: the largest request that this worker's producer sends; None does not compare.
        errors: other problems that prevent the start; they are reported together with the problems of the topics.

    Returns:
        the topics as they are now.

    Raises:
        ConfigError: a requirement is not met -> the operator changes the topics or the configuration.  All problems are
            listed, and nothing was created if they were found before the creation.
        StreamLSHError: of `errors`, if no problem is a ConfigError.
    """
    existing, brokers = await find_topics(admin, {spec.name for spec in wanted})
    problems = [problem for spec in wanted for problem in topic_problems(spec, existing.get(spec.name), brokers)]
    problems += [
        f"{name}: the broker does not report settings of topics, so a worker cannot use it: set another broker"
        for name, topic in existing.items()
        if not topic.described
    ]
    problems += [
        f"{spec.name}: messages of {spec.message_bytes} bytes do not fit the producer's requests of {request_bytes}"
        for spec in wanted
        if request_bytes is not None and spec.message_bytes + _RECORD_OVERHEAD > request_bytes
    ]
    raise_all([*errors, *map(ConfigError, problems)])
    missing = [spec for spec in wanted if spec.name not in existing]
    return existing | await _create(admin, missing, brokers) if missing else existing


def raise_all(errors: Sequence[StreamLSHError]) -> None:
    """Raise one error with the messages of all: a ConfigError if one of them is the operator's."""
    if not errors:
        return
    if len(errors) == 1:
        raise errors[0]
    messages = [str(error) for error in errors]
    if any(isinstance(error, ConfigError) for error in errors):
        raise ConfigError(messages)
    raise StateError("\n".join(messages))


def topic_problems(spec: TopicSpec, topic: FoundTopic | None, brokers: int) -> list[str]:
    """The problems of a topic that exists, or why a missing one (None) cannot be created."""
    return _impossible(spec, brokers) if topic is None else _wrong(spec, topic)


def _impossible(spec: TopicSpec, brokers: int) -> list[str]:
    """Why a missing topic cannot be created."""
    if spec.partitions is None:
        return [f"{spec.name}: the topic does not exist, and a worker does not create it"]
    if spec.replication is not None and spec.replication > brokers:
        return [f"{spec.name}: cannot have {spec.replication} copies on {brokers} broker(s)"]
    return []


def _wrong(spec: TopicSpec, topic: FoundTopic) -> list[str]:
    """The problems of a topic that exists."""
    problems = []
    if spec.partitions is not None and topic.partitions != spec.partitions:
        problems.append(f"{spec.name}: has {counted(topic.partitions, 'partition')}, not {spec.partitions}")
    if spec.replication is not None and topic.replication < spec.replication:
        problems.append(f"{spec.name}: has {counted(topic.replication, 'copy', 'copies')}, not {spec.replication}")
    if not topic.described:
        return problems
    for key, value in spec.config.items():
        actual = topic.config.get(key, "unknown")
        if key == "retention.ms" and spec.least_retention_ms is not None:
            if 0 <= int(actual) < spec.least_retention_ms:
                problems.append(
                    f"{spec.name}: has {key}={actual}, and at least {spec.least_retention_ms} are needed, or Kafka "
                    "deletes results of live documents"
                )
        elif key not in _AT_LEAST + _ANY and _policies(actual) != _policies(value):
            problems.append(f"{spec.name}: has {key}={actual}, not {value}")
    copies, least = (settings.get("min.insync.replicas", "1") for settings in (topic.config, spec.config))
    if int(copies) < int(least):
        problems.append(f"{spec.name}: has min.insync.replicas={copies}, and at least {least} are needed")
    if topic.limit < spec.least_limit:
        needed = spec.least_limit
        problems.append(f"{spec.name}: has max.message.bytes={topic.limit}, and at least {needed} are needed")
    return problems


def _policies(value: str) -> frozenset[str]:
    return frozenset(part.strip() for part in value.split(","))


async def find_topics(admin: Any, names: Collection[str]) -> tuple[dict[str, FoundTopic], int]:
    """The topics of these names that exist, and the number of brokers."""
    loop = asyncio.get_running_loop()
    brokers, end = len((await admin.describe_cluster())["brokers"]), loop.time() + _APPEAR_SECONDS
    while True:
        described, configs = await _described(admin, names)
        # Brokers learn of a topic at different times, right after its creation and before its end.
        complete = {topic["topic"] for topic in described} <= configs.keys()
        if complete or loop.time() > end:
            break
        await asyncio.sleep(0.05)
    return {
        topic["topic"]: FoundTopic(
            len(topic["partitions"]),
            min(len(partition["replicas"]) for partition in topic["partitions"]),
            configs[topic["topic"]] or {},
            configs[topic["topic"]] is not None,
        )
        for topic in described
        if topic["topic"] in configs
    }, brokers


async def _described(admin: Any, names: Collection[str]) -> tuple[list[Any], dict[str, dict[str, str] | None]]:
    # Ask for ALL topics: a request that names one creates it where the broker creates topics by itself.
    described = [
        topic
        for topic in await admin.describe_topics()
        if topic["topic"] in names and topic["error_code"] == 0 and topic["partitions"]
    ]
    return described, await _configs(admin, [topic["topic"] for topic in described])


async def _configs(admin: Any, names: Sequence[str]) -> dict[str, dict[str, str] | None]:
    """The settings of the topics that the asked broker knows; None where it does not support the request."""
    if not names:
        return {}
    try:
        responses = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    except IncompatibleBrokerVersion:
        return dict.fromkeys(names)
    configs: dict[str, dict[str, str] | None] = {}
    problems = []
    for response in responses:
        for code, message, _, name, entries, *_ in response.resources:
            if code == UnknownTopicOrPartitionError.errno:
                continue
            if code:
                problems.append(f"{name}: the broker does not report its settings: {for_code(code).__name__} {message}")
            configs[name] = {key: value for key, value, *_ in entries}
    if problems:
        raise ConfigError(problems)
    return configs


async def _create(admin: Any, missing: Sequence[TopicSpec], brokers: int) -> dict[str, FoundTopic]:
    """Create topics and wait until they are visible; another worker may be doing the same."""
    response = await admin.create_topics(
        [
            NewTopic(spec.name, spec.partitions, spec.replication or min(3, brokers), topic_configs=dict(spec.config))
            for spec in missing
        ]
    )
    problems = [
        f"{name}: cannot be created: {for_code(code).__name__} {' '.join(map(str, rest))}"
        for name, code, *rest in response.topic_errors
        if code and for_code(code) is not TopicAlreadyExistsError
    ]
    if problems:
        raise ConfigError(problems)
    names = {spec.name for spec in missing}
    try:
        async with asyncio.timeout(_APPEAR_SECONDS):
            while True:
                existing, _ = await find_topics(admin, names)
                if len(existing) == len(names):
                    break
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise ConfigError(f"created, but not visible yet: {', '.join(sorted(names - set(existing)))}") from None
    # Topics that another worker created meanwhile must meet the requirements, too.
    problems = [problem for spec in missing for problem in _wrong(spec, existing[spec.name])]
    if problems:
        raise ConfigError(problems)
    return existing
