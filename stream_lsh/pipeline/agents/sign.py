"""The agent of sign: documents in, bands and retirements out.

Append      the versions that are new
BARRIER     no candidate may name a document that a restart would lose
Send        the bands, and the retirements
BARRIER     the record of the next batch is written when all outputs of this one are stored, and marks of event time
            refer to stored outputs only
Append      slices of the table, where the changelog is being rewritten
Acknowledge
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import BARRIER, Acknowledge, Append, DeadLetter, Effect, Send, Trim
from stream_lsh.pipeline.agents.state import DocumentsState, Shared
from stream_lsh.pipeline.batches import BandsFrame, EdgesFrame, Signatures
from stream_lsh.pipeline.changelog.head import LogHead, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.dividing import divided
from stream_lsh.pipeline.sign import Arrivals, Prepared, prepare


class SourceReader(Protocol):
    """Converts the messages of a source to documents."""

    def is_late(self, record: Any) -> bool:
        """Whether the message is a late copy, which is passed over."""

    def document(self, record: Any) -> Document:
        """The document in a message; raises the reason if it becomes a dead letter."""

    def is_rejected(self, error: Exception) -> bool:
        """Whether a message whose parser or scheme raised this is dead-lettered; if not, the worker halts."""


class Source(NamedTuple):
    """Messages of one source partition.

    Attributes:
        records: with their offsets, ascending.
        stop: the offset behind the last of them.
        reader: converts them to documents.
        committed: the offset from which the partition is read after a crash; None before the first commit.
    """

    partition: int
    records: Sequence[tuple[int, Any]]
    stop: int
    reader: SourceReader
    committed: int | None


def sign_agent(shared: Shared, documents: DocumentsState, log: LogHead, source: Source) -> Iterator[Effect]:
    """Sign a batch of messages.

    Args:
        shared: of the pipeline.
        documents: of the partition.
        log: the head of its changelog.
        source: the messages.
    """
    newest_ms = documents.delivered_ms(source.committed)
    arrivals = yield from _read(shared, source)
    parts = divided(arrivals, documents.table, shared.most_retired) if shared.most_retired else [arrivals]
    for part in parts:
        prepared, signable = yield from _prepared(shared, documents, source, part)
        yield from deliver(shared, documents, log, prepared, source.partition)
        newest_ms = max(
            [newest_ms, *(document.time_ms for document in signable.documents if document.text is not None)]
        )
    documents.newest_ms, documents.position = newest_ms, source.stop
    yield Acknowledge(source.stop)


def prepared_batch(
    shared: Shared,
    documents: DocumentsState,
    arrivals: Arrivals,
    committed: int | None,
    presigned: Signatures | None = None,
) -> Prepared:
    """Prepare a batch, before any part of it is stored; nothing is changed."""
    return prepare(
        arrivals,
        documents.table,
        shared.scheme,
        documents.table.horizon,
        segment_span_ms=shared.segment_span_ms,
        presigned=presigned,
        acknowledged=documents.rewriter.acknowledged(documents.table, committed or 0),
    )


def deliver(
    shared: Shared, documents: DocumentsState, log: LogHead, prepared: Prepared, partition: int
) -> Iterator[Effect]:
    """Store a batch and deliver it: at the end all of it is stored, except slices of a pass."""
    documents.is_ahead = True
    signed = prepared.store(documents.table)  # an exception from here on leaves the table ahead of its changelog
    if signed.record is not None:
        yield Append("documents", partition, signed.record)
        yield BARRIER
    documents.is_ahead = False
    shared.counts.signed += signed.counts
    if signed.postings is not None:
        yield Send("bands", BandsFrame(postings=signed.postings))
    if signed.retirements:
        yield Send("edges", EdgesFrame(retirements=signed.retirements))
    yield BARRIER
    if signed.record is not None:
        yield from _slices(documents, log, signed.record, partition)
        if documents.recall_monitor is not None:
            documents.recall_monitor.observe(signed.record, documents.table)


def _slices(documents: DocumentsState, log: LogHead, record: DocumentsRecord, partition: int) -> Iterator[Effect]:
    """The slices that are due behind a stored record, while the changelog is being rewritten."""
    rewriter, written = documents.rewriter, extent_of_documents(record).entries
    for copied in rewriter.slices(documents.table, log, written, record.retired_buckets.shape[1]):
        yield Append("documents", partition, copied, rewriter)
    yield Trim("documents", partition, rewriter.completed_pass)


def _read(shared: Shared, source: Source) -> Generator[Effect, None, Arrivals]:
    """The documents of the messages; an unusable message goes to the dead letters."""
    offsets, documents = list[int](), list[Document]()
    for offset, record in source.records:
        if source.reader.is_late(record):
            shared.counts.late_copies += 1
            continue
        try:
            document = source.reader.document(record)
        except Exception as error:
            yield DeadLetter(record, error)
        else:
            offsets.append(offset)
            documents.append(document)
    shared.counts.documents += len(documents)
    return Arrivals(source.partition, offsets, documents)


def _prepared(
    shared: Shared, documents: DocumentsState, source: Source, arrivals: Arrivals
) -> Generator[Effect, None, tuple[Prepared, Arrivals]]:
    """The batch without the documents that cannot be signed even alone, which go to the dead letters."""
    try:
        return prepared_batch(shared, documents, arrivals, source.committed), arrivals
    except Exception as error:
        if not source.reader.is_rejected(error):
            raise
    records, offsets, signable = dict(source.records), list[int](), list[Document]()
    for offset, document in zip(arrivals.offsets, arrivals.documents, strict=True):
        try:
            shared.scheme.buckets(shared.scheme.sign([document.text or ""]))
        except Exception as error:
            yield DeadLetter(records[offset], error)
        else:
            offsets.append(offset)
            signable.append(document)
    arrivals = Arrivals(arrivals.partition, offsets, signable)
    return prepared_batch(shared, documents, arrivals, source.committed), arrivals
