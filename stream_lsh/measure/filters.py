"""Cheap conditions that a pair must meet before its sets are compared exactly: here in terms of Jaccard similarity."""

import math

import numpy as np

from stream_lsh.arrays import I64, U32, Bools


def sizes_allow(left: U32 | I64, right: U32 | I64, threshold: float) -> Bools:
    """Whether pairs of sets of these sizes can reach the threshold, as J <= min / max: bool[n].

    Guarantees:
        exact: no pair that reaches the threshold is refused, rounding included, as the quotients are rounded alike.

    Example:
        >>> sizes_allow(np.array([8, 7, 0]), np.array([10, 10, 0]), 0.8).tolist()
        [True, False, False]
    """
    least, greatest = np.minimum(left, right), np.maximum(left, right)
    return np.asarray((least > 0) & (least / np.maximum(greatest, 1) >= threshold))


def least_matching_slots(threshold: float, slots: int, missed: float = 1e-4) -> int:
    """In how many slots the signatures of a pair must agree for its exact comparison to be worth while.

    Args:
        threshold: exact cut, above 0 and at most 1.
        slots: compared.
        missed: greatest probability with which a pair at the threshold may be refused.

    Returns:
        the greatest number m for which a pair at the threshold agrees in fewer than m slots with a probability of at
        most `missed`, the slots taken as independent.
    Guarantees:
        probabilistic: more similar pairs are refused more rarely, and so are pairs whose slots are drawn without
        replacement, as those of the default scheme are for small sets.

    Example:
        >>> least_matching_slots(0.8, 128), least_matching_slots(0.5, 128), least_matching_slots(1.0, 128)
        (84, 43, 128)
    """
    if threshold >= 1:
        return slots
    ways, odds = math.lgamma(slots + 1), math.log(threshold) - math.log1p(-threshold)
    fewer = 0.0
    for agreeing in range(slots + 1):
        log_chance = ways - math.lgamma(agreeing + 1) - math.lgamma(slots - agreeing + 1)
        fewer += math.exp(log_chance + agreeing * odds + slots * math.log1p(-threshold))
        if fewer > missed:
            return agreeing
    return slots
