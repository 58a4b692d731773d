"""`stream-lsh check`: findings about a configuration, its cluster and the state of its pipelines.

The check writes nothing.  Topics and state that the first worker creates may be missing.
"""

import shlex
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, for_code  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.errors import ConfigError, DoubtError, StateError
from stream_lsh.settings.units import counted
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.manifest import Manifest
from stream_lsh.worker.checks.startup import (
    as_stored,
    checked_topics,
    foreign_results,
    manifest_of,
    state_problems,
    stored_manifest,
    writers,
)
from stream_lsh.worker.clients.topic_reader import admin_of, bounds, described_offsets, partitions_of
from stream_lsh.worker.engine.rights import RIGHTS
from stream_lsh.worker.engine.topics.ids import topic_ids
from stream_lsh.worker.engine.topics.required import FoundTopic, TopicSpec, find_topics, topic_problems
from stream_lsh.worker.security import unreachable
from stream_lsh.worker.topology import source_partitions, topics

OK, NOTE, WRONG = "ok", "note", "wrong"
UNTRIMMED = 10_000
"""The processed messages of a partition from which a missing trim is reported; a worker trims every few seconds."""
_REPORTS_UNDER_WAY = 4
"""Uncommitted reports of event time from one partition of the source to one of a step, while workers are idle."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: `ok`, a `note` that needs no action, or `wrong` with the action."""

    state: str
    subject: str
    message: str


async def check(config: Config, pipelines: Sequence[PipelineConfig], file: str = "FILE") -> list[Finding]:
    """Check all that these pipelines need, in the order in which a worker needs it.

    Args:
        config: the configuration of the workers.
        pipelines: to check.
        file: the name of the configuration, for the commands in messages.
    """
    findings = []
    try:
        async for finding in _findings(config, pipelines, file):
            findings.append(finding)
    except ConfigError as error:
        findings += [Finding(WRONG, "broker", problem) for problem in error.problems]
    except DoubtError as error:
        findings.append(Finding(WRONG, "broker", str(error)))
    except KafkaError as error:
        findings.append(Finding(WRONG, "broker", str(unreachable(config.kafka, error))))
    return findings


async def _findings(config: Config, pipelines: Sequence[PipelineConfig], file: str) -> AsyncIterator[Finding]:
    counts = await source_partitions(config)
    kept = {pipeline.name: pipeline for pipeline in (await as_stored(config)).pipelines}
    pipelines = [kept[pipeline.name] for pipeline in pipelines]
    async with admin_of(config.kafka) as admin:
        specs = {pipeline.name: topics(config, pipeline, counts[pipeline.name]) for pipeline in pipelines}
        existing, brokers = await find_topics(admin, {spec.name for some in specs.values() for spec in some})
        yield Finding(OK, "broker", f"{', '.join(config.kafka.brokers)} answers, {brokers} in the cluster")
        ids = await topic_ids(admin, checked_topics(pipelines))
        if not all(topic.described for topic in existing.values()):
            yield Finding(
                NOTE, "settings of topics", "not checked: the broker does not describe them, as an embedded one"
            )
        read = [tp for pipeline in pipelines for tp in read_partitions(pipeline, existing)]
        try:
            offsets = await described_offsets(admin, config.worker.app_id, read)
        except ConfigError as error:
            yield Finding(WRONG, f"group {config.worker.app_id}", str(error))
            return
        sources = [tp for tp in read if any(tp.topic in pipeline.sources for pipeline in pipelines)]
        waiting = 0 if offsets is None else _lag(sources, offsets, *await bounds(config.kafka, sources))
        yield await _group(admin, config.worker.app_id, offsets, waiting)
        for pipeline in pipelines:
            for spec in specs[pipeline.name]:
                yield _topic(spec, existing.get(spec.name), brokers, source=spec.name in pipeline.sources)
            ours = manifest_of(pipeline, counts[pipeline.name], ids)
            try:
                theirs = await stored_manifest(config.kafka, pipeline, existing)
            except StateError as error:
                yield Finding(WRONG, f"state of {pipeline.name}", str(error))
            else:
                for finding in _state(ours, theirs, ids):
                    yield finding
            for finding in _results(pipeline, await writers(config.kafka, pipeline, existing)):
                yield finding
            for finding in await _lags(config.kafka, pipeline, existing, offsets or {}):
                yield finding
            yield await _dead_letters(config.kafka, pipeline, existing, file)


async def _lags(
    kafka: KafkaConfig, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic], offsets: Mapping[TP, int]
) -> list[Finding]:
    """The lag of each source and of the decisions, and the lag between the steps; markers of transactions count too."""
    partitions = defaultdict[str, list[TP]](list)
    for tp in read_partitions(pipeline, topics):
        partitions[tp.topic].append(tp)
    begins, ends = await bounds(kafka, [tp for tps in partitions.values() for tp in tps])
    findings, between, idle = [], 0, 0
    documents = len(partitions.get(pipeline.documents_topic, ()))  # none if that topic was deleted
    for topic, tps in partitions.items():
        if topic in pipeline.step_topics:
            between += _lag(tps, offsets, begins, ends)
            idle += _REPORTS_UNDER_WAY * len(tps) * documents
            continue
        finding = Finding(OK, f"lag of {topic}", counted(_lag(tps, offsets, begins, ends), "message"))
        deleted = sum(max(0, begins[tp] - offsets.get(tp, begins[tp])) for tp in tps)
        if deleted and topic in pipeline.sources:
            message = (
                f"{deleted:,} messages were deleted before they were read: see `A gap` in docs/operations/errors.md"
            )
            finding = Finding(WRONG, f"lag of {topic}", message)
        findings.append(finding)
    findings += _untrimmed(pipeline, [tp for name in pipeline.step_topics for tp in partitions[name]], offsets, begins)
    steps = "idle" if between <= idle else f"{between:,} messages between them"
    return [*findings, Finding(OK, f"steps of {pipeline.name}", steps)]


def _untrimmed(
    pipeline: PipelineConfig, partitions: Iterable[TP], offsets: Mapping[TP, int], begins: Mapping[TP, int]
) -> Iterator[Finding]:
    """A note about the topics between the steps from which no record was ever deleted, although many were processed."""
    processed = defaultdict[str, int](int)
    for tp in partitions:
        if not begins[tp] and offsets.get(tp, 0) >= UNTRIMMED:
            processed[tp.topic] += offsets[tp]
    if processed:
        topics = ", ".join(f"{count:,} of {topic}" for topic, count in processed.items())
        yield Finding(
            NOTE,
            f"trimming of {pipeline.name}",
            f"no processed message was ever deleted, {topics}: does the user of the worker have the right Delete on "
            f"the internal topics? {RIGHTS}",
        )


def _lag(partitions: Iterable[TP], offsets: Mapping[TP, int], begins: Mapping[TP, int], ends: Mapping[TP, int]) -> int:
    return sum(max(0, ends[tp] - max(begins[tp], offsets.get(tp, 0))) for tp in partitions)


def read_topics(pipeline: PipelineConfig) -> list[str]:
    """The sources, the decisions, and the topics between them and the results."""
    return [*pipeline.sources, *pipeline.decision_topics, *pipeline.step_topics]


def read_partitions(pipeline: PipelineConfig, existing: Mapping[str, FoundTopic]) -> list[TP]:
    """The existing partitions of `read_topics`."""
    topics = (topic for topic in read_topics(pipeline) if topic in existing)
    return [tp for topic in topics for tp in partitions_of(topic, existing[topic].partitions)]


async def _group(admin: Any, group: str, offsets: Mapping[TP, int] | None, waiting: int) -> Finding:
    """The state of the consumer group; a group without workers is reported while messages of a source wait."""
    subject = f"group {group}"
    if offsets is None:
        return Finding(OK, subject, "no worker has run yet")
    try:
        (response,) = await admin.describe_consumer_groups([group])
    except IncompatibleBrokerVersion:
        return Finding(NOTE, subject, "its workers are not checked: the broker does not describe groups")
    code, _, state, _, _, members, *_ = response.groups[0]
    if code:
        return Finding(WRONG, subject, f"the broker does not report its state: {for_code(code).__name__}")
    if waiting and not members:
        note = f"no worker runs, and {waiting:,} messages of the sources wait: start one"
        return Finding(NOTE, subject, f"{state.lower()}, 0 workers: {note}")
    return Finding(OK, subject, f"{state.lower()}, {counted(len(members), 'worker')}")


def _topic(spec: TopicSpec, topic: FoundTopic | None, brokers: int, *, source: bool) -> Finding:
    subject = f"{'source' if source else 'topic'} {spec.name}"
    problems = topic_problems(spec, topic, brokers)
    if problems:
        message = "; ".join(problem.removeprefix(f"{spec.name}: ") for problem in problems)
        return Finding(WRONG, subject, f"{message}: see `Topics that do not fit` in docs/operations/errors.md")
    if topic is None:
        return Finding(OK, subject, f"will be created with {counted(spec.partitions or 0, 'partition')}")
    return Finding(
        OK, subject, f"{counted(topic.partitions, 'partition')}, {counted(topic.replication, 'copy', 'copies')}"
    )


def _state(ours: Manifest, theirs: Manifest | None, ids: Mapping[str, str] | None) -> Iterator[Finding]:
    settings, identity = f"settings of {ours.pipeline}", f"identity of {', '.join(ours.sources)}"
    scheme = f"fingerprint {fingerprint(ours.settings):016x}"
    if theirs is None:
        yield Finding(OK, settings, f"{scheme}; no state yet")
        return
    errors = state_problems(ours, theirs, ids)
    operators = [error for error in errors if isinstance(error, ConfigError)]
    for error in errors:
        yield Finding(WRONG, settings if error in operators else identity, str(error))
    if not operators:
        yield Finding(OK, settings, f"{scheme}, as of the state")
    unknown = [source for source in ours.sources if ids is None or theirs.sources.get(source) is None]
    if unknown:
        yield Finding(NOTE, identity, f"not known at the first start, and not checked, of {', '.join(unknown)}")
    elif len(errors) == len(operators):
        yield Finding(OK, identity, "as of the state")


def _results(pipeline: PipelineConfig, wrote: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
    subject = f"results of {pipeline.name}"
    errors = foreign_results(pipeline, wrote)
    for error in errors:
        yield Finding(WRONG, subject, str(error))
    if not errors:
        written = any(wrote.values())
        yield Finding(OK, subject, f"written by {pipeline.app_id} only" if written else "no results yet")


async def _dead_letters(
    kafka: KafkaConfig, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic], file: str
) -> Finding:
    topic = pipeline.dead_letters_topic
    count = 0
    if topic in topics:
        begins, ends = await bounds(kafka, partitions_of(topic, topics[topic].partitions))
        count = sum(ends[tp] - begins[tp] for tp in ends)
    command = f"tail dead-letters --config {shlex.quote(file)} --pipeline {pipeline.name} --from-beginning"
    message = f"{count:,}" + (f": `stream-lsh {command}` shows them" if count else "")
    return Finding(NOTE if count else OK, f"dead letters of {pipeline.name}", message)
