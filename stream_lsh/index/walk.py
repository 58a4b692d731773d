"""Follows chains from postings back to the older ones of their buckets, over all segments.

This module applies the cap of a bucket.  It reads segments and never changes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.index.hits import NUMBER_MASK, ROW_SHIFT
from stream_lsh.index.links import LOW32, S32
from stream_lsh.index.sealed import DEAD, Needles, Sealed
from stream_lsh.index.segment import FEW, Places, Segment

_ONE = np.uint64(1)
_WIDEST = 256
_NEWEST = int(NUMBER_MASK)


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """The starting postings of a walk in one segment, columns of equal length.

    Attributes:
        segment: its place in the list of segments.
        rows: int64, the document of a posting, by its row in the batch.
        buckets: uint64.
        older: int64, the row of `segment` at which the walk begins, 0 if the chain has no older row.
    """

    segment: int
    rows: I64
    buckets: U64
    older: I64


class TooManyKeys(Exception):
    """A walk has found more keys than it may."""


class Walk:
    """One walk of many postings at once, all chains in step.

    Each posting follows its own chain to the end, then the chains of its bucket in the older segments, so it visits
    the postings of its bucket from newest to oldest.  `cap` of them become keys; the walk searches for one more only to
    report that the cap was exceeded.

    Args:
        segments: oldest first.
        probes: any number per segment.
        cap: postings to take per bucket over all segments together; 0 = all.
        most_keys: the most keys of all postings together; 0 = any number.

    Raises:
        TooManyKeys: there are more keys than `most_keys`.

    Attributes:
        keys: one array per round with hits; see `hits`.
        capped: the buckets of postings whose bucket exceeds the cap; `capped_rows` their documents.
        visited: rows read, the measure of the cost of a walk.
    """

    __slots__ = (
        "_base",
        "_buckets",
        "_cap",
        "_few",
        "_left",
        "_room",
        "_tags",
        "capped",
        "capped_rows",
        "keys",
        "visited",
    )

    def __init__(
        self, segments: Sequence[Segment | Sealed], probes: Sequence[Probe], cap: int, most_keys: int = 0
    ) -> None:
        self.keys: list[U64] = []
        self._few: list[int] = []
        self.capped: list[int] = []
        self.capped_rows: list[int] = []
        self.visited = 0
        self._cap = cap
        self._room = most_keys or 1 << 62
        self._base = segments[0].base if segments else 0
        if sum(len(probe.rows) for probe in probes) <= FEW:
            self._one_by_one(segments, probes)
            return
        rows = probes[0].rows if len(probes) == 1 else np.concatenate([probe.rows for probe in probes])
        self._buckets = probes[0].buckets if len(probes) == 1 else np.concatenate([probe.buckets for probe in probes])
        self._tags = _tags(rows, self._buckets)
        self._left = np.full(len(rows), cap, dtype=np.int64)
        starts: dict[int, list[tuple[I64, I64]]] = {}
        begin = 0
        for probe in probes:
            lanes = np.arange(begin, begin + len(probe.rows))
            starts.setdefault(probe.segment, []).append((lanes, probe.older))
            begin += len(probe.rows)
        self._over_segments(segments, starts)

    def _one_by_one(self, segments: Sequence[Segment | Sealed], probes: Sequence[Probe]) -> None:
        """The walk of a few postings, in plain Python."""
        for probe in probes:
            tags = _tags(probe.rows, probe.buckets).tolist()
            for tag, bucket, row in zip(tags, probe.buckets.tolist(), probe.older.tolist(), strict=True):
                self._single(segments[: probe.segment + 1], tag, bucket, row)
                if len(self._few) > self._room:
                    raise TooManyKeys
        if self._few:
            self.keys.append(np.array(self._few, dtype=np.uint64))

    def _single(self, segments: Sequence[Segment | Sealed], tag: int, bucket: int, row: int) -> None:
        left = self._cap or -1  # counting down from -1 never reaches 0
        for number in range(len(segments) - 1, -1, -1):
            segment = segments[number]
            if number < len(segments) - 1:
                row = segment.first_row(bucket)
            if row:
                key = tag + (_NEWEST - segment.base + self._base << 1)
                if isinstance(segment, Sealed):
                    after = self._along_run(segment, key, bucket, row, left)
                else:
                    after = self._along_chain(segment, key, bucket, row, left)
                if after is None:
                    return
                left = after

    def _along_chain(self, segment: Segment, key: int, bucket: int, row: int, left: int) -> int | None:
        """Walk one chain, given the key of its ordinal 0; returns the rest of the cap, None if it is exceeded."""
        read = segment.log.item
        while row:
            self.visited += 1
            link = read(row, 1)
            if read(row, 0) == bucket:
                if left == 0:
                    self.capped.append(bucket)
                    self.capped_rows.append(key >> int(ROW_SHIFT))
                    return None
                left -= 1
                self._few.append(key - ((link & 0xFFFFFFFF) << 1))
            row = link >> 32
        return left

    def _along_run(self, segment: Sealed, key: int, bucket: int, row: int, left: int) -> int | None:
        """Walk one run of a sealed segment, as `_along_chain`."""
        for ordinal in segment.run(bucket, row):
            self.visited += 1
            if left == 0:
                self.capped.append(bucket)
                self.capped_rows.append(key >> int(ROW_SHIFT))
                return None
            left -= 1
            self._few.append(key - (ordinal << 1))
        return left

    def _over_segments(self, segments: Sequence[Segment | Sealed], starts: dict[int, list[tuple[I64, I64]]]) -> None:
        walking = np.empty(0, dtype=np.int64)
        needles = Needles(self._buckets[walking])
        for number in range(len(segments) - 1, -1, -1):
            segment, capped = segments[number], len(self.capped)
            joining = starts.get(number, [])
            if isinstance(segment, Sealed):
                at, rows = segment.first(needles)
                self._along_runs(segment, *_together([(walking[at], rows), *joining]))
            else:
                old = [(walking, segment.heads(needles.buckets))] if len(walking) else []
                self._along_chains(segment, *_together([*old, *joining]))
            if number == 0:
                return
            if joining:
                walking = np.concatenate([walking, *(lanes for lanes, _ in joining)])
            if len(self.capped) != capped:
                walking = walking[self._left[walking] >= 0]
            if joining or len(self.capped) != capped:
                needles = Needles(self._buckets[walking])

    def _along_runs(self, segment: Sealed, lanes: I64, rows: I64) -> None:
        """Walk all runs of one sealed segment, as `_along_chains`; the window grows as runs end."""
        buckets, width = self._buckets[lanes], 4
        while len(lanes):
            documents = segment.window(rows, buckets, width)
            live = documents != DEAD
            met = np.count_nonzero(live, axis=1)
            on = met == width
            if self._cap:
                left = self._left[lanes]
                spent = met > left
                live &= np.arange(width) < left[:, None]
                self.visited += int(np.minimum(met, left + 1).sum())
                self._note_capped(lanes[spent])
                self._left[lanes] = np.where(spent, -1, left - met)
                on &= ~spent
            else:
                self.visited += int(met.sum())
            lane = lanes[live.nonzero()[0]]
            if len(lane):
                number = documents[live] + np.uint64(segment.base - self._base)
                self._add_keys(self._tags[lane] | (NUMBER_MASK - number) << _ONE)
            at = on.nonzero()[0]
            lanes, rows, buckets = lanes[at], rows[at] + width, buckets[at]
            width = min(2 * width, _WIDEST)

    def _along_chains(self, segment: Segment, lanes: I64, current: I64) -> None:
        """Walk all chains of one segment to their ends, or until their bucket exceeds the cap: `_left` is then -1."""
        log, buckets = segment.log, None
        while True:
            on = current.nonzero()[0]
            if len(on) == 0:
                return
            if len(on) < len(current):
                lanes, current = lanes[on], current[on]
                buckets = None if buckets is None else buckets[on]
            if buckets is None:
                buckets = self._buckets[lanes]
            self.visited += len(lanes)
            record = log.take(current, axis=0)
            link = record[:, 1]
            current = (link >> S32).astype(np.int64)
            at = (record[:, 0] == buckets).nonzero()[0]
            if len(at) == 0:
                continue
            lane = lanes[at]
            if self._cap:
                left = self._left[lane] - 1
                self._left[lane] = left
                spent = (left < 0).nonzero()[0]
                if len(spent):
                    self._note_capped(lane[spent])
                    current[at[spent]] = 0
                    at, lane = np.delete(at, spent), np.delete(lane, spent)
            number = (link[at] & LOW32) + np.uint64(segment.base - self._base)
            self._add_keys(self._tags[lane] | (NUMBER_MASK - number) << _ONE)

    def _note_capped(self, lanes: I64) -> None:
        self.capped += self._buckets[lanes].tolist()
        self.capped_rows += (self._tags[lanes] >> ROW_SHIFT).tolist()

    def _add_keys(self, keys: U64) -> None:
        self.keys.append(keys)
        self._room -= len(keys)
        if self._room < 0:
            raise TooManyKeys


def _tags(rows: I64, buckets: U64) -> U64:
    """The common part of the keys of a posting: its document, and whether its bucket is a digest."""
    return rows.astype(np.uint64) << ROW_SHIFT | (~buckets & _ONE)


def _together(parts: Sequence[tuple[I64, I64]]) -> tuple[I64, I64]:
    """Concatenate the lanes and rows of several parts; empty for no part."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate([lanes for lanes, _ in parts]), np.concatenate([rows for _, rows in parts])


def find(segments: Sequence[Segment | Sealed], refs: U64, buckets: U64) -> list[tuple[int, Places]]:
    """The positions of postings, by number of segment, newest first."""
    hits = []
    asked = np.arange(len(refs))
    for number in range(len(segments) - 1, -1, -1):
        if len(asked) == 0:
            break
        places = segments[number].find(refs[asked], buckets[asked])
        if len(places.asked):
            hits.append((number, Places(asked[places.asked], places.rows, places.newer)))
            asked = np.delete(asked, places.asked)
    return hits


def newest_refs(segments: Sequence[Segment | Sealed], bucket: int, most: int) -> U64:
    """The refs of the live postings of a bucket, newest first: uint64[n], n <= most.

    Cost: some 0.3 us a posting.
    """
    if not segments:
        return np.empty(0, np.uint64)
    buckets = np.array([bucket], np.uint64)
    probe = Probe(len(segments) - 1, np.zeros(1, np.int64), buckets, segments[-1].heads(buckets))
    keys = np.concatenate([np.empty(0, np.uint64), *Walk(segments, [probe], most).keys])
    keys.sort()
    numbers = NUMBER_MASK - (keys >> _ONE & NUMBER_MASK)
    return refs_of(segments, numbers.astype(np.int64) + segments[0].base)


def refs_of(segments: Sequence[Segment | Sealed], numbers: I64) -> U64:
    """The refs of documents by their numbers."""
    if len(segments) == 1:
        return segments[0].refs[numbers - segments[0].base]
    refs = np.empty(len(numbers), dtype=np.uint64)
    where = np.searchsorted([segment.base for segment in segments], numbers, side="right") - 1
    for number, segment in enumerate(segments):
        at = (where == number).nonzero()[0]
        if len(at):
            refs[at] = segment.refs[numbers[at] - segment.base]
    return refs
