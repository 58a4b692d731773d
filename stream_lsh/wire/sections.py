"""Batches as sections: the columns of each, in order.  `layout` defines the form of a section and a column.

    section         fixed fields, then columns in this order
    POSTINGS        u32 n, u32 m | refs u64[n] | times i64[n] | retired u8[n] | rows u32[m] | buckets u64[m]
    CANDIDATES      u32 n, u32 0 | new u64[n] | old u64[n] | kinds u8[n]
    VERIFICATIONS   u32 n, u32 m, u32 slots, u32 0 | refs u64[n] | times i64[n] | digests u64[n] |
                    signatures u32[n*slots] | rows u32[m] | old u64[m] | kinds u8[m] | ids strings[n] | texts texts[n]
    EDGES           u32 n, u32 0 | left: refs u64[n], times i64[n], digests u64[n], ids strings[n] | right: the same |
                    similarity f64[n] | shared u32[n] | union u32[n]
    SIZES           u32 n, u32 0 | shingles u32[n] of the left ends of edges or pairs, where the measure uses them
    EVIDENCE        u32 n, u32 0 | texts texts[n] of the edges or pairs
    DECISIONS       u32 n, u32 0 | refs u64[n] | verdicts u8[n] (0 revoked, 1 same, 2 different) | left strings[n] |
                    right strings[n]
    RETIREMENTS     u32 n, u32 0 | refs u64[n] | times i64[n] | digests u64[n] | keep_until i64[n] | deleted u8[n] |
                    ids strings[n]
    WATERMARKS      i32 origin, u32 n | n times (i64 time, i64 floor, i32 source, u8 idle, 3 zeros)
    MARK_NUMBERS    u32 n, u32 0 | generations i64[n] | numbers i64[n] of the marks of WATERMARKS, or of all rows of
                    WATERMARK_TABLE
    HORIZON         i64 time, u32 n, u32 0 | floors i64[n]
    PASS            i64 began, u8 ended, 7 zeros
    LAG             u64 bytes
    ACKNOWLEDGED    u64 offset; present only if it is not 0
    DOCUMENTS       u32 n, u32 m, u32 slots, u32 width | refs u64[n] | times i64[n] | keep_until i64[n] |
                    digests u64[n] | live u8[n] | signatures u32[n*slots] | retired_rows u32[m], ascending |
                    retired_refs u64[m] | retired_buckets u64[m*width] | ids strings[n] | texts texts[n]
    DOCUMENTS_IN_BLOCKS  the same up to the ids; u32 k, u32 0 | sizes u32[k] | the k blocks of the texts (`text_blocks`)
    PAGE_COUNTS     u32 n, i32 partition | i64 offset, i64 generation, u8 begins, u8 ends, 6 zeros | counts u32[n] |
                    sites strings[n]
    ABOUTS          u32 n, u32 0 | lengths u32[n] | titles strings[n] | sources strings[n]

Earlier versions wrote DOCUMENTS, this one writes DOCUMENTS_IN_BLOCKS.

ABOUTS belongs to the rows of VERIFICATIONS, documents or NODES; or to those of RETIREMENTS, then the left and then the
right ends of EDGES.  It is present only if a row has metadata, and EVIDENCE only if a row has evidence.

SIZES and EVIDENCE accompany EDGES or PAIRS; DECISIONS is present only if there are decisions.

Row numbers are below the n of their section.  A single posting costs 12 bytes, a candidate 17, an edge some 90.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from struct import Struct

import numpy as np

from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import About, Abouts, Retirement, or_empty
from stream_lsh.pipeline.batches import Candidates, Mark, Pass, Postings, Verifications, Watermarks
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.retention import Horizon
from stream_lsh.wire.layout import F64, I64, U8, U32, U64, Reader, Section, Writer, damaged, take
from stream_lsh.wire.tables import COUNTS, FLAG, TEXT, Columns, get_columns, plain, put_columns, put_evidence, put_sizes
from stream_lsh.wire.text_blocks import announced, packed, unpacked

NOT_NUMBERED = Mark(0, 0, False, 0).order_key
_SHAPES = Struct("<IIII")
_ORIGIN = Struct("<iI")
_MARK = Struct("<qqiB3x")
_HORIZON = Struct("<qII")
_PASS = Struct("<q?7x")
_LAG = _ACKNOWLEDGED = Struct("<Q")
_PAGE_COUNTS = Struct("<Iiqq??6x")

_CANDIDATES: Columns = (U64, U64, U8)
_END: Columns = (U64, I64, U64, TEXT)
_EDGES: Columns = (*_END, *_END, F64, U32, U32)
_RETIREMENTS: Columns = (U64, I64, U64, I64, FLAG, TEXT)
_MARK_NUMBERS: Columns = (I64, I64)
_ABOUTS: Columns = (U32, TEXT, TEXT)


def put_postings(writer: Writer, postings: Postings) -> None:
    """Write the section POSTINGS."""
    n, m = postings.refs.size, postings.rows.size
    writer.begin(Section.POSTINGS, COUNTS.pack(n, m))
    writer.numbers(postings.refs, U64, n)
    writer.numbers(postings.times, I64, n)
    writer.numbers(postings.retired, U8, n)
    writer.numbers(postings.rows, U32, m)
    writer.numbers(postings.buckets, U64, m)


def get_postings(reader: Reader) -> Postings:
    """Read the section POSTINGS."""
    n, m = reader.fields(COUNTS)
    refs, times, retired = reader.numbers(U64, n), reader.numbers(I64, n), reader.flags(n)
    return Postings(refs, times, retired, reader.rows(m, n), reader.numbers(U64, m))


def put_candidates(writer: Writer, candidates: Candidates) -> None:
    """Write the section CANDIDATES."""
    put_columns(writer, Section.CANDIDATES, _CANDIDATES, (candidates.new, candidates.old, candidates.kinds))


def get_candidates(reader: Reader) -> Candidates:
    """Read the section CANDIDATES."""
    return Candidates(*get_columns(reader, _CANDIDATES))


def put_verifications(writer: Writer, batch: Verifications) -> None:
    """Write the section VERIFICATIONS."""
    n, m = batch.refs.size, batch.old.size
    slots = batch.signatures.shape[1]
    writer.begin(Section.VERIFICATIONS, _SHAPES.pack(n, m, slots, 0))
    writer.numbers(batch.refs, U64, n)
    writer.numbers(batch.times, I64, n)
    writer.numbers(batch.digests, U64, n)
    writer.numbers(batch.signatures, U32, n * slots)
    writer.numbers(batch.rows, U32, m)
    writer.numbers(batch.old, U64, m)
    writer.numbers(batch.kinds, U8, m)
    writer.strings(batch.ids, n)
    writer.texts(batch.texts, n)


def get_verifications(reader: Reader, inflate_limit: int) -> Verifications:
    """Read the section VERIFICATIONS."""
    n, m, slots, _ = reader.fields(_SHAPES)
    refs, times, digests = reader.numbers(U64, n), reader.numbers(I64, n), reader.numbers(U64, n)
    signatures = reader.numbers(U32, n * slots).reshape(n, slots)
    rows, old, kinds = reader.rows(m, n), reader.numbers(U64, m), reader.numbers(U8, m)
    ids, texts = reader.strings(n), reader.texts(n, inflate_limit)
    return Verifications(refs, times, digests, ids, texts, signatures, rows, old, kinds)


def put_edges(writer: Writer, edges: Edges) -> None:
    """Write the section EDGES, and SIZES and EVIDENCE where the edges have them."""
    ends = [(end.refs, end.times, end.digests, end.ids) for end in (edges.left, edges.right)]
    put_columns(writer, Section.EDGES, _EDGES, (*ends[0], *ends[1], edges.similarity, edges.shared, edges.union))
    if edges.shingles is not None:
        put_sizes(writer, edges.shingles)
    put_evidence(writer, edges.evidence)


def get_edges(reader: Reader) -> Edges:
    """Read the section EDGES."""
    *ends, similarity, shared, union = get_columns(reader, _EDGES)
    left, right = (Ends(ids, refs, times, digests) for refs, times, digests, ids in (ends[:4], ends[4:]))
    return Edges(left, right, similarity, shared, union)


def put_page_counts(writer: Writer, pages: PageCounts) -> None:
    """Write the section PAGE_COUNTS."""
    n = len(pages.sites)
    fields = _PAGE_COUNTS.pack(n, pages.partition, *pages.as_of, pages.begins, pages.ends)
    writer.begin(Section.PAGE_COUNTS, fields)
    writer.numbers(pages.counts, U32, n)
    writer.strings(pages.sites, n)


def get_page_counts(reader: Reader) -> PageCounts:
    """Read the section PAGE_COUNTS."""
    n, partition, offset, generation, begins, ends = reader.fields(_PAGE_COUNTS)
    counts = reader.numbers(U32, n)
    return PageCounts(partition, AsOf(offset, generation), reader.strings(n), counts, begins, ends)


def put_retirements(writer: Writer, retirements: tuple[Retirement, ...]) -> None:
    """Write the section RETIREMENTS of at least one."""
    rows = [(one.ref, one.time_ms, one.digest, one.keep_until_ms, one.deleted, one.id) for one in retirements]
    put_columns(writer, Section.RETIREMENTS, _RETIREMENTS, [*zip(*rows, strict=True)])


def get_retirements(reader: Reader) -> tuple[Retirement, ...]:
    """Read the section RETIREMENTS."""
    refs, times, digests, keep_until, deleted, ids = plain(get_columns(reader, _RETIREMENTS))
    return tuple(map(Retirement, ids, refs, times, digests, deleted, keep_until))


def put_abouts(writer: Writer, abouts: Abouts) -> None:
    """Write the section ABOUTS, if any row has metadata."""
    if or_empty(abouts):
        titles, sources, lengths = zip(*abouts, strict=True)
        put_columns(writer, Section.ABOUTS, _ABOUTS, (lengths, titles, sources))


def take_abouts(sections: dict[int, Reader], rows: int) -> Abouts:
    """The metadata of this number of rows from the section ABOUTS; empty without the section."""
    abouts = take(sections, Section.ABOUTS, _get_abouts)
    if abouts is not None and len(abouts) != rows:
        raise damaged(f"got {len(abouts)} abouts of {rows} rows", "it was written by a faulty program")
    return abouts or ()


def _get_abouts(reader: Reader) -> list[About]:
    lengths, titles, sources = plain(get_columns(reader, _ABOUTS))
    outlets = dict(zip(sources, sources, strict=True))  # one string for each, not for each row
    return [*map(About, titles, map(outlets.__getitem__, sources), lengths)]


def put_progress(writer: Writer, watermarks: Watermarks | None, horizon: Horizon | None) -> None:
    """Write the event time of a frame: the sections WATERMARKS and HORIZON, unless they are None."""
    if watermarks is not None:
        writer.begin(Section.WATERMARKS)
        put_marks(writer, watermarks)
        put_mark_numbers(writer, (watermarks,))
    if horizon is not None:
        put_horizon(writer, horizon)


def put_marks(writer: Writer, watermarks: Watermarks) -> None:
    """One row of the watermark table."""
    marks = watermarks.marks
    writer.raw(_ORIGIN.pack(watermarks.origin, len(marks)))
    writer.raw(b"".join([_MARK.pack(mark.time_ms, mark.min_offset, mark.source, mark.idle) for mark in marks]))


def get_watermarks(reader: Reader) -> Watermarks:
    """One row of the watermark table."""
    origin, n = reader.fields(_ORIGIN)
    marks = _MARK.iter_unpack(reader.raw(n * _MARK.size))
    return Watermarks(origin, tuple([Mark(source, time, idle != 0, least) for time, least, source, idle in marks]))


def take_watermarks(sections: dict[int, Reader]) -> Watermarks | None:
    """Read the section WATERMARKS with its MARK_NUMBERS; None without the section."""
    watermarks = take(sections, Section.WATERMARKS, get_watermarks)
    return None if watermarks is None else take_mark_numbers(sections, (watermarks,))[0]


def put_mark_numbers(writer: Writer, rows: Sequence[Watermarks]) -> None:
    """Write the section MARK_NUMBERS, where any mark has them."""
    marks = [mark for row in rows for mark in row.marks]
    if any(mark.order_key != NOT_NUMBERED for mark in marks):
        columns = [mark.generation for mark in marks], [mark.number for mark in marks]
        put_columns(writer, Section.MARK_NUMBERS, _MARK_NUMBERS, columns)


def take_mark_numbers(sections: dict[int, Reader], rows: Sequence[Watermarks]) -> tuple[Watermarks, ...]:
    """The same rows with their MARK_NUMBERS; unchanged without them, as written by an earlier version."""
    count = sum(len(row.marks) for row in rows)

    def get(reader: Reader) -> Iterator[tuple[int, int]]:
        generations, numbers = plain(get_columns(reader, _MARK_NUMBERS))
        if len(numbers) != count:
            reader.fail(f"got numbers of {len(numbers)} marks, expected {count}")
        return zip(generations, numbers, strict=True)

    numbers = take(sections, Section.MARK_NUMBERS, get)
    if numbers is None:
        return tuple(rows)
    return tuple(
        Watermarks(row.origin, tuple(Mark(*mark[:4], *pair) for mark, pair in zip(row.marks, numbers, strict=False)))
        for row in rows
    )


def put_horizon(writer: Writer, horizon: Horizon) -> None:
    """Write the section HORIZON."""
    writer.begin(Section.HORIZON, _HORIZON.pack(horizon.time_ms, len(horizon.min_offsets), 0))
    writer.numbers(horizon.min_offsets, I64, len(horizon.min_offsets))


def get_horizon(reader: Reader) -> Horizon:
    """Read the section HORIZON."""
    time_ms, n, _ = reader.fields(_HORIZON)
    return Horizon(time_ms, tuple(reader.numbers(I64, n).tolist()))


def put_lag(writer: Writer, lag: int) -> None:
    """Write the section LAG."""
    writer.begin(Section.LAG, _LAG.pack(lag))


def get_lag(reader: Reader) -> int:
    """Read the section LAG."""
    return int(reader.fields(_LAG)[0])


def put_acknowledged(writer: Writer, offset: int) -> None:
    """Write the section ACKNOWLEDGED, unless the offset is 0."""
    if offset:
        writer.begin(Section.ACKNOWLEDGED, _ACKNOWLEDGED.pack(offset))


def take_acknowledged(sections: dict[int, Reader]) -> int:
    """Read the section ACKNOWLEDGED; 0 without the section."""
    return take(sections, Section.ACKNOWLEDGED, get_lag) or 0


def put_pass(writer: Writer, copied: Pass) -> None:
    """Write the section PASS."""
    writer.begin(Section.PASS, _PASS.pack(*copied))


def get_pass(reader: Reader) -> Pass:
    """Read the section PASS."""
    return Pass(*reader.fields(_PASS))


def put_documents(writer: Writer, record: DocumentsRecord) -> None:
    """Write the section DOCUMENTS_IN_BLOCKS."""
    n, m = record.refs.size, record.retired_refs.size
    slots, width = record.signatures.shape[1], record.retired_buckets.shape[1]
    writer.begin(Section.DOCUMENTS_IN_BLOCKS, _SHAPES.pack(n, m, slots, width))
    writer.numbers(record.refs, U64, n)
    writer.numbers(record.times, I64, n)
    writer.numbers(record.keep_until, I64, n)
    writer.numbers(record.digests, U64, n)
    writer.numbers(record.live, U8, n)
    writer.numbers(record.signatures, U32, n * slots)
    writer.numbers(record.retired_rows, U32, m)
    writer.numbers(record.retired_refs, U64, m)
    writer.numbers(record.retired_buckets, U64, m * width)
    writer.strings(record.ids, n)
    blocks = record.blocks or packed(record.texts)
    writer.raw(COUNTS.pack(len(blocks), 0))
    writer.numbers(list(map(len, blocks)), U32, len(blocks))
    writer.raw(b"".join(blocks))


def get_documents(reader: Reader, horizon: Horizon, inflate_limit: int, *, in_blocks: bool) -> DocumentsRecord:
    """Read the section DOCUMENTS, or DOCUMENTS_IN_BLOCKS."""
    n, m, slots, width = reader.fields(_SHAPES)
    refs, times, keep_until = reader.numbers(U64, n), reader.numbers(I64, n), reader.numbers(I64, n)
    digests, live = reader.numbers(U64, n), reader.flags(n)
    signatures = reader.numbers(U32, n * slots).reshape(n, slots)
    retired_rows, retired_refs = reader.rows(m, n), reader.numbers(U64, m)
    if bool(np.any(retired_rows[1:] < retired_rows[:-1])):
        reader.fail("got retired rows that do not ascend")
    retired_buckets = reader.numbers(U64, m * width).reshape(m, width)
    ids = reader.strings(n)
    blocks = _blocks(reader) if in_blocks else ()
    return DocumentsRecord(
        ids=ids,
        refs=refs,
        times=times,
        keep_until=keep_until,
        digests=digests,
        live=live,
        texts=_texts(reader, blocks, n, inflate_limit) if in_blocks else reader.texts(n, inflate_limit),
        signatures=signatures,
        retired_rows=retired_rows,
        retired_refs=retired_refs,
        retired_buckets=retired_buckets,
        horizon=horizon,
        blocks=blocks,
    )


def _blocks(reader: Reader) -> list[bytes]:
    count, _ = reader.fields(COUNTS)
    sizes = reader.numbers(U32, count)
    data, bounds = reader.raw(int(sizes.sum(dtype=np.int64))), np.append(0, sizes.cumsum(dtype=np.int64)).tolist()
    return [data[start:stop] for start, stop in pairwise(bounds)]


def _texts(reader: Reader, blocks: Sequence[bytes], count: int, limit: int) -> list[str]:
    """The texts of all blocks, of together at most `limit` bytes."""
    texts, size = map(sum, zip(*map(announced, blocks), strict=True)) if blocks else (0, 0)
    if texts != count:
        reader.fail(f"got {texts} texts of {count} versions")
    if size > limit:
        reader.fail(f"texts of {size} bytes are announced, at most {limit} are allowed")
    return [text for block in blocks for text in unpacked(block)]
