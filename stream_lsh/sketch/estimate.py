"""Estimates of the similarity of documents from two signatures of one scheme."""

import math

import numpy as np

from stream_lsh.arrays import I64, U32
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.sketch.scheme import EMPTY_SLOT

_PAIRS = 512  # compared at once: five times as fast a pair as 4,096


def matching_slots(left: U32, right: U32) -> I64:
    """The number of agreeing slots of each pair of signatures: int64[n].  Its share of the slots is the estimate.

    Args:
        left: one signature a pair, uint32[n, slots].
        right: its partner, of the same scheme.

    Returns:
        0 if a document has no shingles: it is similar to nothing, not even to itself.
    Guarantees:
        the estimate is unbiased, with a standard error of at most `standard_error`.
    Cost:
        some 0.2 us a pair.

    Example:
        >>> empty = [EMPTY_SLOT] * 4
        >>> left, right = np.array([[1, 2, 3, 4], empty], np.uint32), np.array([[1, 9, 3, 4], empty], np.uint32)
        >>> matching_slots(left, right).tolist()
        [3, 0]
    """
    if left.shape != right.shape:
        raise InvariantError(f"signatures: got shapes {left.shape} and {right.shape}, expected equal ones")
    matching = np.empty(left.shape[0], np.int64)
    for start in range(0, matching.size, _PAIRS):
        piece = slice(start, start + _PAIRS)
        matching[piece] = np.count_nonzero(left[piece] == right[piece], axis=1)
    matching[left[:, 0] == EMPTY_SLOT] = 0
    return matching


def union(left: U32, right: U32) -> U32:
    """The signature of the union of two documents' shingles, the minimum of each slot; also for arrays of signatures.

    Example:
        >>> union(np.array([3, 5], np.uint32), np.array([4, 1], np.uint32)).tolist()
        [3, 1]
    """
    return np.minimum(left, right)


def standard_error(similarity: float, slots: int) -> float:
    """The standard error of an estimate from independent slots, sqrt(J(1-J)/slots); a bound for every scheme here.

    Example:
        >>> round(standard_error(0.5, 128), 4)
        0.0442
    """
    return math.sqrt(similarity * (1 - similarity) / slots)


def chernoff_slots(least_similarity: float, relative_error: float, failure: float) -> int:
    """The slots that suffice, by Chernoff's bound, to estimate every similarity from `least_similarity` on.

    Args:
        least_similarity: the least similarity of interest, above 0.
        relative_error: of the estimate, to one side.
        failure: probability of a greater error for a pair.

    Guarantees:
        an upper bound for errors below the similarity, and for those above it if `least_similarity` is at least half
        of `relative_error`: fewer slots suffice.  For errors above lower similarities, one and a half times as many
        slots suffice.

    Reference: Mitzenmacher and Upfal, Probability and Computing, section 4.2.

    Example:
        >>> chernoff_slots(0.5, relative_error=0.1, failure=0.05)
        1199
    """
    if not (0 < least_similarity <= 1 and 0 < relative_error < 1 and 0 < failure < 1):
        raise ConfigError(
            f"slots: got similarity {least_similarity}, error {relative_error}, failure {failure}; "
            "expected each of them between 0 and 1"
        )
    return math.ceil(2 * math.log(1 / failure) / (relative_error**2 * least_similarity))
