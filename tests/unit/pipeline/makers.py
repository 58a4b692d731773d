"""Batches for the tests of the steps, made from plain values."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.model import Document
from stream_lsh.pipeline.batches import CANDIDATE, Candidates, Verifications
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.pipeline.sign import Arrivals, Signed
from stream_lsh.retention import Horizon
from tests.unit.pipeline.signing import sign

WIDTH = 3
"""Buckets of a version in records that are made by hand."""

AWKWARD_IDS = ("", "\0", "\0\0", "\ud800", "a\udfffb", "😀", "İ", "a" * 1_000)


class Row(NamedTuple):
    """One version as a record has it; its signature is drawn from its ref and its text."""

    id: str
    ref: int
    time_ms: int
    keep_ms: int
    text: str | None
    retired: tuple[int, ...] = ()

    @property
    def digest(self) -> int:
        """Any number that is not 0 for a live version."""
        return 0 if self.text is None else self.ref ^ 0x9E37 | 1

    def signature(self, slots: int) -> list[int]:
        """Any numbers that depend on the version."""
        return [0xFFFFFFFF] * slots if self.text is None else [(self.ref * 31 + i) & 0xFFFFFFFF for i in range(slots)]


def record_of(
    rows: Sequence[Row], slots: int, horizon: Horizon | None = None, acknowledged: int = 0
) -> DocumentsRecord:
    """A changelog record."""
    retired = [(position, ref) for position, row in enumerate(rows) for ref in row.retired]
    return DocumentsRecord(
        ids=[row.id for row in rows],
        refs=np.array([row.ref for row in rows], np.uint64),
        times=np.array([row.time_ms for row in rows], np.int64),
        keep_until=np.array([row.keep_ms for row in rows], np.int64),
        digests=np.array([row.digest for row in rows], np.uint64),
        live=np.array([row.text is not None for row in rows], np.bool_),
        texts=[row.text or "" for row in rows],
        signatures=np.array([row.signature(slots) for row in rows], np.uint32).reshape(len(rows), slots),
        retired_rows=np.array([position for position, _ in retired], np.int64),
        retired_refs=np.array([ref for _, ref in retired], np.uint64),
        retired_buckets=np.array([[ref, ref + 2, 1] for _, ref in retired], np.uint64).reshape(-1, WIDTH),
        horizon=horizon or Horizon(),
        acknowledged=acknowledged,
    )


def plain(record: DocumentsRecord) -> dict[str, object]:
    """A record as values that can be compared."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, declared in record.__dataclass_fields__.items()
        for value in [getattr(record, name)]
        if declared.compare
    }


def signed(
    table: DocumentTable,
    scheme: Scheme,
    first: int,
    documents: Sequence[Document],
    *,
    partition: int = 0,
    horizon: Horizon | None = None,
    span_ms: int | None = None,
) -> Signed:
    """Sign documents that stand on successive offsets."""
    arrivals = Arrivals(partition, range(first, first + len(documents)), documents)
    return sign(arrivals, table, scheme, horizon or table.horizon, segment_span_ms=span_ms)


def candidates(pairs: Sequence[tuple[int, int]], kinds: Sequence[int] | None = None) -> Candidates:
    """Pairs (new, old), of the kind `CANDIDATE` by default."""
    both = np.array(pairs, np.uint64).reshape(len(pairs), 2)
    return Candidates(
        both[:, 0], both[:, 1], np.array([CANDIDATE] * len(pairs) if kinds is None else kinds, dtype=np.uint8)
    )


def asked(scheme: Scheme, new: Sequence[tuple[int, Document]], pairs: Sequence[tuple[int, int, int]]) -> Verifications:
    """New documents under their refs, and pairs (row of the new one, old ref, kind)."""
    documents = [document for _, document in new]
    signatures = scheme.sign([document.text or "" for document in documents])
    return Verifications(
        refs=np.array([ref for ref, _ in new], np.uint64),
        times=np.array([document.time_ms for document in documents], np.int64),
        digests=signatures.digests,
        ids=[document.id for document in documents],
        texts=[document.text or "" for document in documents],
        signatures=signatures.values,
        rows=np.array([row for row, _, _ in pairs], np.int64),
        old=np.array([old for _, old, _ in pairs], np.uint64),
        kinds=np.array([kind for _, _, kind in pairs], np.uint8),
    )
