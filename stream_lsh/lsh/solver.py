"""Which bands and rows to take: the fewest false candidates among those that find the matches.

Every candidate is verified exactly, so a false one costs time and a missed one is a missed match.  Hence the recall
is the condition and the false candidates are what is minimised.
"""

import math
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.scurve import candidate_probability, half_point

_BINS = 1000


@dataclass(frozen=True, slots=True)
class Banding:
    """Bands and rows, and what they promise.

    Attributes:
        bands: number of bands.
        rows: slots in each.
        threshold: the least similarity of a match.
        recall: what was asked for, at the threshold.
        probability_at_threshold: that a pair at the threshold becomes a candidate; more similar pairs have a greater
            one.
        false_candidates: expected share of all pairs that become candidates below the threshold, for the histogram
            given.
    """

    bands: int
    rows: int
    threshold: float
    recall: float
    probability_at_threshold: float
    false_candidates: float

    @property
    def slots_used(self) -> int:
        """Slots of a signature that the bands cover."""
        return self.bands * self.rows

    @property
    def half_point(self) -> float:
        """The similarity at which a pair is a candidate with a probability of one half."""
        return half_point(self.bands, self.rows)

    def probability_at(self, similarity: float) -> float:
        """The probability that a pair of this similarity becomes a candidate."""
        return candidate_probability(similarity, self.bands, self.rows)


def choose_banding(
    threshold: float,
    recall: float = 0.99,
    slots: int = 128,
    slack: float = 0.001,
    histogram: F64 | None = None,
    *,
    band_cost: float = 0.0,
) -> Banding:
    """The banding with the fewest false candidates among those that find a pair at the threshold often enough.

    For every number of rows the fewest bands that reach the recall are taken; where they do not fit, as many as fit, if
    these reach `recall - slack`.  So the slack never costs recall that the slots could have given.

    Args:
        threshold: the least similarity of a match, above 0 and below 1.
        recall: asked for at the threshold, above 0 and below 1; over all matches it is greater.
        slots: length of a signature.
        slack: by how much the recall may be missed where the slots do not suffice: 0.001 lets (25, 5), which reaches
            .98995 with 125 slots, be chosen for T = .7 instead of (17, 4), and changes no other row of the table
            below.
        histogram: how many pairs have which similarity, in bins of equal width over 0 to 1, float64[m], such as the
            estimates of some hundred sampled signatures; None for (1-s)^20, where most pairs share next to nothing.
        band_cost: what one more band costs, in shares of all pairs that become candidates.

    Raises:
        ConfigError: nothing is feasible -> more slots, less recall or a higher threshold, as the message says.

    Example:
        T =            .3       .5       .6       .7       .8       .9
        slots = 128  (49, 2)  (35, 3)  (19, 3)  (25, 5)  (16, 6)  (11, 10)
        slots = 256  (49, 2)  (35, 3)  (34, 4)  (37, 6)  (26, 8)  (18, 14)

        >>> banding = choose_banding(0.8)
        >>> banding.bands, banding.rows, round(banding.probability_at_threshold, 4)
        (16, 6, 0.9923)
        >>> choose_banding(0.7, slack=0.0).slots_used, choose_banding(0.7).slots_used
        (68, 125)
    """
    _check(threshold, recall, slots, slack)
    similarities, weights = _background() if histogram is None else _checked_histogram(histogram)
    below = np.where(similarities < threshold, weights, 0.0)
    best: tuple[float, Banding] | None = None
    for rows in range(1, slots + 1):
        bands = min(_bands_needed(threshold, rows, recall), slots // rows)
        reached = candidate_probability(threshold, bands, rows)
        if reached < recall - slack - 1e-12:
            continue
        false_candidates = float((below * candidate_probability(similarities, bands, rows)).sum())
        cost = false_candidates + band_cost * bands
        if best is None or cost < best[0]:
            best = cost, Banding(bands, rows, threshold, recall, reached, false_candidates)
    if best is None:
        raise ConfigError(_infeasible(threshold, recall, slots))
    return best[1]


def _bands_needed(threshold: float, rows: int, recall: float) -> int:
    """The fewest bands that reach the recall at the threshold."""
    agree = threshold**rows
    if agree < 1e-300:
        return 1 << 62
    return max(1, math.ceil(math.log1p(-recall) / math.log1p(-agree) - 1e-9))


def _background() -> tuple[F64, F64]:
    """The middles of the bins, and the shares of pairs in them where nothing is known."""
    similarities = (np.arange(_BINS) + 0.5) / _BINS
    weights = (1 - similarities) ** 20
    return similarities, weights / weights.sum()


def _checked_histogram(histogram: F64) -> tuple[F64, F64]:
    total = float(histogram.sum()) if histogram.ndim == 1 and histogram.size else 0.0
    if not (math.isfinite(total) and total > 0 and histogram.min() >= 0):
        raise ConfigError("histogram: expected one or more counts of pairs, none negative, not all 0")
    return (np.arange(histogram.size) + 0.5) / histogram.size, histogram / total


def _check(threshold: float, recall: float, slots: int, slack: float) -> None:
    problems = [
        f"{name}: got {value}, expected a number above 0 and below 1"
        for name, value in (("threshold", threshold), ("recall", recall))
        if not 0 < value < 1
    ]
    if slots < 1:
        problems.append(f"slots: got {slots}, expected at least 1")
    if not 0 <= slack < 1:
        problems.append(f"slack: got {slack}, expected a number from 0 on, below 1")
    if problems:
        raise ConfigError(problems)


def _infeasible(threshold: float, recall: float, slots: int) -> str:
    """What to change where even bands of one row do not suffice; they are the ones that find most."""
    reached = candidate_probability(threshold, slots, 1)
    lowest = 1 - (1 - recall) ** (1 / slots)
    return (
        f"no banding of {slots} slots finds a pair of similarity {threshold:.4g} with probability {recall}: raise "
        f"slots to {_bands_needed(threshold, 1, recall)}, lower recall to {math.floor(reached * 1000) / 1000}, "
        f"or raise the threshold to {math.ceil(lowest * 1000) / 1000}"
    )
