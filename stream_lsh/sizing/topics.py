"""The disk and the traffic of each topic on the brokers."""

from dataclasses import dataclass

from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.sizing import costs
from stream_lsh.sizing.load import DAY_SECONDS, Load
from stream_lsh.sizing.traffic import (
    BANDS,
    BUCKETS_LOG,
    CANDIDATES,
    DOCUMENTS_LOG,
    EDGES,
    LEDGER_LOG,
    SOURCE,
    VERIFICATIONS,
    Flow,
    Traffic,
)

STEPS = (BANDS, CANDIDATES, VERIFICATIONS, EDGES)
LOGS = (DOCUMENTS_LOG, BUCKETS_LOG, LEDGER_LOG)
SOURCE_DAYS = 7
"""The default retention of a broker, for the source."""
_MARK_BYTES, _MARK_MESSAGE_BYTES = 40, 56
"""A mark of one source partition, and the rest of a message with marks: `wire.sections`."""


@dataclass(frozen=True, slots=True)
class TopicSize:
    """A topic on the brokers.

    Attributes:
        messages: each second, on average.
        bytes: each second, of messages, without copies.
        written: bytes each second to all brokers, with copies and Kafka's own bytes.
        read: bytes each second by the workers.
        disk: bytes on all brokers, with copies.
    """

    messages: float
    bytes: float
    written: float
    read: float
    disk: float


def topic_sizes(
    config: Config,
    pipeline: PipelineConfig,
    load: Load,
    traffic: Traffic,
    *,
    documents: float,
    partitions: int,
    workers: int,
) -> dict[str, TopicSize]:
    """The size of each topic.

    Args:
        config: with the number of copies.
        pipeline: with the retention.
        load: the stream.
        traffic: at the average rate.
        documents: that are kept.
        partitions: of the source.
        workers: that read and report.
    """
    copies, found = config.kafka.replication, dict[str, TopicSize]()
    marks, of_marks = marks_of_event_time(partitions, workers), mark_bytes(partitions)
    for topic, flow in traffic.topics.items():
        further = marks.get(topic, 0)
        whole = Flow(flow.messages + further, flow.bytes + further * of_marks)
        own = costs.RECORD_BYTES if topic in STEPS + LOGS else costs.PUBLIC_RECORD_BYTES
        rate = whole.bytes + own * whole.messages
        read = 1 if topic in (SOURCE, *STEPS) else config.worker.standbys if topic in LOGS else 0
        live = flow.bytes / load.rate * documents
        disk = _disk(pipeline, topic, rate, live, partitions)
        found[topic] = TopicSize(whole.messages, whole.bytes, rate * copies, rate * read, disk * copies)
    return found


def marks_of_event_time(partitions: int, workers: int) -> dict[str, int]:
    """The messages with marks of event time each second, by topic, if none of them are joined.

    Each worker reports to every partition of the index; these report to every partition of gather, and these to every
    partition of verify.  Settle answers with the horizon, in `bands` and `candidates`.
    """
    each, all_pairs = workers * partitions, workers * partitions**2
    return {BANDS: 2 * each, CANDIDATES: all_pairs + each, VERIFICATIONS: all_pairs, EDGES: each, LEDGER_LOG: each}


def mark_bytes(partitions: int) -> int:
    """The bytes of such a message, which has a mark of each partition."""
    return _MARK_MESSAGE_BYTES + _MARK_BYTES * partitions


def _disk(pipeline: PipelineConfig, topic: str, rate: float, live: float, partitions: int) -> float:
    """Bytes of one copy of a topic, from its bytes each second and those that belong to documents that are kept."""
    places = 1 if topic in (EDGES, LEDGER_LOG) else partitions
    if topic in STEPS:
        return rate * costs.TRIM_SECONDS + places * costs.SEGMENT_BYTES
    if topic in LOGS:
        # Records expire in their order, but those of a pipeline without a retention stay until a pass copies them.
        rewritten = topic == LEDGER_LOG or pipeline.live_ms is None
        return live * (costs.REWRITE_FROM if rewritten else 1.0) + places * costs.SEGMENT_BYTES
    if topic == SOURCE:
        return rate * SOURCE_DAYS * DAY_SECONDS
    kept_ms = pipeline.public_retention_ms
    return live if kept_ms < 0 else rate * kept_ms / 1_000
