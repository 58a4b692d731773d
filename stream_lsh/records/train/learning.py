"""Trains a profile: estimates the match weights of levels from records, with or without labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stream_lsh.arrays import F64, I64, U64
from stream_lsh.errors import InputError
from stream_lsh.hashing import GOLDEN, fmix64
from stream_lsh.records.block.blocker import Blocker
from stream_lsh.records.block.pairs import Pairs, candidate_pairs
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.model import Column
from stream_lsh.records.profile import Profile
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.expectation import ROUNDS, Learned, known_of, learn, shares_of
from stream_lsh.records.train.patterns import Patterns, patterns_of

RANDOM_PAIRS = 250_000
_PAIRS_OF_A_RULE = 200_000
_CAP = 50
_EQUAL_AMONG_MATCHES = 0.8
_LEAST_PRIOR, _MOST_PRIOR = 1e-9, 0.5


@dataclass(frozen=True, slots=True)
class Training:
    """The result of training, with the numbers of pairs behind it.

    Attributes:
        profile: with m, u and prior.
        random: the number of random pairs, for u.
        blocked: the number of pairs of all blocking rules, for m; with labels the number of labelled pairs.
        comparable: the number of pairs of these records that may be compared.
        rounds: of expectation-maximisation; 0 with labels.
        at_limit: whether it ended at the limit of rounds.
        matches: of each comparison, the number of matches with both values among the pairs for its m.
        others: of each comparison, the number of random pairs with both values.
    """

    profile: Profile
    random: int
    blocked: int
    comparable: int
    rounds: int
    at_limit: bool
    matches: tuple[float, ...]
    others: tuple[float, ...]


def train(
    profile: Profile,
    columns: Sequence[Column],
    keys: U64,
    blocker: Blocker,
    sources: I64 | None = None,
    *,
    seed: int = 1,
) -> Profile:
    """The profile of `trained`, without labels."""
    return trained(profile, columns, keys, blocker, sources, seed=seed).profile


def trained(
    profile: Profile,
    columns: Sequence[Column],
    keys: U64,
    blocker: Blocker,
    sources: I64 | None = None,
    *,
    labels: tuple[I64, I64] | None = None,
    seed: int = 1,
) -> Training:
    """The profile with m, u and prior estimated from these records.

    u is the share of each level among random pairs.  m is estimated by expectation-maximisation over the pairs of each
    blocking rule, or is the share of each level among labelled matches.  The prior is the number of matches expected
    among all candidates.

    Args:
        profile: the definition of the comparison.
        columns: the values of n records, one column for each field.
        keys: of the same records, by `blocker`.
        blocker: of the profile.
        sources: a number for the source of each record, int64[n]; None: all have one source.
        labels: rows of the pairs that are labelled as matches; None: without labels.
        seed: of the random pairs.

    Raises:
        InputError: fewer than two records, or no two that may be compared.

    Cost:
        some ten seconds for 50,000 records; linear in the compared pairs, which are 250,000 random ones and at most
        200,000 for each rule.
    """
    scorer = Scorer(profile)
    sizes = [len(comparator.levels) for comparator in scorer.comparators]
    left, right = random_pairs(len(keys), RANDOM_PAIRS, seed)
    left, right = allowed(left, right, sources, profile.link)
    if not left.size:
        raise InputError("records", f"got {len(keys)} records of which no two may be compared, expected two or more")
    if labels is not None:
        left, right = _without(left, right, labels, len(keys))
    random = patterns_of(scorer.levels(columns, left, right))
    if labels is None:
        blocked = _blocked(profile, scorer, columns, _of_rules(keys, blocker, sources, profile.link), seed)
        learned = learn(blocked, random, sizes, [_start(size) for size in sizes])
    else:
        blocked = [patterns_of(scorer.levels(columns, *labels))]
        learned = _counted(blocked[0], random, sizes, _LEAST_PRIOR)
    profile = with_learned(profile, learned)
    every = candidate_pairs(keys, blocker.owners, _CAP)
    left, right = allowed(every.left, every.right, sources, profile.link)
    comparable = comparable_pairs(len(keys), sources, profile.link)
    return Training(
        replace(profile, prior=_prior(profile, columns, left, right, comparable)),
        random=int(random.counts.sum()),
        blocked=int(sum(patterns.counts.sum() for patterns in blocked)),
        comparable=comparable,
        rounds=learned.rounds,
        at_limit=learned.rounds == ROUNDS,
        matches=tuple(learned.matches),
        others=tuple(known_of(random, random.counts)),
    )


def _without(left: I64, right: I64, labels: tuple[I64, I64], records: int) -> tuple[I64, I64]:
    """The pairs that are not labelled as matches."""
    labelled = np.minimum(*labels) * records + np.maximum(*labels)
    others = ~np.isin(left * records + right, labelled)
    return left[others], right[others]


def _blocked(
    profile: Profile, scorer: Scorer, columns: Sequence[Column], blocks: Sequence[Pairs], seed: int
) -> list[Patterns]:
    """The patterns of the pairs of each block, with the comparisons of its fields MISSING."""
    blocked = []
    for number, pairs in enumerate(blocks):
        some = _some(pairs, _PAIRS_OF_A_RULE, seed)
        levels = scorer.levels(columns, some.left, some.right)
        levels[:, _masked(profile, number)] = MISSING
        if levels.size:
            blocked.append(patterns_of(levels))
    return blocked


def with_learned(profile: Profile, learned: Learned) -> Profile:
    """The profile with these m and u."""
    comparisons = tuple(
        replace(comparison, m=tuple(m.tolist()), u=tuple(u.tolist()))
        for comparison, m, u in zip(profile.comparisons, learned.m, learned.u, strict=True)
    )
    return replace(profile, comparisons=comparisons, prior=min(_MOST_PRIOR, max(_LEAST_PRIOR, learned.shares[-1])))


def random_pairs(records: int, count: int, seed: int) -> tuple[I64, I64]:
    """Distinct pairs of rows, earlier and later: all pairs if there are at most `count`, else a random sample.

    Example:
        >>> [rows.tolist() for rows in random_pairs(3, 10, seed=1)]
        [[0, 0, 1], [1, 2, 2]]
        >>> left, right = random_pairs(1000, 50, seed=1)
        >>> left.size, bool((left < right).all())
        (50, True)
    """
    total = records * (records - 1) // 2
    if total <= count:
        left, right = np.triu_indices(records, 1)
        return left.astype(np.int64), right.astype(np.int64)
    if total <= 4 * count:
        codes = np.argsort(fmix64(np.arange(total, dtype=np.uint64) + np.uint64(seed)), kind="stable")[:count]
        return _pairs_numbered(codes)
    drawn = fmix64((np.arange(1, 2 * count + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(1 << 33)) * GOLDEN)
    numbers = (drawn % np.uint64(total)).astype(np.int64)
    _, first = np.unique(numbers, return_index=True)
    return _pairs_numbered(numbers[np.sort(first)[:count]])


def _pairs_numbered(codes: I64) -> tuple[I64, I64]:
    """The pairs with these numbers: pair c has the later row r and the earlier one c - r (r - 1) / 2."""
    right = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) // 2).astype(np.int64)
    right -= right * (right - 1) // 2 > codes
    right += (right + 1) * right // 2 <= codes
    return codes - right * (right - 1) // 2, right


def allowed(left: I64, right: I64, sources: I64 | None, link: str) -> tuple[I64, I64]:
    """The pairs that the type of link permits."""
    if sources is None or link != "link":
        return left, right
    other = sources[left] != sources[right]
    return left[other], right[other]


def comparable_pairs(records: int, sources: I64 | None, link: str) -> int:
    """The number of pairs that may be compared."""
    total = records * (records - 1) // 2
    if sources is None or link != "link":
        return total
    return total - sum(int(count) * (int(count) - 1) // 2 for count in np.bincount(sources))


def _of_rules(keys: U64, blocker: Blocker, sources: I64 | None, link: str) -> list[Pairs]:
    """The pairs of each block."""
    pairs_of_rules = []
    for owner in range(len(blocker.names)):
        columns = blocker.owners == owner
        pairs = candidate_pairs(keys[:, columns], np.zeros(int(columns.sum()), np.int64), _CAP)
        left, right = allowed(pairs.left, pairs.right, sources, link)
        pairs_of_rules.append(Pairs(left, right, np.ones(left.size, np.uint32)))
    return pairs_of_rules


def _some(pairs: Pairs, most: int, seed: int) -> Pairs:
    if pairs.left.size <= most:
        return pairs
    order = np.argsort(fmix64(np.arange(pairs.left.size, dtype=np.uint64) + np.uint64(seed)), kind="stable")[:most]
    return Pairs(pairs.left[order], pairs.right[order], pairs.rules[order])


def _masked(profile: Profile, block: int) -> list[int]:
    """The comparisons that a block determines: those of its fields, and of fields derived from them."""
    if block >= len(profile.rules):
        return []
    used = {name.strip() for part in profile.rules[block].split("+") for name in part.partition(":")[0].split("|")}
    made = {field.name: {field.name, *field.of} for field in profile.fields}
    used = set().union(*(made[name] for name in used))
    return [at for at, comparison in enumerate(profile.comparisons) if made[comparison.field] & used]


def _start(size: int) -> F64:
    """The initial m: matches usually agree, and nearly agree more often than not at all."""
    tail = 0.5 ** np.arange(size - 1)
    return np.concatenate(([_EQUAL_AMONG_MATCHES], (1 - _EQUAL_AMONG_MATCHES) * tail / tail.sum()))


def _prior(profile: Profile, columns: Sequence[Column], left: I64, right: I64, comparable: int) -> float:
    """The prior that equals the resulting expected share of matches, found by fixed-point iteration."""
    scorer = Scorer(profile)
    bits = scorer.score(columns, left, right).total - scorer.prior_bits
    prior = profile.prior or _LEAST_PRIOR
    for _ in range(50):
        before, prior = prior, float((1 / (1 + np.exp2(-bits) * (1 - prior) / prior)).sum() / comparable)
        prior = min(_MOST_PRIOR, max(_LEAST_PRIOR, prior))
        if abs(prior - before) < 1e-4 * before:
            break
    return prior


def _counted(matches: Patterns, random: Patterns, sizes: Sequence[int], prior: float) -> Learned:
    """The probabilities from labelled matches and random pairs."""
    few = [np.full(size, 0.5) for size in sizes]
    m, u = (shares_of(one, one.counts, few) for one in (matches, random))
    return Learned(m, u, [prior], 0, known_of(matches, matches.counts))
