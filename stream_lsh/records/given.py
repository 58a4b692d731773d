"""The weights of levels, given that an equal value of another field predicts an equal value of this one.

If records of one postcode are of one town, an equal town is no further evidence beside an equal postcode.  Among other
pairs an equal value then has the probability `given_u` of the profile in place of u.  The remaining levels keep their
proportions, and m is at least as great for equal values, so the weight of a predicted value is between 0 and its own.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.records.compare.comparator import EQUAL
from stream_lsh.records.profile import Profile, comparison_names

_LEAST = 1e-9

Given = Sequence[tuple[int, Sequence[tuple[int, Sequence[float]]]]]
"""Comparisons that others predict, each with the comparisons that predict it, the surest first, and the weight of each
level in bits."""


def given_ratio(ratio: F64, u: F64, share: float) -> F64:
    """The ratio m / u of each level, given an equal value of another field.

    Args:
        ratio: m / u of each level without this condition.
        u: the probability of each level among other pairs, likewise.
        share: the probability of an equal value among other pairs, under this condition.

    Example:
        >>> m, u = np.array([0.9, 0.1]), np.array([0.01, 0.99])
        >>> np.log2(given_ratio(m / u, u, 0.8)).round(2).tolist(), np.log2(m / u).round(2).tolist()
        ([0.17, -1.0], [6.49, -3.31])
    """
    if share <= u[EQUAL]:
        return ratio
    m_equal = float(ratio[EQUAL] * u[EQUAL])
    equal = max(m_equal, share)
    rest = (1 - equal) / max(_LEAST, 1 - m_equal) * (1 - u[EQUAL]) / max(_LEAST, 1 - share)
    given: F64 = np.minimum(ratio * max(rest, _LEAST), equal / share)
    given[EQUAL] = equal / share
    return given


def given_bits(profile: Profile) -> Given:
    """The weights of the levels of a trained profile that equal values of other fields predict."""
    names = comparison_names(profile)
    found = []
    for at, one in enumerate(profile.comparisons):
        u = np.array(one.u)
        predictors = sorted(zip(one.given, one.given_u, strict=True), key=lambda each: -each[1])
        tables = [
            (names.index(name), np.log2(given_ratio(np.array(one.m) / u, u, share)).tolist())
            for name, share in predictors
        ]
        if tables:
            found.append((at, tables))
    return found
