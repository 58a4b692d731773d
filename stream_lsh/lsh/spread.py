"""The distribution of the similarities of a collection, and the number of candidates that a banding would produce.

The distribution is a histogram of similarities, or of the numbers of slots in which signatures agree.  The latter is
not a histogram of estimates: most pairs share next to nothing, and for those (estimate)^rows is on average several
times similarity^rows.  Instead, the number of candidates follows from the probability that bands, laid over the slots
at random, make a candidate of a pair that agrees in `a` slots.  Over the choice of hash functions this has no bias:

    E[ P(candidate | a agreeing slots) ] = 1 - (1 - s^rows)^bands        for a ~ Binomial(slots, s)
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from stream_lsh.arrays import F64, Bools
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.scurve import candidate_probability

_MOST_COUNTED = 1000
"""With more slots the estimate is as good as the similarity, and 2^slots overflows a float."""


class Shares(NamedTuple):
    """Shares of all pairs: candidates below a threshold, candidates from it on, all pairs from it on."""

    false_candidates: float
    true_candidates: float
    matches: float


class Spread(Protocol):
    """A distribution of the similarities of pairs."""

    def shares(self, threshold: float, bands: int, rows: int) -> Shares:
        """The expected shares of candidates with a banding."""


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """A histogram of similarities.

    Attributes:
        weights: the number of pairs by similarity, in bins of equal width over 0 to 1: float64[m].

    Raises:
        ConfigError: invalid counts.
    """

    weights: F64

    def __post_init__(self) -> None:
        _check(self.weights, "histogram")

    def shares(self, threshold: float, bands: int, rows: int) -> Shares:
        """The expected shares of candidates with a banding."""
        middles = (np.arange(self.weights.size) + 0.5) / self.weights.size
        probability = candidate_probability(middles, bands, rows)
        return _shares(self.weights / self.weights.sum(), middles >= threshold, probability)


@dataclass(frozen=True, slots=True, eq=False)
class Agreements:
    """The distribution of the number of slots in which the signatures of pairs agree.

    Attributes:
        pairs: the number of pairs that agree in 0, 1, ... all slots: float64[slots + 1]; estimates for a sample.
        documents: the number of documents of these pairs.

    Raises:
        ConfigError: invalid counts.

    Example:
        Two of three pairs agree in no slot, one in 4 of 8 slots:

        >>> seen = Agreements(np.array([2.0, 0, 0, 0, 1, 0, 0, 0, 0]), documents=3)
        >>> [round(share, 3) for share in seen.shares(0.5, bands=4, rows=2)]  # in C(8, 4) - 2^4 of C(8, 4) places
        [0.0, 0.257, 0.333]
    """

    pairs: F64
    documents: int

    def __post_init__(self) -> None:
        _check(self.pairs, "agreements")
        if self.documents < 2:
            raise ConfigError(f"agreements: got {self.documents} documents, expected two or more: there are no pairs")

    @property
    def slots(self) -> int:
        """The length of the signatures."""
        return self.pairs.size - 1

    @property
    def all_pairs(self) -> int:
        """The number of pairs of the documents: exact, unlike the sum of the estimates."""
        return self.documents * (self.documents - 1) // 2

    def shares(self, threshold: float, bands: int, rows: int) -> Shares:
        """The expected shares of candidates with a banding."""
        probability = agreeing_probability(self.slots, bands, rows)
        return _shares(self.pairs / self.all_pairs, self._reaches(threshold), probability)

    def _reaches(self, threshold: float) -> Bools:
        return np.arange(self.pairs.size) >= threshold * self.slots - 1e-9


def agreeing_probability(slots: int, bands: int, rows: int) -> F64:
    """The probability that a pair becomes a candidate, by the number of slots in which it agrees: float64[slots + 1].

    It counts the placements of `a` agreeing slots that fill no band: the coefficient of x^a in
    ((1 + x)^rows - x^rows)^bands (1 + x)^(slots - bands * rows).  Every term is positive, so nothing cancels.

    Args:
        slots: the length of the signatures.
        bands: number of bands.
        rows: slots in each; `bands * rows` are at most `slots`.

    Raises:
        ConfigError: the banding needs more slots than there are.

    Example:
        >>> agreeing_probability(4, bands=2, rows=2).round(3).tolist()
        [0.0, 0.0, 0.333, 1.0, 1.0]
    """
    if bands * rows > slots:
        raise ConfigError(f"banding: got {bands} bands of {rows} rows, expected at most the {slots} slots there are")
    if slots > _MOST_COUNTED:
        return candidate_probability(np.arange(slots + 1) / slots, bands, rows)
    not_full = _halves(rows)
    not_full[-1] = 0.0
    missed = np.convolve(_power(not_full, bands), _halves(slots - bands * rows)) / _halves(slots)
    probability: F64 = np.clip(1.0 - missed, 0.0, 1.0)
    probability[:rows] = 0.0
    return probability


def _halves(size: int) -> F64:
    """The coefficients of ((1 + x) / 2)^size."""
    return np.array([math.comb(size, k) / 2**size for k in range(size + 1)])


def _power(polynomial: F64, exponent: int) -> F64:
    result = np.ones(1)
    while exponent:
        if exponent & 1:
            result = np.convolve(result, polynomial)
        exponent >>= 1
        if exponent:
            polynomial = np.convolve(polynomial, polynomial)
    return result


@functools.cache
def unknown_spread() -> Similarities:
    """The default distribution without data: (1 - s)^20, in which most pairs share next to nothing."""
    bins = 1000
    return Similarities((1 - (np.arange(bins) + 0.5) / bins) ** 20)


def _shares(share: F64, match: Bools, probability: F64) -> Shares:
    shares = share * probability
    return Shares(float(shares[~match].sum()), float(shares[match].sum()), float(share[match].sum()))


def _check(counts: F64, name: str) -> None:
    total = float(counts.sum()) if counts.ndim == 1 and counts.size else 0.0
    if not (math.isfinite(total) and total > 0 and counts.min() >= 0):
        raise ConfigError(f"{name}: expected one or more counts of pairs, none negative, not all 0")
