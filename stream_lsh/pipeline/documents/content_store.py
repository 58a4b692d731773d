"""The contents of a table of documents: the texts, signatures and metadata of versions.

A table identifies every version by its row, which is reused, and by its ref, which is not.  `MemoryContents` uses the
row; a store on disk uses the ref.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.model import NO_ABOUT, About, Abouts, at_rows, in_full
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.retention import Horizon

CHUNK_BITS = 14
CHUNK = 1 << CHUNK_BITS


class Contents(Protocol):
    """Texts, signatures and metadata of live versions."""

    def put(self, rows: I64, record: DocumentsRecord, replaced: Mapping[int, int]) -> None:
        """Store the contents of a record; for a version that is not live, clear the contents of its row.

        Args:
            rows: int64[n], the row of each version of the record; -1 for one that is not kept.
            record: to store.
            replaced: the ref of each live version that is replaced, by the ref of the new one; a marker may have the
                same ref.
        """

    def texts(self, rows: I64, refs: U64) -> list[str]:
        """The text of each live version."""

    def abouts(self, rows: I64, refs: U64) -> Abouts:
        """The metadata of each live version, for stories."""

    def signatures(self, rows: I64, refs: U64) -> U32:
        """uint32[n, slots]: the signature of each live version."""

    def expire(self, rows: I64, refs: U64, ids: Sequence[str], horizon: Horizon) -> None:
        """Drop expired versions.

        Args:
            rows: int64[n], of the versions that are no longer live.
            refs: uint64[n], theirs.
            ids: those that have left the table.
            horizon: of the table, which has passed them.
        """

    def acknowledge(self, offset: int, ids: Sequence[str]) -> None:
        """The table drops the markers of these ids: no message of the source below this offset is read again."""


class MemoryContents:
    """Contents in memory.

    Args:
        slots: the length of a signature.

    Cost: 4 bytes a slot and the text.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._signatures: list[U32] = []
        self._texts: list[str] = []
        self._abouts: list[About] = []  # only where there are stories

    def put(self, rows: I64, record: DocumentsRecord, replaced: Mapping[int, int]) -> None:
        """Store the contents of a record; a version that is replaced had the same row."""
        kept = np.flatnonzero(rows >= 0)
        if not kept.size:
            return
        highest = int(rows.max())
        self._texts += [""] * (highest + 1 - len(self._texts))
        while highest >> CHUNK_BITS >= len(self._signatures):
            self._signatures.append(np.empty((CHUNK, self._slots), np.uint32))
        for row, position in zip(rows[kept].tolist(), kept.tolist(), strict=True):
            self._texts[row] = record.texts[position]
        if record.abouts or self._abouts:
            self._abouts += [NO_ABOUT] * (len(self._texts) - len(self._abouts))
            abouts = in_full(record.abouts, len(record))
            for row, position in zip(rows[kept].tolist(), kept.tolist(), strict=True):
                self._abouts[row] = abouts[position]
        chunk_of = rows >> CHUNK_BITS
        for chunk in sorted(set(chunk_of[kept].tolist())):  # np.unique takes several times as long
            at = np.flatnonzero(chunk_of == chunk)
            self._signatures[chunk][rows[at] & (CHUNK - 1)] = record.signatures[at]

    def texts(self, rows: I64, refs: U64) -> list[str]:
        """The text of each row."""
        return [self._texts[row] for row in rows.tolist()]

    def abouts(self, rows: I64, refs: U64) -> Abouts:
        """The metadata of each row, for stories."""
        return at_rows(self._abouts, rows.tolist())

    def signatures(self, rows: I64, refs: U64) -> U32:
        """The signature of each row, copied."""
        return gather(self._signatures, np.empty((rows.size, self._slots), np.uint32), rows)

    def expire(self, rows: I64, refs: U64, ids: Sequence[str], horizon: Horizon) -> None:
        """Drop the texts; signatures stay until their rows are reused."""
        for row in rows.tolist():
            self._texts[row] = ""
        for row in rows.tolist() if self._abouts else ():
            self._abouts[row] = NO_ABOUT

    def acknowledge(self, offset: int, ids: Sequence[str]) -> None:
        """Markers have no contents."""


def gather(chunks: Sequence[np.ndarray], out: np.ndarray, rows: I64) -> np.ndarray:
    """The rows of a chunked column, written to `out` or copied."""
    if len(chunks) == 1:
        return chunks[0][rows]
    chunk_of = rows >> CHUNK_BITS
    for chunk in sorted(set(chunk_of.tolist())):
        at = np.flatnonzero(chunk_of == chunk)
        out[at] = chunks[chunk][rows[at] & (CHUNK - 1)]
    return out
