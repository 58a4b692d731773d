"""Pairs that agree in all their known fields, and the number of these that chance explains.

Expectation-maximisation has "no matches" as a fixed point, and few matches leave it no contrast: a file of two equal
records among fifty, or of one e-mail address, would teach nothing.  Pairs without any difference are evidence that
needs no weights.  They are grouped by the fields that are known on both sides.  For each group the expected number of
chance agreements is

    pairs with these fields * share of equal values of the most distinctive field * shares of the others given it

and the excess over it, less its standard deviation, are expected matches at least.  The share of a field is counted
among random pairs with a difference in another field, so most matches do not count, and its share given another field
covers fields that depend on each other (a postcode and its city).

Guarantees:
    deterministic; the least probability of a pair is a function of its known fields alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8, Bools
from stream_lsh.records.compare.comparator import EQUAL, MISSING
from stream_lsh.records.train.patterns import Patterns

EXPECTED_SHARE = 0.01
"""The share of equal values of a field before anything is counted."""
IDENTIFYING_SHARE = 1e-6
"""The same for fields whose values are made to identify: e-mail addresses, telephone numbers and codes."""
_SMOOTHING, _JOINT_SMOOTHING = 1.0, 5.0
"""The weight of the expected share in pairs, and of independence in pairs with one field equal."""
_MANY = 0.2
"""The share of the most known pairs with which a share is reliable."""
_ENOUGH = 20
"""The least number of random pairs of a group that is scaled to all pairs."""
_MOST_A_RECORD = 2.0
"""Equal values of one field alone in more pairs a record than this show a category, unless the field identifies."""


class Agreement(NamedTuple):
    """The pairs that agree in all their known fields.

    Attributes:
        pairs: their number.
        chance: the number of them that chance explains; never above `pairs`.
        beyond: the number of expected matches among them that blocking does not find.
        single: the index of the comparison, if no pair has more than one field that both know; else None.
        codes: the group of each known combination of fields, ascending, int64[g].
        least: the least probability of a match in each group, float64[g].
    """

    pairs: float
    chance: float
    beyond: float
    single: int | None
    codes: I64
    least: F64

    def least_of(self, levels: U8) -> F64:
        """The least probability of a match of each pair: float64[n]; 0 for a pair with a difference."""
        least = np.zeros(len(levels))
        if self.codes.size:
            codes = _codes(levels)
            places = np.minimum(np.searchsorted(self.codes, codes), self.codes.size - 1)
            found = agreeing(levels) & (self.codes[places] == codes)
            least[found] = self.least[places[found]]
        return least


def agreeing(levels: U8) -> Bools:
    """Whether each pair has equal values in one field or more, and no field with a difference: bool[n].

    Example:
        >>> agreeing(np.array([[0, 255], [0, 1], [255, 255]], np.uint8)).tolist()
        [True, False, False]
    """
    known = levels != MISSING
    found: Bools = ((levels == EQUAL) | ~known).all(axis=1) & known.any(axis=1)
    return found


def agreement(
    candidates: Patterns, random: Patterns, comparable: int, records: int, expected: Sequence[float]
) -> Agreement:
    """The agreement among some records.

    Args:
        candidates: the patterns of the candidates.
        random: the patterns of random pairs.
        comparable: the number of comparable pairs.
        records: their number.
        expected: of each comparison, the share of equal values before anything is counted.

    Example:
        Fifty records with two fields, among them two equal ones, and no other pair with an equal value:

        >>> random = Patterns(np.array([[0, 0], [2, 2]], np.uint8), np.array([1.0, 1224]))
        >>> candidates = Patterns(random.levels[:1], random.counts[:1])
        >>> found = agreement(candidates, random, 1225, 50, [0.01, 0.01])
        >>> found.pairs, round(found.chance, 3), found.least_of(random.levels).round(2).tolist()
        (1.0, 0.0, [1.0, 0.0])
    """
    factor = comparable / max(1.0, float(random.counts.sum()))
    known_in = (candidates.levels != MISSING).any(axis=0) | (random.levels != MISSING).any(axis=0)
    single = int(np.argmax(known_in)) if known_in.sum() == 1 else None
    shares, given = _shares(random, expected, alone=single is not None)
    found, chosen = agreeing(candidates.levels), agreeing(random.levels)
    codes = np.unique(np.concatenate((_codes(candidates.levels[found]), _codes(random.levels[chosen]))))
    among, at_random = _codes(candidates.levels), _codes(random.levels)
    pairs, chances, beyond, least = 0.0, 0.0, 0.0, np.zeros(codes.size)
    for at, code in enumerate(codes.tolist()):
        of_candidates, of_random = among == code, at_random == code
        every = max(factor * random.counts[of_random].sum(), candidates.counts[of_candidates].sum())
        blocked = float(candidates.counts[of_candidates & found].sum())
        sampled = float(random.counts[of_random & chosen].sum())
        equal = max(blocked, factor * sampled if sampled >= _ENOUGH or factor == 1 else 0.0)
        chance = float(every * _share_of([*_fields(code)], shares, given))
        pairs += equal
        chances += min(chance, equal)
        if single is not None and expected[single] > IDENTIFYING_SHARE and equal > _MOST_A_RECORD * records:
            continue
        least[at] = max(0.0, 1 - (chance + chance**0.5) / max(equal, 1e-9))
        beyond += least[at] * (equal - blocked)
    return Agreement(pairs, chances, float(beyond), single, codes, least)


def _shares(random: Patterns, expected: Sequence[float], *, alone: bool) -> tuple[F64, F64]:
    """The share of equal values of each field, and of each field (column) given that another one (row) is equal.

    A share is counted among pairs that differ in some other field, for each such field, and the greatest one counts:
    pairs of different towns never have one postcode, but those of different names may.

    Args:
        random: the patterns of random pairs.
        expected: as for `agreement`.
        alone: whether there is one field only; it is then counted among the pairs that differ in it.
    """
    levels, counts = random
    known, equal = (levels != MISSING).astype(np.float64), (levels == EQUAL).astype(np.float64)
    size = known.shape[1]
    joint = np.zeros((2, size, size + 1, size))  # equal and known pairs of a field, that differ in one (first axis)
    for other in range(size):
        weights = counts * (known[:, other] - equal[:, other])
        for at, values in enumerate((equal, known)):
            left = np.column_stack((equal, np.ones(len(levels))))  # of one given field, and of none
            joint[at, other] = (left * weights[:, None]).T @ values
        if not alone:
            joint[:, other, :, other] = joint[:, other, other, :] = 0
    before = np.array(expected)
    shares = _greatest(joint[:, :, -1], before, _SMOOTHING)
    given = _greatest(joint[:, :, :-1].reshape(2, size, -1), np.tile(shares, size), _JOINT_SMOOTHING)
    return shares, given.reshape(size, size)


def _greatest(counts: F64, expected: F64, smoothing: float) -> F64:
    """The greatest share, along the first axis of equal and of known pairs, among those with many known pairs."""
    equal, known = counts
    shares = (equal + smoothing * expected) / (known + smoothing)
    greatest: F64 = np.where(known >= _MANY * known.max(axis=0), shares, 0).max(axis=0)
    return greatest


def _share_of(fields: Sequence[int], shares: F64, given: F64) -> float:
    """The share of pairs with equal values in all these fields, by chance."""
    order = sorted(fields, key=lambda field: (shares[field], field))
    share = float(shares[order[0]])
    for place, field in enumerate(order[1:], 1):
        share *= float(given[order[:place], field].max())
    return share


def _codes(levels: U8) -> I64:
    """The fields that both records know, as the bits of a number: int64[n]; fields from the 63rd on do not count."""
    bits = 1 << np.arange(min(levels.shape[1], 62), dtype=np.int64)
    codes: I64 = (levels[:, : bits.size] != MISSING) @ bits
    return codes


def _fields(code: int) -> Sequence[int]:
    """The fields of a number of `_codes`, ascending."""
    return [field for field in range(code.bit_length()) if code >> field & 1]
