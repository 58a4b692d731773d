"""In how many slots the pairs of a collection agree, estimated from a part of the pairs.

Two samples see what the other one misses.  Some documents are compared with all: that tells the bulk, pairs that share
little, of which there are millions.  Pairs that share much are rare and hardly ever in it; they are brought up by
generous bands over all documents, and each counts for as many as were missed of its kind.

    bulk    m documents against all       a pair is seen with probability m / n
    tail    l documents against those     l / n times the probability that a pair of so many agreeing slots shares a
            that share a band with them   band

Every count is taken from the sample that sees the greater share of such pairs.  Both are free of bias: a count weighs
the inverse of the probability with which it is seen (Horvitz and Thompson 1952, A generalization of sampling without
replacement from a finite universe).  Where m is n, all pairs are compared and nothing is estimated.
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
"""Of the generous bands: as few as the visits allow."""
_AT_ONCE = 1 << 15


def sampled_agreements(
    signatures: U32, seed: int = 1, *, compared_with_all: int = COMPARED_WITH_ALL, visits: int = VISITS
) -> Agreements:
    """In how many slots the pairs of these documents agree.

    Args:
        signatures: uint32[n, slots], of documents that have shingles.
        seed: chooses which documents are compared.
        compared_with_all: documents of the first sample; all of them if there are no more.
        visits: pairs that the second one looks at, about.

    Guarantees:
        the expected number is the true one for every count of slots, over the seed and the choice of hash functions.
    Cost:
        `compared_with_all` * n * slots comparisons of numbers, and `visits` * slots of them.

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
    """How many pairs these very bands make candidates, by the number of slots in which they agree.

    `Agreements.shares` tells what is expected over all choices of hash functions.  A pipeline makes one choice; where
    many documents have a passage in common, such as the frame of a site, they become candidates of each other all
    together or not at all, so a single choice can be far from what is expected.

    Args:
        signatures: uint32[n, slots], of documents that have shingles, as the pipeline makes them.
        bands: of the pipeline.
        rows: of the pipeline.
        seed: of the pipeline.
        visits: pairs that are looked at, about; where there are more, those of a part of the documents are.

    Returns:
        float64[slots + 1]; estimates where not all were looked at.

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
    """How many documents can be compared with all that they meet in a bucket."""
    return max(1, min(len(keys), int(len(keys) * visits / max(1, _collisions(keys)))))


def _with_all(signatures: U32, chosen: I64) -> F64:
    """How often a chosen document agrees with another one in so many slots."""
    slots = signatures.shape[1]
    columns = np.ascontiguousarray(signatures.T)
    counts = np.zeros(slots + 1, np.int64)
    for row in chosen.tolist():
        agreeing = (columns == columns[:, row, None]).sum(axis=0, dtype=np.uint16)
        counts += np.bincount(agreeing, minlength=slots + 1)
    counts[slots] -= chosen.size  # each with itself
    return counts.astype(np.float64)


def _generous(signatures: U32, visits: int, seed: int) -> tuple[int, U64]:
    """The bands with the fewest rows that bring up no more pairs than are to be looked at: rows, and bucket keys."""
    slots = signatures.shape[1]
    fitting = [rows for rows in _ROWS if rows <= slots] or [slots]
    for rows in fitting:
        keys = Bands(slots // rows, rows, seed)(signatures)
        if _collisions(keys) <= visits:
            break
    return rows, keys


def _collisions(keys: U64) -> int:
    """How often a document meets another one in a bucket."""
    met = 0
    for band in keys.T:
        _, sizes = np.unique(band, return_counts=True)
        met += int((sizes * (sizes - 1)).sum())
    return met


def _sharing(signatures: U32, keys: U64, chosen: I64) -> F64:
    """How often a chosen document and another one that shares a bucket with it agree in so many slots."""
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
        agreeing = (signatures[ones[part]] == signatures[others[part]]).sum(axis=1, dtype=np.uint16)
        counts += np.bincount(agreeing, minlength=slots + 1)
    return counts.astype(np.float64)
