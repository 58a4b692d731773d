"""Converts levels to match weights, after Fellegi and Sunter: the bits of each field for or against a match.

    weight of a level   log2(m / u)
    of equal values     log2(m / share of the records with the value), for comparisons with `term_frequency`
    total               log2(prior / (1 - prior)) + the sum of the weights
    probability         1 / (1 + 2 ** -total)

A missing value weighs 0.  If an equal value of another field predicts the value (`given`), its level has a conditional
weight, whatever the frequency of the value.  Without trained weights, the score is the weighted mean of the rank of
each level between `else` and `equal`, which is not a probability, but has the same thresholds.

Reference: Fellegi and Sunter, A theory for record linkage, 1969; Winkler, Frequency-based matching in the
Fellegi-Sunter model, 2000; Linacre et al., Splink, 2022.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8, Bools
from stream_lsh.records.compare.catalog import WEIGHTED, comparator
from stream_lsh.records.compare.comparator import EQUAL, MISSING, Comparator
from stream_lsh.records.compare.exact import Exact
from stream_lsh.records.compare.levels import level_of, levels_of
from stream_lsh.records.compare.tfidf import tokens_of
from stream_lsh.records.frequencies import Frequencies, TokenFrequencies
from stream_lsh.records.given import Given, given_bits
from stream_lsh.records.model import SEVERAL, Column, Values
from stream_lsh.records.profile import Comparison, Profile

MOST_BITS = 30.0
"""The greatest absolute weight of a single field."""
_MOST_POWER = 1023.0
"""The greatest power of two that a float holds; the bits of many fields together may exceed it."""


class Scored(NamedTuple):
    """A pair's evidence.

    Attributes:
        total: bits, with the prior; without trained weights the weighted mean.
        probability: of a match.
        weights: bits of each comparison, in the order of the profile.
        levels: of each comparison; MISSING for a missing value.
    """

    total: float
    probability: float
    weights: tuple[float, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The evidence of n pairs: float64[n], float64[n], float64[n, comparisons], uint8[n, comparisons]."""

    total: F64
    probability: F64
    weights: F64
    levels: U8

    def rows(self, at: I64) -> list[Scored]:
        """Some of the pairs, one by one."""
        weights, levels = map(tuple, self.weights[at].tolist()), map(tuple, self.levels[at].tolist())
        return [*map(Scored, self.total[at].tolist(), self.probability[at].tolist(), weights, levels)]


class _Compared:
    """A comparison with its comparator, weights and frequencies."""

    __slots__ = ("before", "bits", "comparator", "expected", "frequencies", "letters", "place", "token_counts")

    def __init__(self, one: Comparison, place: int, before: float) -> None:
        self.before = before
        self.place = place
        self.letters = WEIGHTED.get(one.comparator, 0)
        self.token_counts = TokenFrequencies() if one.comparator in WEIGHTED else None
        self.comparator: Comparator = comparator(one.comparator, one.levels, self.token_counts)
        self.bits = bits_of(one.m, one.u)
        self.expected = one.u[EQUAL] if one.u else 0.0
        self.frequencies = Frequencies() if one.term_frequency else None

    def count(self, value: str, *, remove: bool) -> None:
        """Add a value to the frequencies, or remove it."""
        if self.frequencies is not None:
            (self.frequencies.remove if remove else self.frequencies.add)(value.split(SEVERAL))
        if self.token_counts is not None:
            tokens = tokens_of(value.replace(SEVERAL, " "), self.letters)
            (self.token_counts.remove if remove else self.token_counts.add)(tokens)

    def equal_bits(self, value: str) -> float:
        """The weight of an equal value, greater for rarer values; the frequency of several values does not apply."""
        frequencies = self.frequencies
        if frequencies is None or SEVERAL in value:
            return self.bits[EQUAL]
        rarer = log2(self.expected / frequencies.share(value, self.expected, self.before))
        return max(-MOST_BITS, min(MOST_BITS, self.bits[EQUAL] + rarer))


class Scorer:
    """Scores pairs of records by a profile, and counts the frequencies of their values.

    Args:
        profile: with or without trained weights.

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> name = Comparison(
        ...     field="name", comparator="jaro-winkler", levels=(0.9,), m=(0.8, 0.1, 0.1), u=(0.05, 0.05, 0.9)
        ... )
        >>> scorer = Scorer(Profile(name="people", fields=(Field(name="name"),), comparisons=(name,), prior=0.5))
        >>> scored = scorer.score_one(("martha",), [("martha",), ("marhta",), ("bob",), ("",)])
        >>> [round(one.total, 2) for one in scored], [round(one.probability, 3) for one in scored]
        ([4.0, 1.0, -3.17, 0.0], [0.941, 0.667, 0.1, 0.5])
    """

    def __init__(self, profile: Profile) -> None:
        places = {name: place for place, name in enumerate(profile.names)}
        self._compared = [
            _Compared(comparison, places[comparison.field], profile.smoothing) for comparison in profile.comparisons
        ]
        self._counting = [
            compared
            for compared in self._compared
            if compared.frequencies is not None or compared.token_counts is not None
        ]
        self._learned = profile.learned
        prior = 0.5 if profile.prior is None else profile.prior
        self.prior_bits = log2(prior / (1 - prior))
        self._shares = [comparison.weight for comparison in profile.comparisons]
        self._given: Given = given_bits(profile) if profile.learned else ()

    def relearned(self, profile: Profile) -> "Scorer":
        """A scorer with the weights of this profile, and with the frequencies of this one, which both then update.

        Args:
            profile: the same, except for m, u and prior.
        """
        scorer = Scorer(profile)
        for one, counted in zip(scorer._compared, self._compared, strict=True):
            one.token_counts, one.comparator = counted.token_counts, counted.comparator
            one.frequencies = counted.frequencies
        return scorer

    @property
    def is_counting(self) -> bool:
        """Whether scores depend on the values of other records."""
        return bool(self._counting)

    @property
    def comparators(self) -> list[Comparator]:
        """The comparators, in the order of the comparisons."""
        return [compared.comparator for compared in self._compared]

    @property
    def places(self) -> list[int]:
        """The index of each comparison's field among a record's values."""
        return [compared.place for compared in self._compared]

    def level_bits(self, levels: Sequence[int]) -> list[tuple[Sequence[float], int | None]]:
        """The trained weights of all levels of each comparison, regardless of the value.

        Args:
            levels: the level of each comparison.

        Returns:
            the weights, and the index of the comparison whose equal value predicts this one; None if there is none.
        """
        found: list[tuple[Sequence[float], int | None]] = [(compared.bits, None) for compared in self._compared]
        for at, predictors in self._given:
            equal = ((bits, other) for other, bits in predictors if levels[other] == EQUAL)
            found[at] = next(equal, found[at])
        return found

    def seen(self, at: int, value: str) -> tuple[int, int] | None:
        """The count of a value, and of all values; None for a comparison without `term_frequency`.

        Args:
            at: the index of the comparison.
            value: of its field.
        """
        frequencies = self._compared[at].frequencies
        return None if frequencies is None else (frequencies.count(value), frequencies.total)

    def count(self, records: Iterable[Values], *, remove: bool = False) -> None:
        """Add records to the frequencies, or remove them."""
        for values in records:
            self.count_values(self.counted(values), remove=remove)

    def counted(self, values: Values) -> Values:
        """The counted values of a record, which suffice to remove it from the frequencies."""
        return tuple(values[counter.place] for counter in self._counting)

    def count_values(self, counted: Values, *, remove: bool = False) -> None:
        """Add the counted values of a record to the frequencies, or remove them."""
        for counter, value in zip(self._counting, counted, strict=True):
            if value:
                counter.count(value, remove=remove)

    def levels(self, columns: Sequence[Column], left: I64, right: I64) -> U8:
        """The levels of pairs of rows: uint8[n, comparisons]."""
        return self._levels(self.comparators, columns, left, right)

    def equalities(self, columns: Sequence[Column], left: I64, right: I64) -> U8:
        """Whether the values of pairs of rows are equal: uint8[n, comparisons], EQUAL, MISSING, or 1 if they differ."""
        return self._levels([Exact()] * len(self._compared), columns, left, right)

    def _levels(self, comparators: Sequence[Comparator], columns: Sequence[Column], left: I64, right: I64) -> U8:
        levels = np.empty((left.size, len(self._compared)), np.uint8)
        for at, (compared, one) in enumerate(zip(self._compared, comparators, strict=True)):
            levels[:, at] = levels_of(one, columns[compared.place], left, right)
        return levels

    def rarity(self, columns: Sequence[Column], left: I64, right: I64, equal: Bools, expected: Sequence[float]) -> F64:
        """The bits by which the frequency of equal values changes the evidence of pairs: float64[n].

        Args:
            columns: of the records.
            left: rows, int64[n].
            right: rows, int64[n].
            equal: whether their values are equal and their frequency counts, bool[n, comparisons].
            expected: the share of an equal value of each comparison among other pairs.
        """
        bits = np.zeros(left.size)
        for at, (compared, share) in enumerate(zip(self._compared, expected, strict=True)):
            if compared.frequencies is not None:
                column = columns[compared.place]
                same = np.flatnonzero(equal[:, at] & (column.codes[left] == column.codes[right]))
                codes, places = np.unique(column.codes[left[same]], return_inverse=True)
                values = (column.values[code] for code in codes.tolist())
                rarer = [
                    0.0 if SEVERAL in value else log2(share / compared.frequencies.share(value, share, compared.before))
                    for value in values
                ]
                bits[same] += np.array(rarer)[places] if same.size else 0
        return bits

    def score(self, columns: Sequence[Column], left: I64, right: I64) -> Scores:
        """The evidence of pairs of rows of a batch; for each pair equal to that of `score_one`."""
        return self.weighed(columns, left, right, self.levels(columns, left, right))

    def weighed(self, columns: Sequence[Column], left: I64, right: I64, levels: U8) -> Scores:
        """The same of pairs that were compared: `levels` are theirs, uint8[n, comparisons]."""
        if not self._learned:
            return self._fallback(levels)
        weights = np.zeros(levels.shape)
        for at, compared in enumerate(self._compared):
            table = np.zeros(MISSING + 1)
            table[: len(compared.bits)] = compared.bits
            weights[:, at] = table[levels[:, at]]
            if compared.frequencies is not None:
                column = columns[compared.place]
                same = column.codes[left] == column.codes[right]  # False if only one of several values is shared
                equal = np.flatnonzero((levels[:, at] == EQUAL) & same)
                codes, places = np.unique(column.codes[left[equal]], return_inverse=True)
                bits = np.array([compared.equal_bits(column.values[code]) for code in codes.tolist()])
                weights[equal, at] = bits[places] if equal.size else 0
        for at, predictors in self._given:
            left_over = levels[:, at] != MISSING
            for other, own_bits in predictors:
                found = np.flatnonzero(left_over & (levels[:, other] == EQUAL))
                weights[found, at] = np.array(own_bits)[levels[found, at]]
                left_over[found] = False
        total = _added(weights) + self.prior_bits
        return Scores(total, np.array([_probability(bits) for bits in total.tolist()]), weights, levels)

    def score_one(self, values: Values, others: Sequence[Values]) -> list[Scored]:
        """The evidence of one record with each of several others, without arrays, for the stream."""
        return [self._pair(values, other) for other in others]

    def _pair(self, values: Values, others: Values) -> Scored:
        levels, weights = [], []
        for compared in self._compared:
            value, other = values[compared.place], others[compared.place]
            if not value or not other:
                levels.append(MISSING)
                weights.append(0.0)
            elif value == other:
                levels.append(EQUAL)
                weights.append(compared.equal_bits(value) if self._learned else 0.0)
            else:
                level = level_of(compared.comparator, value, other)
                levels.append(level)
                weights.append(compared.bits[level] if self._learned else 0.0)
        if not self._learned:
            mean = self._fallback(np.array([levels], np.uint8))
            return Scored(float(mean.total[0]), float(mean.probability[0]), tuple(mean.weights[0]), tuple(levels))
        for at, predictors in self._given:
            if (level := levels[at]) != MISSING:
                for other_at, bits in predictors:
                    if levels[other_at] == EQUAL:
                        weights[at] = bits[level]
                        break
        total = 0.0
        for weight in weights:  # `sum` rounds differently from Python 3.12 on, and a batch must have the same result
            total += weight
        total += self.prior_bits
        return Scored(total, _probability(total), tuple(weights), tuple(levels))

    def mean_rank(self, levels: U8) -> F64:
        """The weighted mean of the rank of each level between `else` and `equal`: float64[n], from 0 to 1."""
        return self._fallback(levels).total

    def _fallback(self, levels: U8) -> Scores:
        last_levels = np.array([len(compared.comparator.levels) - 1 for compared in self._compared])
        present = levels != MISSING
        shares = np.where(present, self._shares, 0.0)
        heights = np.where(present, 1 - levels / last_levels, 0.0) * shares
        total = _added(heights) / np.maximum(_added(shares), 1e-9)
        return Scores(total, total, heights, levels)


def _added(columns: F64) -> F64:
    """The sum of each row, from the left: the same to the last bit, whatever the other rows."""
    total = np.zeros(len(columns))
    for column in columns.T:
        total += column
    return total


def _probability(total: float) -> float:
    return float(1 / (1 + 2.0 ** min(-total, _MOST_POWER)))


def bits_of(m: Sequence[float], u: Sequence[float]) -> list[float]:
    """The weight of each level: log2(m / u), cut at 30 bits either way.

    Example:
        >>> bits_of((0.75, 0.25), (0.1875, 0.5))
        [2.0, -1.0]
    """
    return [max(-MOST_BITS, min(MOST_BITS, log2(left / right))) for left, right in zip(m, u, strict=True)]
