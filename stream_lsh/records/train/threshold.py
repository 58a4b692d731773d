"""Proposes the least probability at which matches do not chain different entities together."""

import numpy as np

from stream_lsh.arrays import F64, I64

STEPS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""The thresholds to choose from."""
MOST_IMPLIED = 1.5
"""Connected records imply at most this many times the expected number of matches."""


def threshold_without_chains(
    pairs: tuple[I64, I64], probability: F64, records: int, expected: float, least: float
) -> float:
    """The first of STEPS, from `least` on, at which the components imply few more pairs than are expected.

    A component of n records implies n (n - 1) / 2 matches.  If wrong matches chain entities together, this number is
    far above the number of matches that the probabilities add up to.

    Args:
        pairs: rows of both records of each candidate, int64[n] twice.
        probability: of a match, float64[n].
        records: their number.
        expected: the expected number of matches.
        least: the threshold of the profile, which is never lowered.

    Cost:
        linear in the pairs, for each step.

    Example:
        Two groups of three, and a doubtful pair between them:

        >>> left, right = np.array([0, 0, 1, 3, 3, 4, 2]), np.array([1, 2, 2, 4, 5, 5, 3])
        >>> probability = np.array([0.99] * 6 + [0.6])
        >>> threshold_without_chains((left, right), probability, 6, 6.5, 0.5)
        0.7
    """
    for step in (least, *(step for step in STEPS if step > least)):
        chosen = np.flatnonzero(probability >= step)
        sizes = np.bincount(_labels(pairs[0][chosen], pairs[1][chosen], records)).astype(np.float64)
        if (sizes * (sizes - 1) / 2).sum() <= MOST_IMPLIED * max(expected, 1.0):
            return step
    return max(least, STEPS[-1])


def _labels(left: I64, right: I64, records: int) -> I64:
    """The lowest row of the component of each record, by label propagation with pointer jumping."""
    labels = np.arange(records)
    while True:
        low = np.minimum(labels[left], labels[right])
        before = labels.copy()
        np.minimum.at(labels, labels[left], low)
        np.minimum.at(labels, labels[right], low)
        while not np.array_equal(above := labels[labels], labels):
            labels = above
        if np.array_equal(labels, before):
            return labels
