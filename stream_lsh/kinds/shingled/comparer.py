"""Compares pairs of texts: filters them by their stored signatures, then compares their sets of shingles."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat
from typing import NamedTuple, Protocol

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.measure.set_memory import SetMemory
from stream_lsh.model import NO_REF
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
_PAIRS = 1_024
"""Pairs that are compared together."""
_CHARACTERS = 1 << 22
"""The characters of all pairs that are compared together, and of all pairs in a bounded comparison."""


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
        self._sets = SetMemory(limit)

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
        at = np.flatnonzero(wanted)
        if not bounded:  # a bounded comparison compares the first pairs
            at = at[np.argsort(pairs.new[at], kind="stable")]
        done = self._count_all(at, pairs, same, criteria, counts, budget=_CHARACTERS if bounded else None)
        count = int(at[done]) if done < at.size else len(pairs)
        shared, sizes, others = (column[:count] for column in counts)
        similarity = criteria.measure.similarity(shared, sizes, others)
        return Compared(similarity, shared, sizes + others - shared, sizes if criteria.measure.reports_sizes else None)

    def _count_all(
        self, at: I64, pairs: Pairs, same: Bools, criteria: Criteria, counts: "_Counts", *, budget: int | None
    ) -> int:
        """Fill in the counts of the first pairs, within the budget of characters; returns their number."""
        start, spent = 0, 0
        of_texts = np.array([len(text) for text in pairs.asked.texts], np.int64)
        while start < at.size and (budget is None or spent < budget):
            room = _CHARACTERS if budget is None else budget - spent
            run = at[start : start + _PAIRS]
            # The old texts have about the same size, if they are similar.
            run = run[: affordable(of_texts[pairs.new[run]], room)]
            missing = self._missing_texts(run, pairs, same)
            lengths = of_texts[pairs.new[run]] + self._old_lengths(run, missing, pairs, same)
            kept = affordable(lengths, room)
            self._count(run[:kept], missing, pairs, same, criteria, counts=counts)
            start, spent = start + kept, spent + int(lengths[:kept].sum())
        return start

    def _missing_texts(self, at: I64, pairs: Pairs, same: Bools) -> dict[int, str]:
        """The texts of old ends whose sets are needed and not in the cache, by ref; each is read once."""
        needed = at[~same[at]]
        rows = dict(zip(pairs.old_refs[needed].tolist(), pairs.old[needed].tolist(), strict=True))
        missing = [ref for ref in rows if ref not in self._sets]
        read = pairs.documents.texts(np.array([rows[ref] for ref in missing], np.int64)) if missing else ()
        return dict(zip(missing, read, strict=True))

    def _old_lengths(self, at: I64, missing: Mapping[int, str], pairs: Pairs, same: Bools) -> I64:
        """The length of the old text of each pair if it was read, else 0."""
        if not missing:
            return np.zeros(at.size, np.int64)
        lengths = {ref: len(text) for ref, text in missing.items()}
        return np.fromiter(map(lengths.get, pairs.old_refs[at].tolist(), repeat(0)), np.int64, at.size)

    def _count(
        self, at: I64, missing: Mapping[int, str], pairs: Pairs, same: Bools, criteria: Criteria, *, counts: "_Counts"
    ) -> None:
        """Fill in the counts of pairs whose sizes permit a match.

        Args:
            at: the pairs.
            missing: the texts of their old ends that are not in the cache.
            pairs: all pairs.
            same: which pairs are equal.
            criteria: of a match.
            counts: to be filled in.
        """
        asked, sets = pairs.asked, self._sets
        at = at[np.argsort(pairs.new[at], kind="stable")]
        new, old, alike = pairs.new[at], pairs.old_refs[at], same[at]
        refs, olds = asked.refs[new], old.tolist()
        texts = {**missing, **{int(asked.refs[row]): asked.texts[row] for row in dict.fromkeys(new.tolist())}}
        wanted = [ref for ref in texts if ref not in sets]
        made = dict(zip(wanted, self._scheme.shingle_sets([texts[ref] for ref in wanted]), strict=True))
        twin = alike.tolist()
        cuts = [0, *(np.flatnonzero(new[1:] != new[:-1]) + 1).tolist(), new.size]
        for start, stop in pairwise(cuts):
            others = olds[start:stop]
            if any(twin[start:stop]):
                others = [ref for ref, is_twin in zip(others, twin[start:stop], strict=True) if not is_twin]
            one = int(refs[start])
            sets.hold(one, others, made, joins=one != NO_REF)
        firsts = np.array(cuts[:-1])
        sizes = np.repeat(sets.sizes(refs[firsts].tolist()), np.diff(cuts))
        other_sizes, different = sizes.copy(), np.flatnonzero(~alike)
        other_sizes[different] = sets.sizes(old[different].tolist())
        common = np.where(alike, sizes, 0)
        allowed = pairs.recheck[at] | criteria.measure.sizes_allow(sizes, other_sizes, criteria.threshold)
        left = np.flatnonzero(~alike & allowed)
        common[left] = sets.shared(refs[left], old[left])
        counts.shared[at], counts.sizes[at], counts.others[at] = common, sizes, other_sizes
        sets.trim()

    def forget(self, ref: int) -> None:
        """Drop the set of a version from the cache."""
        self._sets.forget(ref)

    def __len__(self) -> int:
        return len(self._sets)


class _Counts(NamedTuple):
    """For each pair the number of shared shingles, of those of the new end and of the old end; 0 if not compared."""

    shared: U32
    sizes: U32
    others: U32
