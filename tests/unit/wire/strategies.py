"""Helpers of the tests of `wire`: batches of every kind for hypothesis, and equality of batches."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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
from stream_lsh.ledger.edges import Edges, Ends, written
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import NO_ABOUT, About, Abouts, Retirement, or_empty
from stream_lsh.pipeline.batches import Candidates, Mark, Postings, Verifications, Watermarks
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord
from stream_lsh.retention import Horizon

FINGERPRINT = 0xFEDCBA9876543210
U64S = st.integers(0, 2**64 - 1)
I64S = st.integers(-(2**63), 2**63 - 1)
U32S = st.integers(0, 2**32 - 1)
# Everything that a str can hold; the hardest characters are drawn often enough to occur.
_HURTFUL = st.sampled_from(["\ud800", "\udbff", "\udc00", "\udfff", "\0", "\U0010ffff", '"', "\\"])
# Not `st.text`: that merges its alphabets into one, and draws a surrogate once in a thousand strings.
STRINGS = st.lists(_HURTFUL | st.characters(exclude_categories=()), max_size=12).map("".join)
COUNTS = st.integers(0, 6)


def column(dtype: str, shape: int | tuple[int, ...]) -> st.SearchStrategy[Any]:
    return hnp.arrays(dtype, shape, elements=hnp.from_dtype(np.dtype(dtype), allow_nan=False))


def strings(n: int, longest: int = 1) -> st.SearchStrategy[list[str]]:
    return st.lists(STRINGS.map(lambda text: text * longest), min_size=n, max_size=n)


ABOUTS = st.just(NO_ABOUT) | st.builds(About, STRINGS, STRINGS, st.integers(0, 2**32 - 1))


def abouts(n: int) -> st.SearchStrategy[Abouts]:
    return st.just(()) | st.lists(ABOUTS, min_size=n, max_size=n).map(or_empty)


def row_numbers(draw: st.DrawFn, n: int, ascending: bool) -> Any:
    rows = draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    return np.array(sorted(rows) if ascending else rows, np.int64)


@st.composite
def postings(draw: st.DrawFn, ascending: bool = False) -> Postings:
    n = draw(COUNTS)
    rows = row_numbers(draw, n, ascending)
    return Postings(
        draw(column("u8", n)),
        draw(column("i8", n)),
        draw(column("?", n)),
        rows,
        draw(column("u8", rows.size)),
    )


@st.composite
def candidates(draw: st.DrawFn, partitions: int = 1 << 16) -> Candidates:
    n = draw(COUNTS)
    new = draw(column("u8", n)) % np.uint64(min(partitions << 48, 2**64 - 1))
    return Candidates(new, draw(column("u8", n)), draw(column("u1", n)))


@st.composite
def verifications(draw: st.DrawFn, ascending: bool = False, partitions: int = 1 << 16) -> Verifications:
    n, slots = draw(COUNTS), draw(st.integers(0, 3))
    rows = row_numbers(draw, n, ascending)
    return Verifications(
        draw(column("u8", n)),
        draw(column("i8", n)),
        draw(column("u8", n)),
        draw(strings(n)),
        draw(strings(n, draw(st.sampled_from([1, 30])))),
        draw(column("u4", (n, slots))),
        rows,
        draw(column("u8", rows.size)) % np.uint64(min(partitions << 48, 2**64 - 1)),
        draw(column("u1", rows.size)),
        draw(abouts(n)),
    )


def ends(n: int) -> st.SearchStrategy[Ends]:
    return st.builds(Ends, strings(n), column("u8", n), column("i8", n), column("u8", n), abouts(n))


@st.composite
def edges(draw: st.DrawFn) -> Edges:
    n = draw(COUNTS)
    counts = draw(column("f8", n)), draw(column("u4", n)), draw(column("u4", n))
    evidence = st.just(()) | strings(n, draw(st.sampled_from([1, 30]))).map(written)
    return Edges(draw(ends(n)), draw(ends(n)), *counts, draw(st.none() | column("u4", n)), draw(evidence))


retirements = st.lists(st.builds(Retirement, STRINGS, U64S, I64S, U64S, st.booleans(), I64S, ABOUTS), max_size=5).map(
    tuple
)
PARTITIONS = st.integers(0, 2**31 - 1)


@st.composite
def page_counts(draw: st.DrawFn) -> PageCounts:
    n = draw(COUNTS)
    as_of = draw(st.builds(AsOf, st.integers(-1, 2**48), st.integers(0, 2**31 - 1)))
    flags = draw(st.booleans()), draw(st.booleans())
    return PageCounts(draw(PARTITIONS), as_of, draw(strings(n)), draw(column("u4", n)), *flags)


_NUMBERS = st.just((-1, 0)) | st.tuples(I64S, I64S)
marks = st.builds(
    lambda numbers, *mark: Mark(*mark, *numbers),
    _NUMBERS,
    st.integers(0, 2**31 - 1),
    I64S,
    st.booleans(),
    st.integers(0, 2**48),
)
watermarks = st.builds(Watermarks, st.integers(-1, 2**31 - 1), st.lists(marks, max_size=4).map(tuple))
horizons = st.builds(Horizon, I64S, st.lists(st.integers(0, 2**48), max_size=4).map(tuple))


@st.composite
def documents(draw: st.DrawFn) -> DocumentsRecord:
    n, slots, width = draw(COUNTS), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    rows = row_numbers(draw, n, ascending=True)
    return DocumentsRecord(
        ids=draw(strings(n)),
        refs=draw(column("u8", n)),
        times=draw(column("i8", n)),
        keep_until=draw(column("i8", n)),
        digests=draw(column("u8", n)),
        live=draw(column("?", n)),
        texts=draw(strings(n, draw(st.sampled_from([1, 30])))),
        signatures=draw(column("u4", (n, slots))),
        retired_rows=rows,
        retired_refs=draw(column("u8", rows.size)),
        retired_buckets=draw(column("u8", (rows.size, width))),
        horizon=draw(horizons),
        abouts=draw(abouts(n)),
        acknowledged=draw(st.integers(0, 2**48)),
    )


decisions = st.builds(Decision, STRINGS, STRINGS, st.sampled_from((None, "same", "different")), U64S)
_similarities = st.floats(0, 1)
_pairs = st.builds(
    PairState, STRINGS, STRINGS, U64S, U64S, I64S, I64S, _similarities, U32S, U32S, st.just(0) | U32S, STRINGS
)
_nodes = st.builds(NodeState, STRINGS, U64S, I64S, U64S, STRINGS, st.lists(I64S, max_size=3).map(tuple), ABOUTS)
_changes = st.builds(
    LedgerChanges,
    complete=st.booleans(),
    nodes=st.lists(_nodes, max_size=4),
    nodes_gone=st.lists(STRINGS, max_size=3),
    pairs=st.lists(_pairs, max_size=4),
    pairs_gone=st.lists(st.tuples(STRINGS, STRINGS), max_size=3),
    clusters=st.lists(st.builds(ClusterState, STRINGS, I64S), max_size=3),
    clusters_gone=st.lists(STRINGS, max_size=3),
    newest=st.lists(st.builds(NewestState, STRINGS, U64S, I64S), max_size=3),
    closed=st.lists(st.builds(ClosedState, STRINGS, I64S, U64S), max_size=3),
    site_counts=st.lists(st.builds(SiteCountState, PARTITIONS, STRINGS, U32S, I64S), max_size=3),
    site_origins=st.lists(st.builds(SiteOriginState, PARTITIONS, I64S, I64S, I64S, I64S), max_size=2),
    site_firsts=st.lists(st.builds(SiteFirstState, STRINGS, STRINGS, I64S), max_size=3),
    site_firsts_gone=st.lists(st.tuples(STRINGS, STRINGS), max_size=2),
    decisions=st.lists(decisions, max_size=3),
    next_past=st.integers(0, 2**62),
    horizon=horizons,
)
ledger_records = st.builds(LedgerRecord, st.integers(0, 2**48), _changes, st.lists(watermarks, max_size=3).map(tuple))


def same(left: Any, right: Any) -> bool:
    """Equality of batches: of type, of every column in shape, kind and content, of everything else."""
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray)
            and left.shape == right.shape
            and left.dtype == right.dtype
            and left.tobytes() == right.tobytes()
        )
    if type(left) is not type(right):
        return False
    if isinstance(left, LedgerChanges):
        return bool(left == right)  # rows, in whatever they are kept
    if dataclasses.is_dataclass(left):
        compared = (f.name for f in dataclasses.fields(left) if f.compare)
        return all(same(getattr(left, name), getattr(right, name)) for name in compared)
    return bool(left == right)


def arrays_of(value: Any) -> list[Any]:
    """All the arrays in a batch."""
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        return [array for f in dataclasses.fields(value) for array in arrays_of(getattr(value, f.name))]
    return []
