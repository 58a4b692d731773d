"""The part of a table of documents that is needed only while a message of the source may be read again."""

import heapq
from collections.abc import Iterable, Iterator

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.model import ref_offset
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.versions import Retired


class Replayable:
    """Rows of markers, and of versions that retired others, until their messages are acknowledged.

    Args:
        retired: the versions that the version of a row retired.
        rows: the ref and the row of each of them, and of each marker.

    Attributes:
        retired: as above.
    """

    def __init__(self, retired: dict[int, Retired] | None = None, rows: Iterable[tuple[int, int]] = ()) -> None:
        self.retired = {} if retired is None else retired
        self._heap = sorted(rows)

    def add(self, ref: int, row: int) -> None:
        """Add a row whose version is a marker."""
        heapq.heappush(self._heap, (ref, row))

    def add_retired(self, record: DocumentsRecord, rows: I64) -> None:
        """Add the versions retired by those of a record, for the given rows: -1 for none, int64[n]."""
        of = record.retired_rows
        for position in sorted(set(of.tolist())):
            row = int(rows[position])
            if row >= 0:
                at = slice(*np.searchsorted(of, (position, position + 1)).tolist())
                self.retired[row] = Retired(record.retired_refs[at].copy(), record.retired_buckets[at].copy())
                self.add(int(record.refs[position]), row)

    def take_below(self, offset: int) -> Iterator[tuple[int, int]]:
        """Remove the refs and rows below an offset of the source; a row may have another version by now.

        Cost: O(log n) each.
        """
        while self._heap and ref_offset(self._heap[0][0]) < offset:
            yield heapq.heappop(self._heap)
