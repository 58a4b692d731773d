"""The band-bucket table of one index partition: it finds documents that share a bucket.

A document version is a ref (u64), its bands are buckets (u64); a posting is one (bucket, ref).  `bucket & 1` is 1
for the digest band, whose buckets hold documents of identical content.  This module maintains the order and liveness of
postings; `segment` stores them, `sealed` stores those of closed segments, `walk` follows them, `hits` ranks the found
pairs, and `healing` finds those that a removal brings within the caps.

Invariants:
    A (bucket, ref) is in the table at most once.
    The postings of a bucket are ordered by arrival: along the chains, over the segments, and by the numbers of their
        documents.
    A segment holds the arrivals while its stretch of event time was the newest, so all its times lie before `until_ms`.

The second invariant has a consequence.  A late document is *not* inserted into the segment of its own time, where
newer postings that were never paired with it would precede it: after the retirement of the older ones that were paired
with it, no pair would connect it with its copies.  In order of arrival each posting is always paired with the k before
it.  In return, a late document stays until the stretch of its arrival expires, which drops it later than necessary and
never too early (docs/internals/adr/0003).

The table does not handle similarity, ids, clocks or Kafka.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.errors import DamagedBytes
from stream_lsh.index.batch import Batch, checked, in_chain_order, maybe_known
from stream_lsh.index.capacity import MAX_CAPACITY, further_capacity
from stream_lsh.index.healing import Caps, healed
from stream_lsh.index.hits import Hits, concatenated, no_hits
from stream_lsh.index.incremental_snapshot import TableCopy
from stream_lsh.index.prober import Inserted, Prober
from stream_lsh.index.sealed import SLICE, Sealed
from stream_lsh.index.sealing import Sealing, to_seal
from stream_lsh.index.segment import FOREVER_MS, Places, Segment
from stream_lsh.index.walk import Probe, find
from stream_lsh.model import NO_REF


class BandTable:
    """Stores postings and returns candidate pairs.

    Args:
        cap_postings: the most postings of its bucket that a probe follows, newest first; 0 = all.  With a cap, a step
            costs the same at any bucket size.
        cap_candidates: the most candidates of a new document, besides those of identical content and the nearest one in
            each of its buckets; 0 = all.
        segment_span_ms: stretch of event time per segment, the granularity of `expire`; None = one unlimited stretch.
        first_capacity: postings of the first segment of a stretch.
        most_documents: the most documents of a segment, the granularity of `expire` by floors; 0 = as many as fit.
        counting: `free_candidates`, `credit` and `draws` of `Prober`.

    Attributes:
        prober: applies the caps, and counts what they omit.

    Cost: memory is 16 bytes a posting, 12 a document and 4 to 8 per posting of capacity, some 360 bytes a document
        at 17 buckets each.  With stretches of event time there are many segments, and all but the newest are sealed,
        which makes them smaller (some 260 bytes a document), not faster: `insert_and_probe` seals some 65,000 postings
        at a time, so there are no pauses.  One unlimited stretch has few segments and keeps them open: they are probed
        as fast or faster (docs/internals/adr/0011).
    """

    __slots__ = (
        "_caps",
        "_first_capacity",
        "_has_probed_all",
        "_in_parts",
        "_marks",
        "_most_documents",
        "_sealing",
        "_segments",
        "_span_ms",
        "_table_copy",
        "prober",
    )

    def __init__(
        self,
        *,
        cap_postings: int = 32,
        cap_candidates: int = 200,
        segment_span_ms: int | None = None,
        first_capacity: int = 1 << 20,
        most_documents: int = 0,
        **counting: int,
    ) -> None:
        self._caps = Caps(cap_postings, cap_candidates)
        self.prober = Prober(cap_postings, cap_candidates, **counting)
        self._span_ms, self._first_capacity, self._most_documents = segment_span_ms, first_capacity, most_documents
        self._segments: list[Segment | Sealed] = []
        self._sealing: Sealing | None = None
        self._table_copy: TableCopy | None = None
        self._marks: U64 = np.zeros(1, dtype=np.uint64)  # per source partition: 1 + the highest inserted ref
        self._in_parts = False  # whether a ref may have several numbers, because its postings arrived in several calls
        self._has_probed_all = True  # whether no postings were inserted without a probe

    def __len__(self) -> int:
        """Live postings."""
        return sum(segment.live for segment in self._segments)

    @property
    def documents(self) -> int:
        """Versions with live postings; one whose postings came in several parts counts once per part."""
        return sum(segment.live_documents for segment in self._segments)

    @property
    def segments(self) -> int:
        """Segments in use; each one adds to the time of a probe, see `benchmarks.documents.index`."""
        return len(self._segments)

    @property
    def visited(self) -> int:
        """Postings read by all probes so far, a measure of their cost without clock noise."""
        return self.prober.visited

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self._marks.nbytes + sum(segment.nbytes for segment in self._segments)

    def insert_and_probe(self, refs: U64, times: I64, rows: I64, buckets: U64) -> Hits:
        """Insert postings; returns the pairs of their documents with all earlier ones, in the batch or before.

        Replays are safe: a posting that is already stored is not inserted again, and is probed from its place, so the
        result has the same pairs as the first time, if they are still live.

        Args:
            refs: uint64[n], one per document version, in any order.
            times: int64[n], event times in milliseconds.
            rows: int64[m] in [0, n), the document of a posting.
            buckets: uint64[m].

        Guarantees:
            Exact up to the caps: a pair is returned if its documents share a bucket in which fewer than
            `cap_postings` live postings lie between them; pairs beyond the caps are counted.  Deterministic.

        Cost:
            2 to 5 us a document of 17 postings in batches of 200, in buckets of any size; unless the caps are lifted.
        """
        parts = []
        for _ in range(1 + 2 * len(rows) // SLICE):
            self._seal_some(self._span_ms is not None)
        for piece in checked(refs, times, rows, buckets).pieces():
            probes = self._enter(piece)
            inserted = Inserted(self._segments, piece.refs, probes, self._in_parts)
            parts.append(self.prober.candidates(inserted) if probes else no_hits())
        return concatenated(parts)

    def insert(self, refs: U64, times: I64, rows: I64, buckets: U64) -> None:
        """Insert postings without probing, for recovery from a changelog.  Arguments as for `insert_and_probe`."""
        self._has_probed_all = False
        for piece in checked(refs, times, rows, buckets).pieces():
            self._enter(piece)

    def seal(self) -> None:
        """Seal all segments except the newest at once, instead of during inserts."""
        while self._seal_some():
            pass

    def probe(self, rows: I64, buckets: U64, *, counted: bool = True) -> Hits:
        """The candidates of documents that are not inserted: a query, which does not change the table.

        Args:
            rows: int64[m] in [0, n), the document of a posting; at most 2^23 documents.
            buckets: uint64[m], no bucket twice for one document.
            counted: whether candidates that the caps omit are counted, as in `Prober.candidates_of_query`.

        Returns:
            as `insert_and_probe`; `new` is NO_REF for all of them.
        """
        if not self._segments or len(rows) == 0:
            return no_hits()
        newest = len(self._segments) - 1
        heads = self._segments[newest].heads(buckets)
        refs = np.full(int(rows.max()) + 1, NO_REF, np.uint64)
        probes = [Probe(newest, rows, buckets, heads)]
        queries = Inserted(self._segments, refs, probes, self._in_parts)
        return self.prober.candidates_of_query(queries, counted=counted)

    def retire(self, refs: U64, rows: I64, buckets: U64) -> Hits:
        """Remove postings; returns the pairs of remaining documents that come within the caps: see `healing`.

        Args:
            refs: uint64[n], the versions that are replaced or deleted.
            rows: int64[m] in [0, n).
            buckets: uint64[m]; postings that are not in the table are ignored.

        Guarantees:
            Two live documents of a bucket without another live one between them have been returned as a pair, by this
            or an earlier call.  Copies within `cap_postings` of each other, too; so have all documents, unless the cap
            on candidates omitted the pair.  No pairs as long as the caps of this table have omitted none.

        Cost: to find a posting, its bucket is read as far as to it; this is not capped.  See also `healed`.
        """
        parts = []
        for piece in checked(refs, None, rows, buckets).pieces():
            gone, numbers = self._unlink(piece)
            if len(gone) and not self._has_returned_all:
                parts.append(healed(self._segments, gone, numbers, self._caps, in_parts=self._in_parts))
        self._drop_empty()
        return concatenated(parts)

    def remove(self, refs: U64, rows: I64, buckets: U64) -> None:
        """Remove postings without looking for pairs, for recovery from a changelog.  Arguments as for `retire`."""
        for piece in checked(refs, None, rows, buckets).pieces():
            self._unlink(piece)
        self._drop_empty()

    def expire(self, horizon_ms: int, min_offsets: U64 | None = None) -> int:
        """Drop expired segments.

        Args:
            horizon_ms: a segment is dropped if its stretch of event time ends at or before this.
            min_offsets: uint64[partitions], the lowest live offset per source partition; a segment is also dropped if
                all of its refs lie below.  Every offset of a partition beyond the array is live.

        Returns:
            The number of live postings dropped.
        """
        keep, dropped = [], 0
        for segment in self._segments:
            if segment.until_ms <= horizon_ms or (min_offsets is not None and segment.below(min_offsets)):
                dropped += segment.live
            else:
                keep.append(segment)
        self._segments = keep
        return dropped

    @property
    def is_copying(self) -> bool:
        """Whether a copy is in progress; no segment is sealed meanwhile."""
        return self._table_copy is not None

    def begin_copy(self) -> None:
        """Start a copy of the current postings."""
        self._table_copy = TableCopy(self._segments)

    def copy(self) -> Batch | None:
        """The next live postings of the copy, in the order of arrival; None after the last ones.

        A table with all slices inserted, followed by the changes since the start of the copy, is equivalent to this
        one.
        """
        batch = None if self._table_copy is None else self._table_copy.step(self._segments)
        if batch is None:
            self._table_copy = None
        return batch

    def snapshot(self) -> dict[str, np.ndarray]:
        """Copies of all state as arrays by name, for `np.savez`, without the caps and the span."""
        arrays: dict[str, np.ndarray] = {
            "marks": self._marks.copy(),
            "segments": np.array([len(self._segments), self._in_parts], dtype=np.int64),
        }
        for number, segment in enumerate(self._segments):
            arrays.update({f"{number}.{name}": array for name, array in segment.snapshot().items()})
        return arrays

    @classmethod
    def restore(cls, arrays: Mapping[str, np.ndarray], **settings: Any) -> "BandTable":
        """The table of a snapshot; with the same `settings` it behaves like the original from there on.

        Raises:
            DamagedBytes: an array is missing or does not fit the others.
        """
        if "marks" not in arrays or "segments" not in arrays:
            raise DamagedBytes("the snapshot of a table has no array 'marks' or 'segments': rebuild the table")
        count, in_parts = arrays["segments"].tolist()
        segments: list[Segment | Sealed] = []
        for number in range(count):
            start = f"{number}."
            names = [name for name in arrays if name.startswith(start)]
            kind = Sealed if f"{number}.keys" in arrays else Segment
            segments.append(kind.restore({name.removeprefix(start): arrays[name] for name in names}))
        return cls.assembled(arrays["marks"], bool(in_parts), segments, **settings)

    @classmethod
    def assembled(
        cls, marks: U64, in_parts: bool, segments: Iterable[Segment | Sealed], **settings: Any
    ) -> "BandTable":
        """A table of the parts that `state` returns, with the settings of the table."""
        table = cls(**settings)
        table._marks, table._in_parts, table._segments = np.array(marks, np.uint64), in_parts, list(segments)
        table._has_probed_all = False
        return table

    @property
    def state(self) -> tuple[U64, bool, tuple[Segment | Sealed, ...]]:
        """The state without the settings: marks, whether refs may have several numbers, and the segments."""
        return self._marks.copy(), self._in_parts, tuple(self._segments)

    def _enter(self, piece: Batch) -> list[Probe]:
        """Insert the missing postings; returns the starting place of each posting's walk, whether inserted or found."""
        refs = piece.refs
        if len(piece.rows) == 0:
            return []
        self._marks, known = maybe_known(self._marks, refs)
        if known is None:
            return self._append(refs, piece.times, *in_chain_order(piece.rows, piece.buckets))
        _, first, place = np.unique(refs, return_index=True, return_inverse=True)
        rows, buckets = first[place][piece.rows], piece.buckets
        order = np.argsort(rows, kind="stable")
        rows, buckets = in_chain_order(rows[order], buckets[order])
        probes = []
        missing = np.ones(len(rows), dtype=np.bool_)
        asked = known[rows].nonzero()[0]
        for number, places in find(self._segments, refs[rows[asked]], buckets[asked]):
            hit_rows = asked[places.asked]
            missing[hit_rows] = False
            probes.append(Probe(number, rows[hit_rows], buckets[hit_rows], self._segments[number].older(places.rows)))
        if missing.any():
            self._in_parts = self._in_parts or bool(missing[asked].any())
            probes += self._append(refs, piece.times, rows[missing], buckets[missing])
        return probes

    def _append(self, refs: U64, times: I64, rows: I64, buckets: U64) -> list[Probe]:
        """Add postings in chain order: to the open segment, or to new ones if it is full or its stretch is over."""
        counts = np.bincount(rows, minlength=len(refs))
        local = rows
        if not counts.all():  # only documents with postings get a number
            used = counts.nonzero()[0]
            local = (np.cumsum(counts != 0) - 1)[rows]
            refs, times, counts = refs[used], times[used], counts[used]
        probes = []
        begin, end = 0, len(refs)
        while begin < end:
            segment = self._open_segment(int(times[begin]), int(counts[begin]))
            stop = end
            most = self._most_documents - segment.documents if self._most_documents else end
            if len(rows) > segment.room or end - begin > most or int(times.max()) >= segment.until_ms:
                after = (times[begin:] >= segment.until_ms).nonzero()[0]
                fit = min(most, int(np.searchsorted(np.cumsum(counts[begin:]), segment.room, side="right")))
                stop = begin + min(fit, int(after[0]) if len(after) else fit)
            at = slice(None) if stop - begin == end else ((local >= begin) & (local < stop)).nonzero()[0]
            older = segment.append(refs[begin:stop], counts[begin:stop], local[at] - begin, buckets[at])
            probes.append(Probe(len(self._segments) - 1, rows[at], buckets[at], older))
            begin = stop
        return probes

    def _open_segment(self, time_ms: int, postings: int) -> Segment:
        """The segment for a document of this time and size: the last one, or a new one after it."""
        last = self._segments[-1] if self._segments else None
        enough = last is not None and 0 < self._most_documents <= last.documents
        if isinstance(last, Segment) and time_ms < last.until_ms and postings <= last.room and not enough:
            return last
        if last is not None and time_ms < last.until_ms:
            until_ms = last.until_ms
            capacity = last.capacity if enough else further_capacity(self._segments, self._first_capacity)
        else:
            span = self._span_ms
            until_ms = FOREVER_MS if span is None else min((time_ms // span + 1) * span, FOREVER_MS)
            capacity = self._first_capacity
            if last is not None:
                before = sum(segment.count for segment in self._segments if segment.until_ms == last.until_ms)
                capacity = max(capacity, min(1 << (before * 5 // 4 - 1).bit_length(), MAX_CAPACITY))
        base = 0 if last is None else last.base + last.documents
        opened = Segment(max(capacity, postings), until_ms, base)
        self._segments.append(opened)
        return opened

    def _seal_some(self, every: bool = True) -> bool:
        """Run one step of sealing, for every segment or only for mostly dead ones; returns whether there was work."""
        if self.is_copying:
            return False
        older, sealing = self._segments[:-1], self._sealing
        # A segment may have expired, or have become the newest again.
        if sealing is None or any(segment not in older for segment in sealing.segments):
            chosen = to_seal(older, every, self._most_documents)
            sealing = self._sealing = Sealing(chosen) if chosen else None
        elif (sealed := sealing.step()) is not None:
            at = older.index(sealing.segments[0])
            self._segments[at : at + len(sealing.segments)] = [sealed] if sealed.live else []
            self._sealing = None
        return sealing is not None

    @property
    def _has_returned_all(self) -> bool:
        """Whether every pair of documents that share a bucket has certainly been returned."""
        return self._has_probed_all and self.prober.omitted.is_none

    def _drop_empty(self) -> None:
        self._segments[:-1] = [segment for segment in self._segments[:-1] if segment.live]

    def _unlink(self, piece: Batch) -> tuple[U64, I64]:
        """Remove postings; returns the buckets of those that were there, and the numbers of their documents."""
        gone, numbers = [piece.buckets[:0]], [piece.rows[:0]]
        for number, places in find(self._segments, piece.refs[piece.rows], piece.buckets):
            segment = self._segments[number]
            at, first = np.unique(places.rows, return_index=True)
            posted, ordinals = segment.postings(at)
            gone.append(posted)
            numbers.append(segment.base + ordinals)
            if self._sealing is not None and segment in self._sealing.segments:
                self._sealing.gone.append((posted, segment.refs[ordinals]))
            segment.unlink(Places(places.asked[first], at, places.newer[first]))
        return np.concatenate(gone), np.concatenate(numbers)
