"""`stream-lsh check --audit`: compares the results with those of the pipeline in memory on the same source.

The reference is the newest version of every document in the source, up to the acknowledged offsets, in a
`LocalPipeline` without expiry.  Unknown cases are not judged, but reported: documents that may have expired
or that are no longer in the source; messages under way while a stream runs; candidates that a cap may have left out.
"""

import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka.errors import KafkaError  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.model import Document, make_ref, ref_partition
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.retention import BEGINNING_MS
from stream_lsh.settings.units import counted
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import decode_bands, decode_candidates, decode_edges, decode_verifications
from stream_lsh.worker.clients.health import NOTE, OK, WRONG, Finding, read_partitions, read_topics
from stream_lsh.worker.clients.topic_reader import admin_of, bounds, described_offsets, newest, partitions_of, records
from stream_lsh.worker.engine.topics.required import FoundTopic, find_topics
from stream_lsh.worker.security import unreachable

Pair = tuple[str, str]

_SHOWN = 3
_LOOKED_THROUGH = 10_000
_OF_RECORDS = (
    "records are not audited yet, because a score depends on earlier records: rely on `check` without `--audit`; "
    "to recompute the results, start over as described in docs/operations/changes.md"
)
_AGAIN = "see `Wrong results` in docs/operations/monitoring.md"


@dataclass(slots=True)
class Published:
    """The results, as after a compaction.

    Attributes:
        pairs: the similarity of each pair.
        members: the cluster of each document.
        expired: documents that have left their clusters because they have expired.
        unreadable: topic and key of each record that is no result.
    """

    pairs: dict[Pair, float] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)
    expired: set[str] = field(default_factory=set)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def add(self, record: Any, *, is_pair: bool) -> None:
        """Add a record of the topic of matches, or of that of members."""
        try:
            id = record.key.decode("utf-8", "surrogatepass")
            if record.value is None:
                if ("reason", b"expired") in record.headers:
                    self.expired.add(id)
            elif is_pair:
                left, right = map(str, json.loads(id))
                self.pairs[left, right] = float(json.loads(record.value)["similarity"])
            else:
                self.members[id] = str(json.loads(record.value)["cluster"])
        except (AttributeError, LookupError, TypeError, ValueError):  # of another program
            self.unreadable.append((record.topic, (record.key or b"").decode("utf-8", "replace")))


@dataclass(slots=True)
class Source:
    """The documents of the source, up to the offset that was read.

    Attributes:
        live: the newest version of each document, by its ref.
        refs: the newest ref of each id, of deleted ones too; partitions of several sources have consecutive numbers.
        places: the partitions of each id, in these numbers.
        newest_ms: the greatest event time of any version.
        refused: ids of messages that are dead letters.
    """

    live: dict[int, Document] = field(default_factory=dict)
    refs: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    newest_ms: int = BEGINNING_MS
    refused: set[str] = field(default_factory=set)

    def add(self, ref: int, document: Document, span_ms: int | None) -> None:
        """Add a message, as sign does: the same bytes in the same segment of event time are no new version."""
        if document.text is not None:
            self.newest_ms = max(self.newest_ms, document.time_ms)
        newest = self.refs.get(document.id, -1)
        before = self.live.get(newest)
        if ref < newest or (
            before is not None
            and (before.text, before.about) == (document.text, document.about)
            and (span_ms is None or before.time_ms // span_ms == document.time_ms // span_ms)
        ):
            return
        self.refs[document.id] = ref
        self.live.pop(newest, None)
        if document.text is not None:
            self.live[ref] = document


@dataclass(slots=True)
class Doubts:
    """The reasons why the audit is not exact.

    Attributes:
        waiting: messages under way.
        unsure: ids that may have expired, or whose newest version is not known.
        lost: whether ids may be missing from the part of the source that was read.
        capped: whether the pipeline in memory left candidates out.
        gone: topics of results from which Kafka has deleted records.
    """

    waiting: int = 0
    unsure: set[str] = field(default_factory=set)
    lost: bool = False
    capped: bool = False
    gone: list[str] = field(default_factory=list)

    def notes(self) -> Iterator[str]:
        """A sentence for each reason."""
        if self.waiting:
            yield f"{self.waiting:,} messages are under way, so nothing is audited: try again when the steps are idle"
        if self.unsure:
            yield f"{len(self.unsure):,} documents may have expired, or have no newest version, and are not audited"
        if self.lost:
            yield "Kafka has deleted records of the source: documents that it does not hold are not judged"
        if self.capped:
            yield "caps left candidates out: a missing pair may be one of them"
        for topic in self.gone:
            yield f"Kafka has deleted records of {topic}: a missing result may be one of them"


async def audit(config: Config, pipeline: PipelineConfig) -> list[Finding]:
    """Audit the published matches and members.

    Cost:
        reads the source and the results whole; all texts of the source in memory, and the cost of `dedup`.

    Raises:
        StateError: a message under way cannot be read.
        DoubtError: a broker does not answer.
    """
    subject = f"audit of {pipeline.name}"
    try:
        return [Finding(state, subject, message) async for state, message in _audited(config, pipeline)]
    except ConfigError as error:
        return [Finding(WRONG, subject, problem) for problem in error.problems]
    except KafkaError as error:
        raise unreachable(config.kafka, error) from error


async def _audited(config: Config, pipeline: PipelineConfig) -> AsyncIterator[tuple[str, str]]:
    """The findings of an audit, as pairs of a state and a message."""
    if pipeline.kind.pairwise() is None:
        yield NOTE, _OF_RECORDS
        return
    async with admin_of(config.kafka) as admin:
        results = [pipeline.matches_topic, pipeline.members_topic]
        topics, _ = await find_topics(admin, [*read_topics(pipeline), *results])
        offsets = await described_offsets(admin, config.worker.app_id, read_partitions(pipeline, topics))
    if offsets is None or not {*pipeline.sources, *results} <= topics.keys():
        yield NOTE, "nothing to audit: no worker has run yet"
        return
    doubts = Doubts(waiting=await messages_under_way(config, pipeline, topics, offsets))
    published = await read_published(config, pipeline, topics, doubts)
    source = await read_source(config, pipeline, topics, offsets, doubts)
    for one in compare(pipeline, source, published, doubts):
        yield one


async def messages_under_way(
    config: Config, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic], offsets: Mapping[TP, int]
) -> int:
    """Messages that were not acknowledged and can still change a result."""
    tps = [
        tp for name in read_topics(pipeline) if name in topics for tp in partitions_of(name, topics[name].partitions)
    ]
    begins, ends = await bounds(config.kafka, tps)
    behind = {tp: max(begins[tp], offsets.get(tp, 0)) for tp in tps}
    lag = sum(max(0, ends[tp] - behind[tp]) for tp in tps)
    if lag > _LOOKED_THROUGH:
        return lag
    waiting = 0
    async for chunk in records(config.kafka, behind, ends):
        waiting += count_effective(pipeline, chunk[0].topic, [record.value for record in chunk])
    return waiting


def count_effective(pipeline: PipelineConfig, topic: str, values: Sequence[bytes | None]) -> int:
    """The number of messages of a topic that can change a result; event time, horizons and reports of lag cannot.

    Raises:
        StateError: a message between the steps cannot be read.
    """
    scheme = fingerprint(pipeline.kind.stored_settings())
    content: dict[str, Callable[[bytes | None], Iterable[object]]] = {
        pipeline.internal_topic("bands"): lambda value: [decode_bands(value, scheme).postings],
        pipeline.internal_topic("candidates"): lambda value: [decode_candidates(value, scheme).candidates],
        pipeline.internal_topic("verifications"): lambda value: [decode_verifications(value, scheme).verifications],
        pipeline.internal_topic("edges"): lambda value: (
            (frame := decode_edges(value, scheme)).retirements,
            frame.edges,
            frame.pages,
            frame.decisions,
        ),
    }
    decode = content.get(topic)
    return len(values) if decode is None else sum(any(decode(value)) for value in values)


async def read_published(
    config: Config, pipeline: PipelineConfig, topics: Mapping[str, FoundTopic], doubts: Doubts
) -> Published:
    """The currently published results; topics from which Kafka has deleted records are a doubt."""
    published = Published()
    for topic in (pipeline.matches_topic, pipeline.members_topic):
        begins, ends = await bounds(config.kafka, partitions_of(topic, topics[topic].partitions))
        if any(begins.values()):
            doubts.gone.append(topic)
        for record in (await newest(config.kafka, begins, ends)).values():
            published.add(record, is_pair=topic == pipeline.matches_topic)
    return published


async def read_source(
    config: Config,
    pipeline: PipelineConfig,
    topics: Mapping[str, FoundTopic],
    offsets: Mapping[TP, int] | None,
    doubts: Doubts,
) -> Source:
    """The newest version of every document, as sign stored them: up to these offsets, or, without, to the end."""
    tps = [tp for topic in pipeline.sources for tp in partitions_of(topic, topics[topic].partitions)]
    begins, ends = await bounds(config.kafka, tps)
    until = ends if offsets is None else {tp: min(end, offsets.get(tp, begins[tp])) for tp, end in ends.items()}
    doubts.lost = any(begins.values())
    source, span_ms = Source(), pipeline.limits().segment_span_ms
    now_ms = int(time.time() * 1_000)  # a message that a worker rejected at an earlier time may be accepted here
    async for chunk in records(config.kafka, begins, until):
        for record in chunk:
            try:
                document = pipeline.document(
                    record.value, record.key, record.timestamp, now_ms=now_ms, keyed=not pipeline.rekey
                )
            except InputError:
                source.refused.add((record.key or b"").decode("utf-8", "replace"))
                continue
            place = tps.index(TP(record.topic, record.partition))
            if place != source.places.setdefault(document.id, place):
                # Copies from several places have no order; without `rekey` the producer has divided an id.
                doubts.unsure.add(document.id)
            source.add(make_ref(place, record.offset), document, span_ms)
    if any("compact" in topics[topic].config.get("cleanup.policy", "") for topic in pipeline.sources):
        # A compaction keeps the message that was rejected, and not the version before it, which still holds.
        doubts.unsure |= source.refused - source.refs.keys()
    return source


def compare(
    pipeline: PipelineConfig, source: Source, published: Published, doubts: Doubts
) -> Iterator[tuple[str, str]]:
    """The differences between results and reference, as pairs of a state and a message."""
    documents = {document.id: document for document in source.live.values()}
    doubts.unsure |= may_have_expired(pipeline, source)
    chain = _chain(pipeline, source)
    doubts.capped = bool(chain.counts.capped_postings or chain.counts.capped_candidates)
    snapshot = chain.settler.ledger.snapshot()
    true = {(pair.left, pair.right): pair.similarity for pair in snapshot.pairs}

    def judged(*ids: str) -> bool:
        return not any(id in doubts.unsure or (doubts.lost and id not in source.refs) for id in ids)

    pairs = {pair: value for pair, value in published.pairs.items() if judged(*pair)}
    also = {pair for pair in pairs.keys() - true.keys() if _holds(pipeline, documents, pair, pairs[pair])}
    clusters: dict[str, set[str]] = defaultdict(set)
    for node in snapshot.nodes:
        clusters[node.cluster].add(node.id)
    # Guards would have to be applied again to groups that depend on pairs that the pipeline in memory did not find.
    guarded = bool(pipeline.guards) and bool(also)
    groups = _joined([*clusters.values(), *(() if pipeline.guards else map(set, also))])
    members = {one: cluster for one, cluster in published.members.items() if judged(one)}
    # A document that shares a cluster with an unjudged one may match it.
    unclear = {cluster for one, cluster in published.members.items() if one not in members}
    baseless = [one for one in members.keys() - groups.keys() if members[one] not in unclear]
    missing = [pair for pair in true.keys() - pairs.keys() if judged(*pair)]
    lacking = [one for one in groups.keys() - members.keys() if judged(one)]

    running, partly = doubts.waiting > 0, bool(doubts.lost or doubts.unsure)
    cut = running or doubts.capped
    problems = (
        ("records are not results", published.unreadable, False),
        ("pairs are missing", missing, cut or pipeline.matches_topic in doubts.gone),
        ("pairs are wrong", pairs.keys() - true.keys() - also, running),
        ("similarities differ", [pair for pair in pairs.keys() & true.keys() if pairs[pair] != true[pair]], running),
        ("documents have no cluster", lacking, cut or pipeline.members_topic in doubts.gone),
        ("documents have a cluster and no match", baseless, running or partly),
        ("documents are in another group", _regrouped(groups, members), cut or partly or guarded),
    )
    yield from ((NOTE, note) for note in doubts.notes())
    for what, cases, excused in problems:
        if cases:
            yield (
                NOTE if excused else WRONG,
                f"{len(cases):,} {what}: {_named(cases)}" + ("" if excused else f"; {_AGAIN}"),
            )
    if not any(cases for _, cases, _ in problems):
        members_of = f"{counted(len(members), 'member')} of {counted(len(documents), 'document')}"
        yield OK, f"{counted(len(pairs), 'pair')} and {members_of} are true"


def _chain(pipeline: PipelineConfig, source: Source) -> LocalPipeline:
    """The pipeline in memory with these documents, without expiry."""
    oldest_ms = min((document.time_ms for document in source.live.values()), default=0)
    limits = replace(
        pipeline.limits(), max_documents=0, lateness_ms=pipeline.lateness_ms + max(0, source.newest_ms - oldest_ms)
    )
    chain = LocalPipeline(pipeline.kind.scheme(), pipeline.kind.least, limits)
    documents = sorted(source.live.values(), key=lambda document: document.time_ms)
    for start in range(0, len(documents), BATCH):
        chain.process(documents[start : start + BATCH])
    return chain


def may_have_expired(pipeline: PipelineConfig, source: Source) -> set[str]:
    """Ids of live documents that may be behind a horizon."""
    unsure: set[str] = set()
    if pipeline.retention_ms is not None:
        # No watermark is ahead of the greatest event time.
        horizon_ms = source.newest_ms - pipeline.retention_ms - pipeline.lateness_ms
        unsure |= {document.id for document in source.live.values() if document.time_ms < horizon_ms}
    if pipeline.max_documents:
        by_partition: dict[int, list[int]] = defaultdict(list)
        for ref in sorted(source.live):
            by_partition[ref_partition(ref)].append(ref)
        for refs in by_partition.values():
            unsure |= {source.live[ref].id for ref in refs[: -pipeline.max_documents]}
        if pipeline.rekey and len(source.live) > pipeline.max_documents:
            unsure |= source.refs.keys()  # the newest of the copies is not known here
    return unsure


def _holds(pipeline: PipelineConfig, documents: Mapping[str, Document], pair: Pair, similarity: float) -> bool:
    """Whether a pair that the pipeline in memory missed because of its caps is true nevertheless."""
    left, right = (documents.get(id) for id in pair)
    if left is None or right is None:
        return False
    apart = abs(left.time_ms - right.time_ms)
    if pipeline.retention_ms is not None and apart > pipeline.retention_ms:
        return False
    scheme, least = pipeline.kind.pairwise(), pipeline.kind.least
    return scheme is not None and scheme.similarity(left.text or "", right.text or "") == similarity >= least


def _joined(groups: Iterable[set[str]]) -> dict[str, frozenset[str]]:
    """The group of each member, after groups that share a member are merged."""
    of: dict[str, set[str]] = {}
    for group in groups:
        whole = set().union(group, *(of[member] for member in group if member in of))
        of.update(dict.fromkeys(whole, whole))
    frozen = {id(group): frozenset(group) for group in of.values()}
    return {one: frozen[id(group)] for one, group in of.items()}


def _regrouped(groups: Mapping[str, frozenset[str]], members: Mapping[str, str]) -> list[str]:
    """Members with a different group, except those that one side lacks."""
    clusters: dict[str, set[str]] = defaultdict(set)
    common = groups.keys() & members.keys()
    for id in common:
        clusters[members[id]].add(id)
    return [id for id in common if groups[id] & common != clusters[members[id]]]


def _named(cases: Iterable[Any]) -> str:
    ordered: Sequence[Any] = sorted(cases)
    shown = ", ".join(json.dumps(case, ensure_ascii=False) for case in ordered[:_SHOWN])
    return shown + (", ..." if len(ordered) > _SHOWN else "")
