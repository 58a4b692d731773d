"""The S-curve: the probability that a pair of a given similarity becomes a candidate.

    P(s) = 1 - (1 - s^rows)^bands

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.4.2.  The default scheme is better than
the formula: it finds more pairs above the step, and fewer below.
"""

import functools
from typing import overload

import numpy as np

from stream_lsh.arrays import F64


@overload
def candidate_probability(similarity: float, bands: int, rows: int) -> float: ...
@overload
def candidate_probability(similarity: F64, bands: int, rows: int) -> F64: ...
def candidate_probability(similarity: float | F64, bands: int, rows: int) -> float | F64:
    """The probability that two documents agree in all rows of at least one band.

    Args:
        similarity: Jaccard similarity, 0 to 1; a number or float64[n].
        bands: number of bands.
        rows: slots in each.

    Example:
        >>> [round(candidate_probability(s, bands=20, rows=5), 5) for s in (0.8, 0.75, 0.5, 0.2)]
        [0.99964, 0.99556, 0.47005, 0.00638]
    """
    agree = np.asarray(similarity, np.float64) ** rows
    with np.errstate(divide="ignore"):  # -inf is the correct logarithm of 0 at similarity 1
        probability = -np.expm1(bands * np.log1p(-agree))
    return probability if isinstance(similarity, np.ndarray) else float(probability)


def scurve_threshold(bands: int, rows: int) -> float:
    """The approximate similarity of the steepest point of the curve: (1/bands)^(1/rows).

    Example:
        >>> round(scurve_threshold(20, 5), 3), round(scurve_threshold(14, 9), 3)
        (0.549, 0.746)
    """
    return float((1 / bands) ** (1 / rows))


def half_point(bands: int, rows: int) -> float:
    """The similarity at which a pair becomes a candidate with a probability of one half.

    Example:
        >>> round(half_point(20, 5), 3)
        0.509
    """
    return float((1 - 0.5 ** (1 / bands)) ** (1 / rows))


def false_positive_area(threshold: float, bands: int, rows: int) -> float:
    """The area under the curve below the threshold: candidates that will not match.

    Example:
        >>> round(false_positive_area(0.8, bands=20, rows=5), 3)
        0.299
    """
    return _area(0.0, threshold, bands, rows)


def false_negative_area(threshold: float, bands: int, rows: int) -> float:
    """The area above the curve from the threshold on: matches that are missed.

    Example:
        >>> false_negative_area(0.8, bands=20, rows=5) < 0.0001
        True
    """
    return max(0.0, (1.0 - threshold) - _area(threshold, 1.0, bands, rows))


def areas(threshold: float, most_bands: int, rows: int) -> tuple[F64, F64]:
    """Both areas for 1, 2, ... `most_bands` bands: of false positives, of false negatives, float64[n] each."""
    places, weights = _nodes()
    values = []
    for start, stop in ((0.0, threshold), (threshold, 1.0)):
        half = (stop - start) / 2
        # the log probability that one band misses a pair; for n bands it is n times as great
        missed = np.log1p(-((start + half * (places + 1)) ** rows))
        values.append(half * (np.exp(np.multiply.outer(np.arange(1, most_bands + 1), missed)) @ weights))
    return threshold - values[0], values[1]


def _area(start: float, stop: float, bands: int, rows: int) -> float:
    """The integral of the curve; exact up to rounding for bands * rows < 256, because the curve is a polynomial."""
    places, weights = _nodes()
    half = (stop - start) / 2
    return float(half * (weights * candidate_probability(start + half * (places + 1), bands, rows)).sum())


@functools.cache
def _nodes() -> tuple[F64, F64]:
    """Places and weights of Gauss and Legendre on -1 to 1."""
    places, weights = np.polynomial.legendre.leggauss(128)
    return np.asarray(places, np.float64), np.asarray(weights, np.float64)
