"""Step 4: new documents and old refs in, edges with their exact similarity out.

    candidate   filtered by event time, the estimate of the signatures and the sizes, then compared; an edge if J >= T
    recheck     compared, whatever the estimate; an edge whatever the answer, 0 if too far apart in event time

A pair whose old ref is not the newest of its id is dropped, a recheck too: not "absent", for the retirement that
made it stale asks again.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stream_lsh.abouts import at_rows
from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.jaccard import shared_counts
from stream_lsh.pipeline.batches import RECHECK, Verifications
from stream_lsh.pipeline.documents import DocumentTable
from stream_lsh.pipeline.scheme import Scheme, Signatures
from stream_lsh.sketch.estimate import matching_slots

_MOST_CACHED = 8 << 20
"""Shingles: 64 MB."""
_SET_COST = 32
"""What a set takes beside its shingles, counted in shingles: the array and the entry, some 250 bytes."""
_PAIRS = 256
"""Pairs whose texts are shingled together: that is three times as fast as one by one, and bounds the sets at hand."""


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


class ShingleSets:
    """Shingle sets of versions that were compared lately, the least recently used dropped first.

    Args:
        scheme: makes the sets.
        limit: shingles kept at most, where each set counts for 32 more than it has; a single set is kept all the same.
    """

    def __init__(self, scheme: Scheme, limit: int = _MOST_CACHED) -> None:
        self._scheme = scheme
        self._limit = limit
        self._size = 0
        self._sets: OrderedDict[int, U64] = OrderedDict()

    def get(self, texts: Mapping[int, str]) -> dict[int, U64]:
        """The distinct shingles of versions, ascending, by ref; those that are not remembered are made together."""
        found = {ref: known for ref in texts if (known := self._sets.get(ref)) is not None}
        for ref in found:
            self._sets.move_to_end(ref)
        missing = [ref for ref in texts if ref not in found]
        for ref, made in zip(missing, self._scheme.shingle_sets([texts[ref] for ref in missing]), strict=True):
            found[ref] = self._sets[ref] = made
            self._size += made.size + _SET_COST
        while self._size > self._limit and len(self._sets) > 1:
            self._size -= self._sets.popitem(last=False)[1].size + _SET_COST
        return found

    def forget(self, ref: int) -> None:
        """Drop the set of a version, if it is remembered."""
        dropped = self._sets.pop(ref, None)
        self._size -= 0 if dropped is None else dropped.size + _SET_COST

    def __len__(self) -> int:
        return len(self._sets)


def verify(asked: Verifications, documents: DocumentTable, criteria: Criteria, sets: ShingleSets) -> Edges | None:
    """The pairs that are matches, and the answers to rechecks; None if there are none.

    Guarantees:
        exact: the similarity is that of the two sets of shingle hashes, by the measure.
    """
    old_rows = documents.rows(asked.old)
    at = np.flatnonzero((old_rows >= 0) & (asked.refs[asked.rows] != asked.old))
    if not at.size:
        return None
    pairs = _Pairs(asked, documents, at, old_rows[at], criteria)
    near = pairs.near(criteria.retention_ms)
    same = pairs.identical()
    wanted = near & (
        same | pairs.recheck | pairs.estimate_reaches(criteria.least_matching, near & ~same & ~pairs.recheck)
    )
    counts = pairs.counts(wanted, same, sets)
    similarity = criteria.measure.similarity(counts.shared, counts.sizes, counts.others)
    sent = np.flatnonzero(pairs.recheck | (wanted & (similarity >= criteria.threshold)))
    return pairs.edges(sent, similarity, counts) if sent.size else None


class _Counts(NamedTuple):
    """Of each pair: the shingles that both have, those of the new end, those of the old one; 0 if not compared."""

    shared: U32
    sizes: U32
    others: U32


class _Pairs:
    """The pairs of a batch whose old end is live, side by side."""

    def __init__(
        self, asked: Verifications, documents: DocumentTable, at: I64, old_rows: I64, criteria: Criteria
    ) -> None:
        self._asked = asked
        self._criteria = criteria
        self._documents = documents
        self._new = asked.rows[at]
        self._old = old_rows
        self._old_refs, self._old_times = documents.refs_times(old_rows)
        self._old_signatures: Signatures = documents.signatures(old_rows)
        self.recheck: Bools = asked.kinds[at] == RECHECK

    def near(self, retention_ms: int | None) -> Bools:
        """Whether the two are close enough in event time."""
        if retention_ms is None:
            return np.ones(self._old.size, np.bool_)
        new, old = self._asked.times[self._new], self._old_times
        # Unsigned, because the distance of two int64 may exceed an int64.
        apart = np.maximum(new, old).view(np.uint64) - np.minimum(new, old).view(np.uint64)
        near: Bools = apart <= retention_ms
        return near

    def identical(self) -> Bools:
        """Whether the two have the same shingles: equal digests, and equal signatures as a second witness."""
        digests = self._asked.digests[self._new]
        same: Bools = (digests == self._old_signatures.digests) & (digests != 0)
        at = np.flatnonzero(same)
        if at.size:
            same[at] = (self._asked.signatures[self._new[at]] == self._old_signatures.values[at]).all(axis=1)
        return same

    def estimate_reaches(self, least_matching: int, asked: Bools) -> Bools:
        """Whether enough slots of the signatures agree, for the pairs asked for."""
        reaches = asked.copy()
        at = np.flatnonzero(asked)
        if at.size and least_matching > 0:
            matching = matching_slots(self._asked.signatures[self._new[at]], self._old_signatures.values[at])
            reaches[at] = matching >= least_matching
        return reaches

    def counts(self, wanted: Bools, same: Bools, sets: ShingleSets) -> _Counts:
        """The shingles of the pairs that are wanted; none shared where the sizes rule a match out."""
        counts = _Counts(*np.zeros((3, self._old.size), np.uint32))
        at = np.flatnonzero(wanted)
        order = at[np.argsort(self._new[at], kind="stable")]
        for start in range(0, order.size, _PAIRS):
            self._count(order[start : start + _PAIRS], same, sets, counts)
        return counts

    def _count(self, pairs: I64, same: Bools, sets: ShingleSets, counts: _Counts) -> None:
        """Fill in the counts of some pairs, which are in the order of their new documents."""
        asked, new, old = self._asked, self._new, self._old
        texts = {int(asked.refs[row]): asked.texts[row] for row in dict.fromkeys(new[pairs].tolist())}
        differing = pairs[~same[pairs]]
        texts |= zip(self._old_refs[differing].tolist(), self._documents.texts(old[differing]), strict=True)
        made = sets.get(texts)
        alike = same[pairs]
        ones = [made[ref] for ref in asked.refs[new[pairs]].tolist()]
        old_refs = self._old_refs[pairs].tolist()
        others = [one if twin else made[ref] for one, ref, twin in zip(ones, old_refs, alike.tolist(), strict=True)]
        sizes, other_sizes = np.array([one.size for one in ones]), np.array([other.size for other in others])
        common = np.where(alike, sizes, 0)
        criteria = self._criteria
        allowed = self.recheck[pairs] | criteria.measure.sizes_allow(sizes, other_sizes, criteria.threshold)
        at = np.flatnonzero(~alike & allowed)
        for run in np.split(at, np.flatnonzero(np.diff(new[pairs[at]])) + 1) if at.size else ():
            common[run] = shared_counts(ones[run[0]], [others[row] for row in run.tolist()])
        counts.shared[pairs], counts.sizes[pairs], counts.others[pairs] = common, sizes, other_sizes

    def edges(self, at: I64, similarity: F64, counts: _Counts) -> Edges:
        new, asked = self._new[at], self._asked
        rows, old = new.tolist(), self._old[at]
        abouts = at_rows(asked.abouts, rows)
        left = Ends([asked.ids[row] for row in rows], asked.refs[new], asked.times[new], asked.digests[new], abouts)
        ids, abouts = self._documents.ids(old), self._documents.abouts(old)
        right = Ends(ids, self._old_refs[at], self._old_times[at], self._old_signatures.digests[at], abouts)
        shared, sizes, others = counts.shared[at], counts.sizes[at], counts.others[at]
        told = sizes if self._criteria.measure.tells_sizes else None
        return Edges(left, right, similarity[at], shared, sizes + others - shared, told)
