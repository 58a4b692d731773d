"""Expectation-maximisation of a mixture of matches and other pairs over all pairs that may be compared.

The candidates of blocking are counted one by one.  All other pairs are non-matches, because blocking finds the matches;
their levels are those of random pairs, scaled to their number, less the candidates.  So one prior holds for all pairs,
and a field by which pairs were found keeps its evidence: its levels among the pairs that were not found count as well.
The expected matches never count towards u.  The probabilities of pairs that agree in all their known fields
(`agreement`), and of labelled pairs, are bounded, so the prior cannot fall to nothing beside them.

Guarantees:
    deterministic; the weight of a level never rises as similarity falls.
References: Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977; Winkler,
Using the EM algorithm for weight computation in the Fellegi-Sunter model of record linkage, 1988; Barlow et al.,
Statistical inference under order restrictions, 1972, for pooling; Elkan and Noto, Learning classifiers from only
positive and unlabeled data, 2008.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8, Bools
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.given import given_ratio
from stream_lsh.records.train.discount import discounted
from stream_lsh.records.train.patterns import Patterns

ROUNDS = 200
_ENOUGH = 1e-6
"""The greatest change of a probability at which the iteration ends."""
BEFORE = 20.0
"""The weight of the initial m in matches, so that a few pairs do not determine a probability."""
_LEAST_LEFT = 1e-6
"""The least share of expected matches without a label."""
_FEW = 0.5
"""The initial count of other pairs with each level, for smoothing."""
_MATCHES_A_RECORD = 0.2
"""The expected matches of a record at the start; the result is the same from 0.01 to 2."""


class Learned(NamedTuple):
    """The estimated probabilities.

    Attributes:
        m: of each comparison, the probability of each level among matches.
        u: of each comparison, the probability of each level among other pairs.
        prior: the share of matches among all comparable pairs; of a one-to-one link, among the best pairs of records.
        expected: the number of matches.
        rounds: the number of iterations.
        matches: of each comparison, the expected number of matches with both values.
    """

    m: list[F64]
    u: list[F64]
    prior: float
    expected: float
    rounds: int
    matches: list[float]


class Evidence(NamedTuple):
    """The candidates and all other comparable pairs of some records.

    Attributes:
        candidates: the patterns of the candidates.
        bits: evidence of each pattern beside its levels, float64[p].
        least: the least probability of a match of each pattern, float64[p]; 1 for labelled matches.
        most: the greatest one, float64[p]; 0 for labelled non-matches.
        others: of each comparison, the number of pairs with each level that are not candidates, float64[levels].
        comparable: the number of comparable pairs, candidates and others.
        records: their number.
        beyond: the number of matches that are no candidates.
        shares: of each comparison, the factor of its weights (`discount`); empty: 1.
        predicted: of each pattern and comparison, the share of equal values among other pairs that an equal value of
            another field predicts (`dependence`), float64[p, comparisons]; 0 for none; None: none at all.
    """

    candidates: Patterns
    bits: F64
    least: F64
    most: F64
    others: list[F64]
    comparable: int
    records: int
    beyond: float = 0.0
    shares: Sequence[float] = ()
    predicted: F64 | None = None


def others_of(candidates: Patterns, random: Patterns, factor: float, sizes: Sequence[int]) -> list[F64]:
    """The number of pairs with each level that are no candidates: those expected from random pairs, less candidates.

    Args:
        candidates: without those that certainly match.
        random: likewise.
        factor: comparable pairs for each random one.
        sizes: the number of levels of each comparison.
    """
    none = [np.zeros(size) for size in sizes]
    every, found = counts_of(random.levels, random.counts, none), counts_of(candidates.levels, candidates.counts, none)
    return [np.maximum(0.0, factor * each - one) for each, one in zip(every, found, strict=True)]


def learn(evidence: Evidence, start: Sequence[F64]) -> Learned:
    """The maximum likelihood estimate of the probabilities.

    Args:
        evidence: of some records.
        start: the initial m.
    """
    candidates, comparable = evidence.candidates, max(1, evidence.comparable)
    m = [np.array(left, np.float64) for left in start]
    shares = evidence.shares or [1.0] * len(m)
    before = [BEFORE * left for left in m]
    few = [others + _FEW for others in evidence.others]
    weights = candidates.counts * evidence.least
    u = normed(counts_of(candidates.levels, candidates.counts - weights, few))
    prior = min(0.5, _MATCHES_A_RECORD * evidence.records / comparable)
    rounds, change = 0, 1.0
    while rounds < ROUNDS and change >= _ENOUGH:
        rounds += 1
        logits = np.log(prior / (1 - prior)) + np.log(2) * evidence.bits
        posterior = np.clip(_posterior(evidence, m, u, shares, logits), evidence.least, evidence.most)
        weights = candidates.counts * posterior
        new_m = normed(counts_of(candidates.levels, weights, before))
        new_u = normed(counts_of(candidates.levels, candidates.counts - weights, few))
        prior = min(max((float(weights.sum()) + evidence.beyond) / comparable, 1e-12), 0.5)
        change = max(np.abs(left - right).max() for left, right in zip([*new_m, *new_u], [*m, *u], strict=True))
        m, u = new_m, new_u
    m = [pooled(left, right) * right for left, right in zip(m, u, strict=True)]
    pairs = [discounted(left, right, share) for left, right, share in zip(m, u, shares, strict=True)]
    m, u = [left for left, _ in pairs], [right for _, right in pairs]
    expected = float(weights.sum()) + evidence.beyond
    return Learned(m, u, prior, expected, rounds, known_of(candidates.levels, weights))


def with_labels(evidence: Evidence, learned: Learned, known: Bools, refused: Bools) -> Evidence:
    """The evidence with labelled matches, which are certain.

    Some of the expected matches are labelled, so pairs without a label are less likely to match than before; labelled
    non-matches offset this.  Both shares are counted among pairs of about the same probability, so labels of easy
    matches have no effect on other pairs.

    Args:
        evidence: without labels of matches.
        learned: from it.
        known: whether the pairs of each pattern are labelled as matches, bool[p].
        refused: whether they are labelled as non-matches, bool[p].
    """
    counts = evidence.candidates.counts
    logits = np.log(learned.prior / (1 - learned.prior)) + np.log(2) * evidence.bits
    discounted_already = [1.0] * len(learned.m)
    posterior = _posterior(evidence, learned.m, learned.u, discounted_already, logits)
    likely = np.clip(posterior, evidence.least, 1 - 1e-12)
    _, groups = np.unique(np.round(np.log2(np.maximum(likely, 1e-12) / (1 - likely))), return_inverse=True)
    matches = _unlabelled(groups, counts * likely, counts * known)
    left = np.minimum(1.0, matches / _unlabelled(groups, counts * (1 - likely), counts * refused))[groups]
    return evidence._replace(
        bits=evidence.bits + np.where(known, 0.0, np.log2(left)), least=np.where(known, 1.0, evidence.least * left)
    )


def _unlabelled(groups: I64, expected: F64, labelled: F64) -> F64:
    """Of the expected pairs of each group, the share without a label, float64[groups]."""
    labels = np.bincount(groups, labelled)
    pairs = np.maximum(np.maximum(labels, np.bincount(groups, expected)), 1e-9)
    share: F64 = np.maximum(1 - labels / pairs, _LEAST_LEFT)
    return share


def known_of(levels: U8, weights: F64) -> list[float]:
    """The weight of the pairs without a missing value, for each comparison."""
    known: list[float] = (weights @ (levels != MISSING)).tolist()
    return known


def pooled(m: F64, u: F64) -> F64:
    """The ratio of each level, m / u, pooled with its neighbours until none is above that of a higher similarity.

    Example:
        >>> pooled(np.array([0.5, 0.4, 0.1]), np.array([0.1, 0.05, 0.85])).round(3).tolist()
        [6.0, 6.0, 0.118]
    """
    blocks: list[list[float]] = []
    for left, right in zip(m.tolist(), u.tolist(), strict=True):
        blocks.append([left, right, 1])
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] > blocks[-2][0] * blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    return np.concatenate([np.full(int(size), left / right if right else np.inf) for left, right, size in blocks])


def _posterior(evidence: Evidence, m: Sequence[F64], u: Sequence[F64], shares: Sequence[float], logits: F64) -> F64:
    """The probability of a match of each pattern; `logits` is its evidence beside the levels, float64[p]."""
    logits = logits.copy()
    for at, (left, right, share) in enumerate(zip(m, u, shares, strict=True)):
        levels, ratio = evidence.candidates.levels[:, at], pooled(left, right)
        predicted = np.zeros(len(levels)) if evidence.predicted is None else evidence.predicted[:, at]
        for given in np.unique(predicted).tolist():
            table = np.zeros(MISSING + 1)
            table[: left.size] = share * np.log(given_ratio(ratio, right, given))
            chosen = predicted == given
            logits[chosen] += table[levels[chosen]]
    posterior: F64 = 1 / (1 + np.exp(-np.clip(logits, -700, 700)))
    return posterior


def counts_of(levels: U8, weights: F64, before: Sequence[F64]) -> list[F64]:
    """The count of each level of each comparison among weighted pairs or patterns, without missing values.

    Args:
        levels: uint8[p, comparisons].
        weights: of each, float64[p].
        before: the initial count of each level of each comparison.
    """
    return [np.bincount(levels[:, at], weights, MISSING + 1)[: few.size] + few for at, few in enumerate(before)]


def normed(counts: Sequence[F64]) -> list[F64]:
    """Counts as shares of their sum."""
    return [one / one.sum() for one in counts]
