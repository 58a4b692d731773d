"""Encodes frames and changelog records: the sections of each message.

`layout` defines the form of a message, `sections` the columns of a section; `ledger_parts` encodes the records of the
ledger.

    message         sections (all are optional, except those with a !)
    BANDS           POSTINGS  WATERMARKS  HORIZON  LAG
    BUCKETS         POSTINGS  WATERMARKS  HORIZON  PASS: the changelog of the band-bucket table
    CANDIDATES      CANDIDATES  WATERMARKS  HORIZON
    VERIFICATIONS   VERIFICATIONS  WATERMARKS  ABOUTS
    EDGES           RETIREMENTS  EDGES  WATERMARKS  ABOUTS  PAGE_COUNTS  DECISIONS
    DOCUMENTS       DOCUMENTS_IN_BLOCKS! (of earlier versions DOCUMENTS!)  HORIZON!  ABOUTS  ACKNOWLEDGED

SIZES and EVIDENCE accompany EDGES if the measure uses them; MARK_NUMBERS accompany WATERMARKS.
"""

from dataclasses import replace
from typing import assert_never

from stream_lsh.ledger.edges import Edges
from stream_lsh.model import Abouts, Retirement, concatenate, or_empty
from stream_lsh.pipeline.batches import (
    BandsFrame,
    CandidatesFrame,
    EdgesFrame,
    VerificationsFrame,
)
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.wire.layout import (
    INFLATE_LIMIT,
    Message,
    Section,
    Writer,
    damaged,
    expect_no_more,
    open_message,
    take,
)
from stream_lsh.wire.sections import (
    get_candidates,
    get_documents,
    get_edges,
    get_horizon,
    get_lag,
    get_page_counts,
    get_pass,
    get_postings,
    get_retirements,
    get_verifications,
    put_abouts,
    put_acknowledged,
    put_candidates,
    put_documents,
    put_edges,
    put_horizon,
    put_lag,
    put_page_counts,
    put_pass,
    put_postings,
    put_progress,
    put_retirements,
    put_verifications,
    take_abouts,
    take_acknowledged,
    take_watermarks,
)
from stream_lsh.wire.tables import put_decisions, take_decisions, take_evidence, take_sizes

Frame = BandsFrame | CandidatesFrame | VerificationsFrame | EdgesFrame | DocumentsRecord


def encode(frame: Frame, fingerprint: int) -> bytes:
    """The bytes of a frame, or of a record of the documents changelog, under the scheme of `fingerprint`.

    Guarantees:
        the same bytes for equal frames; except for texts of more than 255 bytes, which depend on the version of zstd.
    Cost:
        some 10 us and one copy of every column; zstd level 1 for texts, some 5 ns a byte.

    Raises:
        InvariantError: the columns of a batch do not fit each other.
    """
    writer = Writer()
    match frame:
        case BandsFrame():
            return _bands(writer, frame).message(Message.BANDS, fingerprint)
        case CandidatesFrame():
            if frame.candidates is not None:
                put_candidates(writer, frame.candidates)
            put_progress(writer, frame.watermarks, frame.horizon)
            return writer.message(Message.CANDIDATES, fingerprint)
        case VerificationsFrame():
            if frame.verifications is not None:
                put_verifications(writer, frame.verifications)
            put_progress(writer, frame.watermarks, None)
            if frame.verifications is not None:
                put_abouts(writer, frame.verifications.abouts)
            return writer.message(Message.VERIFICATIONS, fingerprint)
        case EdgesFrame():
            if frame.retirements:
                put_retirements(writer, frame.retirements)
            if frame.edges is not None:
                put_edges(writer, frame.edges)
            put_progress(writer, frame.watermarks, None)
            put_abouts(writer, _abouts_of(frame))
            if frame.pages is not None:
                put_page_counts(writer, frame.pages)
            put_decisions(writer, frame.decisions)
            return writer.message(Message.EDGES, fingerprint)
        case DocumentsRecord():
            put_documents(writer, frame)
            put_horizon(writer, frame.horizon)
            put_abouts(writer, frame.abouts)
            put_acknowledged(writer, frame.acknowledged)
            return writer.message(Message.DOCUMENTS, fingerprint)
        case _:  # pragma: no cover - mypy proves it
            assert_never(frame)


def encode_buckets(frame: BandsFrame, fingerprint: int) -> bytes:
    """The bytes of a record of the buckets changelog: the content of one frame of bands, or a part of a pass."""
    writer = _bands(Writer(), frame)
    if frame.copied is not None:
        put_pass(writer, frame.copied)
    return writer.message(Message.BUCKETS, fingerprint)


def decode_bands(data: bytes | None, fingerprint: int) -> BandsFrame:
    """The frame in a message of the topic `bands`.

    Returns:
        columns are read-only, most of them views that keep `data` alive; so for all functions here.
    Cost:
        some 10 us, and 4 ns per posting, 0.2 us per edge, 2 ns per byte of text.

    Raises:
        DamagedBytes: truncated at any byte, altered in any bit, foreign, of another kind, or not consistent.
        FutureFormat: written by a newer version.
        FingerprintMismatch: written under another scheme.
    """
    return _decode_bands(data, Message.BANDS, fingerprint)


def decode_buckets(data: bytes | None, fingerprint: int) -> BandsFrame:
    """The record in a message of the buckets changelog; raises as `decode_bands`."""
    return _decode_bands(data, Message.BUCKETS, fingerprint)


def decode_candidates(data: bytes | None, fingerprint: int) -> CandidatesFrame:
    """The frame in a message of the topic `candidates`; raises as `decode_bands`."""
    sections = open_message(data, Message.CANDIDATES, fingerprint)
    frame = CandidatesFrame(
        take(sections, Section.CANDIDATES, get_candidates),
        take_watermarks(sections),
        take(sections, Section.HORIZON, get_horizon),
    )
    expect_no_more(sections)
    return frame


def decode_verifications(
    data: bytes | None, fingerprint: int, inflate_limit: int = INFLATE_LIMIT
) -> VerificationsFrame:
    """The frame in a message of the topic `verifications`, texts of together at most `inflate_limit` bytes.

    Raises as `decode_bands`.
    """
    sections = open_message(data, Message.VERIFICATIONS, fingerprint)
    verifications = take(sections, Section.VERIFICATIONS, lambda reader: get_verifications(reader, inflate_limit))
    abouts = take_abouts(sections, 0 if verifications is None else verifications.refs.size)
    if verifications is not None and abouts:
        verifications = replace(verifications, abouts=abouts)
    frame = VerificationsFrame(verifications, take_watermarks(sections))
    expect_no_more(sections)
    return frame


def decode_edges(data: bytes | None, fingerprint: int) -> EdgesFrame:
    """The frame in a message of the topic `edges`; raises as `decode_bands`."""
    sections = open_message(data, Message.EDGES, fingerprint)
    retirements = take(sections, Section.RETIREMENTS, get_retirements) or ()
    edges = take(sections, Section.EDGES, get_edges)
    if edges is not None and Section.SIZES in sections:
        edges = replace(edges, shingles=take_sizes(sections, len(edges)))
    if edges is not None and Section.EVIDENCE in sections:
        edges = replace(edges, evidence=take_evidence(sections, len(edges), INFLATE_LIMIT))
    abouts = take_abouts(sections, len(retirements) + (0 if edges is None else 2 * len(edges)))
    if abouts:
        retirements, edges = _with_abouts(retirements, edges, abouts)
    watermarks = take_watermarks(sections)
    pages = take(sections, Section.PAGE_COUNTS, get_page_counts)
    frame = EdgesFrame(retirements, edges, watermarks, pages, take_decisions(sections))
    expect_no_more(sections)
    return frame


def decode_documents(data: bytes | None, fingerprint: int, inflate_limit: int = INFLATE_LIMIT) -> DocumentsRecord:
    """The record in a message of the documents changelog, texts of together at most `inflate_limit` bytes.

    Raises as `decode_bands`.
    """
    sections = open_message(data, Message.DOCUMENTS, fingerprint)
    horizon = take(sections, Section.HORIZON, get_horizon)
    in_blocks = Section.DOCUMENTS_IN_BLOCKS in sections
    reader = sections.pop(Section.DOCUMENTS_IN_BLOCKS if in_blocks else Section.DOCUMENTS, None)
    if horizon is None or reader is None:
        raise damaged("got a record without documents or horizon", "a faulty program wrote it")
    record = get_documents(reader, horizon, inflate_limit, in_blocks=in_blocks)
    reader.finish()
    abouts, acknowledged = take_abouts(sections, len(record)), take_acknowledged(sections)
    expect_no_more(sections)
    return replace(record, abouts=abouts, acknowledged=acknowledged) if abouts or acknowledged else record


def _abouts_of(frame: EdgesFrame) -> Abouts:
    """The metadata of the rows of a frame, for stories: retirements, left ends, right ends."""
    columns = [(or_empty([retired.about for retired in frame.retirements]), len(frame.retirements))]
    if frame.edges is not None:
        columns += [(ends.abouts, len(frame.edges)) for ends in (frame.edges.left, frame.edges.right)]
    return concatenate(columns)


def _with_abouts(
    retirements: tuple[Retirement, ...], edges: Edges | None, values: Abouts
) -> tuple[tuple[Retirement, ...], Edges | None]:
    """The same batches with the metadata of the rows, for stories."""
    first = len(retirements)
    retirements = tuple(replace(retired, about=about) for retired, about in zip(retirements, values, strict=False))
    if edges is not None:
        middle = first + len(edges)
        left = replace(edges.left, abouts=or_empty(values[first:middle]))
        edges = replace(edges, left=left, right=replace(edges.right, abouts=or_empty(values[middle:])))
    return retirements, edges


def _bands(writer: Writer, frame: BandsFrame) -> Writer:
    if frame.postings is not None:
        put_postings(writer, frame.postings)
    put_progress(writer, frame.watermarks, frame.horizon)
    if frame.lag is not None:
        put_lag(writer, frame.lag)
    return writer


def _decode_bands(data: bytes | None, kind: Message, fingerprint: int) -> BandsFrame:
    sections = open_message(data, kind, fingerprint)
    frame = BandsFrame(
        take(sections, Section.POSTINGS, get_postings),
        take_watermarks(sections),
        take(sections, Section.HORIZON, get_horizon),
        take(sections, Section.PASS, get_pass) if kind == Message.BUCKETS else None,
        take(sections, Section.LAG, get_lag) if kind == Message.BANDS else None,
    )
    expect_no_more(sections)
    return frame
