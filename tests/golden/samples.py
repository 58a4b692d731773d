"""One small value of every message kind, whose bytes are committed beside this file.

Values are chosen so that every column is there and no number is a default.  Texts stay plain (below 256 bytes), because
what zstd makes of longer ones depends on its version; `COMPRESSED` is therefore only ever decoded.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stream_lsh.ledger.changes import (
    ClosedState,
    ClusterState,
    LedgerChanges,
    NewestState,
    NodeState,
    PairState,
    SiteCountState,
    SiteFirstState,
    SiteOriginState,
)
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import NO_ABOUT, About, Retirement
from stream_lsh.pipeline.batches import (
    BEGINS,
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Mark,
    Pass,
    Postings,
    Verifications,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord, LedgerSlice
from stream_lsh.retention import Horizon
from stream_lsh.wire.frames import (
    decode_bands,
    decode_buckets,
    decode_candidates,
    decode_documents,
    decode_edges,
    decode_verifications,
    encode,
    encode_buckets,
)
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger

FINGERPRINT = 0x0123456789ABCDEF
REF = 3 << 48


def u64(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, np.uint64)


def i64(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


WATERMARKS = Watermarks(2, (Mark(0, 1_700_000_000_000, False, 7), Mark(5, -1, True, 0)))
HORIZON = Horizon(1_600_000_000_000, (0, 12))
POSTINGS = Postings(
    refs=u64(REF | 1, REF | 2),
    times=i64(1_700_000_000_001, -5),
    retired=np.array([False, True]),
    rows=i64(0, 0, 1),
    buckets=u64(0xFFFFFFFFFFFFFFFF, 2, 5),
)
VERIFICATIONS = Verifications(
    refs=u64(REF | 1),
    times=i64(11),
    digests=u64(0x8000000000000001),
    ids=["größe"],
    texts=["a text \x00 with a null and a lone \ud800"],
    signatures=np.array([[1, 2, 0xFFFFFFFF]], np.uint32),
    rows=i64(0, 0),
    old=u64(4, 5),
    kinds=np.array([0, 1], np.uint8),
)
EDGES = Edges(
    left=Ends(["a", ""], u64(1, 2), i64(3, 4), u64(5, 6)),
    right=Ends(["b", "日本"], u64(7, 8), i64(9, 10), u64(11, 12)),
    similarity=np.array([0.875, 1.0]),
    shared=np.array([7, 13], np.uint32),
    union=np.array([8, 13], np.uint32),
)
DOCUMENTS = DocumentsRecord(
    ids=["a", "b"],
    refs=u64(REF | 1, REF | 2),
    times=i64(1, 2),
    keep_until=i64(3, 4),
    digests=u64(5, 0),
    live=np.array([True, False]),
    texts=["one text", ""],
    signatures=np.array([[1, 2], [0xFFFFFFFF, 0xFFFFFFFF]], np.uint32),
    retired_rows=i64(1),
    retired_refs=u64(REF),
    retired_buckets=np.array([[10, 20, 31]], np.uint64),
    horizon=HORIZON,
)
LEDGER = LedgerRecord(
    77,
    LedgerChanges(
        complete=True,
        nodes=[NodeState("a", REF | 1, 2, 3, "c", (4, 5)), NodeState("b", 6, -7, 8, "c", ())],
        nodes_gone=["d"],
        pairs=[PairState("a", "b", REF | 1, 6, 2, -7, 0.9, 9, 10)],
        pairs_gone=[("a", "d")],
        clusters=[ClusterState("c", 70)],
        clusters_gone=["e"],
        newest=[NewestState("a", REF | 1, 12)],
        closed=[ClosedState("e", 13, 14)],
        next_past=6,
        horizon=HORIZON,
    ),
    (WATERMARKS, Watermarks(0, ())),
)

COMPRESSED_TEXT = "The quick brown fox jumps over the lazy dog. " * 20


def decode_ledger(data: bytes, fingerprint: int) -> LedgerRecord | None:
    """The record of a single part."""
    return LedgerAssembler(fingerprint).add(data)


_SLICE = LedgerSlice(Pass(1 << 33, True), 5, LEDGER)


def decode_slice(data: bytes, fingerprint: int) -> LedgerRecord | LedgerSlice | None:
    """The slice of a single part, in a log that begins with its pass."""
    assembler = LedgerAssembler(fingerprint)
    (begins,) = encode_ledger(LedgerSlice(BEGINS, 0, LEDGER), fingerprint)
    assembler.take(begins, 1 << 33)
    return assembler.take(data, 0)


Decode = Callable[[bytes, int], object]
RETIREMENTS = (Retirement("a", 9, 8, 7, True, 6), Retirement("é", 5, -4, 3, False, 2))
ABOUT, OTHER = About("Größe \ud800", "example.org", 1 << 20), About("", "日本", 7)
_ABOUT_VERIFICATIONS = VerificationsFrame(replace(VERIFICATIONS, abouts=[ABOUT]))
_ABOUT_EDGES = EdgesFrame(
    (replace(RETIREMENTS[0], about=OTHER), RETIREMENTS[1]),
    replace(EDGES, left=replace(EDGES.left, abouts=[ABOUT, OTHER]), right=replace(EDGES.right, abouts=[OTHER, ABOUT])),
)
_ABOUT_DOCUMENTS = replace(DOCUMENTS, abouts=[ABOUT, NO_ABOUT])
_ABOUT_LEDGER = replace(
    LEDGER, changes=replace(LEDGER.changes, nodes=[node._replace(about=OTHER) for node in LEDGER.changes.nodes])
)
_BANDS = BandsFrame(POSTINGS, WATERMARKS, HORIZON)
_COPIED = BandsFrame(postings=POSTINGS, copied=Pass(1 << 33, True))
_CANDIDATES = CandidatesFrame(Candidates(u64(1, 2), u64(3, 4), np.array([0, 1], np.uint8)), WATERMARKS, HORIZON)
_VERIFICATIONS = VerificationsFrame(VERIFICATIONS, WATERMARKS)
_EDGES = EdgesFrame(RETIREMENTS, EDGES, WATERMARKS)
_SIZED = EdgesFrame(edges=replace(EDGES, shingles=np.array([8, 13], np.uint32)))
_SIZED_PAIRS = LedgerRecord(
    78, LedgerChanges(pairs=[PairState("a", "b", REF | 1, 6, 2, -7, 0.9, 9, 10, 9)], horizon=HORIZON), ()
)

_PROVED = EdgesFrame(edges=replace(EDGES, evidence=['{"name":"gleich"}', ""]))
_PROVED_PAIRS = LedgerRecord(
    80,
    LedgerChanges(
        pairs=[
            PairState("a", "b", REF | 1, 6, 2, -7, 0.9, 9, 10, 0, '{"name":"日本"}'),
            PairState("a", "c", REF | 1, 7, 2, -8, 0.8, 8, 10),
        ],
        horizon=HORIZON,
    ),
    (),
)
_DECISIONS = (
    Decision("a", "b", "same", REF | 3),
    Decision("a", "größe", "different", REF | 4),
    Decision("b", "日本", None, 5),
)
_DECIDED = EdgesFrame(decisions=_DECISIONS)
_DECIDED_PAIRS = LedgerRecord(81, LedgerChanges(decisions=_DECISIONS, horizon=HORIZON), ())
_NUMBERED = BandsFrame(
    POSTINGS,
    Watermarks(2, (Mark(0, 1_700_000_000_000, False, 7, 12, 1 << 33), Mark(5, -1, True, 0, 11, 3))),
    HORIZON,
)
_LAG = replace(_BANDS, lag=1 << 33)
_PAGES = EdgesFrame(
    pages=PageCounts(
        3, AsOf(1 << 33, 12), ["a.org", "größe.example", "日本.example"], np.array([7, 1, 0], np.uint32), begins=True
    )
)
_SITES = LedgerRecord(
    79,
    LedgerChanges(
        site_counts=[SiteCountState(3, "a.org", 7, 78), SiteCountState(3, "日本", 0, 79)],
        site_origins=[SiteOriginState(3, 1 << 33, 12, 78, 77)],
        site_firsts=[SiteFirstState("a.org", "b.org", -5)],
        site_firsts_gone=[("a.org", "日本")],
        horizon=HORIZON,
    ),
    (),
)

SAMPLES: dict[str, tuple[object, bytes, Decode]] = {
    "bands": (_BANDS, encode(_BANDS, FINGERPRINT), decode_bands),
    "buckets": (_BANDS, encode_buckets(_BANDS, FINGERPRINT), decode_buckets),
    "bands_numbered": (_NUMBERED, encode(_NUMBERED, FINGERPRINT), decode_bands),
    "bands_lag": (_LAG, encode(_LAG, FINGERPRINT), decode_bands),
    "copied": (_COPIED, encode_buckets(_COPIED, FINGERPRINT), decode_buckets),
    "candidates": (_CANDIDATES, encode(_CANDIDATES, FINGERPRINT), decode_candidates),
    "verifications": (_VERIFICATIONS, encode(_VERIFICATIONS, FINGERPRINT), decode_verifications),
    "edges": (_EDGES, encode(_EDGES, FINGERPRINT), decode_edges),
    "edges_sized": (_SIZED, encode(_SIZED, FINGERPRINT), decode_edges),
    "edges_proved": (_PROVED, encode(_PROVED, FINGERPRINT), decode_edges),
    "edges_decided": (_DECIDED, encode(_DECIDED, FINGERPRINT), decode_edges),
    "ledger_decided": (_DECIDED_PAIRS, encode_ledger(_DECIDED_PAIRS, FINGERPRINT)[0], decode_ledger),
    "edges_pages": (_PAGES, encode(_PAGES, FINGERPRINT), decode_edges),
    "told_verifications": (_ABOUT_VERIFICATIONS, encode(_ABOUT_VERIFICATIONS, FINGERPRINT), decode_verifications),
    "told_edges": (_ABOUT_EDGES, encode(_ABOUT_EDGES, FINGERPRINT), decode_edges),
    "told_documents": (_ABOUT_DOCUMENTS, encode(_ABOUT_DOCUMENTS, FINGERPRINT), decode_documents),
    "told_ledger": (_ABOUT_LEDGER, encode_ledger(_ABOUT_LEDGER, FINGERPRINT)[0], decode_ledger),
    "documents": (DOCUMENTS, encode(DOCUMENTS, FINGERPRINT), decode_documents),
    "ledger": (LEDGER, encode_ledger(LEDGER, FINGERPRINT)[0], decode_ledger),
    "ledger_slice": (_SLICE, encode_ledger(_SLICE, FINGERPRINT)[0], decode_slice),
    "ledger_sized": (_SIZED_PAIRS, encode_ledger(_SIZED_PAIRS, FINGERPRINT)[0], decode_ledger),
    "ledger_proved": (_PROVED_PAIRS, encode_ledger(_PROVED_PAIRS, FINGERPRINT)[0], decode_ledger),
    "ledger_sites": (_SITES, encode_ledger(_SITES, FINGERPRINT)[0], decode_ledger),
}
"""Value, its bytes as this version writes them, and how they are read; by the name of the file."""
