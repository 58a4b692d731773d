"""Agreement of found pairs and clusters with true ones: precision and recall of pairs, of clusters, and B-cubed.

References: Menestrina, Whang and Garcia-Molina, Evaluating entity resolution results, PVLDB 3, 2010 (pairs, clusters);
Bagga and Baldwin, Algorithms for scoring coreference chains, 1998 (B-cubed).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, Bools

THRESHOLDS = 20
"""The most thresholds of a table."""


class Score(NamedTuple):
    """Precision and recall; without anything found precision is 1, without anything true recall is 1.

    Attributes:
        precision: the share of the found ones that are true.
        recall: the share of the true ones that are found.
        found, true, right: numbers of the found ones, the true ones, and those that are both; 0 of B-cubed.
    """

    precision: float
    recall: float
    found: int = 0
    true: int = 0
    right: int = 0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        Example:
            >>> round(Score(1.0, 0.5).f1, 4), Score(0.0, 0.0).f1
            (0.6667, 0.0)
        """
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Grouping:
    """Pairs and clusters of n items, which are numbered from 0.

    Attributes:
        labels: the cluster of each item, int64[n]; of pairs, that of the items that they connect.
        left, right: the pairs, each once, left < right, int64[m]; None: all pairs of items in the same cluster.
        similarity: of each pair, float64[m]; None: unknown.
        wrong: pairs that are known to be no matches, int64[k, 2]; if there are any, only these and the pairs count.
    """

    labels: I64
    left: I64 | None = None
    right: I64 | None = None
    similarity: F64 | None = None
    wrong: I64 | None = None

    @property
    def pairs(self) -> tuple[I64, I64] | None:
        """Both sides of the pairs; None: all pairs of items in the same cluster."""
        return None if self.left is None or self.right is None else (self.left, self.right)


def of_pairs(
    count: int, left: Sequence[int], right: Sequence[int], similarity: Sequence[float] | None = None
) -> Grouping:
    """The grouping of pairs; of a repeated pair, the greatest similarity counts, and an item is no pair with itself.

    Args:
        count: of items.
        left: one item of each pair.
        right: the other one.
        similarity: of each pair.

    Example:
        >>> found = of_pairs(4, [2, 0, 2], [0, 2, 3])
        >>> found.left.tolist(), found.right.tolist(), found.labels.tolist()
        ([0, 2], [2, 3], [0, 1, 0, 0])
    """
    one, other = np.array(left, np.int64), np.array(right, np.int64)
    codes = np.minimum(one, other) * count + np.maximum(one, other)
    scores = None if similarity is None else np.array(similarity, np.float64)
    order = np.lexsort((codes,) if scores is None else (-scores, codes))
    codes = codes[order]
    chosen = np.ones(codes.size, bool)
    chosen[1:] = codes[1:] != codes[:-1]
    chosen &= codes // max(1, count) != codes % max(1, count)
    one, other = np.divmod(codes[chosen], max(1, count))
    labels = _joined(np.arange(count), one, other)
    return Grouping(labels, one, other, None if scores is None else scores[order][chosen])


def _joined(labels: I64, left: I64, right: I64) -> I64:
    """The labels after more pairs; the label of a component is its least item."""
    while True:
        one, other = labels[left], labels[right]
        apart = one != other
        if not apart.any():
            return labels
        labels = labels.copy()
        np.minimum.at(labels, np.maximum(one, other)[apart], np.minimum(one, other)[apart])
        while not np.array_equal(above := labels[labels], labels):
            labels = above


def pairs(found: Grouping, true: Grouping) -> Score:
    """Precision and recall of pairs.

    Example:
        >>> pairs(of_pairs(4, [0, 0], [1, 2]), of_pairs(4, [0, 2], [1, 3]))
        Score(precision=0.5, recall=0.5, found=2, true=2, right=1)
    """
    if true.wrong is not None and true.wrong.size:
        return _labelled(found, true, true.wrong)
    if found.pairs is None and true.pairs is None:
        right = _within(_cells(found.labels, true.labels))
    elif found.pairs is None:
        right = int(_has(found, *_sides(true)).sum())
    else:
        right = int(_has(true, *_sides(found)).sum())
    return _score(right, _size(found), _size(true))


def _labelled(found: Grouping, true: Grouping, wrong: I64) -> Score:
    right, false = (int(_has(found, *sides).sum()) for sides in (_sides(true), (wrong[:, 0], wrong[:, 1])))
    return _score(right, right + false, _size(true))


def _sides(grouping: Grouping) -> tuple[I64, I64]:
    return grouping.pairs or (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _has(grouping: Grouping, left: I64, right: I64) -> Bools:
    """Whether a grouping has each of some pairs, left < right."""
    known: Bools
    if grouping.pairs is None:
        known = grouping.labels[left] == grouping.labels[right]
        return known
    count = grouping.labels.size
    own_left, own_right = grouping.pairs
    known = np.isin(left * count + right, own_left * count + own_right)
    return known


def _size(grouping: Grouping) -> int:
    return _within(np.bincount(grouping.labels)) if grouping.pairs is None else grouping.pairs[0].size


def _cells(found: I64, true: I64) -> I64:
    """The number of items in each pair of a found and a true cluster that have items in common."""
    return np.unique(np.stack((found, true)), axis=1, return_counts=True)[1]


def _within(sizes: I64) -> int:
    """Pairs within clusters of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def _score(right: int, found: int, true: int) -> Score:
    return Score(right / found if found else 1.0, right / true if true else 1.0, found, true, right)


def clusters(found: I64, true: I64) -> Score:
    """Precision and recall of clusters of two or more items: a cluster is right if it has the same items.

    Example:
        >>> clusters(np.array([0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1]))
        Score(precision=0.5, recall=0.5, found=2, true=2, right=1)
    """
    both, sizes = np.unique(np.stack((found, true)), axis=1, return_counts=True)
    in_found, in_true = np.bincount(found), np.bincount(true)
    right = (sizes > 1) & (sizes == in_found[both[0]]) & (sizes == in_true[both[1]])
    return _score(int(right.sum()), int((in_found > 1).sum()), int((in_true > 1).sum()))


def bcubed(found: I64, true: I64) -> Score:
    """The share of the found cluster of an item that is in its true cluster, and the reverse; the mean over all items.

    Example:
        >>> score = bcubed(np.array([0, 0, 0]), np.array([0, 0, 1]))
        >>> round(score.precision, 4), score.recall
        (0.5556, 1.0)
    """
    if not found.size:
        return Score(1.0, 1.0)
    both, sizes = np.unique(np.stack((found, true)), axis=1, return_counts=True)
    squares = sizes.astype(np.float64) ** 2
    precision, recall = (
        float((squares / np.bincount(labels)[side]).sum() / labels.size)
        for labels, side in zip((found, true), both, strict=True)
    )
    return Score(precision, recall)


class Evaluation(NamedTuple):
    """The scores of a grouping; without clusters if the truth has labels of some pairs only."""

    pairs: Score
    clusters: Score | None
    bcubed: Score | None


def evaluate(found: Grouping, true: Grouping) -> Evaluation:
    """All scores of a grouping.

    Args:
        found: by a command.
        true: of the same items.
    """
    if true.wrong is not None and true.wrong.size:
        return Evaluation(pairs(found, true), None, None)
    labels = (found.labels, true.labels)
    return Evaluation(pairs(found, true), clusters(*labels), bcubed(*labels))


def by_threshold(found: Grouping, true: Grouping, most: int = THRESHOLDS) -> list[tuple[float, Evaluation]]:
    """The scores of the pairs with at least each of some similarities, ascending; [] without similarities.

    Args:
        found: pairs with their similarity.
        true: of the same items.
        most: thresholds at most: round numbers at equal steps, and the similarity with the greatest F1 of pairs, the
            highest of equal ones.

    Example:
        >>> found = of_pairs(4, [0, 1], [1, 2], [0.9, 0.52])
        >>> for threshold, score in by_threshold(found, of_pairs(4, [0], [1]), 4):
        ...     print(threshold, score.pairs.precision, score.pairs.recall)
        0.4 0.5 1.0
        0.6 1.0 1.0
        0.8 1.0 1.0
        0.9 1.0 1.0
    """
    if found.similarity is None or found.left is None or found.right is None or not found.left.size:
        return []
    order = np.argsort(-found.similarity, kind="stable")
    left, right, similarity = found.left[order], found.right[order], found.similarity[order]
    ends = np.flatnonzero(np.append(similarity[1:] != similarity[:-1], True)) + 1  # equal pairs stay together
    best = float(similarity[ends[np.argmax(_f1_at(left, right, ends, found, true))] - 1])
    labels, begin, rows = np.arange(found.labels.size), 0, []
    for threshold in sorted({best, *_round_steps(float(similarity[-1]), float(similarity[0]), most - 1)}, reverse=True):
        end = int(np.searchsorted(-similarity, -threshold, side="right"))
        if not end:
            continue
        labels = _joined(labels, left[begin:end], right[begin:end])
        rows.append((threshold, evaluate(Grouping(labels, left[:end], right[:end]), true)))
        begin = end
    return rows[::-1]


def _f1_at(left: I64, right: I64, ends: I64, found: Grouping, true: Grouping) -> F64:
    """F1 of the first pairs, for each of some numbers of them."""
    hits = _has(true, left, right)
    counted = np.ones(left.size, bool)
    if true.wrong is not None and true.wrong.size:
        wrong = Grouping(found.labels, true.wrong[:, 0], true.wrong[:, 1])
        counted = hits | _has(wrong, left, right)
    f1: F64 = 2 * np.cumsum(hits)[ends - 1] / np.maximum(1, np.cumsum(counted)[ends - 1] + _size(true))
    return f1


def _round_steps(least: float, greatest: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten: from the last one up to `least`, at most `most` of them.

    Example:
        >>> _round_steps(0.52, 0.9, 6), _round_steps(0.9, 0.9, 6)
        ([0.5, 0.6, 0.7, 0.8, 0.9], [0.9])
    """
    if least == greatest:
        return [least]
    exponent = math.floor(math.log10((greatest - least) / most))
    for step in (factor * 10.0**power for power in (exponent, exponent + 1, exponent + 2) for factor in (1, 2, 5)):
        first, last = math.floor(least / step + 1e-9), math.floor(greatest / step + 1e-9)
        if last - first < most:
            break
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]
