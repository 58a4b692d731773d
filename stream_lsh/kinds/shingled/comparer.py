"""Compares pairs of texts: filters them by their stored signatures, then compares their sets of shingles."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.measure.jaccard import shared_counts
from stream_lsh.pipeline.compare import (
    Compared,
    Criteria,
    Pairs,
    Prefilter,
    SignaturePrefilter,
    affordable,
    by_estimate,
)

_MOST_CACHED = 8 << 20
"""Shingles: 64 MB."""
_SET_COST = 32
"""The overhead of a set in shingles: the array and the entry take some 250 bytes."""
_PAIRS = 256
"""Pairs whose texts are shingled together, which is three times as fast as one by one and bounds the memory."""
_CHARACTERS = 1 << 22
"""The characters of all pairs in a bounded comparison."""


class MakesSets(Protocol):
    """The source of shingle sets: the scheme of a pipeline of texts."""

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The distinct shingles of each text, ascending: uint64[m] each."""


class ShingleSets:
    """Compares pairs by their shingle sets, which it caches by version; the least recently used one is dropped first.

    Args:
        scheme: computes the sets.
        limit: the size of the cache in shingles, with an overhead of 32 for each set; one set always fits.
        prefilter: selects the candidates to compare, by their signatures.
    """

    def __init__(self, scheme: MakesSets, limit: int = _MOST_CACHED, prefilter: Prefilter = by_estimate) -> None:
        self._scheme = scheme
        self._prefilter = prefilter
        self._limit = limit
        self._size = 0
        self._sets: OrderedDict[int, U64] = OrderedDict()

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The similarity of the two sets of shingle hashes of each pair, by the measure.

        Sets with equal digests and signatures are taken as equal.  Candidates are not compared if their signatures or
        sizes rule out a match.
        """
        stored = SignaturePrefilter(pairs)
        same = stored.identical()
        unlike = near & ~same & ~pairs.recheck
        wanted = near & (same | pairs.recheck | stored.select(self._prefilter, criteria, unlike))
        counts = _Counts(*np.zeros((3, len(pairs)), np.uint32))
        at, count = np.flatnonzero(wanted), len(pairs)
        if bounded:
            count = self._count_some(at, pairs, same, criteria, counts)
        else:
            order = at[np.argsort(pairs.new[at], kind="stable")]
            for start in range(0, order.size, _PAIRS):
                run = order[start : start + _PAIRS]
                self._count(run, self._missing_texts(run, pairs, same), pairs, same, criteria, counts=counts)
        shared, sizes, others = (column[:count] for column in counts)
        similarity = criteria.measure.similarity(shared, sizes, others)
        return Compared(similarity, shared, sizes + others - shared, sizes if criteria.measure.reports_sizes else None)

    def _count_some(self, at: I64, pairs: Pairs, same: Bools, criteria: Criteria, counts: "_Counts") -> int:
        """Fill in the counts of the first pairs, within the budget of characters; returns the next pair's index."""
        texts, start, room = pairs.asked.texts, 0, _CHARACTERS
        while start < at.size:
            run = at[start : start + _PAIRS]
            lengths = np.array([len(texts[row]) for row in pairs.new[run].tolist()])
            run = run[: affordable(lengths, room)]  # the old texts have about the same size, if they are similar
            missing = self._missing_texts(run, pairs, same)
            lengths = lengths[: run.size] + self._old_lengths(run, missing, pairs, same)
            kept = affordable(lengths, room)
            self._count(run[:kept], missing, pairs, same, criteria, counts=counts)
            start, room = start + kept, room - int(lengths[:kept].sum())
            if room <= 0:
                break
        return int(at[start]) if start < at.size else len(pairs)

    def _missing_texts(self, at: I64, pairs: Pairs, same: Bools) -> dict[int, str]:
        """The texts of old ends whose sets are needed and not in the cache, by ref; each is read once."""
        needed = at[~same[at]]
        rows = dict(zip(pairs.old_refs[needed].tolist(), pairs.old[needed].tolist(), strict=True))
        missing = [ref for ref in rows if ref not in self._sets]
        read = pairs.documents.texts(np.array([rows[ref] for ref in missing], np.int64)) if missing else ()
        return dict(zip(missing, read, strict=True))

    def _old_lengths(self, at: I64, missing: Mapping[int, str], pairs: Pairs, same: Bools) -> I64:
        """The length of the old text of each pair: of a cached set its shingles, 0 if it equals the new one."""
        lengths = np.zeros(at.size, np.int64)
        for place in np.flatnonzero(~same[at]).tolist():
            ref = int(pairs.old_refs[at[place]])
            lengths[place] = len(missing[ref]) if ref in missing else self._sets[ref].size
        return lengths

    def _count(
        self, at: I64, missing: Mapping[int, str], pairs: Pairs, same: Bools, criteria: Criteria, *, counts: "_Counts"
    ) -> None:
        """Fill in the counts of pairs whose sizes permit a match; fastest in the order of their new documents.

        Args:
            at: the pairs.
            missing: the texts of their old ends that are not in the cache.
            pairs: all pairs.
            same: which pairs are equal.
            criteria: of a match.
            counts: to be filled in.
        """
        asked, new = pairs.asked, pairs.new[at]
        alike = same[at]
        texts = {int(asked.refs[row]): asked.texts[row] for row in dict.fromkeys(new.tolist())}
        old_refs = pairs.old_refs[at].tolist()
        needed = [ref for ref, twin in zip(old_refs, alike.tolist(), strict=True) if not twin]
        made = self._get([*dict.fromkeys([*texts, *needed])], {**missing, **texts})
        ones = [made[ref] for ref in asked.refs[new].tolist()]
        others = [one if twin else made[ref] for one, ref, twin in zip(ones, old_refs, alike.tolist(), strict=True)]
        sizes, other_sizes = np.array([one.size for one in ones]), np.array([other.size for other in others])
        common = np.where(alike, sizes, 0)
        allowed = pairs.recheck[at] | criteria.measure.sizes_allow(sizes, other_sizes, criteria.threshold)
        left = np.flatnonzero(~alike & allowed)
        for run in np.split(left, np.flatnonzero(np.diff(new[left])) + 1) if left.size else ():
            common[run] = shared_counts(ones[run[0]], [others[row] for row in run.tolist()])
        counts.shared[at], counts.sizes[at], counts.others[at] = common, sizes, other_sizes

    def get(self, texts: Mapping[int, str]) -> dict[int, U64]:
        """The distinct shingles of versions, ascending, by ref; missing ones are computed together."""
        return self._get([*texts], texts)

    def _get(self, refs: Sequence[int], texts: Mapping[int, str]) -> dict[int, U64]:
        """The sets of versions, of which `texts` has those that are not in the cache."""
        cached = {ref: shingles for ref in refs if (shingles := self._sets.get(ref)) is not None}
        for ref in cached:
            self._sets.move_to_end(ref)
        missing = [ref for ref in refs if ref not in cached]
        for ref, made in zip(missing, self._scheme.shingle_sets([texts[ref] for ref in missing]), strict=True):
            cached[ref] = self._sets[ref] = made
            self._size += made.size + _SET_COST
        while self._size > self._limit and len(self._sets) > 1:
            self._size -= self._sets.popitem(last=False)[1].size + _SET_COST
        return cached

    def forget(self, ref: int) -> None:
        """Drop the set of a version from the cache."""
        dropped = self._sets.pop(ref, None)
        self._size -= 0 if dropped is None else dropped.size + _SET_COST

    def __len__(self) -> int:
        return len(self._sets)


class _Counts(NamedTuple):
    """For each pair the number of shared shingles, of those of the new end and of the old end; 0 if not compared."""

    shared: U32
    sizes: U32
    others: U32
