"""Chooses bands and rows: the fewest false candidates among the bandings that reach the recall.

Every candidate is verified exactly, so a false one costs time and a missed one is a missed match.  Hence the recall is
the constraint and the number of false candidates is minimised.  `choose_by_areas` weighs both errors instead.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.scurve import areas, candidate_probability, false_negative_area, false_positive_area, half_point
from stream_lsh.lsh.spread import Similarities, Spread, unknown_spread
from stream_lsh.sketch.scheme import MOST_SLOTS

SLACK = 0.001
"""The accepted shortfall of the recall at the threshold if the slots do not suffice."""


@dataclass(frozen=True, slots=True)
class Banding:
    """Bands and rows, and their guarantees.

    Attributes:
        bands: number of bands.
        rows: slots in each.
        threshold: the least similarity of a match.
        recall: the requested recall at the threshold; without a request, the actual one.
        probability_at_threshold: that a pair at the threshold becomes a candidate; it is greater for more similar
            pairs.
        false_candidates: expected share of all pairs that are candidates below the threshold, for the given histogram.
        true_candidates: expected share of all pairs that are candidates at or above the threshold.
        matches: share of all pairs that are at or above the threshold, candidates or not.
    """

    bands: int
    rows: int
    threshold: float
    recall: float
    probability_at_threshold: float
    false_candidates: float
    true_candidates: float = 0.0
    matches: float = 0.0

    @property
    def slots_used(self) -> int:
        """Slots of a signature that the bands cover."""
        return self.bands * self.rows

    @property
    def half_point(self) -> float:
        """The similarity at which a pair is a candidate with a probability of one half."""
        return half_point(self.bands, self.rows)

    @property
    def false_negative_area(self) -> float:
        """The area above the curve from the threshold on."""
        return false_negative_area(self.threshold, self.bands, self.rows)

    @property
    def false_positive_area(self) -> float:
        """The area under the curve below the threshold."""
        return false_positive_area(self.threshold, self.bands, self.rows)

    @property
    def mean_recall(self) -> float | None:
        """The probability that a match becomes a candidate, over the matches of the histogram; None if it has none."""
        return self.true_candidates / self.matches if self.matches else None

    def probability_at(self, similarity: float) -> float:
        """The probability that a pair of this similarity becomes a candidate."""
        return candidate_probability(similarity, self.bands, self.rows)

    def candidates_per_document(self, documents: int) -> tuple[float, float]:
        """The mean number of candidates for each of `documents` documents: below the threshold, and from it on.

        The histogram is a sample of the collection; candidates of a document grow with the number of documents.  Each
        pair counts once, because it is compared once.  Caps are not taken into account.

        Example:
            >>> banding = choose_banding(0.8, histogram=np.array([99.0, 0, 0, 0, 1]))
            >>> [round(count, 2) for count in banding.candidates_per_document(1001)]
            [0.01, 5.0]
        """
        others = (documents - 1) / 2
        return self.false_candidates * others, self.true_candidates * others


def choose_banding(
    threshold: float,
    recall: float = 0.99,
    slots: int = 128,
    slack: float = SLACK,
    histogram: F64 | Spread | None = None,
    *,
    band_cost: float = 0.0,
) -> Banding:
    """The banding with the fewest false candidates among those that reach the recall at the threshold.

    For every number of rows it takes the fewest bands that reach the recall; if they do not fit, as many as fit, if
    these reach `recall - slack`.  So the slack never costs recall that the slots could provide.

    Args:
        threshold: the least similarity of a match, above 0 and below 1.
        recall: the required recall at the threshold, above 0 and below 1; over all matches it is greater.
        slots: length of a signature.
        slack: the accepted shortfall of the recall if the slots do not suffice: 0.001 admits (25, 5), which reaches
            .98995 with 125 slots, for T = .7 instead of (17, 4), and changes no other row of the table below.
        histogram: the number of pairs by similarity, in bins of equal width over 0 to 1, float64[m]; or by the number
            of agreeing slots, as estimated by `lsh.sample`; None for (1-s)^20, which assumes that most pairs share
            next to nothing.
        band_cost: the cost of one more band, as a share of all pairs that become candidates.

    Returns:
        of equal bandings that with the smallest area under its curve below the threshold: with a histogram of
        dissimilar pairs only, all bandings are equal, but more documents will have similar ones.

    Raises:
        ConfigError: no banding is feasible -> more slots, less recall or a higher threshold; the message has numbers.

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
    spread = _spread(histogram)
    feasible = _feasible(threshold, recall, slots, slack, spread)
    best = min(
        feasible,
        key=lambda banding: (banding.false_candidates + band_cost * banding.bands, banding.false_positive_area),
        default=None,
    )
    if best is None:
        raise ConfigError(_infeasible(threshold, recall, slots))
    return best


def alternatives(
    threshold: float,
    recall: float = 0.99,
    slots: int = 128,
    slack: float = SLACK,
    histogram: F64 | Spread | None = None,
) -> list[Banding]:
    """The options of `choose_banding`: for every number of rows the fewest bands that reach the recall.

    Args:
        threshold: as for `choose_banding`.
        recall: as for `choose_banding`.
        slots: as for `choose_banding`.
        slack: as for `choose_banding`; a greater one shows the options for a lower recall.
        histogram: as for `choose_banding`.

    Returns:
        by rows, ascending, with ever fewer false candidates; empty if no banding is feasible.

    Example:
        >>> [(one.bands, one.rows, round(one.probability_at_threshold, 3)) for one in alternatives(0.8)]
        [(3, 1, 0.992), (5, 2, 0.994), (7, 3, 0.993), (9, 4, 0.991), (12, 5, 0.991), (16, 6, 0.992)]
    """
    _check(threshold, recall, slots, slack)
    return list(_feasible(threshold, recall, slots, slack, _spread(histogram)))


def choose_by_areas(
    threshold: float,
    slots: int = 128,
    false_negative_weight: float = 0.5,
    false_positive_weight: float = 0.5,
    histogram: F64 | Spread | None = None,
) -> Banding:
    """The banding with the least weighted sum of the two error areas of its S-curve.

    It treats all similarities as equally frequent and guarantees no recall at the threshold.  This is usual if
    candidates are not verified, so that a false candidate is an error like a missed match.

    Args:
        threshold: above 0 and below 1.
        slots: length of a signature.
        false_negative_weight: of the area above the curve from the threshold on.
        false_positive_weight: of the area under the curve below it.
        histogram: as for `choose_banding`; it does not change the choice.

    Returns:
        of equal bandings that with the fewest bands.

    Raises:
        ConfigError: an invalid setting.

    Reference:
        Zhu, Nargesian, Pu and Miller 2016, LSH Ensemble: Internet-Scale Domain Search: tuning by the areas of false
        positives and false negatives.

    Example:
        >>> banding = choose_by_areas(0.8)
        >>> banding.bands, banding.rows, round(banding.probability_at_threshold, 3)  # of a match at 0.8
        (9, 13, 0.399)
        >>> banding = choose_by_areas(0.8, false_negative_weight=0.95, false_positive_weight=0.05)
        >>> banding.bands, banding.rows, round(banding.probability_at_threshold, 3)
        (16, 8, 0.947)
    """
    _check(threshold, 0.5, slots, 0.0)
    weights = {"false_negative_weight": false_negative_weight, "false_positive_weight": false_positive_weight}
    problems = [
        f"{name}: got {weight}, expected 0 or more" for name, weight in weights.items() if not 0 <= weight < math.inf
    ]
    if problems or not any(weights.values()):
        raise ConfigError(problems or "false_negative_weight, false_positive_weight: got 0 twice, expected one above 0")
    best = (math.inf, 1, 1)
    for rows in range(1, slots + 1):
        below, above = areas(threshold, slots // rows, rows)
        cost = false_negative_weight * above + false_positive_weight * below
        at = int(np.argmin(cost))
        best = min(best, (float(cost[at]), at + 1, rows))
    _, bands, rows = best
    return banding_of(threshold, bands, rows, histogram=histogram)


def banding_of(
    threshold: float, bands: int, rows: int, recall: float | None = None, histogram: F64 | Spread | None = None
) -> Banding:
    """The banding of `bands` bands with `rows` rows each, and its guarantees.

    Args:
        threshold: above 0 and below 1.
        bands: number of bands.
        rows: slots in each.
        recall: the requested recall; None: no request.
        histogram: as for `choose_banding`.

    Raises:
        ConfigError: an invalid setting.

    Example:
        >>> round(banding_of(0.8, 14, 9).probability_at_threshold, 3)
        0.867
    """
    if not 0 < threshold < 1 or bands < 1 or rows < 1:
        raise ConfigError(
            f"banding: got {bands} bands of {rows} rows for a threshold of {threshold}, expected at least 1 of each "
            "and a number above 0 and below 1"
        )
    reached = candidate_probability(threshold, bands, rows)
    shares = _spread(histogram).shares(threshold, bands, rows)
    return Banding(bands, rows, threshold, reached if recall is None else recall, reached, *shares)


def pinned(threshold: float, recall: float, slots: int, bands: int, rows: int) -> Banding:
    """The banding of given bands and rows, if it fits the slots and reaches the recall.

    Raises:
        ConfigError: it does not -> change the setting that the message names.

    Example:
        >>> round(pinned(0.8, 0.94, 128, 16, 8).probability_at_threshold, 4)
        0.947
        >>> pinned(0.8, 0.99, 128, 16, 8)
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: 16 bands of 8 rows find a pair of similarity 0.8 with probability 0.9470, not \
0.99: lower recall to 0.947, or take 26 bands
    """
    _check(threshold, recall, slots, SLACK)
    banding = banding_of(threshold, bands, rows, recall)
    if banding.slots_used > slots:
        raise ConfigError(
            f"{bands} bands of {rows} rows take {banding.slots_used} slots, and there are {slots}: raise slots, or "
            "take fewer"
        )
    reached = banding.probability_at_threshold
    if reached < recall - SLACK:
        needed = bands_needed(threshold, rows, recall)
        changes = [f"take {needed} bands" if needed * rows <= MOST_SLOTS else "take fewer rows"]
        if lower := math.floor(reached * 1000) / 1000:
            changes.insert(0, f"lower recall to {lower}")
        raise ConfigError(
            f"{bands} bands of {rows} rows find a pair of similarity {threshold:.4g} with probability {reached:.4f}, "
            f"not {recall}: {_either(changes)}"
        )
    return banding


def _feasible(threshold: float, recall: float, slots: int, slack: float, spread: Spread) -> Iterator[Banding]:
    """The bandings that reach the recall, by rows; for each number of rows that with the fewest bands."""
    for rows in range(1, slots + 1):
        bands = min(bands_needed(threshold, rows, recall), slots // rows)
        if candidate_probability(threshold, bands, rows) >= recall - slack - 1e-12:
            yield banding_of(threshold, bands, rows, recall, spread)


def _spread(histogram: F64 | Spread | None) -> Spread:
    if histogram is None:
        return unknown_spread()
    return Similarities(histogram) if isinstance(histogram, np.ndarray) else histogram


def bands_needed(threshold: float, rows: int, recall: float) -> int:
    """The fewest bands of `rows` rows that reach the recall at the threshold.

    Example:
        >>> bands_needed(0.8, 8, 0.95), bands_needed(0.8, 8, 0.99)
        (17, 26)
    """
    agree = threshold**rows
    if agree < 1e-300:
        return 1 << 62
    return max(1, math.ceil(math.log1p(-recall) / math.log1p(-agree) - 1e-9))


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
    """The message for slots that do not suffice even with bands of one row, which have the greatest recall."""
    reached = math.floor(candidate_probability(threshold, slots, 1) * 1000) / 1000
    lowest = math.ceil((1 - (1 - recall) ** (1 / slots)) * 1000) / 1000
    changes = [f"raise slots to {bands_needed(threshold, 1, recall)}"]
    if reached:
        changes.append(f"lower recall to {reached}")
    if lowest < 1:
        changes.append(f"raise the threshold to {lowest}")
    return (
        f"no banding of {slots} slots finds a pair of similarity {threshold:.4g} with probability {recall}: "
        f"{_either(changes)}"
    )


def _either(changes: Sequence[str]) -> str:
    *others, last = changes
    return ", ".join([*others, f"or {last}" if others else last])
