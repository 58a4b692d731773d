"""Buckets by first members and sizes, of which every two sets at or above a threshold share one.

A set is filed under each member of its prefix: its first members in the order of their hashes.  The prefix is so long
that it shares a member with the prefix of each match (`measure.filters.prefix_lengths`); any order serves that is the
same for all sets.  Sizes are divided into classes, and each member is filed in two of them:

    classes    1 = c(0) < c(1) < c(2) < ...     c(k + 1) is the least size that cannot match c(k)
    filed      under (k, member) and (k + 1, member), for a size from c(k) up to, but not including, c(k + 1)

Two sizes that can match are in one class or in two neighbouring ones, so such sets share a bucket, and sets of other
sizes do not.

The stored signature of a set is a row of `measure.firsts`, which has room for a fixed number of members.  A set with a
longer prefix is filed under its classes alone; all sets of sizes that can match it are filed there as well.

So buckets are a function of the signature and do not require the set itself (ADR 0027).  Members can be of any kind.
"""

from bisect import bisect_left

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.errors import ConfigError
from stream_lsh.hashing import fmix64
from stream_lsh.lsh.banding import digest_buckets
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.filters import least_shared, most_members, prefix_lengths
from stream_lsh.measure.firsts import most_shared, sizes_of
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria

_NO_DIGEST = np.uint64((1 << 64) - 2)
_HALF = np.uint64(32)
MOST_SLOTS = 4096
_FEW = (16, 48)
"""The first slots, which are compared before the others, because they rule out most pairs."""
_SIZES = 1 << 32
_ROUNDING = 1e-12
"""A tolerance far above the rounding error of a quotient of counts, and far below the difference of two of them."""


class Prefixes:
    """The buckets of sets, and a filter of the pairs that share one.

    Args:
        threshold: least similarity of a match, above 0 and at most 1.
        slots: of a row; the longest prefix of a set is one less.
        measure: of the threshold.

    Attributes:
        least: Jaccard similarity of a match.

    Guarantees:
        exact: two sets, neither of them empty, that reach the threshold share a bucket.

    Raises:
        ConfigError: a threshold out of range, too few slots.
    """

    version = 1

    def __init__(self, threshold: float, slots: int, measure: Measure = JACCARD) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and at most 1")
        if not 2 <= slots <= MOST_SLOTS:
            problem = "one for the size of a text, others for its first shingles"
            raise ConfigError(f"slots: got {slots}, expected 2 to {MOST_SLOTS} with the method exact: {problem}")
        least = measure.least_jaccard(threshold)
        # The value that a measure derives from a threshold has another rounding error.
        self.least = least = least if least == threshold else least * (1 - _ROUNDING)
        self._kept = slots - 1
        too_large = bisect_left(range(_SIZES), slots, key=lambda size: int(self._lengths(np.array([size]))[0]))
        self._large = int(least_shared(np.array([too_large]), least)[0]) if too_large < _SIZES else _SIZES
        self._classes = [1]

    @property
    def width(self) -> int:
        """The most buckets of a set: two for each member, two of its size, and that of its digest."""
        return 2 * (self._kept + 1) + 1

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each set, that of the digest last: uint64[n, width], 0 for none.

        Args:
            signatures: with the rows of sets as `values`.
        """
        rows, digests = signatures.values, signatures.digests
        sizes = np.where(digests == 0, 0, sizes_of(rows))
        lengths = self._lengths(sizes)
        filed = np.zeros((len(signatures), self._kept + 1), np.bool_)
        filed[:, :-1] = np.arange(self._kept) < np.where(lengths > self._kept, 0, lengths)[:, None]
        filed[:, 1:-1] &= rows[:, 2:] != rows[:, 1:-1]  # members with one half are filed once
        filed[:, -1] = sizes >= self._large
        filed[:, 0] &= ~filed[:, -1] | (rows[:, 1] != 0)
        at, place = np.nonzero(filed)
        # The key of a class alone is that of member 0: a set with this member has more candidates and misses none.
        members = np.where(place < self._kept, rows[at, 1 + np.minimum(place, self._kept - 1)], 0).astype(np.uint64)
        classes = self._classes_of(sizes)[at].astype(np.uint64)
        keys = np.zeros((2, *filed.shape), np.uint64)
        for further in (0, 1):
            keys[further, at, place] = _keys(classes + np.uint64(1 + further), members)
        digest = np.where(digests == 0, np.uint64(0), digest_buckets(digests))
        return np.concatenate((*keys, digest[:, None]), axis=1)

    def may_match(self, ours: U32, theirs: U32, criteria: Criteria) -> Bools:
        """Whether pairs can reach the threshold of the criteria, by their rows; never False for one that does."""
        sizes, others, measure = sizes_of(ours), sizes_of(theirs), criteria.measure
        may = np.asarray(measure.sizes_allow(sizes, others, criteria.threshold))
        for slots in (*(few for few in _FEW if few <= self._kept), self._kept + 1):
            at = np.flatnonzero(may)
            shared = most_shared(ours[at, :slots], theirs[at, :slots])
            may[at] = measure.similarity(shared, sizes[at], others[at]) >= criteria.threshold
        return may

    def _lengths(self, sizes: I64) -> I64:
        return prefix_lengths(sizes, self.least)

    def _classes_of(self, sizes: I64) -> I64:
        """The class of each size: int64[n], undefined for 0."""
        classes, largest = self._classes, int(sizes.max(initial=0))
        while classes[-1] <= largest:
            classes.append(int(most_members(np.array(classes[-1:]), self.least)[0]) + 1)
        return np.searchsorted(np.array(classes), sizes, side="right") - 1


def _keys(classes: U64, members: U64) -> U64:
    """The keys, never 0, which stands for no key, as no class is 0; the lowest bit is clear, as it marks digests."""
    return fmix64(classes << _HALF | members) & _NO_DIGEST
