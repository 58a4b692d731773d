"""Turns walks into candidates: it divides them, so that memory stays flat, and applies the caps.

A walk without caps returns a key for each posting of each bucket, so a batch of documents that share one bucket needs
memory in proportion to both.  `Prober` walks for some rows of the batch at a time; the result does not depend on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.index.hits import Counted, Hits, concatenated, count_bands, merge_equal_refs, no_hits, rank
from stream_lsh.index.omitted import CREDIT, OmittedCounter
from stream_lsh.index.sealed import Sealed
from stream_lsh.index.segment import Segment
from stream_lsh.index.walk import Probe, TooManyKeys, Walk, refs_of

MOST_KEYS = 1 << 21
"""Keys of one walk, unless one document has more: 16 MB, and some 100 MB while they are counted."""
_MOST_ROWS = 1 << 20

Segments = Sequence[Segment | Sealed]


class Inserted(NamedTuple):
    """Documents in the table, and the places where their walks begin.

    Attributes:
        segments: oldest first.
        refs: uint64[n].
        probes: their rows are below n.
        in_parts: whether a ref may have several numbers.
    """

    segments: Segments
    refs: U64
    probes: Sequence[Probe]
    in_parts: bool


class Prober:
    """Finds the candidates of documents.

    Args:
        cap_postings: the most postings of its bucket that a probe follows; 0: all.
        cap_candidates: the most candidates of a document, besides those of identical content and the nearest ones; 0:
            all.
        free_candidates: candidates that are returned before the caps apply.
        credit: postings that may be read at the beginning to count omitted candidates.
        draws: the most omitted candidates drawn for each document.

    Attributes:
        omitted: counts the candidates that the caps omitted.
        visited: postings read by all probes so far.
    """

    __slots__ = (
        "_allowed",
        "_at_once",
        "_cap_candidates",
        "_cap_postings",
        "_free",
        "_has_free",
        "omitted",
        "visited",
    )

    def __init__(
        self, cap_postings: int, cap_candidates: int, free_candidates: int = 0, credit: int = CREDIT, draws: int = 0
    ) -> None:
        self._cap_postings, self._cap_candidates = cap_postings, cap_candidates
        self._free, self._has_free = free_candidates, free_candidates > 0
        self._allowed = free_candidates
        self._at_once = _MOST_ROWS
        self.omitted = OmittedCounter(credit, draws)
        self.visited = 0

    def allow(self, candidates: int) -> None:
        """Return at most this many further candidates without caps, until the next call."""
        self._allowed = candidates

    def candidates(self, inserted: Inserted) -> Hits:
        """The candidates of inserted documents: without caps while some are free, with caps afterwards."""
        return concatenated([*self._hits(inserted)])

    def candidates_of_query(self, queries: Inserted, *, counted: bool = True) -> Hits:
        """The candidates of documents that are not inserted; if candidates were free at first, they are for queries.

        Args:
            queries: the documents.
            counted: whether omitted candidates are counted with those of inserted documents; if not, the number in the
                result is a lower bound, and the counts stay as they are.
        """
        before = self._free, self._allowed, self.omitted, self.visited
        self._free = self._allowed = 1 << 62 if self._has_free else 0
        if not counted:
            self.omitted = OmittedCounter(0, 0)
        hits = self.candidates(queries)
        self._free, self._allowed, self.omitted = before[:3]
        if not counted:
            self.visited = before[3]
        return hits

    def _hits(self, inserted: Inserted) -> Iterator[Hits]:
        start, stop = 0, len(inserted.refs)
        while start < stop:
            is_free = min(self._free, self._allowed) > 0
            rows = np.arange(start, min(stop, start + self._at_once))
            walk, rows = self._walk(inserted, rows, 0 if is_free else self._cap_postings)
            start += len(rows)
            self.visited += walk.visited
            if not walk.keys:
                yield no_hits(walk.capped)
                continue
            counted, old = _counted(inserted, walk)
            if is_free:
                hits, _ = rank(counted, inserted.refs, old, 0, ())
                self._free -= len(hits)
                self._allowed -= len(hits)
                yield hits
                continue
            hits, cut = rank(counted, inserted.refs, old, self._cap_candidates, walk.capped)
            if len(cut):
                nearest = self._nearest(inserted, counted, old, np.unique(counted.rows[cut]).astype(np.int64))
                hits, cut = rank(counted, inserted.refs, old, self._cap_candidates, walk.capped, nearest=nearest)
            if walk.capped or len(cut):
                self.omitted.earn(walk.visited)
                yield replace(hits, capped_candidates=self._count(inserted, walk, counted, old, cut))
            else:
                yield hits

    def _walk(self, inserted: Inserted, rows: I64, cap: int) -> tuple[Walk, I64]:
        """Walk for the given rows, or for as many of the first ones as the keys allow; returns these rows."""
        while True:
            is_all = len(rows) == len(inserted.refs)
            probes = inserted.probes if is_all else _of_rows(inserted, rows)
            try:
                walk = Walk(inserted.segments, probes, cap, MOST_KEYS if len(rows) > 1 else 0)
            except TooManyKeys:
                rows = rows[: len(rows) // 2]
                self._at_once = len(rows)
                continue
            if self._at_once < _MOST_ROWS and sum(map(len, walk.keys)) < MOST_KEYS // 4:
                self._at_once *= 2
            return walk, rows

    def _nearest(self, inserted: Inserted, counted: Counted, old: U64, rows: I64) -> Bools:
        """Which candidates of some documents are the nearest older ones of a bucket.

        They connect the documents of a bucket that all match each other, whatever the other candidates are.

        Args:
            inserted: all documents.
            counted: their candidates.
            old: uint64[m], the refs of these.
            rows: int64[k], the documents in question.
        """
        walk = Walk(inserted.segments, _of_rows(inserted, rows), 1)
        self.visited += walk.visited
        near, near_old = _counted(inserted, walk)
        nearest = np.ones(len(old), np.bool_)
        nearest[_absent(counted.rows.astype(np.int64), old, near.rows.astype(np.int64), near_old)] = False
        return nearest

    def _count(self, inserted: Inserted, walk: Walk, counted: Counted, old: U64, cut: I64) -> int:
        """Count the candidates that the caps omitted, document by document; returns their number.

        Args:
            inserted: the documents.
            walk: with caps.
            counted: the candidates of this walk.
            old: uint64[m], their refs.
            cut: the candidates that the cap on candidates dropped, as rows of `counted`.
        """
        omitted, number = self.omitted, 0
        rows = counted.rows.astype(np.int64)
        kept = np.ones(len(rows), np.bool_)
        kept[cut] = False
        waiting = np.unique(np.array(walk.capped_rows, np.int64))
        cut = np.sort(cut[~np.isin(rows[cut], waiting)])
        if len(cut):  # their buckets were read to the end, so these are all that was omitted
            documents, places = np.unique(rows[cut], return_inverse=True)
            number += omitted.add_known(inserted.refs[documents], places.astype(np.int64), old[cut])
        while len(waiting) and omitted.may_count:
            full, some = self._walk(inserted, waiting[: self._at_once], 0)
            waiting = waiting[len(some) :]
            omitted.spend(full.visited)
            everything, all_old = _counted(inserted, full)
            all_rows = everything.rows.astype(np.int64)
            at = _absent(all_rows, all_old, rows[kept], old[kept])
            number += omitted.add(inserted.refs[some], np.searchsorted(some, all_rows[at]), all_old[at])
        return number + omitted.wait(len(waiting))


def _of_rows(inserted: Inserted, rows: I64) -> list[Probe]:
    """The probes of some documents."""
    chosen: Bools = np.zeros(len(inserted.refs), np.bool_)
    chosen[rows] = True
    probes = []
    for probe in inserted.probes:
        at = chosen[probe.rows].nonzero()[0]
        if len(at):
            probes.append(Probe(probe.segment, probe.rows[at], probe.buckets[at], probe.older[at]))
    return probes


def _counted(inserted: Inserted, walk: Walk) -> tuple[Counted, U64]:
    """The candidates of a walk that has keys, and the refs of the old documents."""
    segments = inserted.segments
    counted = count_bands(walk.keys[0] if len(walk.keys) == 1 else np.concatenate(walk.keys))
    old = refs_of(segments, counted.numbers.astype(np.int64) + segments[0].base)
    return merge_equal_refs(counted, old) if inserted.in_parts else (counted, old)


def _absent(rows: I64, old: U64, known_rows: I64, known_old: U64) -> I64:
    """The places of the pairs (row, old) that are not among the known ones, by row."""
    _, numbers = np.unique(np.concatenate((old, known_old)), return_inverse=True)
    keys = np.concatenate((rows, known_rows)) << np.int64(40) | numbers
    at: I64 = (~np.isin(keys[: len(rows)], keys[len(rows) :])).nonzero()[0]
    return at[np.argsort(rows[at], kind="stable")]
