"""The plan of a deployment: workers, partitions, memory, disks, the ceiling of settle, and the time of a start."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import NamedTuple

from stream_lsh.config.model import MOST_PARTITIONS, Config, PipelineConfig
from stream_lsh.errors import ConfigError
from stream_lsh.settings.units import count_text, size_text
from stream_lsh.sizing import costs
from stream_lsh.sizing.load import BUSY_BATCH, Load
from stream_lsh.sizing.sample import Sample, sample_of
from stream_lsh.sizing.topics import TopicSize, topic_sizes
from stream_lsh.sizing.traffic import (
    BANDS,
    BUCKETS_LOG,
    CANDIDATES,
    DOCUMENTS_LOG,
    EDGES,
    LEDGER_LOG,
    VERIFICATIONS,
    Traffic,
    traffic_of,
)

SHARE = 0.7
"""The share of a core that a worker uses at the peak: the rest is for starts, rebalances and bursts."""
PARTITIONS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""The numbers of partitions that a plan chooses from."""
GROWTH = 2
"""Partitions for each worker: the number of partitions is fixed, the number of workers is not."""
MEMORY = 16e9
"""The memory of a worker, in bytes, by default."""
SETTLE = "settle"
_MOST_WORKERS = 1_000
_NEAR_CEILING = 0.5
_MANY_MARKS = 0.2
"""The share of the processor time from which on the plan warns of marks."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The limit of settle, which one worker runs for all partitions.

    Attributes:
        pairs: a second that settle publishes with the share of a core that is planned.
        documents: a second of this stream.
        used: the share of the ceiling at the peak.
    """

    pairs: float
    documents: float
    used: float


@dataclass(frozen=True, slots=True)
class Recovery:
    """The seconds until a worker is ready.

    Attributes:
        from_disk: with its on-disk copy, or without one where the changelogs are all there is.
        from_changelogs: on an empty machine.
    """

    from_disk: float
    from_changelogs: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one pipeline.

    Attributes:
        pipeline: its name.
        documents: that are kept.
        peak: documents a second for which workers are planned.
        cpu: seconds of processor time a second at the peak, by step.
        bottleneck: the step that limits the stream.
        workers: as many as the peak needs, and no more than partitions.
        needed: workers that the peak needs; above 1,000 they are not counted.
        partitions: of the source.
        memory: bytes of the worker that settles; all others have less.
        other_memory: bytes of each other worker.
        disk: bytes of each worker.
        topics: by topic, for all brokers together.
        ceiling: of settle.
        recovery: of a worker.
        notes: what to know, and what to do.
    """

    pipeline: str
    documents: float
    peak: float
    cpu: Mapping[str, float]
    bottleneck: str
    workers: int
    needed: int
    partitions: int
    memory: float
    other_memory: float
    disk: float
    topics: Mapping[str, TopicSize]
    ceiling: Ceiling
    recovery: Recovery
    notes: tuple[str, ...]

    @property
    def cores(self) -> float:
        """Seconds of processor time a second, all steps together."""
        return sum(self.cpu.values())


def plan(config: Config, pipeline: PipelineConfig, load: Load, partitions: int = 0, memory: float = MEMORY) -> Plan:
    """The plan of a pipeline.

    Args:
        config: with the replication and the workers' settings.
        pipeline: of the configuration.
        load: the stream.
        partitions: of the source; 0: chosen.
        memory: the most bytes of a worker.

    Raises:
        ConfigError: nothing limits the number of documents that are kept; there are too many partitions; documents of
            this size are too large, or do not match.
    """
    if partitions > MOST_PARTITIONS:
        raise ConfigError(f"partitions: got {partitions}, expected at most {MOST_PARTITIONS}")
    sample = sample_of(pipeline, load.size, load.partners)
    counts = (partitions,) if partitions else PARTITIONS
    layouts = [_layout(config, pipeline, load, sample, partitions=count, most=memory) for count in counts]
    layout = next((one for one in layouts if GROWTH * one.workers <= one.partitions), None)
    layout = layout or min(layouts, key=lambda one: (one.lacking, sum(one.cpu.values())))
    batch = load.batch_at(load.rate, layout.partitions)
    usual = traffic_of(load, sample, layout.partitions, load.rate, batch, workers=layout.workers)
    ceiling = _ceiling(load, layout.cpu)
    bottleneck = _bottleneck(layout.cpu, ceiling)
    sized = topic_sizes(
        config, pipeline, load, usual, documents=layout.documents, partitions=layout.partitions, workers=layout.workers
    )
    return Plan(
        pipeline=pipeline.name,
        documents=layout.documents,
        peak=load.rate * load.peak,
        cpu=layout.cpu,
        bottleneck=bottleneck,
        workers=layout.workers,
        needed=layout.workers + layout.lacking,
        partitions=layout.partitions,
        memory=layout.memory,
        other_memory=layout.other_memory,
        disk=layout.disk,
        topics=sized,
        ceiling=ceiling,
        recovery=_recovery(config, load, sample, layout.documents, layout.workers),
        notes=tuple(_notes(load, layout, ceiling, bottleneck, memory)),
    )


def workers_needed(workers: int) -> str:
    """A number of workers, as far as a plan counts them.

    Example:
        >>> workers_needed(101), workers_needed(1_001)
        ('101', 'more than 1,000')
    """
    return f"more than {_MOST_WORKERS:,}" if workers > _MOST_WORKERS else f"{workers:,}"


def documents_kept(pipeline: PipelineConfig, load: Load, partitions: int) -> float:
    """The number of documents that the workers keep.

    Raises:
        ConfigError: without a retention, a limit and a number of documents.
    """
    found = [load.rate * pipeline.live_ms / 1_000] if pipeline.live_ms is not None else []
    found += [float(pipeline.max_documents) * partitions] if pipeline.max_documents else []
    found += [float(load.documents)] if load.documents is not None else []
    if not found:
        raise ConfigError("documents: got none, expected the number of documents kept: the pipeline has no retention")
    return min(found)


def step_costs(
    pipeline: PipelineConfig, load: Load, traffic: Traffic, workers: int, *, on_disk: bool
) -> dict[str, float]:
    """Seconds of processor time a second, by step.

    Args:
        pipeline: with the kind of data.
        load: the stream.
        traffic: at the rate that is planned.
        workers: each makes the shingles of a near-duplicate once.
        on_disk: whether workers keep a copy on disk.
    """
    each, kilobytes = costs.STEPS.get(pipeline.kind.name, costs.TEXT), load.size / 1_000
    messages = {topic: flow.messages * costs.MESSAGE_US / 2 for topic, flow in traffic.topics.items()}
    sign = each.sign_document + each.sign_kilobyte * kilobytes + costs.SOURCE_US + on_disk * costs.STORE_US
    # A false candidate needs the shingles of another old document; those of a group are in the cache.
    useless = traffic.documents * load.candidates
    made = min(traffic.parts, traffic.documents * load.near_duplicates * workers) + useless
    micros = {
        "sign": traffic.documents * sign + messages[DOCUMENTS_LOG] + messages[BANDS],
        "index": traffic.postings * each.index_posting
        + traffic.found * each.index_pair
        + messages[BANDS]
        + messages[BUCKETS_LOG]
        + messages[CANDIDATES],
        "gather": traffic.sent * (each.gather_document + each.gather_kilobyte * kilobytes)
        + traffic.found * each.gather_pair
        + messages[CANDIDATES]
        + messages[VERIFICATIONS],
        "verify": made * (each.verify_document + each.verify_kilobyte * kilobytes)
        + traffic.compared * each.verify_pair
        + messages[VERIFICATIONS]
        + messages[EDGES],
        SETTLE: traffic.parts * each.settle_part
        + traffic.pairs * each.settle_pair
        + messages[EDGES]
        + messages[LEDGER_LOG]
        + traffic.public_messages * costs.PUBLIC_US,
    }
    return {step: spent / 1e6 for step, spent in micros.items()}


def mark_seconds(partitions: int, workers: int) -> float:
    """Seconds of processor time a second for marks of event time.

    Each worker reports once a second to every index partition, each of which reports to every partition of gather, and
    these to every partition of verify.
    """
    return 2 * workers * partitions**2 * costs.MARK_US / 1e6


class _Layout(NamedTuple):
    """A number of partitions, and the workers that it needs; the other attributes are those of `Plan`.

    Attributes:
        lacking: workers that the peak needs beyond the number of partitions.
    """

    partitions: int
    workers: int
    lacking: int
    documents: float
    cpu: dict[str, float]
    memory: float
    other_memory: float
    disk: float


def _layout(
    config: Config, pipeline: PipelineConfig, load: Load, sample: Sample, *, partitions: int, most: float
) -> _Layout:
    """The workers for a number of partitions: for the processor time at the peak, and for at most `most` bytes each."""
    on_disk = config.worker.data_dir is not None
    peak = partial(traffic_of, load, sample, partitions, load.rate * load.peak, BUSY_BATCH, joined=True)
    documents = documents_kept(pipeline, load, partitions)
    ledger = ledger_bytes(load, documents)
    workers = 0
    while True:
        workers += 1
        copies = 1 + min(config.worker.standbys, workers - 1)
        used = min(workers, partitions)
        cpu = step_costs(pipeline, load, peak(workers=used), used, on_disk=on_disk)
        spent = sum(cpu.values()) + mark_seconds(partitions, workers)
        other = _memory(load, sample, documents * copies / workers, on_disk=on_disk)
        # More workers do not help against a large ledger, which is on one of them.
        fits = other + min(ledger, most / 2) <= most
        if (fits and spent + costs.IDLE * workers <= SHARE * workers) or workers > _MOST_WORKERS:
            break
    used = min(workers, partitions)
    copies = 1 + min(config.worker.standbys, used - 1)
    other = _memory(load, sample, documents * copies / used, on_disk=on_disk)
    cpu |= {"event time": mark_seconds(partitions, used), "idle": costs.IDLE * used}
    disk = _disk(sample, documents) * copies / used if on_disk else 0.0
    memory, other = other + ledger, other + (ledger if copies > 1 else 0.0)
    return _Layout(partitions, used, workers - used, documents, cpu, memory, other, disk)


def _ceiling(load: Load, cpu: Mapping[str, float]) -> Ceiling:
    used, peak = cpu[SETTLE] / SHARE, load.rate * load.peak
    if not used:
        return Ceiling(0.0, 0.0, 0.0)
    return Ceiling(peak * load.matches / used, peak / used, used)


def _bottleneck(cpu: Mapping[str, float], ceiling: Ceiling) -> str:
    """The step that limits the stream: settle if it needs more of its ceiling than any other step of all workers."""
    steps = {step: spent for step, spent in cpu.items() if step != "idle"}
    return SETTLE if ceiling.used > 1 else max(steps, key=lambda step: steps[step])


def members_of(load: Load, documents: float) -> float:
    """The documents that are members of a cluster: near-duplicates, and the first document of each group."""
    if not load.near_duplicates:
        return 0.0
    group = max(2.0, 2 * load.partners)
    return min(documents, documents * load.near_duplicates * group / (group - 1))


def ledger_bytes(load: Load, documents: float) -> float:
    """Bytes of the ledger in memory: members of clusters with their pairs."""
    members = members_of(load, documents)
    return members * costs.MEMBER_BYTES + max(0.0, documents * load.matches - 1.5 * members) * costs.PAIR_BYTES


def _memory(load: Load, sample: Sample, share: float, *, on_disk: bool) -> float:
    """Bytes of a worker that has this number of documents, without the ledger."""
    each = costs.VERSION_BYTES + sample.id_bytes + sample.buckets * costs.POSTING_BYTES
    if not on_disk:
        each += sample.stored_bytes
    return costs.WORKER_BYTES + costs.CACHE_BYTES + share * each


def _disk(sample: Sample, documents: float) -> float:
    """Bytes on the disks of all workers, one copy of each document."""
    stored = (sample.stored_bytes + costs.META_BYTES) * costs.DISK_SHARE
    return documents * (stored + sample.buckets * costs.POSTING_DISK_BYTES)


def _recovery(config: Config, load: Load, sample: Sample, documents: float, workers: int) -> Recovery:
    share = documents / workers
    ledger = members_of(load, documents) * costs.MEMBER_START_US / 1e6
    postings = share * sample.buckets / costs.POSTINGS_PER_SECOND
    logs = costs.START_SECONDS + share * costs.RECOVER_US / 1e6 + postings + ledger
    disk = costs.START_SECONDS + share * costs.START_US / 1e6 + ledger
    return Recovery(logs if config.worker.data_dir is None else disk, logs)


def _notes(load: Load, layout: _Layout, ceiling: Ceiling, bottleneck: str, most: float) -> Iterator[str]:
    workers, partitions, marks = layout.workers, layout.partitions, layout.cpu["event time"]
    if ceiling.used > 1:
        yield (
            f"settle needs {ceiling.used:,.1f} times what one worker can do, {count_text(ceiling.pairs)} pairs a "
            f"second. More workers do not help. Divide the stream into {ceil(ceiling.used):,} pipelines or more, by a "
            "key that near-duplicates share (language, market, type), or publish fewer pairs: a higher threshold, a "
            "lower max_candidates"
        )
    elif ceiling.used > _NEAR_CEILING:
        yield f"settle uses {ceiling.used:.0%} of its ceiling at the peak; further workers do not raise the ceiling"
    if layout.lacking:
        needed = workers_needed(workers + layout.lacking)
        yield f"{partitions} partitions are too few: the peak needs {needed} workers, and each needs a partition"
    elif GROWTH * workers > partitions:
        yield f"{partitions} partitions leave little room: the number of partitions cannot change without starting over"
    if layout.memory > most:
        yield (
            f"the worker that settles needs {size_text(layout.memory)}: keep fewer documents (retention, "
            "max_documents), or divide the stream into several pipelines"
        )
    if marks > _MANY_MARKS * sum(layout.cpu.values()):
        yield (
            f"marks of event time take {count_text(marks)} cores. They grow with the workers and the square of the "
            "partitions: use fewer partitions, or several pipelines"
        )
    if workers == 1:
        yield "one worker is enough; a second one takes over within seconds if it fails"
    if bottleneck != SETTLE:
        yield f"{bottleneck} takes most of the CPU time; up to {partitions} workers share it"
