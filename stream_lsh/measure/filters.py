"""Cheap necessary conditions for a Jaccard similarity, checked before the exact comparison of two sets.

    length      sizes_allow, least_shared, most_members
    prefix      prefix_lengths
    position    position_allows
    suffix      suffix_allows
    signatures  least_matching_slots

The joins in memory, the buckets of the method `exact` and the comparers use them.
"""

import math

import numpy as np

from stream_lsh.arrays import I64, U32, Bools

_MANY = 1 << 52
"""More members than any set has, and exact in a float64 quotient."""


def sizes_allow(left: U32 | I64, right: U32 | I64, threshold: float) -> Bools:
    """Whether pairs of sets of these sizes can reach the threshold, as J <= min / max: bool[n].

    Guarantees:
        exact: every pair that reaches the threshold passes, because all quotients are rounded in the same way.

    Example:
        >>> sizes_allow(np.array([8, 7, 0]), np.array([10, 10, 0]), 0.8).tolist()
        [True, False, False]
    """
    least, greatest = np.minimum(left, right), np.maximum(left, right)
    return np.asarray((least > 0) & (least / np.maximum(greatest, 1) >= threshold))


def least_shared(sizes: I64, threshold: float) -> I64:
    """The least number of members that a set of each size shares with any match: int64[n].

    At best both share all of the other set, so with c shared members and a size of L, J <= c / L.  The same numbers are
    the least possible sizes of the other set.

    Args:
        sizes: int64[n], below 2^40.
        threshold: of the similarity, above 0 and at most 1.

    Guarantees:
        exact: the least c for which the quotient c / L, rounded like a similarity, reaches the threshold.

    Example:
        >>> least_shared(np.array([6, 5, 4, 10, 0]), 0.8).tolist()
        [5, 4, 4, 8, 0]
    """
    divisors = np.maximum(sizes, 1)
    # The product is off by one at most, and the quotients decide.
    least = np.ceil(threshold * sizes).astype(np.int64)
    least -= (least - 1) / divisors >= threshold
    least += least / divisors < threshold
    return np.where(sizes > 0, least, 0)


def most_members(sizes: I64, threshold: float) -> I64:
    """The greatest size of a match of a set of each size: int64[n].

    Args and guarantees as for `least_shared`.

    Example:
        >>> most_members(np.array([8, 9, 0]), 0.8).tolist()
        [10, 11, 0]
    """
    most = np.maximum(np.minimum(sizes / threshold, _MANY).astype(np.int64), 1)
    most -= sizes / most < threshold
    most += sizes / (most + 1) >= threshold
    return np.where(sizes > 0, most, 0)


def prefix_lengths(sizes: I64, threshold: float) -> I64:
    """The length of the prefix of a set of each size that shares a member with the prefix of every match: int64[n].

    All members are in one fixed order.  A match shares at least c of the L members, so the members after the first
    L - c + 1 are too few, and the first common member is in the prefixes of both sets.  In terms of the distance
    J = 1 - threshold the length is floor(J L) + 1.

    Args and guarantees as for `least_shared`.

    Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.4.

    Example:
        >>> prefix_lengths(np.array([6, 5, 4, 10, 0]), 0.8).tolist()
        [2, 2, 1, 3, 0]
    """
    return np.where(sizes > 0, sizes - least_shared(sizes, threshold) + 1, 0)


def position_allows(sizes: I64, before: I64, others_before: I64, threshold: float) -> Bools:
    """Whether a shared member is early enough in both sets to be the first common member of a match: bool[n].

    All members are in one fixed order.  If member i of a set of size L is member j of the other set and the first that
    they share, at most C = L - i + 1 members are shared, and at least E = i + j - 2 are not.  The similarity is
    C / (C + E) at most, so a distance of J or less needs j <= (J L - J - i + 2) / (1 - J).  A member that is not the
    first shared one only gives a lower bound, so a match passes by its first one.

    Args:
        sizes: L, int64[n].
        before: members of that set before the shared one, i - 1.
        others_before: members of the other set before it, j - 1.
        threshold: of the similarity, above 0 and at most 1.

    Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.5.

    Example:
        >>> position_allows(np.array([9, 9]), np.array([1, 1]), np.array([0, 1]), 0.8).tolist()
        [True, True]
    """
    # C + E = L + j - 1; the quotients round as similarities.
    return np.asarray((sizes - before) / (sizes + others_before) >= threshold)


def suffix_allows(sizes: I64, other_sizes: I64, before: I64, others_before: I64, threshold: float) -> Bools:
    """Whether enough members follow a shared one in both sets for it to be the first common member of a match: bool[n].

    With p and q members after it, at most C = min(p, q) + 1 members are shared, and at least E = i + j - 2 + |p - q|
    are not: the bound C / (C + E) is never above that of `position_allows`, because C is no greater and E no less here.

    Args:
        sizes: of the sets, int64[n].
        other_sizes: of the other sets.
        before: members before the shared one, as for `position_allows`.
        others_before: likewise, for the other sets.
        threshold: of the similarity, above 0 and at most 1.

    Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.6.

    Example:
        >>> suffix_allows(np.array([9, 9]), np.array([8, 6]), np.array([0, 0]), np.array([0, 0]), 0.8).tolist()
        [True, False]
    """
    # C + E is the size of the union when C members are shared.
    most = np.minimum(sizes - before, other_sizes - others_before)
    return np.asarray(most / (sizes + other_sizes - most) >= threshold)


def least_matching_slots(threshold: float, slots: int, missed: float = 1e-4) -> int:
    """The least number of agreeing slots at which a pair is compared exactly.

    Args:
        threshold: of the similarity, above 0 and at most 1.
        slots: the number of compared slots.
        missed: the greatest probability of excluding a pair at the threshold.

    Returns:
        the greatest number m for which a pair at the threshold agrees in fewer than m slots with a probability of at
        most `missed`, for independent slots.
    Guarantees:
        probabilistic: more similar pairs are excluded more rarely, and so are pairs whose slots are drawn without
        replacement, such as those of the default scheme for small sets.

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
