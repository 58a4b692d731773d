"""The unsolicited reports of sign: event time to every index partition, page counts to settle.

    event_time_agent    Send    the marks of all partitions of a worker, in one frame
    pages_agent         Send    the page counts of a partition

They acknowledge nothing: the next report, or that of the next owner, replaces a lost one.  A driver takes all effects
of a report before its first await, because another worker may own a partition afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from stream_lsh.ledger.sites.page_counts import AsOf
from stream_lsh.pipeline.agents.effects import Effect, Send
from stream_lsh.pipeline.agents.state import DocumentsState
from stream_lsh.pipeline.batches import BandsFrame, EdgesFrame, Mark, Watermarks


class SignedPartition(NamedTuple):
    """A source partition that this worker owns.

    Attributes:
        partition: of the source.
        documents: of the partition.
        committed: the offset from which the partition is read after a crash; None before the first commit.
        is_end: whether an offset is the end of the partition, or may be taken for it.
    """

    partition: int
    documents: DocumentsState
    committed: int | None
    is_end: Callable[[int], bool]


def event_time_agent(sources: Sequence[SignedPartition], max_documents: int, generation: int) -> Iterator[Effect]:
    """Report the event time of the documents that sign has delivered.

    All partitions are in one message, so that settle never sees one of them without the others.

    Args:
        sources: all source partitions of a worker.
        max_documents: newest documents kept of each; 0: all.
        generation: of the consumer group.
    """
    marks = tuple(_mark(source, max_documents, generation) for source in sources)
    if marks:
        yield Send("bands", BandsFrame(watermarks=Watermarks(marks[0].source, marks)))


def _mark(source: SignedPartition, max_documents: int, generation: int) -> Mark:
    documents = source.documents
    newest_ms = documents.delivered_ms(source.committed)  # sets the position of a partition that is new here
    min_offset = documents.table.min_offset(max_documents) if max_documents else 0
    at_end = source.is_end(documents.position)
    return documents.watermarks.mark(source.partition, newest_ms, min_offset, generation, at_end=at_end)


def pages_agent(
    partition: int, documents: DocumentsState, logged: int | None, generation: int, *, is_due: bool = True
) -> Iterator[Effect]:
    """Report the page counts of sites: the changed ones, or all in a new generation.

    Args:
        partition: of the source.
        documents: of the partition.
        logged: the last offset of its changelog that the table contains; None before the first record.
        generation: of the consumer group.
        is_due: whether changes are reported now; a new generation does not wait.
    """
    pages = documents.table.pages
    if pages is None or not (is_due or pages.needs_full_report(generation)):
        return
    counts = pages.report(partition, AsOf(-1 if logged is None else logged, generation))
    if counts is not None:
        yield Send("edges", EdgesFrame(pages=counts))
