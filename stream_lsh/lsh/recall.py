"""Recall of a banding from a sample of pairs: the observed share, and a confidence interval.

Recall is close to 1, where intervals based on the normal distribution are too narrow for small samples: one missed pair
of ten would prove to them that the recall is below 0.987.  The interval of Clopper and Pearson uses the binomial
distribution itself.  Its sums are incomplete beta functions, which also accept fractional sizes.

Pairs of one document depend on each other, so their effective number is smaller.  With n_i pairs of document i the
sample counts as (sum n_i)^2 / sum n_i^2 independent pairs, as if all pairs of a document were equal.  That is the worst
case: the interval is too wide rather than too narrow.

References: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, 1934;
Kish, Survey sampling, 1965, for the effective size of a sample; Korn and Graubard, Confidence intervals for proportions
with small expected number of positive counts estimated from survey data, 1998, for the two together.
"""

from typing import NamedTuple

from stream_lsh.errors import InvariantError
from stream_lsh.sketch.beta import incomplete_beta_at

CONFIDENCE = 0.99
"""The share of samples whose interval contains the true share."""

_HALVINGS = 40


class Recall(NamedTuple):
    """A share, and the bounds of its interval."""

    share: float
    low: float
    high: float


def effective_size(pairs: int, squares: int) -> float:
    """The effective number of independent pairs: the sum of n_i pairs a document, squared, by the sum of squares.

    Example:
        >>> effective_size(3, 1 + 1 + 1), effective_size(4, 2**2 + 2**2), effective_size(30, 30**2)
        (3.0, 2.0, 1.0)
    """
    return pairs * pairs / squares


def clopper_pearson(share: float, size: float, confidence: float = CONFIDENCE) -> Recall:
    """The interval of Clopper and Pearson for a share of `size` independent pairs.

    Args:
        share: the observed share, 0 to 1.
        size: of the sample, above 0; may be fractional.
        confidence: the probability that the interval contains the true share.

    Guarantees:
        conservative: for whole numbers of pairs the probability is at least `confidence`.  A share of 1 has a lower
        bound below 1.
    Cost:
        some 1 ms for a thousand pairs, some 3 ms for a million.

    Raises:
        InvariantError: no sample.

    Example:
        >>> [round(bound, 4) for bound in clopper_pearson(0.98, 1000)]
        [0.98, 0.9656, 0.9896]
        >>> [round(bound, 4) for bound in clopper_pearson(1.0, 10)], round(0.005 ** (1 / 10), 4)
        ([1.0, 0.5887, 1.0], 0.5887)
    """
    if size <= 0 or not 0 <= share <= 1:
        raise InvariantError(f"recall: got a share of {share} of {size} pairs, expected 0 to 1 of some")
    found, missed, tail = share * size, (1 - share) * size, (1 - confidence) / 2
    low = _quantile(tail, found, missed + 1, 0.0, share) if found else 0.0
    high = _quantile(1 - tail, found + 1, missed, share, 1.0) if missed else 1.0
    return Recall(share, low, high)


def _quantile(chance: float, a: float, b: float, low: float, high: float) -> float:
    """The quantile of Beta(a, b) for a probability, searched between two bounds."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if incomplete_beta_at(a, b, middle) < chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2
