"""The interface of verify to a kind of data: the similarity of pairs of versions."""

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
    """The conditions of a match.

    Attributes:
        threshold: least similarity.
        least_matching: slots that must agree before texts are compared (`measure.filters`); 0: compare all.
        retention_ms: greatest distance in event time; None: any.
        measure: of similarity.
    """

    threshold: float
    least_matching: int = 0
    retention_ms: int | None = None
    measure: Measure = JACCARD


@dataclass(frozen=True, slots=True)
class Compared:
    """The results for n pairs: the first ones of the given pairs.

    Attributes:
        similarity: float64[n], exact; 0 where a pair cannot be a match.
        shared: uint32[n], members of both, where the kind counts them.
        union: uint32[n], members of either, where the kind counts them; where a similarity depends on other documents,
            the number of these (`ledger.outdated`).
        sizes: uint32[n], members of the new end, None where the measure does not use them.
        evidence: a text for each pair, empty where the kind has none.
    """

    similarity: F64
    shared: U32
    union: U32
    sizes: U32 | None = None
    evidence: Sequence[str] = ()


class SignatureAgreement(NamedTuple):
    """The agreement of the signatures of two versions, for explanations.

    Attributes:
        matching: slots in which they agree; slots: all of these.
        met: buckets in common, except that of the digest; bands: their number.
        probability: that two versions of this similarity have a bucket in common.
    """

    matching: int
    slots: int
    met: int
    bands: int
    probability: float


def affordable(costs: I64, most: int) -> int:
    """The number of the first pairs that cost at most `most` together; at least one.

    Example:
        >>> affordable(np.array([3, 4, 5]), 8), affordable(np.array([9, 1]), 8)
        (2, 1)
    """
    return max(1, int(np.cumsum(costs).searchsorted(most, side="right")))


def common_buckets(buckets: U64) -> int:
    """The number of common buckets of two versions: uint64[2, n], 0 for none, that of the digest last."""
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
        recheck: bool[n], pairs that are answered in any case.
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
        """Whether the two versions are close enough in event time."""
        if retention_ms is None:
            return np.ones(self.old.size, np.bool_)
        new, old = self.asked.times[self.new], self.old_times
        # Unsigned, because the distance of two int64 may exceed an int64.
        apart = np.maximum(new, old).view(np.uint64) - np.minimum(new, old).view(np.uint64)
        near: Bools = apart <= retention_ms
        return near


class Comparer(Protocol):
    """Computes similarities, with a memory from batch to batch."""

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The similarity of pairs.

        Args:
            pairs: those of a batch.
            near: bool[n], pairs that may be matches; all others get 0.
            criteria: candidates below its threshold need no exact answer, rechecks do.
            bounded: stop after some work, but not before the first pair; the caller asks for the rest again.
        """

    def forget(self, ref: int) -> None:
        """Drop a version that will not be compared again."""

    def __len__(self) -> int:
        """The number of remembered versions."""


Prefilter = Callable[[U32, U32, Criteria], Bools]
"""Selects the pairs to compare, by the signatures of both ends: uint32[n, slots] each; bool[n]."""


def by_estimate(ours: U32, theirs: U32, criteria: Criteria) -> Bools:
    """Whether enough slots agree."""
    if criteria.least_matching <= 0:
        return np.ones(len(ours), np.bool_)
    return np.asarray(matching_slots(ours, theirs) >= criteria.least_matching)


class SignaturePrefilter:
    """Selects pairs by the stored digests and signatures of both ends, without their texts."""

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
