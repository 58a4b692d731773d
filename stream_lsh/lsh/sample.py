"""Estimates the number of agreeing slots of the pairs of a collection from a part of the pairs.

Two samples complement each other.  Some documents are compared with all others: this measures the bulk, millions of
pairs that share little.  Pairs that share much are rare and hardly ever in that sample; generous bands over all
documents find them, and each is weighted for the missed pairs of its kind.

    bulk    m documents against all       a pair is seen with probability m / n
    tail    l documents against those     l / n times the probability that a pair with this number of agreeing slots
            that share a band with them   shares a band

Each count comes from the sample that sees the greater share of such pairs.  Both are unbiased: a pair weighs the
inverse of the probability that it is seen (Horvitz and Thompson 1952, A generalization of sampling without replacement
from a finite universe).  If m is n, all pairs are compared and the counts are exact.
"""

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64
from stream_lsh.errors import ConfigError
from stream_lsh.hashing import fmix64, odd_constants
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.spread import Agreements, agreeing_probability

COMPARED_WITH_ALL = 400
VISITS = 2_000_000
_ROWS = (2, 3, 4, 6, 8, 12)
"""Rows of the generous bands: as few as the visits allow."""
_AT_ONCE = 1 << 15


def sampled_agreements(
    signatures: U32, seed: int = 1, *, compared_with_all: int = COMPARED_WITH_ALL, visits: int = VISITS
) -> Agreements:
    """The distribution of the number of agreeing slots over the pairs of these documents.

    Args:
        signatures: uint32[n, slots], of documents that have shingles.
        seed: chooses which documents are compared.
        compared_with_all: the most documents in the first sample.
        visits: the approximate number of pairs in the second sample.

    Guarantees:
        unbiased for every number of slots, over the seed and the choice of hash functions.
    Cost:
        `compared_with_all` * n * slots comparisons of numbers, and `visits` * slots more.

    Raises:
        ConfigError: fewer than two documents have no pairs.

    Example:
        >>> signatures = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [6, 7, 8, 9]], np.uint32)
        >>> sampled_agreements(signatures).pairs.tolist()
        [2.0, 0.0, 0.0, 1.0, 0.0]
    """
    documents, slots = signatures.shape
    order = _shuffled(documents, seed)
    with_all = min(compared_with_all, documents)
    pairs = _with_all(signatures, order[:with_all]) * (documents / with_all / 2)
    if with_all < documents:
        rows, keys = _generous(signatures, visits, seed)
        sharing = _affordable(keys, visits)
        seen = agreeing_probability(slots, keys.shape[1], rows) * sharing
        better = seen > with_all
        tail = _sharing(signatures, keys, order[:sharing])
        pairs[better] = tail[better] * documents / seen[better] / 2
    return Agreements(pairs, documents)


def sampled_candidates(signatures: U32, bands: int, rows: int, seed: int = 1, *, visits: int = VISITS) -> F64:
    """The number of candidates of exactly these bands, by the number of slots in which the pairs agree.

    `Agreements.shares` is the expectation over all choices of hash functions.  A pipeline makes one choice; many
    documents with a common passage, such as the frame of a site, become candidates of each other all together or not
    at all, so a single choice can be far from the expectation.

    Args:
        signatures: uint32[n, slots], of documents that have shingles, as computed by the pipeline.
        bands: of the pipeline.
        rows: of the pipeline.
        seed: of the pipeline.
        visits: the approximate number of compared pairs; beyond it, a sample of the documents is compared.

    Returns:
        float64[slots + 1]; estimates if only a sample was compared.

    Raises:
        ConfigError: fewer than two documents have no pairs.

    Example:
        >>> signatures = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [6, 7, 3, 9]], np.uint32)
        >>> sampled_candidates(signatures, bands=2, rows=2).tolist()
        [0.0, 0.0, 0.0, 1.0, 0.0]
    """
    order = _shuffled(len(signatures), seed)
    keys = Bands(bands, rows, seed)(signatures)
    sharing = _affordable(keys, visits)
    return _sharing(signatures, keys, order[:sharing]) * (len(signatures) / sharing / 2)


def _shuffled(documents: int, seed: int) -> I64:
    if documents < 2:
        raise ConfigError(f"sample: got {documents} documents with shingles, expected two or more: there are no pairs")
    return np.argsort(fmix64(odd_constants(documents, seed)))


def _affordable(keys: U64, visits: int) -> int:
    """The number of documents that can be compared with all others in their buckets."""
    return max(1, min(len(keys), int(len(keys) * visits / max(1, _collisions(keys)))))


def _with_all(signatures: U32, chosen: I64) -> F64:
    """The number of pairs of a chosen document with any other one, by agreeing slots."""
    slots = signatures.shape[1]
    columns = np.ascontiguousarray(signatures.T)
    counts = np.zeros(slots + 1, np.int64)
    for row in chosen.tolist():
        agreeing = (columns == columns[:, row, None]).sum(axis=0, dtype=np.uint32)
        counts += np.bincount(agreeing, minlength=slots + 1)
    counts[slots] -= chosen.size  # the pair of each document with itself
    return counts.astype(np.float64)


def _generous(signatures: U32, visits: int, seed: int) -> tuple[int, U64]:
    """The bands with the fewest rows whose pairs do not exceed the visits: rows, and bucket keys."""
    slots = signatures.shape[1]
    fitting = [rows for rows in _ROWS if rows <= slots] or [slots]
    for rows in fitting:
        keys = Bands(slots // rows, rows, seed)(signatures)
        if _collisions(keys) <= visits:
            break
    return rows, keys


def _collisions(keys: U64) -> int:
    """The number of ordered pairs of documents in a bucket, over all buckets."""
    met = 0
    for band in keys.T:
        _, sizes = np.unique(band, return_counts=True)
        met += int((sizes * (sizes - 1)).sum())
    return met


def _sharing(signatures: U32, keys: U64, chosen: I64) -> F64:
    """The number of pairs of a chosen document with another one in its buckets, by agreeing slots."""
    documents, slots = signatures.shape
    met = [np.empty(0, np.int64)]
    for band in keys.T:
        order = np.argsort(band, kind="stable")
        ordered = band[order]
        first, after = (np.searchsorted(ordered, band[chosen], side) for side in ("left", "right"))
        sizes = after - first
        starts = np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
        others = order[starts + np.arange(starts.size)]
        met.append(np.repeat(chosen, sizes) * documents + others)
    ones, others = np.divmod(np.unique(np.concatenate(met)), documents)
    ones, others = ones[ones != others], others[ones != others]
    counts = np.zeros(slots + 1, np.int64)
    for start in range(0, ones.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        agreeing = (signatures[ones[part]] == signatures[others[part]]).sum(axis=1, dtype=np.uint32)
        counts += np.bincount(agreeing, minlength=slots + 1)
    return counts.astype(np.float64)
