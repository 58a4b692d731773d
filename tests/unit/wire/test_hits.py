"""Candidates of a query: decoding inverts encoding, and any other bytes are rejected."""

from zlib import crc32

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from stream_lsh.errors import DamagedBytes, FingerprintMismatch, StateError
from stream_lsh.pipeline.similar import Found
from stream_lsh.wire.hits import decode_hits, encode_hits
from stream_lsh.wire.layout import HEADER_BYTES

ROWS = st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.integers(0, 100), st.booleans()), max_size=20)


def found_of(rows: list[tuple[int, int, bool]], capped: bool) -> Found:
    old, bands, identical = zip(*rows, strict=True) if rows else ((), (), ())
    return Found(np.array(old, np.uint64), np.array(bands, np.uint32), np.array(identical, np.bool_), capped)


def rows_of(found: Found) -> list[tuple[int, int, bool]]:
    return [*zip(found.old.tolist(), found.bands.tolist(), found.identical.tolist(), strict=True)]


@given(ROWS, st.booleans())
def test_decoding_inverts_encoding(rows: list[tuple[int, int, bool]], capped: bool) -> None:
    found = decode_hits(encode_hits(found_of(rows, capped), 7), 7)
    assert (rows_of(found), found.capped) == (rows, capped)


def test_other_bytes_are_rejected() -> None:
    data = encode_hits(found_of([(5, 2, True), (6, 1, False)], True), 7)
    for end in range(len(data)):
        with pytest.raises(DamagedBytes):
            decode_hits(data[:end], 7)
    with pytest.raises(FingerprintMismatch):
        decode_hits(data, 8)
    with pytest.raises(DamagedBytes):
        decode_hits(None, 7)


def test_damage_inside_a_fitting_checksum_never_raises_anything_else() -> None:
    data = encode_hits(found_of([(5, 2, True), (6, 1, False)], True), 7)
    rejected = 0
    for place in range(HEADER_BYTES, len(data)):
        payload = bytearray(data[HEADER_BYTES:])
        payload[place - HEADER_BYTES] ^= 8
        try:
            decode_hits(data[:20] + crc32(payload).to_bytes(4, "little") + bytes(payload), 7)
        except StateError:
            rejected += 1
    assert rejected > 10
