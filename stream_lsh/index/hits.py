"""The result of a call on the band-bucket table: candidate pairs, aggregated over the buckets, ranked and capped.

During a call, each shared bucket is one *key*, a single u64, so that one sort orders everything:

    row of the new document (23 bits) | 2^40 - 1 - number of the old one (40) | 0 in a digest bucket, 1 in others (1)

Documents are numbered in order of arrival, hence ascending keys are newest first, and the lowest key of a run shows
whether the pair has identical content.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools

NUMBER_BITS = 40
NUMBER_MASK = np.uint64((1 << NUMBER_BITS) - 1)
ROW_SHIFT = np.uint64(NUMBER_BITS + 1)
_ONE = np.uint64(1)
_BANDS_MASK = np.int64((1 << 31) - 1)
_LATER = np.int64(1 << 31)


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Candidate pairs as columns; those of one new document are adjacent, in the order of the batch.

    Within a document: identical content first, then most bands, then newest posting.

    Attributes:
        new: uint64[pairs], ref of the later posting.
        old: uint64[pairs], ref of the earlier posting; never equal to `new`.
        bands: uint32[pairs], the number of probed buckets that the two share.
        identical: bool[pairs], whether one of these is a digest bucket.
        capped_buckets: the buckets of probes that skipped postings, because the bucket exceeds the cap.
        capped_candidates: candidates that the caps omitted; estimated if counting costs too much (`omitted`).
    """

    new: U64
    old: U64
    bands: U32
    identical: Bools
    capped_buckets: Sequence[int] = ()
    capped_candidates: int = 0

    def __len__(self) -> int:
        return len(self.new)

    @property
    def capped_postings(self) -> int:
        """The number of probes that skipped postings."""
        return len(self.capped_buckets)


def no_hits(capped_buckets: Sequence[int] = ()) -> Hits:
    """Hits without pairs."""
    none = np.empty(0, dtype=np.uint64)
    return Hits(none, none, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.bool_), capped_buckets)


def concatenated(parts: Sequence[Hits]) -> Hits:
    """The hits of successive pieces of one batch as one."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return no_hits()
    return Hits(
        np.concatenate([part.new for part in parts]),
        np.concatenate([part.old for part in parts]),
        np.concatenate([part.bands for part in parts]),
        np.concatenate([part.identical for part in parts]),
        [bucket for part in parts for bucket in part.capped_buckets],
        sum(part.capped_candidates for part in parts),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Keys after counting: one entry per (row, old document), by row, newest first within it."""

    rows: U64
    numbers: U64
    bands: U32
    identical: Bools


def count_bands(keys: U64) -> Counted:
    """Run lengths of the keys, which are sorted in place.

    Cost: one sort of the keys; linear otherwise.
    """
    keys.sort()
    pairs = keys >> _ONE
    first = np.empty(len(pairs), dtype=np.bool_)
    first[0] = True
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    at = first.nonzero()[0]
    bands = np.diff(at, append=len(pairs)).astype(np.uint32)
    pairs = pairs[at]
    return Counted(
        rows=pairs >> np.uint64(NUMBER_BITS),
        numbers=NUMBER_MASK - (pairs & NUMBER_MASK),
        bands=bands,
        identical=(keys[at] & _ONE) == 0,
    )


def merge_equal_refs(counted: Counted, old: U64) -> tuple[Counted, U64]:
    """Merge the candidates of a ref that arrived in parts, and so has several numbers, into one.

    The bands of the parts are added, and the newest part determines the rank.
    """
    order = np.lexsort((old, counted.rows))  # stable: the newest part stays first
    rows, refs = counted.rows[order], old[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (refs[1:] != refs[:-1])
    if first.all():
        return counted, old
    at = first.nonzero()[0]
    bands = np.add.reduceat(counted.bands[order], at).astype(np.uint32)
    identical = np.logical_or.reduceat(counted.identical[order], at)
    keep = order[at]
    back = np.argsort(keep)
    keep = keep[back]
    merged = Counted(counted.rows[keep], counted.numbers[keep], bands[back], identical[back])
    return merged, old[keep]


def rank(
    counted: Counted,
    refs: U64,
    old: U64,
    cap_candidates: int,
    capped_buckets: Sequence[int],
    *,
    nearest: Bools | None = None,
) -> tuple[Hits, I64]:
    """Candidates in their final order, at most `cap_candidates` per new document (0 = all); and those that were cut.

    Identical content is never cut: a cluster of copies must not fall apart because its members also resemble others.
    Their number is bounded by the cap of the digest bucket.  Nor are the nearest candidates of the buckets, of which a
    document has one per bucket.

    Args:
        counted: candidates by row, newest first.
        refs: uint64[n], the refs of the batch that the rows point into.
        old: uint64[candidates], the refs of the old documents.
        cap_candidates: per new document.
        capped_buckets: passed through.
        nearest: bool[candidates], which ones are the nearest of a bucket; None: none are known.

    Returns:
        the hits, and int64[m], the rows of `counted` that the cap dropped.
    """
    rows = counted.rows.astype(np.int64)
    place = rows << np.int64(32) | (_BANDS_MASK - counted.bands)
    place[~counted.identical] |= _LATER
    order = np.argsort(place, kind="stable")
    cut = np.empty(0, np.int64)
    if cap_candidates and len(order) > cap_candidates:
        first, priority = counted.identical, order
        if nearest is not None:
            first = first | nearest
            place[nearest] &= ~_LATER
            priority = np.argsort(place, kind="stable")
        # The order within a row does not move its bounds.
        standing = np.arange(len(order)) - np.searchsorted(rows, rows)
        is_cut = np.zeros(len(order), np.bool_)
        is_cut[priority] = (standing >= cap_candidates) & ~first[priority]
        cut, order = is_cut.nonzero()[0], order[~is_cut[order]]
    hits = Hits(refs[rows[order]], old[order], counted.bands[order], counted.identical[order], capped_buckets, len(cut))
    return hits, cut
