"""Prepares a batch for the table: cuts it to size, removes repetitions, and sorts it in chain order."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.errors import InvariantError
from stream_lsh.index.documents import reach
from stream_lsh.model import ref_partition, ref_partitions

_POSITION_BITS = 20
PIECE = 1 << _POSITION_BITS
_POSITION_MASK = np.uint64(PIECE - 1)
_BUCKET_MASK = ~_POSITION_MASK
_LAST_MS = np.int64((1 << 63) - 2)
"""Every stretch of event time ends at 2^63 - 1 or before, and ends are exclusive."""
_POSITIONS = np.arange(1 << 12, dtype=np.uint64)
_POSITIONS.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Document versions and their postings.

    Attributes:
        refs: uint64[n].
        times: int64[n], event time in milliseconds.
        rows: int64[m] in [0, n), the document of a posting; ascending.
        buckets: uint64[m].
    """

    refs: U64
    times: I64
    rows: I64
    buckets: U64

    def pieces(self) -> Iterator["Batch"]:
        """The batch in pieces of fewer than 2^20 postings and documents, cut between documents.

        Raises:
            InvariantError: a single document has more postings than that.
        """
        if len(self.rows) < PIECE and len(self.refs) < PIECE:
            yield self
            return
        first = begin = 0
        while first < len(self.refs):
            last = min(first + PIECE - 1, len(self.refs))
            if begin + PIECE <= len(self.rows):
                last = min(last, int(self.rows[begin + PIECE - 1]))
            if last == first:
                raise InvariantError(f"ref {int(self.refs[first])} has {PIECE} postings or more in one batch")
            end = int(np.searchsorted(self.rows, last))
            yield Batch(
                self.refs[first:last], self.times[first:last], self.rows[begin:end] - first, self.buckets[begin:end]
            )
            first, begin = last, end


def checked(refs: U64, times: I64 | None, rows: I64, buckets: U64) -> Batch:
    """The batch of a caller, its postings ordered by document.

    Raises:
        InvariantError: columns of different lengths, or a row outside of the batch.
    """
    if len(rows) != len(buckets) or (times is not None and len(times) != len(refs)):
        raise InvariantError(f"columns differ in length: {len(refs)} refs, {len(rows)} rows, {len(buckets)} buckets")
    times = np.zeros(len(refs), dtype=np.int64) if times is None else np.minimum(times, _LAST_MS)
    if len(rows) > 1 and (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        rows, buckets = rows[order], buckets[order]
    if len(rows) and not 0 <= rows[0] <= rows[-1] < len(refs):
        raise InvariantError(f"rows from {rows[0]} to {rows[-1]} in a batch of {len(refs)} documents")
    return Batch(refs, times, rows, buckets)


def in_chain_order(rows: I64, buckets: U64) -> tuple[I64, U64]:
    """Postings sorted by the top 44 bits of the bucket, then by place in the batch; no (row, bucket) twice.

    The place replaces the low bits of the bucket, so that one sort of plain integers replaces an argsort, which would
    take four times as long.  The slots of a table are top bits of the bucket, at most 24 to 31 of them, hence postings
    of a slot are adjacent in the result; those of a bucket need not be.

    Args:
        rows: int64[m], ascending; m < 2^20.
        buckets: uint64[m].
    """
    m = len(rows)
    places = _POSITIONS[:m] if m <= len(_POSITIONS) else np.arange(m, dtype=np.uint64)
    keys = buckets & _BUCKET_MASK
    keys |= places
    keys.sort()
    order = (keys & _POSITION_MASK).astype(np.int64)
    rows, buckets = rows[order], buckets[order]
    if m > 1:
        close = (rows[1:] == rows[:-1]) & ((keys[1:] ^ keys[:-1]) <= _POSITION_MASK)
        if close.any():
            keep = _first_of_each(rows, buckets)
            rows, buckets = rows[keep], buckets[keep]
    return rows, buckets


def maybe_known(marks: U64, refs: U64) -> tuple[U64, Bools | None]:
    """Find refs that do not exceed all inserted refs of their partition.

    Args:
        marks: per source partition, 1 + the highest inserted ref; may be changed.
        refs: uint64[n], to be inserted.

    Returns:
        the marks with these refs, and bool[n]; None if every ref exceeds all earlier ones of its partition.
    """
    if len(refs) == 1:
        ref = int(refs[0])
        partition = ref_partition(ref)
        marks = reach(marks, partition + 1, np.uint64(0))
        is_known = ref < marks.item(partition)
        if not is_known:
            marks[partition] = ref + 1
        return marks, np.ones(1, dtype=np.bool_) if is_known else None
    partitions = ref_partitions(refs)
    marks = reach(marks, int(partitions.max()) + 1, np.uint64(0))
    order = np.argsort(partitions.astype(np.uint16), kind="stable")
    # The partition is the top of the ref, so one running maximum restarts at each partition.
    ordered, partitions = refs[order], partitions[order]
    reached = np.maximum.accumulate(ordered + np.uint64(1))
    before = marks[partitions]
    below = ordered < before
    below[1:] |= ordered[1:] < reached[:-1]
    np.maximum.at(marks, partitions, reached)
    if not below.any():
        return marks, None
    known_by_row = np.empty(len(refs), dtype=np.bool_)
    known_by_row[order] = below
    return marks, known_by_row


def _first_of_each(rows: I64, buckets: U64) -> I64:
    """The places of the distinct (row, bucket), ascending."""
    order = np.lexsort((buckets, rows))
    repeated = (rows[order][1:] == rows[order][:-1]) & (buckets[order][1:] == buckets[order][:-1])
    keep = np.ones(len(rows), dtype=np.bool_)
    keep[order[1:][repeated]] = False
    return keep.nonzero()[0]
