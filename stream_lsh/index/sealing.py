"""The way of segments into the sealed form: one that is full, one of which most is dead, several small neighbours.

It goes in slices, so that no batch waits.  What is live is read once, slice by slice, each sorted by itself; then one
range of buckets after the other is merged out of the slices.  The segments stay as they are meanwhile, and what is
retired from them is made good at the end.  For that time the postings take some 24 bytes more.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.index.links import ORDINAL, RETIRED
from stream_lsh.index.sealed import DEAD, LAST, SLICE, Sealed, range_bits
from stream_lsh.index.segment import Documents, Segment, reach

MOST_SEALED = 4
"""Sealed segments of a stretch; where there are more, the smallest neighbours become one."""
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


class Sealing:
    """The way of neighbouring segments into a sealed one, in steps of at most some `SLICE` postings.

    A bucket that holds more than that is read and placed in one step, at some 20 ns a posting.

    Args:
        segments: oldest first, of one stretch of event time; they take no more postings from now on.

    Attributes:
        gone: the buckets and the refs of postings that were retired meanwhile, one pair of arrays per call.
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
        """The next slice; the sealed form once it is complete."""
        if self._reading < len(self.segments):
            self._read_slice()
            return None
        self._place_range()
        return self._complete() if self._next > len(self._edges) else None

    def _read_slice(self) -> None:
        """The next rows that are live, sorted by bucket and newest first."""
        segment = self.segments[self._reading]
        keys, ordinals = self._of_log(segment) if isinstance(segment, Segment) else self._of_runs(segment)
        self._runs.append((self._reading, keys, ordinals))
        self._bounds.append([0, *np.searchsorted(keys, self._edges).tolist(), len(keys)])
        if self._row == 0:
            self._reading, self._row = self._reading + 1, -1

    def _of_log(self, segment: Segment) -> tuple[U64, U32]:
        """Rows of a log from its beginning on; `_row` is the last that was read, 0 behind the end."""
        first = max(self._row, 0) + 1
        last = min(first + SLICE, segment.count + 1)
        log = segment.log[first:last]
        at = ((log[:, 1] & RETIRED) == 0).nonzero()[0][::-1]
        keys = log[at, 0]
        order = _by_bucket(keys)
        self._row = last - 1 if last <= segment.count else 0
        return keys[order], (log[at[order], 1] & ORDINAL).astype(np.uint32)

    def _of_runs(self, segment: Sealed) -> tuple[U64, U32]:
        """Rows of a sealed segment from its end on, whole runs; `_row` is the first that was read, 0 at the beginning.

        A retirement moves postings within their run only, so none is read twice, and none is passed over.
        """
        last = self._row if self._row > 0 else segment.rows + 1
        first = max(1, last - SLICE)
        first = max(1, int(np.searchsorted(segment.keys[:last], segment.keys[first])))
        docs = segment.docs[first:last]
        at = (docs != DEAD).nonzero()[0]
        self._row = first if first > 1 else 0
        return segment.keys[first:last][at], docs[at]

    def _place_range(self) -> None:
        """The next range of buckets, out of all slices: the newest slice first, since the sort keeps their order."""
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
        """The sealed form, without what was retired after it had been placed."""
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
    """The neighbours that are to be sealed together next; none if all is well.

    Args:
        older: the segments that take no more postings, oldest first.
        every: seal what is open, and not only what most of is dead.
        most_documents: how many a segment may have that others become; 0 = any.
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
    """For each segment the new ordinal of each of its documents, those without a live posting left out."""
    numbers, start = [], 0
    for segment in segments:
        kept = segment.alive[: segment.documents] != 0
        numbers.append(np.where(kept, np.cumsum(kept) + (start - 1), DEAD).astype(np.uint32))
        start += int(np.count_nonzero(kept))
    return numbers


def _documents_of(segments: Sequence[Segment | Sealed], ordinals: Sequence[U32], into: Documents) -> Documents:
    """The documents of all segments as one, as far as they have new ordinals."""
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

    The low bits make room for the place, so that one sort of plain integers does it, which is four times faster than
    an argsort.  Buckets that differ in these bits only may then lie wrong; it is seen, and they are sorted slowly.
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
