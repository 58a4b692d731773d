"""`stream-lsh check`: how a configuration, a cluster and the state of its pipelines stand, one finding each.

Nothing is written.  What is not there yet because no worker has run is not wrong.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.errors import KafkaError, for_code  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.errors import ConfigError, DoubtError, StateError
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.manifest import Manifest
from stream_lsh.worker.engine.topic_ids import topic_ids
from stream_lsh.worker.engine.topics import FoundTopic, TopicSpec, find_topics, topic_problems
from stream_lsh.worker.guards import foreign_results, manifest_of, state_problems, stored_manifest, writers
from stream_lsh.worker.reading import admin_of, bounds, partitions_of
from stream_lsh.worker.security import unreachable
from stream_lsh.worker.topology import source_partitions, topics

OK, NOTE, WRONG = "ok", "note", "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: `ok`, a `note` that asks for nothing, or `wrong` with what to do."""

    state: str
    subject: str
    said: str


async def check(config: Config, pipelines: Sequence[PipelineConfig]) -> list[Finding]:
    """How everything stands that these pipelines of the configuration need, in the order in which it is needed."""
    findings = []
    try:
        async for finding in _findings(config, pipelines):
            findings.append(finding)
    except ConfigError as error:
        findings += [Finding(WRONG, "broker", problem) for problem in error.problems]
    except DoubtError as error:
        findings.append(Finding(WRONG, "broker", str(error)))
    except KafkaError as error:
        findings.append(Finding(WRONG, "broker", str(unreachable(config.kafka, error))))
    return findings


async def _findings(config: Config, pipelines: Sequence[PipelineConfig]) -> AsyncIterator[Finding]:
    counts = await source_partitions(config)
    async with admin_of(config.kafka) as admin:
        specs = {one.name: topics(config, one, counts[one.name]) for one in pipelines}
        found, brokers = await find_topics(admin, {spec.name for some in specs.values() for spec in some})
        yield Finding(OK, "broker", f"{', '.join(config.kafka.brokers)} answers, {brokers} in the cluster")
        ids = await topic_ids(admin, [source for one in pipelines for source in one.sources])
        offsets = await committed_offsets(admin, config.worker.app_id)
        yield await _group(admin, config.worker.app_id, offsets)
        for one in pipelines:
            for spec in specs[one.name]:
                yield _topic(spec, found.get(spec.name), brokers, source=spec.name in one.sources)
            ours = manifest_of(one, counts[one.name], ids)
            try:
                theirs = await stored_manifest(config.kafka, one, found)
            except StateError as error:
                yield Finding(WRONG, f"state of {one.name}", str(error))
            else:
                for finding in _state(ours, theirs, ids):
                    yield finding
            for finding in _results(one, await writers(config.kafka, one, found)):
                yield finding
            for finding in await _lags(config.kafka, one, found, offsets or {}):
                yield finding
            yield await _dead_letters(config.kafka, one, found)


async def committed_offsets(admin: Any, group: str) -> dict[TP, int] | None:
    """From where the group reads each partition on; None if there is no such group."""
    if group not in {name for name, *_ in await admin.list_consumer_groups()}:
        return None
    offsets = await admin.list_consumer_group_offsets(group)
    return {TP(*tp): stored.offset for tp, stored in offsets.items() if stored.offset >= 0}


async def _lags(
    kafka: KafkaConfig, pipeline: PipelineConfig, found: Mapping[str, FoundTopic], offsets: Mapping[TP, int]
) -> list[Finding]:
    """How many offsets of each topic that is read have not been acknowledged; markers of transactions count too."""
    partitions = {
        topic: partitions_of(topic, found[topic].partitions) for topic in read_topics(pipeline) if topic in found
    }
    begins, ends = await bounds(kafka, [tp for tps in partitions.values() for tp in tps])
    findings = []
    for topic, tps in partitions.items():
        lag = sum(max(0, ends[tp] - max(begins[tp], offsets.get(tp, 0))) for tp in tps)
        finding = Finding(OK, f"lag of {topic}", f"{lag:,} messages")
        deleted = sum(max(0, begins[tp] - offsets.get(tp, begins[tp])) for tp in tps)
        if deleted and topic in pipeline.sources:
            said = f"{deleted:,} messages were deleted before they were read: see `A gap` in docs/operations.md"
            finding = Finding(WRONG, f"lag of {topic}", said)
        findings.append(finding)
    return findings


def read_topics(pipeline: PipelineConfig) -> list[str]:
    """The sources, what people decide, and what lies between them and the results."""
    decisions = [] if pipeline.known is None else [pipeline.decisions_topic]
    return [*pipeline.sources, *decisions, *pipeline.step_topics]


async def _group(admin: Any, group: str, offsets: Mapping[TP, int] | None) -> Finding:
    subject = f"group {group}"
    if offsets is None:
        return Finding(OK, subject, "no worker has run yet")
    (response,) = await admin.describe_consumer_groups([group])
    code, _, state, _, _, members, *_ = response.groups[0]
    if code:
        return Finding(WRONG, subject, f"the broker does not tell its state: {for_code(code).__name__}")
    return Finding(OK, subject, f"{state.lower()}, {len(members)} workers")


def _topic(spec: TopicSpec, found: FoundTopic | None, brokers: int, *, source: bool) -> Finding:
    subject = f"{'source' if source else 'topic'} {spec.name}"
    problems = topic_problems(spec, found, brokers)
    if problems:
        told = "; ".join(problem.removeprefix(f"{spec.name}: ") for problem in problems)
        return Finding(WRONG, subject, f"{told}: see `Topics that are not as they have to be` in docs/operations.md")
    if found is None:
        return Finding(OK, subject, f"will be created with {spec.partitions} partitions")
    return Finding(OK, subject, f"{found.partitions} partitions, {found.replication} copies")


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
        yield Finding(OK, subject, f"written by {pipeline.app_id} only" if written else "nobody has written yet")


async def _dead_letters(kafka: KafkaConfig, pipeline: PipelineConfig, found: Mapping[str, FoundTopic]) -> Finding:
    topic = pipeline.dead_letters_topic
    count = 0
    if topic in found:
        begins, ends = await bounds(kafka, partitions_of(topic, found[topic].partitions))
        count = sum(ends[tp] - begins[tp] for tp in ends)
    told = f"{count:,}" + (f": `stream-lsh tail dead-letters --pipeline {pipeline.name}` shows them" if count else "")
    return Finding(NOTE if count else OK, f"dead letters of {pipeline.name}", told)
