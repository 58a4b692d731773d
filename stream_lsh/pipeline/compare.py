"""What verify asks of a kind of data: how similar pairs of versions are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.pipeline.batches import RECHECK, Verifications
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.sketch.estimate import matching_slots


@dataclass(frozen=True, slots=True)
class Criteria:
    """What makes a pair a match.

    Attributes:
        threshold: least similarity.
        least_matching: slots that must agree before the texts are looked at (`measure.filters`); 0: look at all.
        retention_ms: greatest distance in event time; None: any.
        measure: of similarity.
    """

    threshold: float
    least_matching: int = 0
    retention_ms: int | None = None
    measure: Measure = JACCARD


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of n pairs: the first ones of those that were asked about.

    Attributes:
        similarity: float64[n], exact; 0 where a pair cannot be a match.
        shared: uint32[n], what both have; union: uint32[n], what one of them has, where the kind counts that.
        sizes: uint32[n], what the new end has, None where the measure does not tell.
        evidence: a text for each pair, none at all where the kind has none.
    """

    similarity: F64
    shared: U32
    union: U32
    sizes: U32 | None = None
    evidence: Sequence[str] = ()


class SignatureAgreement(NamedTuple):
    """How the signatures of two versions agree, for explanations.

    Attributes:
        matching: slots in which they agree; slots: all of these.
        met: buckets in common, but for that of the digest; bands: how many there are.
        probability: that two so similar have one in common.
    """

    matching: int
    slots: int
    met: int
    bands: int
    probability: float


def affordable(costs: I64, most: int) -> int:
    """How many of the first pairs cost at most so much together; at least one.

    Example:
        >>> affordable(np.array([3, 4, 5]), 8), affordable(np.array([9, 1]), 8)
        (2, 1)
    """
    return max(1, int(np.cumsum(costs).searchsorted(most, side="right")))


def common_buckets(buckets: U64) -> int:
    """In how many buckets both of two versions are: uint64[2, n], 0 for none, that of the digest last."""
    left, right = buckets[:, :-1]
    return int(np.intersect1d(left[left != 0], right[right != 0]).size)


class Pairs:
    """The pairs of a batch whose old end is live, side by side.

    Attributes:
        asked: the new documents.
        documents: the old ones.
        new: int64[n], the new end of each pair as a row of `asked`.
        old: int64[n], the old one as a row of `documents`.
        old_refs, old_times: uint64[n], int64[n] of the old ends.
        recheck: bool[n], pairs that are answered whatever comes out.
    """

    def __init__(self, asked: Verifications, documents: DocumentTable, at: I64, old_rows: I64) -> None:
        self.asked = asked
        self.documents = documents
        self.new = asked.rows[at]
        self.old = old_rows
        self.old_refs: U64
        self.old_times: I64
        self.old_refs, self.old_times = documents.refs_times(old_rows)
        self.recheck: Bools = asked.kinds[at] == RECHECK

    def __len__(self) -> int:
        return self.old.size

    def near(self, retention_ms: int | None) -> Bools:
        """Whether the two are close enough in event time."""
        if retention_ms is None:
            return np.ones(self.old.size, np.bool_)
        new, old = self.asked.times[self.new], self.old_times
        # Unsigned, because the distance of two int64 may exceed an int64.
        apart = np.maximum(new, old).view(np.uint64) - np.minimum(new, old).view(np.uint64)
        near: Bools = apart <= retention_ms
        return near


class Comparer(Protocol):
    """How similar pairs are, with whatever is remembered from one batch to the next."""

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The similarity of pairs.

        Args:
            pairs: those of a batch.
            near: bool[n], pairs that may be matches; all others get 0.
            criteria: candidates below its threshold need no exact answer, rechecks do.
            bounded: stop after some work, but not before the first pair; what is missing has to be asked again.
        """

    def forget(self, ref: int) -> None:
        """A version will not be asked about again."""

    def __len__(self) -> int:
        """Versions that are remembered."""


Prefilter = Callable[[U32, U32, Criteria], Bools]
"""Selects the pairs to compare, by the signatures of both ends: uint32[n, slots] each; bool[n]."""


def by_estimate(ours: U32, theirs: U32, criteria: Criteria) -> Bools:
    """Whether enough slots agree."""
    if criteria.least_matching <= 0:
        return np.ones(len(ours), np.bool_)
    return np.asarray(matching_slots(ours, theirs) >= criteria.least_matching)


class SignaturePrefilter:
    """Selects pairs by what is stored of both ends beside their texts: digests and signatures."""

    def __init__(self, pairs: Pairs) -> None:
        self._asked, self._new = pairs.asked, pairs.new
        self._old = pairs.documents.signatures(pairs.old)

    def identical(self) -> Bools:
        """Whether the two are identical: equal digests, and equal signatures as a second witness."""
        digests = self._asked.digests[self._new]
        same: Bools = (digests == self._old.digests) & (digests != 0)
        at = np.flatnonzero(same)
        if at.size:
            same[at] = (self._asked.signatures[self._new[at]] == self._old.values[at]).all(axis=1)
        return same

    def select(self, prefilter: Prefilter, criteria: Criteria, asked: Bools) -> Bools:
        """Whether the signatures of a pair pass the prefilter, for the pairs asked for."""
        promising = asked.copy()
        at = np.flatnonzero(asked)
        if at.size:
            promising[at] = prefilter(self._asked.signatures[self._new[at]], self._old.values[at], criteria)
        return promising
