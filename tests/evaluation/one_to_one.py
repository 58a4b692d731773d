"""One-to-one links: where a source lists each thing once, only the best match of a record with a source can be true.

The pairs are taken in the order of their evidence; one whose record has a better partner in the other's source already
is dropped.  The answer is that of the set of pairs, whatever their order: ties go to the earlier rows.
"""

import numpy as np

from stream_lsh.arrays import F64, I64


def best_pairs(left: I64, right: I64, totals: F64, sources: I64 | None = None) -> I64:
    """The places of the pairs that are kept, ascending.

    Args:
        left: rows, int64[n].
        right: rows, int64[n].
        totals: the evidence of each pair, float64[n].
        sources: a number for the source of each row; None: the two of a pair are always of the same two sources.

    Cost:
        n log n.

    Example:
        >>> best_pairs(np.array([0, 0, 1]), np.array([5, 6, 6]), np.array([9.0, 8.0, 7.0])).tolist()
        [0, 2]
    """
    order = np.lexsort((right, left, -totals))
    ones, others = left.tolist(), right.tolist()
    source = [0] * (max([*ones, *others], default=0) + 1) if sources is None else sources.tolist()
    taken: set[tuple[int, int]] = set()
    kept = []
    for at in order.tolist():
        one, other = ones[at], others[at]
        ends = (one, source[other]), (other, source[one])
        if taken.isdisjoint(ends):
            taken.update(ends)
            kept.append(at)
    return np.array(sorted(kept), np.int64)
