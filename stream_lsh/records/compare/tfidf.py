"""Cosine of weighted tokens: words, or runs of letters within words; rare tokens weigh more.

The weight of a token is (1 + ln its count in the value) * ln((values + 1) / values with the token), as an integer in
steps of 1/256.  Sums of integers are exact in any order, so a batch gives the same level as a single pair.

Reference: Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988; Cohen, Ravikumar and
Fienberg, A comparison of string distance metrics for name-matching tasks, 2003.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U8
from stream_lsh.records.compare.comparator import AT_ONCE, OneByOne, check_thresholds, numbered, spec_of
from stream_lsh.records.frequencies import TokenFrequencies

_STEPS = 256
_LEAST = 0.1
"""The least factor for rarity, so that values of common tokens only are similar as well."""
_MOST_VECTORS = 1 << 10
"""The vectors that are kept for further comparisons with the same value."""
_KEPT_WORD = 24
"""The longest word whose runs are kept."""
_EXPANDED = 1 << 20
"""The tokens of pairs in memory at once."""
_DENSE = 1 << 18
"""The size of the vectors with a place for every token."""


class _Vector(NamedTuple):
    """The weight of each token of a value, and the Euclidean norm."""

    weights: dict[str, int]
    norm: float


class TfIdf(OneByOne):
    """Levels of the cosine of weighted tokens.

    Args:
        frequencies: the number of values with each token; read at every comparison, so it may change in between.
        thresholds: descending.
        q: letters in a run, within words that have a space at either end; 0: words.

    Guarantees:
        the result is a function of values and frequencies; a token without a count weighs as if a single value had it.

    Example:
        >>> frequencies = TokenFrequencies()
        >>> tfidf = TfIdf(frequencies, (0.6, 0.2))
        >>> for title in ("the tree", "the house", "the sky", "the sea"):
        ...     frequencies.add(tokens_of(title, 0))
        >>> tfidf.level("the tree", "tree"), tfidf.level("the tree", "the sea")
        (1, 3)
    """

    def __init__(self, frequencies: TokenFrequencies, thresholds: Sequence[float] = (0.8, 0.5), q: int = 0) -> None:
        name = "qgram-cosine" if q else "tfidf"
        check_thresholds(name, thresholds)
        self.spec = spec_of(name, thresholds)
        self.levels = ("equal", *(f"≥ {threshold:g}" for threshold in thresholds), "else")
        self._frequencies, self._q = frequencies, q
        self._descending = np.array([-threshold for threshold in thresholds])
        self._cuts = self._descending.tolist()
        self._weights: dict[str | tuple[str, int], int] = {}
        self._vectors: dict[str, _Vector] = {}
        self._changes = -1

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        (ones, norm), (others, other_norm) = self._vector(left), self._vector(right)
        if len(others) < len(ones):
            ones, others = others, ones
        dot = sum(weight * others[token] for token, weight in ones.items() if token in others)
        norms = norm * other_norm
        return bisect_left(self._cuts, -(dot / norms if norms else 0.0)) + 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        values, ones, others = numbered(left, right)
        similarity = _cosines([*map(self._vector, values)], ones, others)
        return (self._descending.searchsorted(-similarity, side="left") + 1).astype(np.uint8)

    def _vector(self, value: str) -> _Vector:
        """The vector of a value; kept while the frequencies stay the same."""
        if self._changes != self._frequencies.changes:
            self._changes = self._frequencies.changes
            self._weights.clear()
            self._vectors.clear()
        vector = self._vectors.get(value)
        if vector is None:
            if len(self._vectors) >= _MOST_VECTORS:
                self._vectors.clear()
            vector = self._vectors[value] = self._weighted(tokens_of(value, self._q))
        return vector

    def _weighted(self, tokens: Mapping[str, int]) -> _Vector:
        vector, weights = {}, self._weights
        for token, count in tokens.items():
            weight = weights.get(token if count == 1 else (token, count))
            if weight is None:
                rarity = max(log((self._frequencies.total + 1) / max(1, self._frequencies.count(token))), _LEAST)
                weight = round(_STEPS * (1 + log(count)) * rarity)
                weights[token if count == 1 else (token, count)] = weight
            vector[token] = weight
        return _Vector(vector, sqrt(sum(weight * weight for weight in vector.values())))


@lru_cache(maxsize=1 << 13)
def tokens_of(value: str, q: int) -> Counter[str]:
    """The words of a value with their counts, or the runs of q letters within words if q is not 0.

    Example:
        >>> sorted(tokens_of("to be to", 0).items()), sorted(tokens_of("be", 3))
        ([('be', 1), ('to', 2)], [' be', 'be '])
    """
    if not q:
        return Counter(value.split())
    words = value.split()
    return Counter(
        chain.from_iterable([_runs_of_word(word, q) if len(word) <= _KEPT_WORD else _runs(word, q) for word in words])
    )


def _runs(word: str, q: int) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple([padded[at : at + q] for at in range(max(1, len(padded) - q + 1))])


_runs_of_word = lru_cache(maxsize=1 << 14)(_runs)
"""The same for words that recur."""


class _Table(NamedTuple):
    """The vectors of n values, one after the other.

    Attributes:
        tokens: the number of each token, int64[t].
        weights: of each token, int64[t].
        sizes: the tokens of each value, int64[n].
        starts: the place of the first token of each value, int64[n].
        known: the number of distinct tokens.
    """

    tokens: I64
    weights: I64
    sizes: I64
    starts: I64
    known: int

    @classmethod
    def of(cls, vectors: Sequence[Mapping[str, int]]) -> "_Table":
        ids: dict[str, int] = {}
        tokens = np.array([ids.setdefault(token, len(ids)) for vector in vectors for token in vector], np.int64)
        weights = np.array([weight for vector in vectors for weight in vector.values()], np.int64)
        sizes = np.array([len(vector) for vector in vectors], np.int64)
        return cls(tokens, weights, sizes, np.cumsum(sizes) - sizes, len(ids))

    def tokens_of(self, values: I64) -> tuple[I64, I64]:
        """The places of the tokens of some values, and for each token the index of its value among them."""
        sizes = self.sizes[values]
        owners = np.repeat(np.arange(values.size), sizes)
        return np.arange(owners.size) + np.repeat(self.starts[values] - np.cumsum(sizes) + sizes, sizes), owners


def _cosines(vectors: Sequence[_Vector], left: I64, right: I64) -> F64:
    """The cosine of pairs of vectors: float64[n]."""
    table = _Table.of([vector.weights for vector in vectors])
    swap = table.sizes[left] > table.sizes[right]
    short, long = np.where(swap, right, left), np.where(swap, left, right)
    order = np.argsort(long, kind="stable")
    dots = np.empty(left.size, np.int64)
    dots[order] = _dots(table, short[order], long[order])
    norms = np.array([vector.norm for vector in vectors])
    product = norms[left] * norms[right]
    cosines: F64 = np.divide(dots, product, out=np.zeros(left.size), where=product > 0)
    return cosines


def _dots(table: _Table, short: I64, long: I64) -> I64:
    """The dot product of pairs of vectors, which are ascending by the longer one: int64[n].

    A few longer vectors at a time have a place for every token, so that a token of the shorter one is found at once.
    """
    dots = np.empty(short.size, np.int64)
    rows, row_of = np.unique(long, return_inverse=True)
    some = max(1, _DENSE // max(1, table.known))
    dense = np.zeros((min(some, rows.size), max(1, table.known)), np.int64)
    ends = np.concatenate(([0], np.cumsum(table.sizes[short])))
    for start in range(0, rows.size, some):
        places, owners = table.tokens_of(rows[start : start + some])
        dense[owners, table.tokens[places]] = table.weights[places]
        first, last = np.searchsorted(row_of, (start, start + some)).tolist()
        while first < last:
            end = min(last, max(first + 1, int(np.searchsorted(ends, ends[first] + _EXPANDED, side="right")) - 1))
            at, pairs = table.tokens_of(short[first:end])
            products = dense[row_of[first:end][pairs] - start, table.tokens[at]] * table.weights[at]
            sums = np.concatenate(([0], np.cumsum(products)))[ends[first : end + 1] - ends[first]]
            dots[first:end] = np.diff(sums)
            first = end
        dense[owners, table.tokens[places]] = 0
    return dots
