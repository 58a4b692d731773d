"""Reliability of probabilities: how many pairs of each probability match, as expected and as observed.

Reference: Niculescu-Mizil and Caruana, Predicting good probabilities with supervised learning, 2005.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64

EDGES = (0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)
"""The lower edges of the bins; the last one ends at 1."""
UNKNOWN = -1
"""The label of a pair that has none."""


class Bin(NamedTuple):
    """The pairs with a probability in a range.

    Attributes:
        low: the least probability.
        high: the end of the range; 1 belongs to the last bin.
        pairs: their number.
        expected: the sum of their probabilities.
        labelled: the number of pairs with a label.
        true: the number of pairs that are labelled as matches.
    """

    low: float
    high: float
    pairs: int
    expected: float
    labelled: int
    true: int

    @property
    def mean(self) -> float:
        """The mean probability; 0 without pairs."""
        return self.expected / self.pairs if self.pairs else 0.0

    @property
    def observed(self) -> float | None:
        """The share of matches among the labelled pairs; None without labels."""
        return self.true / self.labelled if self.labelled else None


def reliability(probability: F64, labels: I64, edges: Sequence[float] = EDGES) -> list[Bin]:
    """The bins of some pairs, ascending.

    Args:
        probability: of a match of each pair, float64[n].
        labels: 1 for a match, 0 for a non-match, UNKNOWN without a label, int64[n].
        edges: the lower edges of the bins, ascending from 0.

    Example:
        >>> found = reliability(np.array([0.2, 0.97, 0.96, 1]), np.array([-1, 1, 0, 1]), (0, 0.5, 0.95))
        >>> [(one.low, one.pairs, one.labelled, one.true) for one in found]
        [(0, 1, 0, 0), (0.5, 0, 0, 0), (0.95, 3, 3, 2)]
        >>> round(found[2].mean, 3), found[2].observed, found[0].observed
        (0.977, 0.6666666666666666, None)
    """
    places = np.searchsorted(np.array(edges), probability, side="right") - 1
    counted = [
        np.bincount(places, weights, len(edges))
        for weights in (np.ones(places.size), probability, labels != UNKNOWN, labels == 1)
    ]
    ends = (*edges[1:], 1.0)
    return [
        Bin(low, high, int(pairs), float(expected), int(labelled), int(true))
        for low, high, pairs, expected, labelled, true in zip(edges, ends, *counted, strict=True)
    ]
