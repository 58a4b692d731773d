"""All pairs in a batch of records that share a key, as the index finds them record by record."""

from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U32, U64


class Pairs(NamedTuple):
    """Candidate pairs, each once, ascending by the later record and then by the earlier one.

    Attributes:
        left: rows of the earlier record, int64[m].
        right: rows of the later record, int64[m].
        rules: a bit for each of the first 32 blocks that the records share, uint32[m].
    """

    left: I64
    right: I64
    rules: U32


def candidate_pairs(keys: U64, owners: I64, cap: int = 0) -> Pairs:
    """The pairs of records that share a key.

    Args:
        keys: uint64[n, width], 0 for none.
        owners: the block of each column, int64[width].
        cap: the most pairs of a record in a bucket, with the newest records before it; 0: no cap.

    Cost:
        linear in the pairs, and in the columns times n log n.

    Example:
        >>> keys = np.array([[2, 4], [6, 4], [2, 4]], np.uint64)
        >>> found = candidate_pairs(keys, np.array([0, 1]))
        >>> found.left.tolist(), found.right.tolist(), found.rules.tolist()
        ([0, 0, 1], [1, 2, 2], [2, 3, 2])
    """
    codes, bits = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
    for owner in dict.fromkeys(owners.tolist()):
        pairs = _pairs_of(keys[:, owners == owner], cap)
        codes.append(pairs)
        bits.append(np.full(pairs.size, 1 << min(owner, 31), np.uint32))
    every, bit = np.concatenate(codes), np.concatenate(bits)
    order = np.argsort(every, kind="stable")
    every, bit = every[order], bit[order]
    starts = np.flatnonzero(np.concatenate(([True], every[1:] != every[:-1]))) if every.size else order
    rules = np.bitwise_or.reduceat(bit, starts) if every.size else bit
    right, left = np.divmod(every[starts], max(1, len(keys)))
    return Pairs(left, right, rules)


def _pairs_of(keys: U64, cap: int) -> I64:
    """The distinct pairs of one block as later * n + earlier, ascending."""
    rows, columns = np.nonzero(keys)
    values = keys[rows, columns]
    order = np.lexsort((rows, values))
    rows, values = rows[order], values[order]
    if rows.size:  # the keys of a record are distinct
        once = np.concatenate(([True], (values[1:] != values[:-1]) | (rows[1:] != rows[:-1])))
        rows, values = rows[once], values[once]
    pairs, distance = [np.empty(0, np.int64)], 1
    at = np.arange(rows.size - 1) if rows.size else np.empty(0, np.int64)
    while at.size and (not cap or distance <= cap):
        at = at[at + distance < rows.size]
        at = at[values[at] == values[at + distance]]
        pairs.append(rows[at + distance] * len(keys) + rows[at])
        distance += 1
    return np.unique(np.concatenate(pairs))
