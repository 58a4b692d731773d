"""Buckets in which every two sets meet that reach a threshold: those of their first members and sizes.

A set is filed under each of its first members in the order of their hashes, so many that a match has one of them among
its own first ones (`measure.filters.prefix_lengths`): any order does that is the same for all sets.  Sizes are in
classes, and a member counts in two of them:

    classes    1 = c(0) < c(1) < c(2) < ...     c(k + 1) is the least size that cannot match c(k)
    filed      under (k, member) and (k + 1, member), for a size from c(k) up to, but not including, c(k + 1)

Two sizes that can match lie in one class or in two neighbouring ones, so they meet, and sets of other sizes do not.

What is stored of a set is a row of `measure.firsts`, which has room for so many members and no more.  A set with a
longer prefix is filed under its classes alone, and so is, besides, whatever can match a set of such a size.

So buckets follow from what is stored, and nobody needs the set again (ADR 0027).  It does not matter what the sets
are of.
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
"""Slots of which the first ones are looked at before all are: most pairs are ruled out by then."""
_SIZES = 1 << 32
_ROUNDING = 1e-12
"""Far more than a quotient of counts is off, and far less than two of them differ."""


class Prefixes:
    """The buckets of sets, and who of those that meet there may be a match.

    Args:
        threshold: least similarity of a match, above 0 and at most 1.
        slots: of a row; one less is the longest prefix that a set is filed under.
        measure: what the threshold is about.

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
        # What a measure derives from a threshold is rounded once more.
        self.least = least = least if least == threshold else least * (1 - _ROUNDING)
        self._kept = slots - 1
        too_large = bisect_left(range(_SIZES), slots, key=lambda size: int(self._lengths(np.array([size]))[0]))
        self._large = int(least_shared(np.array([too_large]), least)[0]) if too_large < _SIZES else _SIZES
        self._classes = [1]

    @property
    def width(self) -> int:
        """How many buckets a set is in at most: two for each member and two of its size, and that of its digest."""
        return 2 * (self._kept + 1) + 1

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each set, that of the digest last: uint64[n, width], 0 for none.

        Args:
            signatures: rows of sets as `values`.
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
        # Of a class alone the key is that of a member 0: whoever has one meets more sets, and misses none.
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
        """The class of each size: int64[n], whatever for 0."""
        classes, largest = self._classes, int(sizes.max(initial=0))
        while classes[-1] <= largest:
            classes.append(int(most_members(np.array(classes[-1:]), self.least)[0]) + 1)
        return np.searchsorted(np.array(classes), sizes, side="right") - 1


def _keys(classes: U64, members: U64) -> U64:
    """None is 0, which is no key, as no class is 0 here; and none has the lowest bit, which digests have."""
    return fmix64(classes << _HALF | members) & _NO_DIGEST
