"""Cutting: nothing is lost, nothing grows too large, and the order stays."""

import dataclasses
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.sites.page_counts import PageCounts
from stream_lsh.model import Retirement, in_full
from stream_lsh.pipeline.batches import (
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Postings,
    Verifications,
    VerificationsFrame,
)
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.wire import split
from stream_lsh.wire.frames import encode
from tests.unit.wire import strategies as batches
from tests.unit.wire.strategies import same

LIMITS = st.integers(1, 400)
FRAME_OVERHEAD = 400  # header, section, counts, and up to seven bytes of padding per column

Row = tuple[Any, ...]


def posting_rows(batch: Postings) -> list[Row]:
    """Every version with its buckets, slowly."""
    return [
        (ref, time, retired, batch.buckets[batch.rows == row].tolist())
        for row, (ref, time, retired) in enumerate(
            zip(batch.refs.tolist(), batch.times.tolist(), batch.retired.tolist(), strict=True)
        )
    ]


def verification_rows(batch: Verifications) -> list[tuple[Row, list[Row]]]:
    """Every new document with its pairs, slowly."""
    return [
        (
            (
                int(batch.refs[row]),
                int(batch.times[row]),
                int(batch.digests[row]),
                batch.ids[row],
                batch.texts[row],
                tuple(batch.signatures[row].tolist()),
                in_full(batch.abouts, batch.refs.size)[row],
            ),
            [
                (int(batch.old[pair]), int(batch.kinds[pair]))
                for pair in range(len(batch))
                if int(batch.rows[pair]) == row
            ],
        )
        for row in range(batch.refs.size)
    ]


def edge_rows(batch: Edges) -> list[Row]:
    columns: list[Any] = [batch.similarity, batch.shared, batch.union]
    columns.append(np.array([*(batch.evidence or [""] * len(batch)), None], object)[:-1])
    for ends in (batch.left, batch.right):
        columns += [ends.refs, ends.times, ends.digests, np.array([*ends.ids, None], object)[:-1]]
        columns.append(np.array([*map(repr, in_full(ends.abouts, len(batch))), None], object)[:-1])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def joined(parts: list[Any], rows: Callable[[Any], list[Any]]) -> list[Any]:
    return [row for part in parts for row in rows(part)]


@given(batches.postings(), LIMITS)
def test_postings_are_cut_by_version(batch: Postings, limit: int) -> None:
    parts = split.cut_postings(batch, limit)
    assert joined(parts, posting_rows) == posting_rows(batch)
    assert all(len(part) for part in parts)
    for part in parts:
        assert len(part) == 1 or len(encode(BandsFrame(part), 0)) <= limit + FRAME_OVERHEAD


@given(batches.candidates(), LIMITS)
def test_candidates_are_cut_anywhere(batch: Candidates, limit: int) -> None:
    parts = split.cut_candidates(batch, limit)
    for name in ("new", "old", "kinds"):
        assert joined(parts, lambda part: getattr(part, name).tolist()) == getattr(batch, name).tolist()  # noqa: B023
    assert all(len(part) for part in parts)
    assert all(len(part) == 1 or len(encode(CandidatesFrame(part), 0)) <= limit + FRAME_OVERHEAD for part in parts)


@given(batches.verifications(), LIMITS)
def test_verifications_are_cut_by_document_and_by_pairs(batch: Verifications, limit: int) -> None:
    batch = dataclasses.replace(batch, refs=np.arange(batch.refs.size, dtype=np.uint64))  # distinguishes documents
    parts = split.cut_verifications(batch, limit)
    rows: list[tuple[Row, list[Row]]] = []
    for document, pairs in joined(parts, verification_rows):
        if rows and rows[-1][0] == document:
            rows[-1][1].extend(pairs)
        else:
            rows.append((document, pairs))
    assert rows == verification_rows(batch)
    assert bool(parts) == bool(batch.refs.size)
    for part in parts:
        assert part.refs.size == 1 or len(encode(VerificationsFrame(part), 0)) <= limit + FRAME_OVERHEAD


def test_many_pairs_of_one_document_are_spread_and_a_large_text_is_not_sent_per_pair() -> None:
    m = 100_000
    batch = Verifications(
        refs=np.ones(1, np.uint64),
        times=np.ones(1, np.int64),
        digests=np.ones(1, np.uint64),
        ids=["a"],
        texts=["t" * 500_000],
        signatures=np.zeros((1, 128), np.uint32),
        rows=np.zeros(m, np.int64),
        old=np.arange(m, dtype=np.uint64),
        kinds=np.zeros(m, np.uint8),
    )
    large = split.cut_verifications(batch)
    assert len(large) == -(-m // (split.FRAME_BYTES // 16 // 13))
    assert all(len(part) * 13 <= 64 * 1024 for part in large), (
        "the room that max.message.bytes leaves beside a document"
    )
    small = split.cut_verifications(dataclasses.replace(batch, texts=["t"]))
    assert len(small) == 5
    for parts in (large, small):
        assert np.concatenate([part.old for part in parts]).tolist() == list(range(m))
        assert all(part.ids == ["a"] and part.rows.max() == 0 for part in parts)


@given(batches.edges(), LIMITS)
def test_edges_are_cut_anywhere(batch: Edges, limit: int) -> None:
    parts = split.cut_edges(batch, limit)
    assert joined(parts, edge_rows) == edge_rows(batch)
    assert all(len(part) for part in parts)
    assert all(len(part) == 1 or len(encode(EdgesFrame((), part), 0)) <= limit + FRAME_OVERHEAD for part in parts)


@given(st.lists(batches.decisions, max_size=6), LIMITS)
def test_decisions_are_cut_anywhere(given_decisions: list[Decision], limit: int) -> None:
    parts = split.cut_decisions(given_decisions, limit)
    assert [one for part in parts for one in part] == given_decisions
    assert all(len(part) == 1 or len(encode(EdgesFrame(decisions=part), 0)) <= limit + FRAME_OVERHEAD for part in parts)


@given(batches.retirements, LIMITS)
def test_retirements_are_cut_anywhere(batch: tuple[Retirement, ...], limit: int) -> None:
    parts = split.cut_retirements(batch, limit)
    assert sum(parts, ()) == batch
    assert all(parts)
    assert all(len(part) == 1 or len(encode(EdgesFrame(part), 0)) <= limit + FRAME_OVERHEAD for part in parts)


@given(batches.page_counts(), LIMITS)
def test_page_counts_are_cut_anywhere_and_a_statement_begins_and_ends_once(pages: PageCounts, limit: int) -> None:
    parts = split.cut_pages(pages, limit)
    assert [site for part in parts for site in part.sites] == [*pages.sites]
    assert [count for part in parts for count in part.counts.tolist()] == pages.counts.tolist()
    assert all((part.partition, part.as_of) == (pages.partition, pages.as_of) for part in parts)
    assert all(
        len(part.sites) <= 1 or len(encode(EdgesFrame(pages=part), 0)) <= limit + FRAME_OVERHEAD for part in parts
    )
    if parts:
        assert (parts[0].begins, parts[-1].ends) == (pages.begins, pages.ends)
    assert not any(part.begins for part in parts[1:])
    assert not any(part.ends for part in parts[:-1])
    assert parts or not pages.ends, "a statement is sent though no site has a page"


@given(batches.documents(), LIMITS)
def test_documents_are_cut_by_version(record: DocumentsRecord, limit: int) -> None:
    parts = split.cut_documents(record, limit)
    assert parts
    assert all((part.horizon, part.acknowledged) == (record.horizon, record.acknowledged) for part in parts)
    for name in ("refs", "times", "keep_until", "digests", "live", "signatures", "retired_refs", "retired_buckets"):
        assert same(np.concatenate([getattr(part, name) for part in parts]), getattr(record, name))
    assert [key for part in parts for key in part.ids] == record.ids
    assert [text for part in parts for text in part.texts] == record.texts
    assert [about for part in parts for about in part.abouts] == [*record.abouts]
    starts = np.cumsum([0, *(len(part) for part in parts)])
    retired = np.concatenate([part.retired_rows + start for part, start in zip(parts, starts[:-1], strict=True)])
    assert retired.tolist() == record.retired_rows.tolist()
    for part in parts:
        assert len(part) <= 1 or len(encode(part, 0)) <= limit + FRAME_OVERHEAD


@given(
    batches.postings(ascending=True),
    batches.candidates(),
    batches.edges(),
    batches.verifications(),
    batches.documents(),
)
def test_a_message_that_fits_is_not_cut(
    postings: Postings, candidates: Candidates, edges: Edges, verifications: Verifications, documents: DocumentsRecord
) -> None:
    assert split.cut_postings(postings) == ([postings] if len(postings) else [])
    assert split.cut_candidates(candidates) == ([candidates] if len(candidates) else [])
    assert split.cut_edges(edges) == ([edges] if len(edges) else [])
    assert len(split.cut_verifications(verifications)) == bool(verifications.refs.size)
    assert split.cut_documents(documents) == [documents]
