"""Expectation-maximisation of a mixture of matches and other pairs, over several sets of pairs at once.

The pairs of a blocking rule agree in its fields, so these fields have no information in this set of pairs and count as
missing.  Each set has its own share of matches; all sets have one m.  u is estimated from random pairs alone, because
non-matches in a block differ from random ones; the few matches among the random pairs are weighted out.

Guarantees:
    deterministic; the likelihood never decreases from one round to the next, except through smoothing.
References: Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977; Winkler,
Using the EM algorithm for weight computation in the Fellegi-Sunter model of record linkage, 1988.  There each set of
pairs has its own m, and these are averaged; one m for all sets weighs them by their information.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.train.patterns import Patterns

ROUNDS = 200
_ENOUGH = 1e-6
"""The greatest change of a probability at which the iteration ends."""
BEFORE = 20.0
"""The weight of the initial m in matches, so that a few pairs do not determine a probability."""
_FEW = 0.5
"""The initial count of other pairs with each level, for smoothing."""


class Learned(NamedTuple):
    """The estimated probabilities.

    Attributes:
        m: of each comparison, the probability of each level among matches.
        u: of each comparison, the probability of each level among other pairs.
        shares: of matches in each set of pairs, that of the random pairs last.
        rounds: the number of iterations.
        matches: of each comparison, the expected number of matches among the pairs from which its m is estimated.
    """

    m: list[F64]
    u: list[F64]
    shares: list[float]
    rounds: int
    matches: list[float]


def learn(
    blocked: Sequence[Patterns], random: Patterns, sizes: Sequence[int], start: Sequence[F64], share: float = 1e-4
) -> Learned:
    """The maximum likelihood estimate of the probabilities.

    Args:
        blocked: one set of pairs for each blocking rule, with its own fields MISSING.
        random: random pairs.
        sizes: the number of levels of each comparison.
        start: the initial m.
        share: the initial share of matches among the random pairs.
    """
    sets = [*blocked, random]
    shares = [0.3] * len(blocked) + [share]
    m = [np.array(left, np.float64) for left in start]
    before = [BEFORE * left for left in m]
    few = [np.full(size, _FEW) for size in sizes]
    u = shares_of(random, random.counts, few)
    together = Patterns(np.concatenate([patterns.levels for patterns in sets]), np.empty(0))
    rounds, change = 0, 1.0
    while rounds < ROUNDS and change >= _ENOUGH:
        rounds += 1
        posteriors = [_posterior(patterns, m, u, share) for patterns, share in zip(sets, shares, strict=True)]
        matching = [patterns.counts * posterior for patterns, posterior in zip(sets, posteriors, strict=True)]
        shares = [
            float(hit.sum() / max(1.0, patterns.counts.sum())) for patterns, hit in zip(sets, matching, strict=True)
        ]
        shares = [min(max(left, 1e-9), 1 - 1e-6) for left in shares]
        new_m = shares_of(together, np.concatenate(matching), before)
        new_u = shares_of(random, random.counts - matching[-1], few)
        change = max(np.abs(left - right).max() for left, right in zip([*new_m, *new_u], [*m, *u], strict=True))
        m, u = new_m, new_u
    return Learned(m, u, shares, rounds, known_of(together, np.concatenate(matching)))


def known_of(patterns: Patterns, weights: F64) -> list[float]:
    """The weight of the patterns without a missing value, for each comparison."""
    known: list[float] = (weights @ (patterns.levels != MISSING)).tolist()
    return known


def _posterior(patterns: Patterns, m: Sequence[F64], u: Sequence[F64], share: float) -> F64:
    """The probability of a match of each pattern."""
    logits = np.full(len(patterns.levels), np.log(share / (1 - share)))
    for at, (left, right) in enumerate(zip(m, u, strict=True)):
        table = np.zeros(MISSING + 1)
        table[: left.size] = np.log(left / right)
        logits += table[patterns.levels[:, at]]
    posterior: F64 = 1 / (1 + np.exp(-logits))
    return posterior


def shares_of(patterns: Patterns, weights: F64, before: Sequence[F64]) -> list[F64]:
    """The share of each level of each comparison among weighted patterns, without missing values.

    Args:
        patterns: p patterns.
        weights: the pairs of each pattern, float64[p].
        before: the initial count of each level of each comparison.
    """
    shares = []
    for at, few in enumerate(before):
        counts = np.bincount(patterns.levels[:, at], weights, MISSING + 1)[: few.size] + few
        shares.append(counts / counts.sum())
    return shares
