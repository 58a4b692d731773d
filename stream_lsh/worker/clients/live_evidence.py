"""The data of a live pipeline for `explain`: the source and the results as stored in Kafka; nothing is written."""

from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.explain import Evidence
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.model import Document
from stream_lsh.worker.clients.audit import (
    Doubts,
    Published,
    Source,
    may_have_expired,
    messages_under_way,
    read_published,
    read_source,
)
from stream_lsh.worker.clients.health import read_partitions, read_topics
from stream_lsh.worker.clients.topic_reader import admin_of, described_offsets
from stream_lsh.worker.engine.topics.required import find_topics
from stream_lsh.worker.security import unreachable


async def evidence_of(config: Config, pipeline: PipelineConfig, ids: tuple[str, str]) -> Evidence:
    """The evidence of a pipeline about two documents, and about the members of their clusters.

    Cost:
        reads the source and the results whole; all texts of the source in memory.

    Raises:
        ConfigError: a topic is missing; an id that no document has -> see the message.
        DoubtError: no broker answers, or one stops answering.
    """
    try:
        return await _evidence(config, pipeline, ids)
    except KafkaError as error:
        raise unreachable(config.kafka, error) from error


async def live_records(config: Config, pipeline: PipelineConfig) -> dict[str, Document]:
    """The live records of a pipeline, by id, as the steps receive them.

    Cost:
        reads the source whole; all of its records in memory.

    Raises:
        ConfigError: the source is missing.
        DoubtError: no broker answers, or one stops answering.
    """
    try:
        async with admin_of(config.kafka) as admin:
            topics, _ = await find_topics(admin, read_topics(pipeline))
        missing = [name for name in pipeline.sources if name not in topics]
        if missing:
            raise ConfigError(f"got no topic {', '.join(missing)}: has a worker run with this configuration?")
        source = await read_source(config, pipeline, topics, None, Doubts())
    except KafkaError as error:
        raise unreachable(config.kafka, error) from error
    return {document.id: document for document in source.live.values()}


async def _evidence(config: Config, pipeline: PipelineConfig, ids: tuple[str, str]) -> Evidence:
    results = [pipeline.matches_topic, pipeline.members_topic]
    async with admin_of(config.kafka) as admin:
        topics, _ = await find_topics(admin, [*read_topics(pipeline), *results])
        offsets = await described_offsets(admin, config.worker.app_id, read_partitions(pipeline, topics))
    missing = [name for name in [*pipeline.sources, *results] if name not in topics]
    if missing:
        raise ConfigError(
            f"got no topic {', '.join(missing)}, which a worker creates: has a worker run with this configuration?"
        )
    doubts = Doubts(waiting=await messages_under_way(config, pipeline, topics, offsets or {}))
    published = await read_published(config, pipeline, topics, doubts)
    source = await read_source(config, pipeline, topics, None, doubts)
    return evidence_from(pipeline, source, published, doubts, ids)


def evidence_from(
    pipeline: PipelineConfig, source: Source, published: Published, doubts: Doubts, ids: tuple[str, str]
) -> Evidence:
    """The evidence about two documents, from the data that was read.

    Raises:
        ConfigError: an id that no document has.
    """
    unknown = [id for id in ids if id not in source.refs and id not in published.members]
    if unknown:
        also = "; Kafka has deleted records of the source, theirs may be among them" if doubts.lost else ""
        raise ConfigError([f"got the id {id!r}, which no document has{_letter(source, id)}{also}" for id in unknown])
    documents = {id: source.live.get(ref, Document(id, None)) for id in ids if (ref := source.refs.get(id)) is not None}
    theirs = {published.members[id] for id in ids if id in published.members}
    texts = [document for document in source.live.values() if published.members.get(document.id) in theirs]
    digests = pipeline.kind.scheme().sign([document.text or "" for document in texts]).digests.tolist()
    return Evidence(
        documents=documents,
        clusters=published.members,
        pairs=[Link(left, right, similarity) for (left, right), similarity in published.pairs.items()],
        digests={document.id: (digest, document.time_ms) for document, digest in zip(texts, digests, strict=True)},
        expired=published.expired | may_have_expired(pipeline, source),
        waiting=doubts.waiting,
    )


def _letter(source: Source, id: str) -> str:
    return ": its message is a dead letter" if id in source.refused else ""
