"""Converts segments to the sealed form: a full segment, a mostly dead one, or several small neighbours.

It runs in slices, so no batch pauses.  The live postings are read once, slice by slice, and each slice is sorted; then
the slices are merged one range of buckets at a time.  The segments stay in use meanwhile, and retirements from them are
applied at the end.  During the conversion a posting takes some 24 bytes more.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.index.documents import Documents, reach
from stream_lsh.index.links import ORDINAL, RETIRED
from stream_lsh.index.sealed import DEAD, LAST, SLICE, Sealed, range_bits
from stream_lsh.index.segment import Segment

MOST_SEALED = 4
"""The most sealed segments of a stretch; beyond, the smallest neighbours are merged."""
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


class Sealing:
    """The conversion of neighbouring segments to a sealed one, in steps of at most some `SLICE` postings.

    A larger bucket is read and placed in one step, at some 20 ns a posting.

    Args:
        segments: oldest first, of one stretch of event time; they get no more postings.

    Attributes:
        gone: the buckets and the refs of postings retired meanwhile, one pair of arrays per call.
    """

    __slots__ = ("_bounds", "_edges", "_end", "_next", "_ordinals", "_reading", "_row", "_runs", "_sealed", "gone",
                 "segments")  # fmt: skip

    def __init__(self, segments: Sequence[Segment | Sealed]) -> None:
        self.segments = tuple(segments)
        self.gone: list[tuple[U64, U64]] = []
        self._runs: list[tuple[int, U64, U32]] = []
        self._bounds: list[list[int]] = []
        self._ordinals = _new_ordinals(self.segments)
        self._reading, self._row, self._next, self._end = 0, -1, 0, 1
        live = sum(segment.live for segment in segments)
        bits = range_bits(live)
        self._edges: U64 = np.arange(1, 1 << bits, dtype=np.uint64) << np.uint64(64 - bits) if bits else _no_edges()
        keys: U64 = np.empty(live + 2, dtype=np.uint64)
        docs: U32 = np.empty(live + 2, dtype=np.uint32)
        keys[0], docs[0] = 0, DEAD
        first = segments[0]
        whole = Documents(sum(segment.capacity for segment in segments), first.until_ms, first.base)
        self._sealed = Sealed(whole, keys, docs)

    def step(self) -> Sealed | None:
        """Process the next slice; returns the sealed form when it is complete."""
        if self._reading < len(self.segments):
            self._read_slice()
            return None
        self._place_range()
        return self._complete() if self._next > len(self._edges) else None

    def _read_slice(self) -> None:
        """Read the next live rows, sorted by bucket and newest first."""
        segment = self.segments[self._reading]
        keys, ordinals = self._of_log(segment) if isinstance(segment, Segment) else self._of_runs(segment)
        self._runs.append((self._reading, keys, ordinals))
        self._bounds.append([0, *np.searchsorted(keys, self._edges).tolist(), len(keys)])
        if self._row == 0:
            self._reading, self._row = self._reading + 1, -1

    def _of_log(self, segment: Segment) -> tuple[U64, U32]:
        """Read rows of a log from its beginning; `_row` is the last row read, 0 at the end."""
        first = max(self._row, 0) + 1
        last = min(first + SLICE, segment.count + 1)
        log = segment.log[first:last]
        at = ((log[:, 1] & RETIRED) == 0).nonzero()[0][::-1]
        keys = log[at, 0]
        order = _by_bucket(keys)
        self._row = last - 1 if last <= segment.count else 0
        return keys[order], (log[at[order], 1] & ORDINAL).astype(np.uint32)

    def _of_runs(self, segment: Sealed) -> tuple[U64, U32]:
        """Read rows of a sealed segment from its end in whole runs; `_row` is the first row read, 0 at the beginning.

        A retirement moves postings within their run only, so none is read twice or skipped.
        """
        last = self._row if self._row > 0 else segment.rows + 1
        first = max(1, last - SLICE)
        first = max(1, int(np.searchsorted(segment.keys[:last], segment.keys[first])))
        docs = segment.docs[first:last]
        at = (docs != DEAD).nonzero()[0]
        self._row = first if first > 1 else 0
        return segment.keys[first:last][at], docs[at]

    def _place_range(self) -> None:
        """Place the next range of buckets from all slices, the newest slice first, because the sort is stable."""
        number, sealed = self._next, self._sealed
        keys, docs = [], []
        for (segment, of_run, ordinals), bounds in zip(reversed(self._runs), reversed(self._bounds), strict=True):
            at = slice(bounds[number], bounds[number + 1])
            live = self.segments[segment].alive[ordinals[at]] != 0
            keys.append(of_run[at][live])
            docs.append(self._ordinals[segment][ordinals[at][live]])
        first = last = self._end
        if keys:
            placed = np.concatenate(keys)
            order = _by_bucket(placed)
            last = first + len(placed)
            sealed.keys[first:last] = placed[order]
            sealed.docs[first:last] = np.concatenate(docs)[order]
        words = len(sealed.words) // (len(self._edges) + 1)
        sealed.describe(first, last, number * words, (number + 1) * words)
        self._end, self._next = last, number + 1

    def _complete(self) -> Sealed:
        """The sealed form, without postings retired after their placement."""
        sealed = self._sealed
        sealed.keys[self._end :] = LAST
        sealed.docs[self._end :] = DEAD
        sealed.take_documents(_documents_of(self.segments, self._ordinals, sealed))
        if self.gone:
            buckets = np.concatenate([gone[0] for gone in self.gone])
            refs = np.concatenate([gone[1] for gone in self.gone])
            sealed.drop(np.unique(sealed.find(refs, buckets).rows))
        return sealed


def to_seal(older: Sequence[Segment | Sealed], every: bool, most_documents: int) -> Sequence[Segment | Sealed]:
    """The neighbours to seal together next; empty if there is nothing to seal.

    Args:
        older: the segments that get no more postings, oldest first.
        every: seal all open segments, not only mostly dead ones.
        most_documents: the most documents of a merged segment; 0 = any.
    """
    for at, segment in enumerate(older):
        if 2 * segment.live < segment.rows or (every and isinstance(segment, Segment)):
            return older[at : at + 1]
    pairs: dict[int, list[tuple[int, int]]] = {}
    for at, (left, right) in enumerate(pairwise(older)):
        if isinstance(left, Sealed) and isinstance(right, Sealed) and left.until_ms == right.until_ms:
            pairs.setdefault(left.until_ms, []).append((left.live_documents + right.live_documents, at))
    for of_stretch in pairs.values():
        documents, at = min(of_stretch)
        if len(of_stretch) >= MOST_SEALED and (documents <= most_documents or not most_documents):
            return older[at : at + 2]
    return ()


def _new_ordinals(segments: Sequence[Segment | Sealed]) -> list[U32]:
    """For each segment the new ordinals of its documents, DEAD for those without a live posting."""
    numbers, start = [], 0
    for segment in segments:
        kept = segment.alive[: segment.documents] != 0
        numbers.append(np.where(kept, np.cumsum(kept) + (start - 1), DEAD).astype(np.uint32))
        start += int(np.count_nonzero(kept))
    return numbers


def _documents_of(segments: Sequence[Segment | Sealed], ordinals: Sequence[U32], into: Documents) -> Documents:
    """The documents of all segments that have new ordinals."""
    whole = Documents(into.capacity, into.until_ms, into.base)
    for name in ("count", "live", "live_documents"):
        setattr(whole, name, sum(getattr(segment, name) for segment in segments))
    kept = [numbers != DEAD for numbers in ordinals]
    refs = [segment.refs[: segment.documents][at] for segment, at in zip(segments, kept, strict=True)]
    alive = [segment.alive[: segment.documents][at] for segment, at in zip(segments, kept, strict=True)]
    whole.refs, whole.alive = np.concatenate(refs), np.concatenate(alive)
    whole.documents = len(whole.refs)
    partitions = max(len(segment.lowest) for segment in segments)
    whole.lowest = np.min([reach(segment.lowest, partitions, _NONE) for segment in segments], axis=0)
    whole.highest = np.max([reach(segment.highest, partitions, np.uint64(0)) for segment in segments], axis=0)
    return whole


def _no_edges() -> U64:
    return np.empty(0, dtype=np.uint64)


def _by_bucket(keys: U64) -> I64:
    """The stable order of keys.

    The place replaces the low bits, so that one sort of plain integers suffices, which is four times faster than an
    argsort.  Buckets that differ in these bits only may end up in the wrong order; then an argsort follows.
    """
    places = np.arange(len(keys), dtype=np.uint64)
    mask = np.uint64((1 << len(keys).bit_length()) - 1)
    packed = keys & ~mask | places
    packed.sort()
    order = (packed & mask).astype(np.int64)
    ordered = keys[order]
    if (ordered[1:] < ordered[:-1]).any():
        order = np.argsort(keys, kind="stable")
    return order
