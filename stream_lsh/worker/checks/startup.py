"""Start-up checks: a worker refuses incompatible state, and topics that another application writes to.

A manifest (`wire/manifest.py`) has a topic of its own, and the first record counts for ever: if two workers start at
the same time with different settings, the second one to write finds the record of the first one, and ends.
"""

from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.topics import INTERNAL_TOPICS
from stream_lsh.errors import ConfigError, DoubtError, StateError, StreamLSHError
from stream_lsh.wire.manifest import AGAIN, LOST, Manifest, decode_manifest, disagreements, encode_manifest
from stream_lsh.worker.clients.topic_reader import admin_of, bounds, committed_offsets, partitions_of, records
from stream_lsh.worker.engine.topics.ids import topic_ids
from stream_lsh.worker.engine.topics.limits import TopicLimits
from stream_lsh.worker.engine.topics.required import FoundTopic, find_topics, raise_all
from stream_lsh.worker.security import client_security

_LAST = 10
"""Offsets that are read from the end of a partition: the last one may be the marker of a transaction."""


async def before_topics(admin: Any, config: Config, partitions: Mapping[str, int]) -> list[StreamLSHError]:
    """All problems that prevent the start, of all pipelines; nothing is changed.

    Args:
        admin: a started admin client.
        config: of the worker.
        partitions: of each pipeline's source, by the pipeline's name.
    """
    sources = {source for pipeline in config.pipelines for source in pipeline.sources}
    topics, _ = await find_topics(admin, _inspected_topics(config) | sources)
    ids = await topic_ids(admin, checked_topics(config.pipelines))
    read = [tp for source in sources & {*topics} for tp in partitions_of(source, topics[source].partitions)]
    offsets = await committed_offsets(admin, config.worker.app_id, read) or {}
    errors: list[StreamLSHError] = []
    for pipeline in config.pipelines:
        ours = manifest_of(pipeline, partitions[pipeline.name], ids)
        try:
            theirs = await stored_manifest(config.kafka, pipeline, topics)
        except (ConfigError, StateError) as error:
            errors.append(error)
        else:
            errors += state_problems(ours, theirs, ids)
            errors += missing_state(pipeline, theirs, offsets)
        try:
            errors += foreign_results(pipeline, await writers(config.kafka, pipeline, topics))
        except ConfigError as error:
            errors.append(error)
    return errors


async def after_topics(admin: Any, config: Config, partitions: Mapping[str, int]) -> Mapping[str, str]:
    """Write the missing manifests, once all topics exist.

    Returns:
        the ids of `checked_topics`; empty where the broker does not report ids.

    Raises:
        StreamLSHError: another worker has written a different manifest since `before_topics`.
    """
    topics, _ = await find_topics(admin, _inspected_topics(config))
    ids = await topic_ids(admin, checked_topics(config.pipelines))
    errors: list[StreamLSHError] = []
    for pipeline in config.pipelines:
        ours = manifest_of(pipeline, partitions[pipeline.name], ids)
        theirs = await stored_manifest(config.kafka, pipeline, topics)
        if theirs is None:
            topic = pipeline.internal_topic("manifest")
            await _write(config.kafka, pipeline, ours, topics[topic].limit if topic in topics else 0)
            theirs = await stored_manifest(config.kafka, pipeline, topics)
        if theirs is None:
            raise DoubtError(
                f"{pipeline.internal_topic('manifest')}: lacks the record that this worker wrote: start again"
            )
        errors += disagreements(ours, theirs)
    raise_all(errors)
    return ids or {}


async def as_stored(config: Config) -> Config:
    """The configuration with the values that existing states keep; see `Kind.as_stored`.

    Unreadable manifests are not reported here, but by `before_topics`.

    Raises:
        DoubtError: no broker answers.
    """
    async with admin_of(config.kafka) as admin:
        topics, _ = await find_topics(admin, {pipeline.internal_topic("manifest") for pipeline in config.pipelines})
    pipelines = list[PipelineConfig]()
    for pipeline in config.pipelines:
        theirs = None
        with suppress(ConfigError, StateError):
            theirs = await stored_manifest(config.kafka, pipeline, topics)
        pipelines.append(pipeline if theirs is None else with_stored(config, pipeline, theirs))
    return replace(config, pipelines=tuple(pipelines))


def with_stored(config: Config, pipeline: PipelineConfig, theirs: Manifest) -> PipelineConfig:
    """A pipeline with the values that the state of this manifest keeps."""
    prefix = f"pipeline.{pipeline.name}."
    named = {key.removeprefix(prefix) for key in config.origins if key.startswith(prefix)}
    return replace(pipeline, kind=pipeline.kind.as_stored(theirs.settings, named))


def checked_topics(pipelines: Iterable[PipelineConfig]) -> list[str]:
    """The topics whose recreation is detected: the sources, and the topics that hold the state."""
    return [topic for pipeline in pipelines for topic in (*pipeline.sources, *_own(pipeline))]


def _own(pipeline: PipelineConfig) -> list[str]:
    """The topics of a pipeline whose offsets are in its state, or that hold the state."""
    names = [pipeline.internal_topic(name) for name in INTERNAL_TOPICS if name != "manifest"]
    return [*names, *pipeline.decision_topics]


async def expect_same_topics(admin: Any, ids: Mapping[str, str]) -> None:
    """Check that the topics are still those that existed at the start.

    Raises:
        StateError: a topic was deleted and recreated since -> docs/operations/errors.md.
    """
    raise_all(recreated(ids, await topic_ids(admin, ids) or {}))


def recreated(before: Mapping[str, str], after: Mapping[str, str]) -> list[StateError]:
    """A problem for each topic whose id has changed; a topic that is not found is not judged."""
    return [
        StateError(
            f"{topic}: was deleted and recreated while this worker ran: its id is {after[topic]}, expected {id}: "
            f"its messages are lost, and new ones reuse their offsets; see {LOST}"
        )
        for topic, id in before.items()
        if after.get(topic, id) != id
    ]


def manifest_of(pipeline: PipelineConfig, partitions: int, ids: Mapping[str, str] | None) -> Manifest:
    """The manifest of the state that a worker of this configuration builds."""
    return Manifest(
        pipeline.name,
        pipeline.documents_topic,
        {source: (ids or {}).get(source) for source in pipeline.sources},
        partitions,
        {name: topic for name, topic in pipeline.public_topics.items() if name != "dead_letters"},
        pipeline.kind.least,
        pipeline.kind.stored_settings(),
        pipeline.limits().guards.settings(),
        pipeline.kind.stories,
        pipeline.kind.mirror_share,
        {topic: ids[topic] for topic in _own(pipeline) if topic in (ids or {})} if ids else {},
    )


def state_problems(ours: Manifest, theirs: Manifest | None, ids: Mapping[str, str] | None) -> list[StreamLSHError]:
    """The reasons why this configuration cannot use the existing state; `ids` are those of the sources."""
    if theirs is None:
        return []
    gone = [one for one in ours.sources if ids is not None and one in theirs.sources and one not in ids]
    lost = [one for one in theirs.own if ids is not None and one not in ids]
    return [
        *(
            StateError(
                f"{topic}: no longer exists: its messages are lost, and a new topic would reuse the offsets that the "
                f"state of {ours.pipeline} refers to; see {LOST}"
            )
            for topic in lost
        ),
        *(
            StateError(
                f"{source}: no longer exists, and the state of {ours.pipeline} was built from it: start over "
                "under another `app_id`, from a new source"
            )
            for source in gone
        ),
        *disagreements(ours, theirs),
    ]


def missing_state(
    pipeline: PipelineConfig, manifest: Manifest | None, offsets: Mapping[TP, int]
) -> list[StreamLSHError]:
    """A problem for each source that the group has read, although no manifest exists: the state was deleted.

    A worker that started with an empty state at these offsets would match new documents with new ones only.

    Args:
        pipeline: to start.
        manifest: the stored one.
        offsets: that the group has committed.
    """
    if manifest is not None:
        return []
    return [
        StateError(
            f"{source}: the group {pipeline.app_id} has read it, but {pipeline.internal_topic('manifest')} holds no "
            f"manifest: the internal topics of {pipeline.name} were deleted, or it has another name now; delete the "
            f"group, too, to read the source again, or {AGAIN}"
        )
        for source in pipeline.sources
        if any(tp.topic == source and offset > 0 for tp, offset in offsets.items())
    ]


async def stored_manifest(
    kafka: KafkaConfig, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic]
) -> Manifest | None:
    """The first manifest of the topic; None if there is none yet.

    Raises:
        StateError: the stored manifest cannot be read.
    """
    topic = pipeline.internal_topic("manifest")
    if topic not in topics:
        return None
    begins, ends = await bounds(kafka, [TP(topic, 0)])
    async with aclosing(records(kafka, begins, ends)) as chunks:
        async for chunk in chunks:
            return decode_manifest(chunk[0].value, topic)
    return None


async def writers(
    kafka: KafkaConfig, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic]
) -> dict[str, frozenset[str]]:
    """The applications that wrote the last records of each existing public topic, by the headers of the records."""
    tps = [
        tp for topic in _results(pipeline) if topic in topics for tp in partitions_of(topic, topics[topic].partitions)
    ]
    begins, ends = await bounds(kafka, tps)
    wrote: dict[str, set[str]] = {tp.topic: set() for tp in tps}
    last_records: dict[TP, Any] = {}
    async for chunk in records(kafka, {tp: max(begins[tp], ends[tp] - _LAST) for tp in tps}, ends):
        last_records[TP(chunk[-1].topic, chunk[-1].partition)] = chunk[-1]
    for tp, record in last_records.items():
        app_id = dict(record.headers).get("app_id")
        if app_id is not None:
            wrote[tp.topic].add(app_id.decode("utf-8", "replace"))
    return {topic: frozenset(names) for topic, names in wrote.items()}


def foreign_results(pipeline: PipelineConfig, wrote: Mapping[str, Iterable[str]]) -> list[StreamLSHError]:
    """A problem for each public topic that another application writes to."""
    return [
        ConfigError(
            f"{topic}: the application {', '.join(others)} writes to it, and {pipeline.app_id} would contradict it: "
            f"set another topic in [pipeline.topics] of {pipeline.name}"
        )
        for topic, names in wrote.items()
        if (others := sorted({*names} - {pipeline.app_id}))
    ]


async def _write(kafka: KafkaConfig, pipeline: PipelineConfig, manifest: Manifest, limit: int) -> None:
    """Write the first record of the topic of a pipeline; a batch has at most `limit` bytes, 0 if that is not known."""
    topic, value, most = pipeline.internal_topic("manifest"), encode_manifest(manifest), pipeline.max_message_bytes
    limits = TopicLimits(most)
    if limit:
        limits.set({topic: limit})
    if excess := limits.excess(topic, None, value, None):
        raise ConfigError(
            f"{topic}: {excess}, for the settings of the state of {pipeline.name}: shorten its profile, or raise "
            "`max_document_bytes` and `max.message.bytes` of the topic"
        )
    producer = AIOKafkaProducer(
        bootstrap_servers=list(kafka.brokers), acks="all", max_request_size=most, **client_security(kafka)
    )
    try:
        await producer.start()
        await producer.send_and_wait(topic, value, partition=0)
    finally:
        await producer.stop()


def _results(pipeline: PipelineConfig) -> list[str]:
    """The public topics with results; dead letters of several applications do not contradict each other."""
    return [topic for name, topic in pipeline.public_topics.items() if name != "dead_letters"]


def _inspected_topics(config: Config) -> set[str]:
    return {
        topic for pipeline in config.pipelines for topic in (pipeline.internal_topic("manifest"), *_results(pipeline))
    }
