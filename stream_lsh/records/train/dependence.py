"""Measures how well an equal value of one field predicts that of another one, among records that are no match.

Fields that depend on each other are not independent evidence: records of one postcode are of one town, and records of
one household share a surname.  For each field, pairs of records with an equal value are drawn from the file.  A pair
that agrees in more than half of the information of its other fields may be a match and does not count.  Among the
remaining pairs, the share of equal values of every other field is counted, each group of g equal values as g - 1 pairs.

A finer field, one with a lower chance of equal values, predicts a coarser one, never the reverse.  So the probability
of the equal values of a non-match is a product: of each value, given the finer equal value that predicts it best.

Texts do not predict each other here: their dependence is discounted by a constant (`discount`).

Guarantees:
    deterministic; the measured dependence is acyclic.
References: Chow and Liu, Approximating discrete probability distributions with dependence trees, 1968; Winkler, Methods
for record linkage and Bayesian networks, 2002.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8, Bools
from stream_lsh.hashing import fmix64
from stream_lsh.records.compare.comparator import EQUAL, MISSING
from stream_lsh.records.model import Column
from stream_lsh.records.profile import Profile, comparison_names
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.discount import TEXTS
from stream_lsh.records.train.patterns import Patterns

ALIKE = 0.5
"""Pairs that agree in more of the information of their other fields may be matches."""
APART = 0.3
"""If fewer of the pairs with an equal value are certainly no match, matches share the field, and it shows nothing."""
FEWEST = 5.0
"""Fewer pairs show nothing."""
LEAST = 0.2
"""The least dependence that counts: the share of equal values beyond chance."""
SMOOTHING = 3.0
"""The weight of independence, in pairs."""
_PAIRS = 2_000
"""The most pairs with an equal value of one field."""
_ROUNDS = 5
"""Known dependence lowers the information of the fields by which pairs may be matches, so more of it is found."""


class Drawn(NamedTuple):
    """Pairs of records with an equal value of one field.

    Attributes:
        levels: of all comparisons, uint8[n, comparisons].
        weights: the number of independent pairs that each stands for, float64[n].
    """

    levels: U8
    weights: F64


def dependence(profile: Profile, scorer: Scorer, columns: Sequence[Column], random: Patterns) -> F64:
    """The share of equal values of each comparison (column) among other pairs, given that another one (row) is equal.

    Args:
        profile: of the comparisons.
        scorer: of the profile.
        columns: the values of the records.
        random: the patterns of random pairs.

    Returns:
        float64[comparisons, comparisons]; 0 where an equal value predicts nothing.

    Cost:
        the comparison of 2,000 pairs for each field.
    """
    information = information_of(random, [len(each.levels) for each in scorer.comparators])
    drawn = []
    for place in scorer.places:
        left, right, weights = pairs_within(columns[place].codes)
        drawn.append(Drawn(scorer.levels(columns, left, right), weights))
    texts = np.array([comparison.comparator in TEXTS for comparison in profile.comparisons])
    same = np.array([[one == other for other in scorer.places] for one in scorer.places])
    return shares_of(drawn, information, np.outer(texts, texts) | same)


def information_of(random: Patterns, sizes: Sequence[int]) -> F64:
    """The bits of each level of each comparison: the rarity of pairs that are as similar: float64[comparisons, 256]."""
    found = np.zeros((len(sizes), MISSING + 1))
    for at, size in enumerate(sizes):
        counts = np.bincount(random.levels[:, at], random.counts, MISSING + 1)[:size] + 0.5
        found[at, :size] = -np.log2(np.cumsum(counts) / counts.sum())
    return found


def shares_of(drawn: Sequence[Drawn], information: F64, excluded: Bools) -> F64:
    """The shares of `dependence`.

    Args:
        drawn: for each comparison, pairs with an equal value.
        information: as of `information_of`.
        excluded: pairs of comparisons without a measure, bool[comparisons, comparisons].
    """
    rare = information[:, EQUAL]
    measured = (rare[:, None] > rare) & ~excluded
    shares = np.zeros(measured.shape)
    for _ in range(_ROUNDS):
        found = np.array([_row(at, each, information, shares, measured[at]) for at, each in enumerate(drawn)])
        if (found <= shares).all():
            break
        shares = np.maximum(shares, found)
    return shares


def _row(at: int, drawn: Drawn, information: F64, shares: F64, measured: Bools) -> F64:
    """The shares of equal values, given an equal value of one comparison, by what is known so far."""
    levels, weights = drawn
    found = np.zeros(len(information))
    chance = 2.0 ** -information[:, EQUAL]
    predicted = predicted_of(levels, shares)
    most = np.minimum(information[:, EQUAL], -np.log2(np.where(predicted > 0, predicted, 1e-9)))
    most = np.where(levels != MISSING, most, 0.0)
    alike = np.minimum(most, information[np.arange(len(information)), levels])
    every, agreed = most.sum(axis=1) - most[:, at], alike.sum(axis=1) - alike[:, at]
    for other in np.flatnonzero(measured).tolist():
        both = levels[:, other] != MISSING
        rest = every - most[:, other]
        apart = both & (rest > 0) & (agreed - alike[:, other] <= ALIKE * rest)
        count = float(weights[apart].sum())
        if count >= max(FEWEST, APART * float(weights[both].sum())):
            equal = float(weights[apart & (levels[:, other] == EQUAL)].sum())
            share = (equal + SMOOTHING * chance[other]) / (count + SMOOTHING)
            if share - chance[other] >= LEAST * (1 - chance[other]):
                found[other] = share
    return found


def predicted_of(levels: U8, shares: F64) -> F64:
    """The greatest share that an equal value predicts for each comparison of each pair: float64[n, comparisons].

    Example:
        An equal postcode predicts the town, a different one does not:

        >>> predicted_of(np.array([[0, 0], [1, 0]], np.uint8), np.array([[0, 0.9], [0, 0]])).tolist()
        [[0.0, 0.9], [0.0, 0.0]]
    """
    predicted = np.zeros(levels.shape)
    for at, row in enumerate(shares):
        if row.any():
            predicted = np.maximum(predicted, (levels[:, at] == EQUAL)[:, None] * row)
    return predicted


def with_dependence(profile: Profile, shares: F64) -> Profile:
    """The profile with the comparisons that predict others."""
    names = comparison_names(profile)
    comparisons = tuple(
        replace(
            comparison,
            given=tuple(name for name, share in zip(names, column, strict=True) if share > 0),
            given_u=tuple(share for share in column if share > 0),
        )
        for comparison, column in zip(profile.comparisons, shares.T.tolist(), strict=True)
    )
    return replace(profile, comparisons=comparisons)


def pairs_within(codes: I64) -> tuple[I64, I64, F64]:
    """Pairs of rows with one value, and the number of independent pairs that each stands for; some 2,000 at most.

    Args:
        codes: of the value of each row, int64[n]; negative ones are missing.

    Example:
        Three rows have the value 1 and two the value 2, which are as many as 2 and 1 independent pairs:

        >>> left, right, weights = pairs_within(np.array([1, 1, 2, 1, 2, -1]))
        >>> left.size, round(float(weights.sum()), 9)
        (4, 3.0)
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(fmix64(rows.astype(np.uint64) + np.uint64(1)), kind="stable")]
    rows = rows[np.argsort(codes[rows], kind="stable")]
    left, right, step, total = list[I64](), list[I64](), 1, 0
    while step < rows.size and total < _PAIRS:  # each row with the next one of its group, then with the second next
        same = np.flatnonzero(codes[rows[step:]] == codes[rows[:-step]])
        if not same.size:
            break
        left.append(rows[same])
        right.append(rows[same + step])
        step, total = step + 1, total + same.size
    if not left:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    some = slice(None, None, max(1, total // _PAIRS))
    ones, others = np.concatenate(left)[some], np.concatenate(right)[some]
    groups = np.unique(codes[ones], return_inverse=True)[1].reshape(-1)
    members = np.bincount(codes[rows])[codes[ones]]
    independent = np.minimum((members - 1) / np.bincount(groups)[groups], 1.0)
    return ones, others, independent
