"""Divides batches so that a message stays below a number of bytes, in order, without a gap.

The default limit is that of an internal message: large enough that its fixed cost is spread over hundreds of entries,
small enough that a worker holds many.  Sizes are those of the columns, texts before compression; header and padding
(some 200 bytes) come on top.  An indivisible entry (one document) may exceed the limit.

Every function returns the batches in order; concatenated they are the input, with two exceptions that do not matter to
a reader: entries are grouped by document, and a document whose pairs were spread over several batches is in
each.  An empty batch is cut into no batches, so no message is sent for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.ledger.sites.page_counts import PageCounts
from stream_lsh.model import Abouts, Retirement, in_full, or_empty
from stream_lsh.pipeline.batches import Candidates, Postings, Verifications
from stream_lsh.pipeline.changelog.records import DocumentsRecord

FRAME_BYTES = 256 * 1024
"""The default limit."""

_VERSION_BYTES = 17  # ref, time, flag
_POSTING_BYTES = 12  # row, bucket
_CANDIDATE_BYTES = 17
_PAIR_BYTES = 13  # row, ref, kind
_NEW_BYTES = 32  # ref, time, digest, two lengths
_EDGE_BYTES = 72  # two ends of 28 without their ids, similarity and counts
_DOCUMENT_BYTES = 41  # ref, two times, digest, flag, two lengths
_RETIREMENT_BYTES = 37
_ABOUT_BYTES = 12  # three lengths
_SITE_BYTES = 8  # count, length
_DECISION_BYTES = 17  # ref, verdict, two lengths
_TEXT_BYTES = 4  # length
_LEAST_ROOM = 16  # the part of a limit that pairs may fill beside a document that takes all of it


def cut_postings(postings: Postings, limit: int = FRAME_BYTES) -> list[Postings]:
    """Postings in batches of some `limit` bytes; one version is never divided.

    Cost:
        a few array operations, and 5 us for each resulting batch; the input itself if it fits.
    """
    if _VERSION_BYTES * len(postings) + _POSTING_BYTES * postings.rows.size <= limit:
        return [postings] if len(postings) else []
    rows, buckets = postings.rows, postings.buckets
    order = _grouping(rows)
    if order is not None:
        rows, buckets = rows[order], buckets[order]
    entries = np.searchsorted(rows, np.arange(len(postings) + 1))
    out = []
    for start, stop in _spans(_VERSION_BYTES + _POSTING_BYTES * np.diff(entries), limit):
        of_start, of_stop = int(entries[start]), int(entries[stop])
        out.append(
            Postings(
                postings.refs[start:stop],
                postings.times[start:stop],
                postings.retired[start:stop],
                rows[of_start:of_stop] - start,
                buckets[of_start:of_stop],
            )
        )
    return out


def cut_candidates(candidates: Candidates, limit: int = FRAME_BYTES) -> list[Candidates]:
    """Pairs in batches of at most `limit` bytes, at least one in each; the input itself where it fits."""
    step = max(limit // _CANDIDATE_BYTES, 1)
    if len(candidates) <= step:
        return [candidates] if len(candidates) else []
    return [
        Candidates(
            candidates.new[start : start + step],
            candidates.old[start : start + step],
            candidates.kinds[start : start + step],
        )
        for start in range(0, len(candidates), step)
    ]


def cut_verifications(batch: Verifications, limit: int = FRAME_BYTES) -> list[Verifications]:
    """New documents with their pairs in batches of some `limit` bytes.

    The pairs of one document may be spread over several batches, and the document is then repeated in each.  A document
    that fills the limit alone still gets a sixteenth of it for pairs, so that a large text is not sent once per pair.

    Cost:
        1 us per new document, 10 us for each resulting batch.
    """
    rows, old, kinds = batch.rows, batch.old, batch.kinds
    order = _grouping(rows)
    if order is not None:
        rows, old, kinds = rows[order], old[order], kinds[order]
    fixed = _NEW_BYTES + 4 * batch.signatures.shape[1]
    sizes = [fixed + _utf8(key) + _utf8(text) for key, text in zip(batch.ids, batch.texts, strict=True)]
    if batch.abouts:
        sizes = (np.array(sizes) + _abouts(batch.abouts)).tolist()
    entries = np.searchsorted(rows, np.arange(batch.refs.size + 1)).tolist()
    out = []
    for docs, pairs in _runs_of_pairs(sizes, entries, limit):
        start, of_start = docs.start, pairs.start
        out.append(
            Verifications(
                batch.refs[docs],
                batch.times[docs],
                batch.digests[docs],
                batch.ids[docs],
                batch.texts[docs],
                batch.signatures[docs],
                rows[of_start : pairs.stop] - start,
                old[pairs],
                kinds[pairs],
                batch.abouts[docs],
            )
        )
    return out


def _runs_of_pairs(sizes: list[int], entries: list[int], limit: int) -> Iterator[tuple[slice, slice]]:
    """Runs of documents, with the run of pairs that goes with each; a document with many pairs is in several."""
    least = max(limit // _LEAST_ROOM, _PAIR_BYTES)
    first, first_pair, filled = 0, 0, 0
    for doc, size in enumerate(sizes):
        start, stop = entries[doc], entries[doc + 1]
        if filled and filled + size + _PAIR_BYTES * (stop - start) > limit:
            yield slice(first, doc), slice(first_pair, start)
            first, first_pair, filled = doc, start, 0
        filled += size + _PAIR_BYTES * (stop - start)
        if first == doc:
            step = max(limit - size, least) // _PAIR_BYTES
            while stop - first_pair > step:
                yield slice(doc, doc + 1), slice(first_pair, first_pair + step)
                first_pair += step
            filled = size + _PAIR_BYTES * (stop - first_pair)
    if sizes:
        yield slice(first, len(sizes)), slice(first_pair, entries[-1])


def cut_edges(edges: Edges, limit: int = FRAME_BYTES) -> list[Edges]:
    """Edges in batches of at most `limit` bytes, at least one in each.

    Cost:
        0.2 us per edge, 5 us for each resulting batch; the input itself if it fits.
    """
    names, fixed = zip(edges.left.ids, edges.right.ids, strict=True), _EDGE_BYTES + 4 * (edges.shingles is not None)
    sizes = _column(fixed + _utf8(left) + _utf8(right) for left, right in names)
    if edges.left.abouts or edges.right.abouts:
        sizes += sum(_abouts(in_full(ends.abouts, len(edges))) for ends in (edges.left, edges.right))
    if edges.evidence:
        sizes += _column(_TEXT_BYTES + _utf8(text) for text in edges.evidence)
    if int(sizes.sum()) <= limit:
        return [edges] if len(edges) else []
    return [
        Edges(
            _ends(edges.left, start, stop),
            _ends(edges.right, start, stop),
            edges.similarity[start:stop],
            edges.shared[start:stop],
            edges.union[start:stop],
            None if edges.shingles is None else edges.shingles[start:stop],
            edges.evidence[start:stop],
        )
        for start, stop in _spans(sizes, limit)
    ]


def cut_retirements(retirements: Sequence[Retirement], limit: int = FRAME_BYTES) -> list[tuple[Retirement, ...]]:
    """Retirements in groups of at most `limit` bytes, at least one in each."""
    sizes = _column(_RETIREMENT_BYTES + _utf8(retirement.id) for retirement in retirements)
    if abouts := or_empty([retirement.about for retirement in retirements]):
        sizes += _abouts(abouts)
    return [tuple(retirements[start:stop]) for start, stop in _spans(sizes, limit)]


def cut_decisions(decisions: Sequence[Decision], limit: int = FRAME_BYTES) -> list[tuple[Decision, ...]]:
    """Decisions in groups of at most `limit` bytes, at least one in each."""
    sizes = _column(_DECISION_BYTES + _utf8(decision.left) + _utf8(decision.right) for decision in decisions)
    return [tuple(decisions[start:stop]) for start, stop in _spans(sizes, limit)]


def cut_pages(pages: PageCounts, limit: int = FRAME_BYTES) -> list[PageCounts]:
    """A report of page counts in messages of at most `limit` bytes, at least one site in each.

    Of a full report the first message begins it and the last one ends it; without sites it is one empty message.
    """
    spans = [*_spans(_column(_SITE_BYTES + _utf8(site) for site in pages.sites), limit)]
    if not spans and pages.ends:
        spans = [(0, 0)]
    return [
        replace(
            pages,
            sites=pages.sites[start:stop],
            counts=pages.counts[start:stop],
            begins=pages.begins and number == 0,
            ends=pages.ends and number == len(spans) - 1,
        )
        for number, (start, stop) in enumerate(spans)
    ]


def cut_documents(record: DocumentsRecord, limit: int = FRAME_BYTES) -> list[DocumentsRecord]:
    """A record of the documents changelog in records of some `limit` bytes; one version is never divided.

    Each has the horizon.  A record without versions is kept, because of its horizon.

    Cost:
        1 us per version, 10 us for each resulting record; the input itself if it fits.
    """
    fixed = _DOCUMENT_BYTES + 4 * record.signatures.shape[1]
    sizes = _column(fixed + _utf8(key) + _utf8(text) for key, text in zip(record.ids, record.texts, strict=True))
    if record.abouts:
        sizes += _abouts(record.abouts)
    entries = np.searchsorted(record.retired_rows, np.arange(len(record) + 1))
    sizes += (12 + 8 * record.retired_buckets.shape[1]) * np.diff(entries)
    if int(sizes.sum()) <= limit:
        return [record]
    out = []
    for start, stop in _spans(sizes, limit):
        of_start, of_stop = int(entries[start]), int(entries[stop])
        out.append(
            DocumentsRecord(
                ids=record.ids[start:stop],
                refs=record.refs[start:stop],
                times=record.times[start:stop],
                keep_until=record.keep_until[start:stop],
                digests=record.digests[start:stop],
                live=record.live[start:stop],
                texts=record.texts[start:stop],
                signatures=record.signatures[start:stop],
                retired_rows=record.retired_rows[of_start:of_stop] - start,
                retired_refs=record.retired_refs[of_start:of_stop],
                retired_buckets=record.retired_buckets[of_start:of_stop],
                horizon=record.horizon,
                abouts=record.abouts[start:stop],
                acknowledged=record.acknowledged,
            )
        )
    return out


def _ends(ends: Ends, start: int, stop: int) -> Ends:
    rows = slice(start, stop)
    return Ends(ends.ids[rows], ends.refs[rows], ends.times[rows], ends.digests[rows], ends.abouts[rows])


def _abouts(abouts: Abouts) -> I64:
    return _column(_ABOUT_BYTES + _utf8(about.title) + _utf8(about.source) for about in abouts)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _column(sizes: Iterable[int]) -> I64:
    return np.fromiter(sizes, dtype=np.int64)


def _grouping(rows: I64) -> I64 | None:
    """The order that groups entries by row, or None if they are grouped already."""
    if bool(np.all(rows[1:] >= rows[:-1])):
        return None
    return np.argsort(rows, kind="stable")


def _spans(sizes: I64, limit: int) -> Iterator[tuple[int, int]]:
    """Consecutive spans whose sizes add up to at most `limit`, or of a single entry that exceeds it alone."""
    ends = np.cumsum(sizes)
    start, done = 0, 0
    while start < sizes.size:
        stop = max(int(np.searchsorted(ends, done + limit, side="right")), start + 1)
        yield start, stop
        start, done = stop, int(ends[stop - 1])
