"""Pairs of versions by what is stored of them beside their texts: digests and signatures."""

from collections.abc import Callable

import numpy as np

from stream_lsh.arrays import U32, Bools
from stream_lsh.pipeline.compare import Criteria, Pairs
from stream_lsh.sketch.estimate import matching_slots

Worth = Callable[[U32, U32, Criteria], Bools]
"""Whether pairs are worth comparing, by the signatures of both ends: uint32[n, slots] each; bool[n]."""


def by_estimate(ours: U32, theirs: U32, criteria: Criteria) -> Bools:
    """Whether enough slots agree."""
    if criteria.least_matching <= 0:
        return np.ones(len(ours), np.bool_)
    return np.asarray(matching_slots(ours, theirs) >= criteria.least_matching)


class Stored:
    """What is stored of both ends of each pair beside their texts."""

    def __init__(self, pairs: Pairs) -> None:
        self._asked, self._new = pairs.asked, pairs.new
        self._old = pairs.documents.signatures(pairs.old)

    def identical(self) -> Bools:
        """Whether the two say the same: equal digests, and equal signatures as a second witness."""
        digests = self._asked.digests[self._new]
        same: Bools = (digests == self._old.digests) & (digests != 0)
        at = np.flatnonzero(same)
        if at.size:
            same[at] = (self._asked.signatures[self._new[at]] == self._old.values[at]).all(axis=1)
        return same

    def worth(self, worth: Worth, criteria: Criteria, asked: Bools) -> Bools:
        """Whether the signatures say that a pair is worth comparing, for the pairs asked for."""
        found = asked.copy()
        at = np.flatnonzero(asked)
        if at.size:
            found[at] = worth(self._asked.signatures[self._new[at]], self._old.values[at], criteria)
        return found
