"""Cosine of weighted tokens: words, or runs of letters within words; rare tokens weigh more.

The weight of a token is (1 + ln its count in the value) * ln((values + 1) / values with the token), as an integer in
steps of 1/256.  Sums of integers are exact in any order, so a batch gives the same level as a single pair.

Reference: Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988; Cohen, Ravikumar and
Fienberg, A comparison of string distance metrics for name-matching tasks, 2003.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log, sqrt

import numpy as np

from stream_lsh.arrays import F64, I64, U8
from stream_lsh.records.compare.comparator import AT_ONCE, OneByOne, check_thresholds, spec_of
from stream_lsh.records.frequencies import TokenFrequencies

_STEPS = 256
_LEAST = 0.1
"""The least factor for rarity, so that values of common tokens only are similar as well."""
_MOST_VECTORS = 1 << 10
"""The vectors that are kept for further comparisons with the same value."""
_EXPANDED = 1 << 22
"""The tokens of pairs in memory at once."""


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
        self._vectors: dict[str, dict[str, int]] = {}
        self._changes = -1

    def level(self, left: str, right: str) -> int:
        """The level of two values."""
        ones, others = self._vector(left), self._vector(right)
        if len(others) < len(ones):
            ones, others = others, ones
        dot = sum(weight * others[token] for token, weight in ones.items() if token in others)
        norms = _norm(ones.values()) * _norm(others.values())
        return bisect_left(self._cuts, -(dot / norms if norms else 0.0)) + 1

    def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
        """The level of each of n pairs: uint8[n]."""
        if len(left) < AT_ONCE:
            return super().batch(left, right)
        rows: dict[str, int] = {}
        ones = np.array([rows.setdefault(value, len(rows)) for value in left], np.int64)
        others = np.array([rows.setdefault(value, len(rows)) for value in right], np.int64)
        similarity = _cosines([self._vector(value) for value in rows], ones, others)
        return (self._descending.searchsorted(-similarity, side="left") + 1).astype(np.uint8)

    def _vector(self, value: str) -> dict[str, int]:
        """The weight of each token; kept while the frequencies stay the same."""
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

    def _weighted(self, tokens: Mapping[str, int]) -> dict[str, int]:
        vector, weights = {}, self._weights
        for token, count in tokens.items():
            weight = weights.get(token if count == 1 else (token, count))
            if weight is None:
                rarity = max(log((self._frequencies.total + 1) / max(1, self._frequencies.count(token))), _LEAST)
                weight = round(_STEPS * (1 + log(count)) * rarity)
                weights[token if count == 1 else (token, count)] = weight
            vector[token] = weight
        return vector


@lru_cache(maxsize=1 << 13)
def tokens_of(value: str, q: int) -> Counter[str]:
    """The words of a value with their counts, or the runs of q letters within words if q is not 0.

    Example:
        >>> sorted(tokens_of("to be to", 0).items()), sorted(tokens_of("be", 3))
        ([('be', 1), ('to', 2)], [' be', 'be '])
    """
    if not q:
        return Counter(value.split())
    runs: Counter[str] = Counter()
    for word in value.split():
        padded = f" {word} "
        runs.update(padded[at : at + q] for at in range(max(1, len(padded) - q + 1)))
    return runs


def _norm(weights: Iterable[int]) -> float:
    return sqrt(sum(weight * weight for weight in weights))


def _cosines(vectors: Sequence[dict[str, int]], left: I64, right: I64) -> F64:
    """The cosine of pairs of vectors: float64[n]."""
    ids: dict[str, int] = {}
    sizes = np.array([len(vector) for vector in vectors], np.int64)
    tokens = np.array([ids.setdefault(token, len(ids)) for vector in vectors for token in vector], np.int64)
    weights = np.array([weight for vector in vectors for weight in vector.values()], np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    keys = np.repeat(np.arange(sizes.size), sizes) * len(ids) + tokens
    order = np.argsort(keys)
    keys, tokens, weights = keys[order], tokens[order], weights[order]
    norms = np.sqrt(np.add.reduceat(np.append(weights * weights, 0), starts[:-1]) * (sizes > 0))
    swap = sizes[left] > sizes[right]
    short, long = np.where(swap, right, left), np.where(swap, left, right)
    dots = np.zeros(left.size, np.int64)
    ends = np.cumsum(sizes[short])
    first = 0
    while first < left.size:
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + _EXPANDED, side="right")))
        counts = sizes[short[first:last]]
        pairs = np.repeat(np.arange(first, last), counts)
        places = np.arange(pairs.size) + np.repeat(starts[short[first:last]] - (np.cumsum(counts) - counts), counts)
        wanted = long[pairs] * len(ids) + tokens[places]
        found = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        hit = keys[found] == wanted
        np.add.at(dots, pairs[hit], weights[places[hit]] * weights[found[hit]])
        first = last
    product = norms[left] * norms[right]
    cosines: F64 = np.divide(dots, product, out=np.zeros(left.size), where=product > 0)
    return cosines
