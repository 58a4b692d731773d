"""Copies the live postings of a table in their order, slice by slice, in whole documents.

Inserting the slices into an empty table yields the same postings in the same order along every bucket, in segments of
the same stretches of event time.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.index.batch import Batch
from stream_lsh.index.links import ORDINAL, RETIRED
from stream_lsh.index.sealed import Sealed
from stream_lsh.index.segment import Segment

_MOST_SLICES = 256
_LEAST_DOCUMENTS = 512


class TableCopy:
    """One pass over a table.

    Args:
        segments: of the table, oldest first; postings appended later are not copied.

    Until the end of the pass, no segment may change its form.  Postings that are retired or expire before their slice
    are not copied.
    """

    __slots__ = ("_slices",)

    def __init__(self, segments: Sequence[Segment | Sealed]) -> None:
        self._slices = [(segment, *span) for segment in segments for span in _spans(segment)][::-1]

    def step(self, segments: Sequence[Segment | Sealed]) -> Batch | None:
        """The next slice with live postings; None at the end.

        Args:
            segments: the current ones of the table.
        """
        while self._slices:
            segment, first, last = self._slices.pop()
            if segment in segments:
                of = _of_log(segment, first, last) if isinstance(segment, Segment) else _of_runs(segment, first, last)
                if len(of[0]):
                    return _batch(segment, *of)
        return None


def _spans(segment: Segment | Sealed) -> list[tuple[int, int]]:
    """Rows of an open segment, from call to call; ordinals of a sealed one."""
    if isinstance(segment, Segment):
        return [(first, last) for first, last in pairwise((*segment.borders, segment.count)) if first < last]
    step = max(_LEAST_DOCUMENTS, segment.documents // _MOST_SLICES)
    return [(first, first + step) for first in range(0, segment.documents, step)]


def _of_log(segment: Segment, first: int, last: int) -> tuple[U64, I64]:
    """The buckets and the ordinals of the live postings in the rows after `first`, up to `last`."""
    log = segment.log[first + 1 : last + 1]
    log = log[(log[:, 1] & RETIRED) == 0]
    return log[:, 0], (log[:, 1] & ORDINAL).astype(np.int64)


def _of_runs(segment: Sealed, first: int, last: int) -> tuple[U64, I64]:
    """The buckets and the ordinals of the live postings of the documents from `first` to before `last`."""
    # One comparison of 32-bit numbers suffices, because those below `first` wrap around.
    at = (segment.docs - np.uint32(first) < np.uint32(last - first)).nonzero()[0]
    return segment.keys[at], segment.docs[at].astype(np.int64)


def _batch(segment: Segment | Sealed, buckets: U64, ordinals: I64) -> Batch:
    """Documents in their order; the time of each is the last one of its stretch, because a table stores no other."""
    order = np.argsort(ordinals, kind="stable")
    documents, rows = np.unique(ordinals[order], return_inverse=True)
    times = np.full(len(documents), segment.until_ms - 1, np.int64)
    return Batch(segment.refs[documents], times, rows.astype(np.int64), buckets[order])
