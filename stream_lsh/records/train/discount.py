"""Discounts the weights of texts, because the texts of a record agree or differ together.

Two works of the same authors have similar titles, and one work that appeared twice has the same title and the same
authors.  Weights that are added as if fields were independent count such evidence twice.  For k texts that are
correlated by r, the variance of their sum is 1 + (k - 1) r times that of independent ones; the weights are divided by
this design effect.  A text counts by the share of records that have a value.

References: Kish, Survey sampling, 1965, section 5.4, for the design effect; Winkler, Methods for record linkage and
Bayesian networks, 2002, for the dependence of fields.
"""

from collections.abc import Sequence

from stream_lsh.arrays import F64

TEXTS = frozenset(
    {"qgram-cosine", "tfidf", "token-sort", "token-set", "token-jaccard", "bigram-jaccard", "qgram-jaccard"}
)
"""Comparators of several words."""
CORRELATION = 0.25
"""The correlation of the evidence of two texts."""
_STEPS = 60


def shares_of(texts: Sequence[bool], filled: Sequence[float]) -> list[float]:
    """The factor of the weights of each comparison, 1 except for texts beside other texts.

    Args:
        texts: whether each comparison is one of texts.
        filled: of each comparison, the share of records with a value.

    Example:
        >>> shares_of([True, True, False], [1.0, 1.0, 1.0]), shares_of([True, False], [1.0, 1.0])
        ([0.8, 0.8, 1.0], [1.0, 1.0])
    """
    every = sum(fill for text, fill in zip(texts, filled, strict=True) if text)
    return [
        1 / (1 + CORRELATION * max(0.0, every - fill)) if text else 1.0
        for text, fill in zip(texts, filled, strict=True)
    ]


def discounted(m: F64, u: F64, share: float) -> tuple[F64, F64]:
    """Probabilities whose weights, log2(m / u), are those of m and u times a share.

    Both lie between the given ones: each is u (m / u)^x, divided by its sum, which is the same for both.

    Example:
        >>> import numpy as np
        >>> m, u = discounted(np.array([0.9, 0.1]), np.array([0.1, 0.9]), 0.5)
        >>> np.log2(m / u).round(4).tolist(), np.log2([9, 1 / 9]).round(4).tolist()
        ([1.585, -1.585], [3.1699, -3.1699])
    """
    ratio = m / u
    low, high = 0.0, 1.0 - share
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if (u * ratio ** (middle + share)).sum() < (u * ratio**middle).sum():
            low = middle
        else:
            high = middle
    left, right = u * ratio ** (low + share), u * ratio**low
    return left / left.sum(), right / right.sum()
