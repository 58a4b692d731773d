"""Estimates the numbers of shingles of documents from signatures, and overlaps from two sizes and a similarity.

A slot that is the minimum over all shingles is, as a share u of its range, the least of n uniform numbers.  So
-ln(1 - u) is exponential with rate n, and (k - 1) / their sum over k slots is an unbiased estimate of n.

Reference: Cohen, Size-estimation framework with applications to transitive closure and reachability, 1997, for the
estimate.  Broder, On the resemblance and containment of documents, 1997, for the intersection.
"""

import math

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.sketch.fast_similarity import FastSimilarity
from stream_lsh.sketch.scheme import EMPTY_SLOT
from stream_lsh.sketch.signature_batch import SignatureBatch

_WITHOUT = (FastSimilarity.name,)
"""Schemes whose slots are no minimum over all shingles: a slot contains the round in which it was filled."""
_LEAST_SLOTS = 3


def estimated_sizes(signatures: SignatureBatch) -> F64:
    """The estimated number of distinct shingles of each document: float64[n], 0 for one without.

    For a union of signatures it is the size of the union.

    Guarantees:
        unbiased, with a relative standard error of 1 / sqrt(slots - 2), up to some ten million shingles, whose 32-bit
        values collide rarely.

    Raises:
        ConfigError: a scheme whose values do not depend on the size, such as the default, or fewer than 3 slots ->
            count the shingles, or sign with `classic`.

    Example:
        >>> from stream_lsh.sketch.catalog import scheme
        >>> from stream_lsh.sketch.signature_batch import signed
        >>> from stream_lsh.text.catalog import shingler
        >>> shingles = shingler("word:1")([" ".join(map(str, range(1000))), ""])
        >>> estimated_sizes(signed(scheme("classic", 256), shingles)).round().tolist()
        [932.0, 0.0]
    """
    scheme = signatures.scheme
    if scheme.name in _WITHOUT or scheme.slots < _LEAST_SLOTS:
        raise ConfigError(
            f"estimated sizes: got the scheme {scheme.name} with {scheme.slots} slots, expected {_LEAST_SLOTS} slots "
            "or more, each a minimum over all shingles, as of classic; or count the shingles"
        )
    # The middle of the interval of a value: the least value is 0, whose logarithm must be finite.
    shares = (signatures.values + 0.5) / 2.0**32
    sizes = (scheme.slots - 1) / -np.log1p(-shares).sum(axis=1)
    sizes[signatures.values[:, 0] == EMPTY_SLOT] = 0.0
    return np.asarray(sizes, np.float64)


def size_standard_error(slots: int) -> float:
    """The standard error of an estimated size, as a share of the size.

    Raises:
        ConfigError: fewer than 3 slots, whose estimates have none.

    Example:
        >>> round(size_standard_error(128), 3)
        0.089
    """
    if slots < _LEAST_SLOTS:
        raise ConfigError(f"slots: got {slots}, expected {_LEAST_SLOTS} or more: with fewer the error is infinite")
    return 1 / math.sqrt(slots - 2)


def shared_shingles(similarity: F64, left_sizes: F64, right_sizes: F64) -> F64:
    """The number of common shingles of pairs, from Jaccard similarities and sizes: J (|A| + |B|) / (1 + J), float64[n].

    Guarantees:
        exact for exact arguments; for an estimate with a standard error of e the error of the result is about
        e (|A| + |B|) / (1 + J)², too great for small intersections of large sets.

    Example:
        >>> shared_shingles(np.array([2 / 3, 0.0]), np.array([2.0, 5.0]), np.array([3.0, 5.0])).round(9).tolist()
        [2.0, 0.0]
    """
    return similarity * (left_sizes + right_sizes) / (1 + similarity)


def united_shingles(similarity: F64, left_sizes: F64, right_sizes: F64) -> F64:
    """The number of shingles in the union of each pair: (|A| + |B|) / (1 + J), float64[n].

    Example:
        >>> united_shingles(np.array([2 / 3]), np.array([2.0]), np.array([3.0])).round(9).tolist()
        [3.0]
    """
    return (left_sizes + right_sizes) / (1 + similarity)
