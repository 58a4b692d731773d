"""Expectation-maximisation of a mixture of matches and other pairs, over several sets of pairs at once.

A blocking rule finds pairs that agree in its own fields, so in this set of pairs they say nothing: they count as
missing there.  Every set has its own share of matches; m is one for all of them.  u comes from pairs taken at random
alone, for other pairs in a block are not like other pairs at large; the few matches among them are weighted out.

Guarantees:
    deterministic; no likelihood falls from one round to the next but for the smoothing.
References: Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977; Winkler,
Using the EM algorithm for weight computation in the Fellegi-Sunter model of record linkage, 1988.  There each set of
pairs gives its own m, and these are averaged; one m for all weighs the sets by what they say.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.train.patterns import Patterns

ROUNDS = 200
_ENOUGH = 1e-6
"""Change of any probability at which it ends."""
BEFORE = 20.0
"""Matches that the m to begin with counts for: a few pairs do not make sure of a thing."""
_FEW = 0.5
"""Other pairs that each level is taken to have had before the first one was seen."""


class Learned(NamedTuple):
    """What the pairs say.

    Attributes:
        m: of each comparison, the probability of each level among matches.
        u: likewise among other pairs.
        shares: of matches in each set of pairs, that of the random ones last.
        rounds: how many it took.
        matches: of each comparison, how many matches among the pairs its m is learned from; the sum of probabilities.
    """

    m: list[F64]
    u: list[F64]
    shares: list[float]
    rounds: int
    matches: list[float]


def learn(
    blocked: Sequence[Patterns], random: Patterns, sizes: Sequence[int], start: Sequence[F64], share: float = 1e-4
) -> Learned:
    """The probabilities under which the pairs that were seen are the most likely.

    Args:
        blocked: one set of pairs for each blocking rule, its own fields MISSING.
        random: pairs taken at random.
        sizes: the levels of each comparison.
        start: m to begin with.
        share: of matches among the random pairs, to begin with.
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
    """Of each comparison, the weight of the patterns in which neither value is missing."""
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
    """The share of each level of each comparison among weighted patterns, missing ones aside.

    Args:
        patterns: p of them.
        weights: pairs of each pattern, float64[p].
        before: pairs that each level of each comparison has beforehand.
    """
    shares = []
    for at, few in enumerate(before):
        counts = np.bincount(patterns.levels[:, at], weights, MISSING + 1)[: few.size] + few
        shares.append(counts / counts.sum())
    return shares
