"""Trains a profile: estimates the match weights of levels from records, with or without labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stream_lsh.arrays import F64, I64, U8, U64, Bools
from stream_lsh.errors import InputError
from stream_lsh.hashing import GOLDEN, fmix64
from stream_lsh.measure.reliability import UNKNOWN
from stream_lsh.records.block.blocker import Blocker
from stream_lsh.records.block.pairs import candidate_pairs
from stream_lsh.records.compare.comparator import EQUAL
from stream_lsh.records.model import Column
from stream_lsh.records.profile import Profile
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.agreement import EXPECTED_SHARE, IDENTIFYING_SHARE, Agreement, agreement
from stream_lsh.records.train.dependence import dependence, predicted_of, with_dependence
from stream_lsh.records.train.discount import TEXTS, shares_of
from stream_lsh.records.train.doubts import Numbers, doubts_of
from stream_lsh.records.train.expectation import (
    ROUNDS,
    Evidence,
    Learned,
    counts_of,
    known_of,
    learn,
    normed,
    others_of,
    with_labels,
)
from stream_lsh.records.train.one_to_one import best_pairs, learn_one_to_one
from stream_lsh.records.train.patterns import Patterns, patterns_of
from stream_lsh.records.train.threshold import threshold_without_chains

RANDOM_PAIRS = 250_000
_CAP = 50
_EQUAL_AMONG_MATCHES = 0.8
_IDENTIFYING = frozenset({"email", "phone", "identifier"})
_LONG = 6
"""The mean length from which values of identifying types identify: a house number does not."""
_NO_RARITY = 128
"""The column of no rarity in patterns."""
_LEAST_PRIOR, _MOST_PRIOR = 1e-9, 0.999999


@dataclass(frozen=True, slots=True)
class Training:
    """The result of training, with the numbers of pairs behind it.

    Attributes:
        profile: with m, u and prior.
        random: the number of random pairs, for u.
        candidates: the number of pairs that the blocking rules find, for m.
        comparable: the number of pairs of these records that may be compared.
        expected: the number of matches expected among the candidates.
        rounds: of learning.
        at_limit: whether it ended at the limit of rounds.
        matches: of each comparison, the expected number of matches with both values.
        others: of each comparison, the number of random pairs with both values.
        agreement: the pairs that agree in all their known fields.
        probability: of a match of each candidate, float64[n]; of a one-to-one link, of the best pairs of records.
        labels: of the same pairs: 1 for a match, 0 for a non-match, -1 without a label, int64[n].
    """

    profile: Profile
    random: int
    candidates: int
    comparable: int
    expected: float
    rounds: int
    at_limit: bool
    matches: tuple[float, ...]
    others: tuple[float, ...]
    agreement: Agreement
    probability: F64
    labels: I64


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
    different: tuple[I64, I64] | None = None,
    seed: int = 1,
) -> Training:
    """The profile with m, u and prior estimated from these records.

    The candidates of the blocking rules are compared, and random pairs stand for all others.  A profile of one-to-one
    links learns from the competition for each record (`one_to_one`), any other one by expectation-maximisation
    (`expectation`).  If matches at the threshold of the profile chain entities together, the threshold is raised
    (`threshold`).  Values are counted first, so that their frequencies count as they will in scores.

    Labelled pairs are matches, or non-matches, with certainty; all other pairs are learned from as without labels.  A
    sample of labels is rarely a random one, so neither the prior nor m is counted among the labels alone.

    Args:
        profile: the definition of the comparison.
        columns: the values of n records, one column for each field.
        keys: of the same records, by `blocker`.
        blocker: of the profile.
        sources: a number for the source of each record, int64[n]; None: all have one source.
        labels: rows of the pairs that are labelled as matches; None: none.
        different: rows of the pairs that are labelled as non-matches; None: none.
        seed: of the random pairs.

    Raises:
        InputError: fewer than two records, or no two that may be compared.

    Cost:
        some ten seconds for 50,000 records; linear in the candidates and the random pairs, of which there are 250,000.
    """
    others = allowed(*random_pairs(len(keys), RANDOM_PAIRS, seed), sources, profile.link)
    if not others[0].size:
        raise InputError("records", f"got {len(keys)} records of which no two may be compared, expected two or more")
    if profile.one_to_one:
        # Rivals share rare values as well as frequent ones, so the rarity of a value is no evidence against a rival.
        plain = tuple(replace(comparison, term_frequency=False) for comparison in profile.comparisons)
        profile = replace(profile, comparisons=plain)
    scorer = _counted(profile, columns)
    competing = profile.one_to_one and sources is not None
    # Rivals stand for other pairs in a competition, so of random pairs only equal and missing values count.
    random = patterns_of(scorer.equalities(columns, *others) if competing else scorer.levels(columns, *others))
    left, right = _candidates(keys, blocker, sources, profile.link, [labels, different])
    known, refused = (_among((left, right), pairs, len(keys)) for pairs in (labels, different))
    shares = _shares(profile, columns, scorer)
    # Rivals show the worth of dependent fields as well, so a competition needs no measure of dependence.
    given = dependence(profile, scorer, columns, random) if not competing else np.zeros((len(scorer.places),) * 2)
    candidates = _Candidates(
        scorer, columns, left, right, scorer.levels(columns, left, right), known, refused, shares, given
    )
    comparable = comparable_pairs(len(keys), sources, profile.link)
    agreed = agreement(
        patterns_of(candidates.levels), random, comparable, len(keys), _expected_shares(profile, columns, scorer)
    )
    learned = candidates.in_competition(sources) if competing and sources is not None else None
    if learned is None:
        random = patterns_of(scorer.levels(columns, *others)) if competing else random
        given = dependence(profile, scorer, columns, random) if competing else given
        candidates = replace(candidates, given=given)
        learned = candidates.in_mixture(random, comparable, agreed)
    learned_profile = with_dependence(with_learned(profile, learned), given)
    probability = scorer.relearned(learned_profile).weighed(columns, left, right, candidates.levels).probability
    if not profile.one_to_one:
        match = threshold_without_chains((left, right), probability, len(keys), learned.expected, profile.match)
        learned_profile = replace(learned_profile, match=match)
    chosen = np.arange(left.size)
    if competing and sources is not None:
        chosen = np.sort(best_pairs(candidates.ends(sources), np.argsort(-probability, kind="stable")))
    numbers = Numbers(
        len(keys),
        learned.rounds == ROUNDS,
        learned.expected,
        learned.matches,
        known_of(random.levels, random.counts),
        agreed,
        labelled=labels is not None or different is not None,
        raised=profile.match if learned_profile.match > profile.match else 0.0,
    )
    return Training(
        replace(learned_profile, doubts=doubts_of(learned_profile, numbers)),
        random=int(random.counts.sum()),
        candidates=left.size,
        comparable=comparable,
        expected=learned.expected,
        rounds=learned.rounds,
        at_limit=numbers.at_limit,
        matches=tuple(learned.matches),
        others=tuple(numbers.others),
        agreement=agreed,
        probability=probability[chosen],
        labels=np.where(known, 1, np.where(refused, 0, UNKNOWN)).astype(np.int64)[chosen],
    )


def _expected_shares(profile: Profile, columns: Sequence[Column], scorer: Scorer) -> list[float]:
    """The share of equal values of each comparison before anything is counted."""
    types = [profile.fields[place].type for place in scorer.places]
    lengths = [np.mean([len(value) for value in columns[place].values] or [0]) for place in scorer.places]
    return [
        IDENTIFYING_SHARE if type in _IDENTIFYING and length >= _LONG else EXPECTED_SHARE
        for type, length in zip(types, lengths, strict=True)
    ]


def _shares(profile: Profile, columns: Sequence[Column], scorer: Scorer) -> list[float]:
    """The factor of the weights of each comparison."""
    filled = [float((columns[place].codes >= 0).mean()) for place in scorer.places]
    return shares_of([comparison.comparator in TEXTS for comparison in profile.comparisons], filled)


def _counted(profile: Profile, columns: Sequence[Column]) -> Scorer:
    """A scorer that has counted the values of all records."""
    scorer = Scorer(profile)
    values = [[column.values[code] if code >= 0 else "" for code in column.codes.tolist()] for column in columns]
    scorer.count(zip(*values, strict=True))
    return scorer


def _candidates(
    keys: U64, blocker: Blocker, sources: I64 | None, link: str, labels: Sequence[tuple[I64, I64] | None]
) -> tuple[I64, I64]:
    """The pairs to learn from, earlier and later rows: those that share a key, and those that are labelled."""
    every = candidate_pairs(keys, blocker.owners, _CAP)
    left, right = allowed(every.left, every.right, sources, link)
    labelled = [np.maximum(*pairs) * len(keys) + np.minimum(*pairs) for pairs in labels if pairs is not None]
    if not labelled:
        return left, right
    later, earlier = np.divmod(np.unique(np.concatenate((right * len(keys) + left, *labelled))), len(keys))
    return earlier, later


def _among(pairs: tuple[I64, I64], labels: tuple[I64, I64] | None, records: int) -> Bools:
    """Whether each pair is labelled."""
    if labels is None:
        return np.zeros(pairs[0].size, np.bool_)
    found: Bools = np.isin(pairs[0] * records + pairs[1], np.minimum(*labels) * records + np.maximum(*labels))
    return found


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The pairs to learn from, with their levels, uint8[n, comparisons], and their labels.

    Attributes:
        known: whether each pair is labelled as a match.
        refused: whether each pair is labelled as a non-match.
        shares: of each comparison, the factor of its weights.
        given: as of `dependence`.
    """

    scorer: Scorer
    columns: Sequence[Column]
    left: I64
    right: I64
    levels: U8
    known: Bools
    refused: Bools
    shares: Sequence[float]
    given: F64

    @property
    def _sizes(self) -> list[int]:
        return [len(comparator.levels) for comparator in self.scorer.comparators]

    def ends(self, sources: I64) -> tuple[I64, I64]:
        """For either record of each pair, a number for the record and the other source, int64[n] twice."""
        several = int(sources.max()) + 1
        return self.left * several + sources[self.right], self.right * several + sources[self.left]

    def in_competition(self, sources: I64) -> Learned | None:
        """The probabilities of a one-to-one link; None if too few records have a rival."""
        score = self.scorer.mean_rank(self.levels)
        return learn_one_to_one(self.levels, self._sizes, self.ends(sources), score, self.known, refused=self.refused)

    def in_mixture(self, random: Patterns, comparable: int, agreed: Agreement) -> Learned:
        """The probabilities by expectation-maximisation; those of labelled pairs are certain."""
        # The rarity of equal values is evidence as well: in steps of half a bit it is one more column of the patterns.
        # The labels are the last one.
        few = [np.full(size, 0.5) for size in self._sizes]
        equal = [u[EQUAL] for u in normed(counts_of(random.levels, random.counts, few))]
        # The frequency of a predicted value is no evidence.
        counting = (self.levels == EQUAL) & (predicted_of(self.levels, self.given) == 0)
        bits = self.scorer.rarity(self.columns, self.left, self.right, counting, equal)
        steps = np.clip(np.round(2 * bits) + _NO_RARITY, 0, 2 * _NO_RARITY - 2).astype(np.uint8)
        labels = self.known + 2 * self.refused.astype(np.uint8)
        found = patterns_of(np.column_stack((self.levels, steps, labels)))
        candidates = Patterns(np.ascontiguousarray(found.levels[:, :-2]), found.counts)
        known, refused = found.levels[:, -1] == 1, found.levels[:, -1] >= 2
        without = agreed.least_of(candidates.levels)
        # Pairs that agree in all their known fields are no evidence about others, even if blocking leaves them out.
        others = others_of(
            candidates._replace(counts=candidates.counts * (1 - without)),
            random._replace(counts=random.counts * (1 - agreed.least_of(random.levels))),
            comparable / max(1.0, float(random.counts.sum())),
            self._sizes,
        )
        evidence = Evidence(
            candidates,
            (found.levels[:, -2].astype(np.float64) - _NO_RARITY) / 2,
            np.where(refused, 0.0, without),
            np.where(refused, 0.0, 1.0),
            others,
            comparable,
            self.columns[0].codes.size,
            agreed.beyond,
            self.shares,
            predicted_of(candidates.levels, self.given),
        )
        start = [_start(size) for size in self._sizes]
        learned = learn(evidence, start)
        if not known.any():
            return learned
        return learn(with_labels(evidence, learned, known, refused), start)


def with_learned(profile: Profile, learned: Learned) -> Profile:
    """The profile with these m and u."""
    comparisons = tuple(
        replace(comparison, m=tuple(m.tolist()), u=tuple(u.tolist()))
        for comparison, m, u in zip(profile.comparisons, learned.m, learned.u, strict=True)
    )
    return replace(profile, comparisons=comparisons, prior=min(_MOST_PRIOR, max(_LEAST_PRIOR, learned.prior)))


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


def _start(size: int) -> F64:
    """The initial m: matches usually agree, and nearly agree more often than not at all."""
    tail = 0.5 ** np.arange(size - 1)
    return np.concatenate(([_EQUAL_AMONG_MATCHES], (1 - _EQUAL_AMONG_MATCHES) * tail / tail.sum()))
