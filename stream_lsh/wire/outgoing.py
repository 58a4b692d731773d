"""The messages of an effect: the partitions of its rows, and their division into messages.

postings        to the partition of each bucket
candidates      to the partition of the new document
verifications   to the partition of the old document
marks, horizon  to every partition
edges           to the only one
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from stream_lsh.pipeline.agents.effects import Append, Send
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame, EdgesFrame, Frame, VerificationsFrame
from stream_lsh.pipeline.changelog.head import Extent, extent_of_buckets, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.wire.frames import encode, encode_buckets
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.wire.route import candidates_by_partition, postings_by_partition, verifications_by_partition
from stream_lsh.wire.split import (
    FRAME_BYTES,
    cut_candidates,
    cut_decisions,
    cut_documents,
    cut_edges,
    cut_pages,
    cut_postings,
    cut_retirements,
    cut_verifications,
)
from stream_lsh.wire.text_blocks import packed

_Batch = TypeVar("_Batch")


def frames_of(send: Send, partitions: int, limit: int = FRAME_BYTES) -> Iterator[tuple[int, Frame]]:
    """The messages of a `Send`: the partition of each, and its frame.

    Args:
        send: a frame with rows, or one with marks or a horizon.
        partitions: of the source, and so of each step before settle.
        limit: the greatest size of a message in bytes, as in `wire.split`.
    """
    frame = send.frame
    if isinstance(frame, EdgesFrame):
        return ((0, edges) for edges in _edges(frame, limit))
    parts: Iterator[tuple[int, Frame]] | None = None
    if isinstance(frame, BandsFrame) and frame.postings is not None:
        postings = _cut(postings_by_partition(frame.postings, partitions), cut_postings, limit)
        parts = ((target, BandsFrame(postings=part)) for target, part in postings)
    elif isinstance(frame, CandidatesFrame) and frame.candidates is not None:
        candidates = _cut(candidates_by_partition(frame.candidates, partitions), cut_candidates, limit)
        parts = ((target, CandidatesFrame(candidates=part)) for target, part in candidates)
    elif isinstance(frame, VerificationsFrame) and frame.verifications is not None:
        verifications = _cut(verifications_by_partition(frame.verifications, partitions), cut_verifications, limit)
        parts = ((target, VerificationsFrame(verifications=part)) for target, part in verifications)
    return ((target, frame) for target in range(partitions)) if parts is None else parts


def _cut(
    by_partition: Sequence[_Batch | None], cut: Callable[[_Batch, int], list[_Batch]], limit: int
) -> Iterator[tuple[int, _Batch]]:
    """The batches of each partition, with its number."""
    for target, batch in enumerate(by_partition):
        for part in () if batch is None else cut(batch, limit):
            yield target, part


def _edges(frame: EdgesFrame, limit: int) -> Iterator[EdgesFrame]:
    """The parts of a frame of `edges`; each has only one column."""
    if frame.edges is not None:
        yield from (EdgesFrame(edges=part) for part in cut_edges(frame.edges, limit))
    elif frame.retirements:
        yield from (EdgesFrame(retirements=part) for part in cut_retirements(frame.retirements, limit))
    elif frame.pages is not None:
        yield from (EdgesFrame(pages=pages) for pages in cut_pages(frame.pages, limit))
    elif frame.decisions:
        yield from (EdgesFrame(decisions=part) for part in cut_decisions(frame.decisions, limit))
    else:
        yield frame


class Part(NamedTuple):
    """A message of a changelog.

    Attributes:
        value: its bytes.
        extent: of the record (`pipeline.changelog.head`).
        record: the versions in it, of the documents changelog, with their blocks of texts.
    """

    value: bytes
    extent: Extent
    record: DocumentsRecord | None = None


def parts_of(append: Append, fingerprint: int, limit: int = FRAME_BYTES) -> list[Part]:
    """The messages of an `Append`, in order.

    Args:
        append: a record of any changelog.
        fingerprint: of the scheme.
        limit: the greatest size of a message in bytes, as in `wire.split`.
    """
    record = append.record
    if isinstance(record, DocumentsRecord):
        cut = [replace(part, blocks=packed(part.texts)) for part in cut_documents(record, limit)]
        return [Part(encode(part, fingerprint), extent_of_documents(part), part) for part in cut]
    if isinstance(record, BandsFrame):
        frames = [record]
        if record.postings is not None:
            frames = [replace(record, postings=part) for part in cut_postings(record.postings, limit)]
        return [Part(encode_buckets(frame, fingerprint), extent_of_buckets(frame)) for frame in frames]
    return [Part(value, Extent()) for value in encode_ledger(record, fingerprint, limit)]
