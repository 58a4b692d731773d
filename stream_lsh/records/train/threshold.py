"""Proposes the least probability at which entities are divided at low cost.

Connected records are divided into entities by the mean evidence between groups (`ledger.clusters.guards.mean`), which
removes the chains that wrong matches cause.  So a chain does not reduce the quality of entities, but each new record
divides all connected records again, and a chain through most of a file makes that expensive.
"""

import numpy as np

from stream_lsh.arrays import F64, I64

STEPS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""The thresholds to choose from."""
MOST_IMPLIED = 1.5
"""Connected records that imply more than this many times the expected number of matches are chained."""
MOST_DIVIDED = 1_000.0
"""A record is connected with at most this many pairs on average, if chained: they take some 5 ms to divide."""


def threshold_without_chains(
    pairs: tuple[I64, I64], probability: F64, records: int, expected: float, least: float
) -> float:
    """The first of STEPS, from `least` on, at which no long chains connect records.

    A component of n records implies n (n - 1) / 2 matches.  If wrong matches chain entities together, this number is
    far above the number of matches that the probabilities add up to.  Short chains are harmless, and large components
    without chains are large entities, so only long chains raise the threshold.

    Args:
        pairs: rows of both records of each candidate, int64[n] twice.
        probability: of a match, float64[n].
        records: their number.
        expected: the expected number of matches.
        least: the threshold of the profile, which is never lowered.

    Cost:
        linear in the pairs, for each step.

    Example:
        Two groups of three, and a doubtful pair between them, which mean evidence ignores:

        >>> left, right = np.array([0, 0, 1, 3, 3, 4, 2]), np.array([1, 2, 2, 4, 5, 5, 3])
        >>> probability = np.array([0.99] * 6 + [0.6])
        >>> threshold_without_chains((left, right), probability, 6, 6.5, 0.5)
        0.5

        A thousand such groups in one chain:

        >>> groups = 3 * np.arange(1000)[:, None]
        >>> left, right = (groups + [0, 0, 1, 2]).ravel()[:-1], (groups + [1, 2, 2, 3]).ravel()[:-1]
        >>> probability = np.tile([0.99, 0.99, 0.99, 0.6], 1000)[:-1]
        >>> threshold_without_chains((left, right), probability, 3000, 3600.0, 0.5)
        0.7
    """
    for step in (least, *(step for step in STEPS if step > least)):
        chosen = np.flatnonzero(probability >= step)
        labels = _labels(pairs[0][chosen], pairs[1][chosen], records)
        sizes = np.bincount(labels, minlength=records).astype(np.float64)
        connected = np.bincount(labels[pairs[0][chosen]], minlength=records)
        implied = (sizes * (sizes - 1) / 2).sum()
        if implied <= MOST_IMPLIED * max(expected, 1.0) or (sizes * connected).sum() <= MOST_DIVIDED * records:
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
