"""Frames and the record of documents: decoding inverts encoding, and any other bytes are rejected."""

import struct
from collections.abc import Callable
from typing import Any
from zlib import crc32

import hypothesis.strategies as st
import numpy as np
import pytest
import zstandard
from hypothesis import given

from stream_lsh.errors import DamagedBytes, FingerprintMismatch, FutureFormat, InvariantError, StateError
from stream_lsh.ledger.decisions import Decision
from stream_lsh.pipeline.batches import (
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Postings,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.retention import Horizon
from stream_lsh.wire import frames
from stream_lsh.wire.layout import HEADER_BYTES, U8, U32, U64, Message, Section, Writer, seal
from stream_lsh.wire.sections import put_edges
from stream_lsh.wire.tables import put_evidence
from tests.golden.samples import EDGES as SAMPLE_EDGES
from tests.golden.samples import FINGERPRINT as SAMPLE_FINGERPRINT
from tests.golden.samples import SAMPLES, VERIFICATIONS
from tests.unit.wire import strategies as batches
from tests.unit.wire.strategies import FINGERPRINT, arrays_of, same

optional_marks = st.none() | batches.watermarks
optional_horizon = st.none() | batches.horizons
FRAMES: dict[str, tuple[st.SearchStrategy[Any], Callable[..., bytes], Callable[..., Any]]] = {
    "bands": (
        st.builds(
            BandsFrame,
            st.none() | batches.postings(),
            optional_marks,
            optional_horizon,
            lag=st.none() | st.integers(0, 2**64 - 1),
        ),
        frames.encode,
        frames.decode_bands,
    ),
    "buckets": (
        st.builds(BandsFrame, st.none() | batches.postings(), optional_marks, optional_horizon),
        frames.encode_buckets,
        frames.decode_buckets,
    ),
    "candidates": (
        st.builds(CandidatesFrame, st.none() | batches.candidates(), optional_marks, optional_horizon),
        frames.encode,
        frames.decode_candidates,
    ),
    "verifications": (
        st.builds(VerificationsFrame, st.none() | batches.verifications(), optional_marks),
        frames.encode,
        frames.decode_verifications,
    ),
    "edges": (
        st.builds(
            EdgesFrame,
            batches.retirements,
            st.none() | batches.edges(),
            optional_marks,
            st.none() | batches.page_counts(),
            st.lists(batches.decisions, max_size=3).map(tuple),
        ),
        frames.encode,
        frames.decode_edges,
    ),
    "documents": (batches.documents(), frames.encode, frames.decode_documents),
}
kinds = pytest.mark.parametrize("kind", FRAMES)
samples = pytest.mark.parametrize("kind", SAMPLES)


@kinds
@given(data=st.data())
def test_every_frame_comes_back_as_it_was_and_read_only(kind: str, data: st.DataObject) -> None:
    strategy, encode, decode = FRAMES[kind]
    frame = data.draw(strategy)
    back = decode(encode(frame, FINGERPRINT), FINGERPRINT)
    assert same(back, frame)
    assert not any(array.flags.writeable for array in arrays_of(back))
    assert all(array.flags.aligned for array in arrays_of(back))


@kinds
@given(data=st.data())
def test_equal_frames_have_equal_bytes(kind: str, data: st.DataObject) -> None:
    strategy, encode, decode = FRAMES[kind]
    encoded = encode(data.draw(strategy), FINGERPRINT)
    assert encode(decode(encoded, FINGERPRINT), FINGERPRINT) == encoded


def test_a_frame_of_nothing_comes_back() -> None:
    assert frames.decode_bands(frames.encode(BandsFrame(), 0), 0) == BandsFrame()
    assert frames.decode_edges(frames.encode(EdgesFrame(), 0), 0) == EdgesFrame()


def test_numbers_come_back_whatever_their_layout_in_memory_was() -> None:
    strided = np.arange(10, dtype=">u8")[::2]
    frame = CandidatesFrame(Candidates(strided, strided[::-1], np.zeros(5, np.uint8)))
    back = frames.decode_candidates(frames.encode(frame, 1), 1).candidates
    assert back is not None
    assert back.new.tolist() == [0, 2, 4, 6, 8]
    assert back.old.tolist() == [8, 6, 4, 2, 0]


# --- damage ---------------------------------------------------------------------------------------------------------


@samples
def test_every_prefix_is_rejected(kind: str) -> None:
    _, data, decode = SAMPLES[kind]
    for size in range(len(data)):
        with pytest.raises(DamagedBytes):
            decode(data[:size], SAMPLE_FINGERPRINT)


@samples
def test_every_flipped_bit_is_rejected(kind: str) -> None:
    _, data, decode = SAMPLES[kind]
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            with pytest.raises(StateError) as raised:
                decode(bytes(flipped), SAMPLE_FINGERPRINT)
            # Only the version and the fingerprint may mean something else than damage.
            expected = FutureFormat if place == 4 else FingerprintMismatch if 8 <= place < 16 else DamagedBytes
            assert type(raised.value) in (expected, DamagedBytes)


@samples
@pytest.mark.parametrize("tail", [b"\0", b"\0" * 8, b"trailing", b"SLSH" * 6])
def test_trailing_bytes_are_rejected(kind: str, tail: bytes) -> None:
    _, data, decode = SAMPLES[kind]
    with pytest.raises(DamagedBytes, match="payload of"):
        decode(data + tail, SAMPLE_FINGERPRINT)


@samples
@pytest.mark.parametrize("data", [None, b"", b"{}", b'{"id": "a", "text": "something that is long enough"}'])
def test_foreign_bytes_are_rejected(kind: str, data: bytes) -> None:
    with pytest.raises(DamagedBytes, match=r"got .*expected .*: .*; check what else writes"):
        SAMPLES[kind][2](data, SAMPLE_FINGERPRINT)


@samples
def test_another_fingerprint_is_named_with_what_to_do(kind: str) -> None:
    _, data, decode = SAMPLES[kind]
    with pytest.raises(FingerprintMismatch, match=r"got .*0x0123456789abcdef, expected 0x0+1: .*re-index"):
        decode(data, 1)


@samples
def test_every_other_kind_of_message_is_rejected(kind: str) -> None:
    _, own, decode = SAMPLES[kind]
    others = [data for _, data, _ in SAMPLES.values() if data[5] != own[5]]  # the byte of the kind
    assert len(others) > len(SAMPLES) // 2
    for data in others:
        with pytest.raises(DamagedBytes, match="got a message of kind"):
            decode(data, SAMPLE_FINGERPRINT)


@samples
def test_a_higher_format_version_is_the_future(kind: str) -> None:
    _, data, decode = SAMPLES[kind]
    with pytest.raises(FutureFormat, match="got format version 2, expected at most 1"):
        decode(data[:4] + b"\2" + data[5:], SAMPLE_FINGERPRINT)


def test_a_section_of_a_later_version_is_the_future_and_never_skipped() -> None:
    later = max(Section) + 1
    with pytest.raises(FutureFormat, match=f"section of kind {later}"):
        frames.decode_bands(seal(Message.BANDS, 0, struct.pack("<Q", later)), 0)


@samples
def test_damage_inside_a_fitting_checksum_never_raises_anything_else(kind: str) -> None:
    """A program that computes the checksum can still be wrong: flip bits, and repair the header."""
    _, data, decode = SAMPLES[kind]
    rejected = 0
    for place in range(HEADER_BYTES, len(data)):
        for bit in (0, 3, 7):
            payload = bytearray(data[HEADER_BYTES:])
            payload[place - HEADER_BYTES] ^= 1 << bit
            header = data[:20] + struct.pack("<I", crc32(payload))
            try:
                decode(header + bytes(payload), SAMPLE_FINGERPRINT)
            except StateError:
                rejected += 1
    assert rejected > 100


# --- damage behind a valid checksum ---------------------------------------------------------------------------------


def message(kind: Message, section: Section, *columns: bytes) -> bytes:
    writer = Writer()
    writer.begin(section)
    for column in columns:
        writer.raw(column)
    return writer.message(kind, 0)


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def longs(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ((words(1, 1), longs(1), longs(1), b"\0", words(1), longs(1)), "got row 1 of 1"),
        ((words(1, 1), longs(1), longs(1), b"\2", words(0), longs(1)), "a flag that is neither"),
        ((words(1, 1), longs(1), longs(1), b"\0", words(0)), "0 bytes where 8 are announced"),
        ((words(0xFFFFFFFF, 1), longs(1)), "are announced"),
        ((words(0, 0), longs(1)), "8 bytes after the last column"),
        ((), "0 bytes where 8"),
    ],
)
def test_postings_that_are_not_consistent_are_rejected(columns: tuple[bytes, ...], what: str) -> None:
    with pytest.raises(DamagedBytes, match=what):
        frames.decode_bands(message(Message.BANDS, Section.POSTINGS, *columns), 0)


def retirement(ids: bytes) -> bytes:
    fixed = (words(1, 0), longs(1), longs(1), longs(1), longs(1), b"\0")
    return message(Message.EDGES, Section.RETIREMENTS, *fixed, ids)


@pytest.mark.parametrize(
    ("ids", "what"),
    [
        (longs(1) + longs(2) + longs(ord("a")), "1 characters where 2"),
        (longs(1) + longs(1) + longs(0xFF), "not UTF-8"),
        (longs(9) + longs(1) + longs(ord("a")), "8 bytes where 9"),
    ],
)
def test_strings_that_are_not_consistent_are_rejected(ids: bytes, what: str) -> None:
    with pytest.raises(DamagedBytes, match=what):
        frames.decode_edges(retirement(ids), 0)


def one_text(form: int, stored: bytes, size: int, length: int) -> bytes:
    writer = Writer()
    writer.begin(Section.VERIFICATIONS)
    writer.raw(words(1, 0, 0, 0))
    for _ in range(3):
        writer.raw(longs(1))
    writer.strings(["a"], 1)
    writer.raw(struct.pack("<IIQQ", form, 0, len(stored), size))
    writer.raw(words(length))
    writer.raw(stored)
    return writer.message(Message.VERIFICATIONS, 0)


TEXT = b"some text " * 100
BLOCK = zstandard.ZstdCompressor(level=1).compress(TEXT)
UNSIZED = zstandard.ZstdCompressor(level=1, write_content_size=False).compress(TEXT)


@pytest.mark.parametrize(
    ("form", "stored", "size", "length", "what"),
    [
        (1, BLOCK, 1 << 40, 1000, "at most 1073741824 are allowed"),
        (1, BLOCK, 999, 1000, "a zstd block of 1000 bytes where 999"),
        (1, UNSIZED, 1000, 1000, "a zstd block of -1 bytes where 1000"),
        (1, BLOCK[:-3], 1000, 1000, "zstd cannot read"),
        (1, b"no zstd", 1000, 1000, "zstd cannot read"),
        (1, BLOCK + b"more", 1000, 1000, "zstd cannot read"),
        (1, BLOCK, 1000, 999, "1000 characters where 999"),
        (0, b"plain", 4, 5, "5 bytes where 4"),
        (2, b"plain", 5, 5, "form 2"),
    ],
)
def test_texts_that_are_not_consistent_are_rejected(
    form: int, stored: bytes, size: int, length: int, what: str
) -> None:
    assert frames.decode_verifications(one_text(1, BLOCK, 1000, 1000), 0).verifications is not None
    with pytest.raises(DamagedBytes, match=what):
        frames.decode_verifications(one_text(form, stored, size, length), 0)


def test_inflation_is_bounded_by_the_argument() -> None:
    data = frames.encode(VerificationsFrame(VERIFICATIONS), 0)
    size = len("".join(VERIFICATIONS.texts).encode("utf-8", "surrogatepass"))
    frames.decode_verifications(data, 0, inflate_limit=size)
    with pytest.raises(DamagedBytes, match="are allowed"):
        frames.decode_verifications(data, 0, inflate_limit=size - 1)


@pytest.mark.parametrize(
    "payload",
    [
        b"\0",  # no room for a section header
        longs(0),  # section kind 0
        longs(Section.HORIZON | 16 << 8),  # longer than the message
        longs(Section.HORIZON | 4 << 8) + b"\0" * 4,  # not a multiple of 8
        longs(Section.POSTINGS | 8 << 8, 0, Section.POSTINGS | 8 << 8, 0),  # twice
        longs(Section.EDGES | 8 << 8, 0),  # not one of this message
    ],
)
def test_invalid_sections_are_rejected(payload: bytes) -> None:
    with pytest.raises(DamagedBytes):
        frames.decode_bands(seal(Message.BANDS, 0, payload), 0)


def test_a_record_without_documents_or_horizon_is_rejected() -> None:
    with pytest.raises(DamagedBytes, match="without documents or horizon"):
        frames.decode_documents(seal(Message.DOCUMENTS, 0, b""), 0)


def test_retired_rows_that_do_not_ascend_are_rejected() -> None:
    record: DocumentsRecord = SAMPLES["documents"][0]  # type: ignore[assignment]
    record = DocumentsRecord(
        record.ids, record.refs, record.times, record.keep_until, record.digests, record.live, record.texts,
        record.signatures, np.array([1, 0]), record.refs, np.zeros((2, 1), np.uint64), Horizon(),
    )  # fmt: skip
    with pytest.raises(DamagedBytes, match="do not ascend"):
        frames.decode_documents(frames.encode(record, 0), 0)


# --- our own mistakes -----------------------------------------------------------------------------------------------


def test_columns_that_do_not_fit_each_other_are_a_bug() -> None:
    one, two = np.zeros(1, np.uint64), np.zeros(2, np.uint64)
    with pytest.raises(InvariantError, match="a column of a batch has 2 entries, expected 1"):
        frames.encode(CandidatesFrame(Candidates(one, two, np.zeros(1, np.uint8))), 0)
    writer = Writer()
    with pytest.raises(InvariantError, match="has 1 strings, expected 2"):
        writer.strings(["a"], 2)
    with pytest.raises(InvariantError, match="has 1 strings, expected 2"):
        writer.texts(["a"], 2)


def test_every_column_begins_at_a_multiple_of_eight() -> None:
    writer = Writer()
    writer.begin(Section.HORIZON)
    writer.numbers([1, 2, 3], U8, 3)
    writer.numbers([4, 5, 6], U32, 3)
    writer.numbers([7], U64, 1)
    body = writer.body()
    assert body == longs(Section.HORIZON | 32 << 8) + b"\1\2\3\0\0\0\0\0" + words(4, 5, 6, 0) + longs(7)


def test_a_watermark_of_every_kind_survives() -> None:
    frame = BandsFrame(None, Watermarks(3, ()), Horizon())
    assert frames.decode_bands(frames.encode(frame, 9), 9) == frame


def test_a_posting_costs_twelve_bytes() -> None:
    m = 2000
    postings = Postings(
        np.zeros(1, np.uint64), np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(m, np.int64),
        np.zeros(m, np.uint64),
    )  # fmt: skip
    assert len(frames.encode(BandsFrame(postings), 0)) <= 12 * m + 100


def test_evidence_and_verdicts_that_are_not_consistent_are_rejected() -> None:
    writer = Writer()
    put_edges(writer, SAMPLE_EDGES)
    put_evidence(writer, ["{}"])
    with pytest.raises(DamagedBytes, match="got evidence for 1 pairs, expected 2"):
        frames.decode_edges(writer.message(Message.EDGES, 0), 0)
    data = bytearray(frames.encode(EdgesFrame(decisions=(Decision("a", "b", "different", 7),)), 0)[HEADER_BYTES:])
    assert data[24] == 2
    data[24] = 3
    with pytest.raises(DamagedBytes, match="got verdict 3, expected 0, 1 or 2"):
        frames.decode_edges(seal(Message.EDGES, 0, bytes(data)), 0)
