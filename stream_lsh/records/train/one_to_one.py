"""Learns a link of sources without duplicates from competition: the best partner of a record against the next best.

Each record is paired with its best free partner, best pairs first: these are the targets.  The candidates that are left
are paired in the same way: these are the decoys, and they show how a best partner looks that is no match.  The share
of decoys among both, for a score, gives the probability that a target is a match.  m is then counted among the targets,
by their probabilities, u among the decoys and the remainder of the targets.  A level so weighs what it adds over the
strongest rival, not over a random pair, and a field in which rivals agree as often as matches weighs nothing.

Guarantees:
    deterministic; the weight of a level never rises as similarity falls.
References: Elias and Gygi, Target-decoy search strategy for increased confidence in large-scale protein identifications
by mass spectrometry, 2007; Storey, A direct approach to false discovery rates, 2002, for the share without a match.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8, Bools
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.train.expectation import Learned, counts_of, known_of, normed, pooled

_ROUNDS = 2
"""The second round reads the weights that the first one learned; further rounds change nothing."""
LEAST_DECOYS = 20
"""Fewer decoys do not show how a best partner looks that is no match."""


class Competition(NamedTuple):
    """The result of pairing: targets and decoys as indices of candidates, and the probability of each target."""

    targets: I64
    decoys: I64
    probability: F64


def learn_one_to_one(
    levels: U8, sizes: Sequence[int], ends: Sequence[I64], score: F64, known: Bools, *, refused: Bools
) -> Learned | None:
    """The probabilities of levels among matches and among rivals; None if there are fewer than LEAST_DECOYS decoys.

    Args:
        levels: of the candidates, uint8[n, comparisons].
        sizes: the number of levels of each comparison.
        ends: for either record of each candidate, a number for the record and the other source, int64[n] twice; each
            number has one match at most.
        score: the initial order of the candidates, float64[n].
        known: whether a candidate is labelled as a match, bool[n].
        refused: whether a candidate is labelled as a non-match, bool[n].
    """
    found = Competition(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for _ in range(_ROUNDS):
        found = competition(ends, score, known, refused)
        if found.decoys.size < LEAST_DECOYS:
            return None
        few = [np.full(size, 1 / size) for size in sizes]
        targets = levels[found.targets]
        m = counts_of(targets, found.probability, few)
        u = counts_of(targets, 1 - found.probability, counts_of(levels[found.decoys], np.ones(found.decoys.size), few))
        m, u = normed(m), normed(u)
        m = [pooled(left, right) * right for left, right in zip(m, u, strict=True)]
        score = _bits(levels, m, u)
    expected = float(found.probability.sum())
    matches = known_of(levels[found.targets], found.probability)
    return Learned(m, u, _prior(score[found.targets], expected), expected, _ROUNDS, matches)


def competition(ends: Sequence[I64], score: F64, known: Bools, refused: Bools) -> Competition:
    """The targets with their probabilities, and the decoys.

    Args:
        ends: as for `learn_one_to_one`.
        score: of the candidates, float64[n].
        known: the candidates that are labelled as matches, bool[n]; they are targets, with probability 1.
        refused: the candidates that are labelled as non-matches, bool[n]; they can only be decoys.

    Example:
        >>> ends, none = (np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])), np.zeros(4, np.bool_)
        >>> found = competition(ends, np.array([0.9, 0.5, 0.4, 0.8]), none, none)
        >>> found.targets.tolist(), found.decoys.tolist(), found.probability.tolist()
        ([0, 3], [1, 2], [1.0, 1.0])
    """
    order = np.lexsort((-score, ~known))
    targets = best_pairs(ends, order[~refused[order]])
    left = np.ones(score.size, np.bool_)
    left[targets] = False
    decoys = best_pairs(ends, order[left[order]])
    values, places = np.unique(-score[np.concatenate((targets, decoys))], return_inverse=True)
    places = places.reshape(-1)
    counts = [np.bincount(some, minlength=values.size).astype(np.float64) for some in np.split(places, [targets.size])]
    if not decoys.size:
        return Competition(targets, decoys, np.ones(targets.size))
    ratio = pooled(counts[0], counts[1])[places[: targets.size]]
    alone = min(1.0, 2 * float((score[targets] <= np.median(score[decoys])).mean()))
    with np.errstate(divide="ignore"):
        probability = np.clip(1 - alone * targets.size / decoys.size / ratio, 0, 1)
    probability[known[targets]] = 1
    return Competition(targets, decoys, probability)


def best_pairs(ends: Sequence[I64], order: I64) -> I64:
    """The pairs that remain if the best pair is taken with both its ends, then the next one with free ends, and so on.

    Args:
        ends: of all pairs.
        order: the pairs to choose from, best first.

    Returns:
        int64[k], a subset of `order`; no end occurs twice.
    """
    chosen = []
    both = np.column_stack(ends)  # a record may be the earlier one of a pair and the later one of another
    used = np.zeros(1 + int(both.max(initial=0)), np.bool_)
    while order.size:
        of_pairs = both[order]
        _, places, numbers = np.unique(of_pairs, return_index=True, return_inverse=True)
        best = places[numbers].reshape(-1, 2) // 2  # the first pair with each end
        first = (best == np.arange(order.size)[:, None]).all(axis=1)
        chosen.append(order[first])
        used[of_pairs[first]] = True
        order = order[~used[of_pairs].any(axis=1)]
    return np.concatenate([np.empty(0, np.int64), *chosen])


def _bits(levels: U8, m: Sequence[F64], u: Sequence[F64]) -> F64:
    """The sum of the weights of each pair, float64[n]."""
    bits = np.zeros(len(levels))
    for at, (left, right) in enumerate(zip(m, u, strict=True)):
        table = np.zeros(MISSING + 1)
        table[: left.size] = np.log2(left / right)
        bits += table[levels[:, at]]
    return bits


def _prior(bits: F64, expected: float) -> float:
    """The prior with which the probabilities of pairs with these bits have this sum, by bisection."""
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        if (1 / (1 + np.exp2(-(bits + middle)))).sum() < expected:
            low = middle
        else:
            high = middle
    return float(1 / (1 + 2.0**-low))
