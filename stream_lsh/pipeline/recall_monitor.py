"""The recall monitor: compares a sample of documents with all recent ones, to measure the misses of the bands.

    ring        of the newest versions of a source partition: ref, and one byte of each slot of the signature
    sample      versions, chosen by their refs, in the configured share
    check       sample against ring, by brute force -> gather -> verify: pairs that truly match
    found       pairs that the index proposes; capped: those that share a bucket, but that its caps omit; missed: those
                that share none

The bytes agree wherever the slots do, so a pair that verify would compare is never missed; chance agreement,
in one slot of 256, is removed when the signatures are compared whole.  Behind the ring a pair is handled like any
candidate, so only live versions count, within the retention, by the exact similarity.

The caps apply in index, on other workers.  `CapModel` predicts what they omit.  Identical documents meet in the bucket
of their digest, whatever the bands: they are counted separately.  This is a measurement, not state: no changelog
contains it (docs/internals/adr/0025).

References: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.4, for the recall of bands; Li and
König, b-bit minwise hashing, 2010, for the information in a few bits of a slot.
"""

from dataclasses import dataclass, field

import numpy as np

from stream_lsh.arrays import F64, I64, U8, U32, U64, Bools
from stream_lsh.hashing import fmix64, odd_constants
from stream_lsh.ledger.edges import Edges
from stream_lsh.lsh.recall import Recall, clopper_pearson, effective_size
from stream_lsh.pipeline.batches import CANDIDATE, Candidates
from stream_lsh.pipeline.cap_model import CapModel
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded, gather
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.pipeline.verify import verify

RING = 16_384
"""Versions in the ring of a source partition: with 128 slots 2 MB."""
_RING_BYTES, _STAGED = RING * 128, 1_024
MOST_PAIRS = 32
"""Pairs of one document that are compared exactly: a flood of copies must not dominate the sample."""
BINS = 20
"""Of similarity, 0.05 each."""


def _counts() -> I64:
    return np.zeros(BINS, np.int64)


def _sums() -> F64:
    return np.zeros(BINS, np.float64)


@dataclass(slots=True)
class RecallCounts:
    """The pairs that the monitors of one pipeline found.

    Attributes:
        documents: that were checked.
        found: int64[BINS], pairs that match and that the index proposes, by their similarity.
        capped: int64[BINS], pairs that match and share a bucket, but that the caps omit.
        missed: int64[BINS], pairs that match and share no bucket.
        promised: float64[BINS], the number of all three that the bands should find; 0 where the kind makes no promise.
        identical: pairs of equal documents, which are in none of these.
        left_out: similar versions that were not compared, as a document had more than `MOST_PAIRS`.
        squares: the sum of the squares of the pairs of each document.
        all_pairs, all_found, all_squares: the numbers of pairs, of found ones, and the sum of squares, if the compared
            pairs of a document stand for its uncompared ones too.
    """

    documents: int = 0
    found: I64 = field(default_factory=_counts)
    capped: I64 = field(default_factory=_counts)
    missed: I64 = field(default_factory=_counts)
    promised: F64 = field(default_factory=_sums)
    identical: int = 0
    left_out: int = 0
    squares: int = 0
    all_pairs: float = 0.0
    all_found: float = 0.0
    all_squares: float = 0.0

    def add(
        self,
        similarity: F64,
        shares_bucket: Bools,
        promised: F64,
        proposed: Bools | None = None,
        stands_for: float = 1.0,
    ) -> None:
        """Add the pairs of one document, except identical ones.

        Args:
            similarity: of each pair.
            shares_bucket: whether its documents share a bucket.
            promised: the probability of that.
            proposed: whether the index proposes the pair; None if no cap can apply.
            stands_for: the number of similar versions for each one that was compared, 1 or more.
        """
        found = shares_bucket if proposed is None else shares_bucket & proposed
        bins = np.minimum((similarity * BINS).astype(np.int64), BINS - 1)
        self.found += np.bincount(bins[found], minlength=BINS)
        self.capped += np.bincount(bins[shares_bucket & ~found], minlength=BINS)
        self.missed += np.bincount(bins[~shares_bucket], minlength=BINS)
        self.promised += np.bincount(bins, promised, BINS)
        self.squares += similarity.size**2
        self.all_pairs += stands_for * similarity.size
        self.all_found += stands_for * float(np.count_nonzero(found))
        self.all_squares += (stands_for * similarity.size) ** 2

    @property
    def pairs(self) -> int:
        """The pairs that match, except identical ones."""
        return int(self.found.sum() + self.capped.sum() + self.missed.sum())

    def recall(self) -> Recall | None:
        """The share of the matches that is found, with an interval of 99 %; None before the first pair."""
        if not self.all_pairs:
            return None
        share = min(1.0, self.all_found / self.all_pairs)
        return clopper_pearson(share, self.all_pairs**2 / self.all_squares)

    def recall_of_bands(self) -> Recall | None:
        """The share of the compared pairs that the bands find, without caps; None before the first pair."""
        pairs = self.pairs
        share = 1 - int(self.missed.sum()) / max(1, pairs)
        return clopper_pearson(share, effective_size(pairs, self.squares)) if pairs else None

    def expected(self) -> float | None:
        """The share that the bands should find of pairs of these similarities, without caps; None without a promise."""
        promised = float(self.promised.sum())
        return promised / self.pairs if promised else None

    def falls_short(self, asked: float) -> bool:
        """Whether the bands find significantly less than requested, and less than expected.

        The requested recall refers to the threshold, and most pairs are above it: a warning comes late, not early.
        """
        recall, expected = self.recall_of_bands(), self.expected()
        return recall is not None and recall.high < (asked if expected is None else min(asked, expected))


class RecallMonitor:
    """The recall monitor of one source partition.

    Args:
        scheme: of the pipeline.
        criteria: the conditions of a match; `least_matching` is above 0.
        comparer: of the pipeline: its memory is shared.
        counts: are updated; one object for all partitions of a pipeline.
        share: of the versions that are checked, 0 to below 1.
        seed: of the sample.
        most: versions in the ring; fewer where signatures are long.
        caps: of the index; None for none.

    Guarantees:
        the sample depends on refs and the seed alone.  If no id is repeated, so do all counts: the division of arrivals
        into batches does not matter.
    Cost:
        a check: some 0.3 ms for a full ring, and the exact comparison of `MOST_PAIRS` pairs at most; if caps may omit
        some of them, also the buckets of the ring, some 25 ms.  Every version: 0.4 us.  Memory: `slots + 8` bytes for
        each version of the ring and 1,024 more, and never more.
    """

    def __init__(
        self,
        scheme: Scheme,
        criteria: Criteria,
        comparer: Comparer,
        counts: RecallCounts,
        share: float,
        *,
        seed: int = 1,
        most: int = RING,
        caps: CapModel | None = None,
    ) -> None:
        self._caps = caps or CapModel()
        self._scheme, self._criteria, self._comparer, self._counts = scheme, criteria, comparer, counts
        self._factor, self._start = odd_constants(2, seed)
        self._below = np.uint64(int(share * 2.0**64))
        self._size = min(most, max(1, _RING_BYTES // scheme.slots))
        self._slots = np.zeros((scheme.slots, self._size), np.uint8)  # slot by slot: each is compared in one sweep
        self._refs = np.zeros(self._size, np.uint64)
        self._next = self._filled = 0
        # Batches are staged as they are, and transposed together: fewer and longer copies.
        self._staged_slots = np.zeros((min(_STAGED, self._size), scheme.slots), np.uint8)
        self._staged_refs = np.zeros(len(self._staged_slots), np.uint64)
        self._staged = 0

    def __len__(self) -> int:
        """Versions in the ring."""
        return min(self._size, self._filled + self._staged)

    def observe(self, record: DocumentsRecord, documents: DocumentTable) -> None:
        """Compare the sampled new versions with all earlier ones, and remember all new ones.

        Args:
            record: the versions that sign has stored in `documents`.
            documents: the table of the partition.
        """
        refs, slots, done = record.refs, record.signatures, 0
        if not (record.digests.all() and (refs[1:] > refs[:-1]).all()):
            rows = np.flatnonzero(record.digests)  # without deletes and versions without shingles
            rows = rows[np.argsort(refs[rows])]
            refs, slots = refs[rows], slots[rows]
        for at in np.flatnonzero(self._is_sampled(refs)).tolist():
            self._stage(refs[done:at], slots[done:at])
            self._turn()
            self._check(refs[at], slots[at].astype(np.uint8), documents)
            done = at
        self._stage(refs[done:], slots[done:])

    def _is_sampled(self, refs: U64) -> Bools:
        # Multiples of an odd number spread evenly, whatever the pattern of the source, at a third of a hash's cost.
        sampled: Bools = refs * self._factor + self._start < self._below
        return sampled

    def _stage(self, refs: U64, slots: U32) -> None:
        while refs.size:
            room = min(refs.size, self._staged_refs.size - self._staged)
            place = slice(self._staged, self._staged + room)
            self._staged_refs[place], self._staged_slots[place] = refs[:room], slots[:room]  # the lowest byte of each
            self._staged += room
            if self._staged == self._staged_refs.size:
                self._turn()
            refs, slots = refs[room:], slots[room:]

    def _turn(self) -> None:
        """Move the staged versions into the ring, slot by slot; the newest overwrite the oldest."""
        refs, slots, self._staged = self._staged_refs[: self._staged], self._staged_slots[: self._staged].T, 0
        while refs.size:
            room = min(refs.size, self._size - self._next)
            place = slice(self._next, self._next + room)
            self._refs[place], self._slots[:, place] = refs[:room], slots[:, :room]
            self._filled = max(self._filled, place.stop)
            self._next = place.stop % self._size
            refs, slots = refs[room:], slots[:, room:]

    def _similar(self, slots: U8) -> U64:
        """The refs in the ring that agree in enough bytes.

        Most are eliminated after as many slots as a match may differ in, and a few more; the rest is compared in all.
        """
        least, ring = self._criteria.least_matching, self._slots[:, : self._filled]
        first = min(slots.size, slots.size - least + slots.size // 16)
        equal = ring[:first] == slots[:first, None]
        agreeing = equal.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(slots.size))
        at = np.flatnonzero(agreeing >= least - (slots.size - first))
        whole = agreeing[at] + np.count_nonzero(ring[first:, at] == slots[first:, None], axis=0)
        similar: U64 = self._refs[at[whole >= least]]
        return similar

    def _check(self, ref: np.uint64, slots: U8, documents: DocumentTable) -> None:
        """Count the pairs of one version."""
        self._counts.documents += 1
        old = self._similar(slots)
        old = old[documents.rows(old) >= 0]
        similar = old.size
        if old.size > MOST_PAIRS:
            self._counts.left_out += old.size - MOST_PAIRS
            # Drawn at random, not the newest: these may be more alike than others.
            old = old[np.argsort(fmix64(old ^ ref))[:MOST_PAIRS]]
        candidates = Candidates(np.full(old.size, ref), old, np.full(old.size, CANDIDATE, np.uint8))
        asked = gather(candidates, documents, Forwarded()) if old.size else None
        edges = None if asked is None else verify(asked, documents, self._criteria, self._comparer)
        if edges is not None:
            self._count(edges, documents, similar / old.size)

    def _count(self, edges: Edges, documents: DocumentTable, stands_for: float) -> None:
        identical = edges.left.digests == edges.right.digests
        self._counts.identical += int(np.count_nonzero(identical))
        at = np.flatnonzero(~identical)
        if not at.size:
            return
        refs = np.concatenate((edges.left.refs[:1], edges.right.refs[at]))
        buckets = self._scheme.buckets(documents.signatures(documents.rows(refs)))
        own_buckets = buckets[0][buckets[0] != 0]
        shares_bucket = (buckets[1:, :, None] == own_buckets).any(axis=(1, 2))
        promised = self._scheme.promised(edges.shared[at] / np.maximum(edges.union[at], 1))
        proposed = self._proposed(own_buckets, refs[1:], documents)
        self._counts.add(edges.similarity[at], shares_bucket, promised, proposed, stands_for)

    def _proposed(self, own_buckets: U64, old: U64, documents: DocumentTable) -> Bools | None:
        """Whether the index proposes each of the old versions; None if no cap can apply."""
        if not self._caps.may_omit(len(self)):
            return None
        oldest = self._next if self._filled == self._size else 0
        ring = np.roll(self._refs[: self._filled], -oldest)
        rows = documents.rows(ring)
        is_live = rows >= 0
        kept = self._caps.kept(own_buckets, self._scheme.buckets(documents.signatures(rows[is_live])))
        proposed: Bools = np.isin(old, ring[is_live][kept])
        return proposed
