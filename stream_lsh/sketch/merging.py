"""The signatures of unions of many documents: pages of a site, documents of a day, parts of a text.

The minimum of minima is the minimum over all, so the signature of a union is the minimum of its parts' signatures, bit
by bit, for any order and repetition of the parts.  An intersection or a difference has no such signature.

Reference: Broder, On the resemblance and containment of documents, 1997.
"""

import numpy as np

from stream_lsh.arrays import I64, U32
from stream_lsh.errors import InvariantError
from stream_lsh.sketch.scheme import EMPTY_SLOT


def union_of_all(signatures: U32) -> U32:
    """The signature of the union of all documents: uint32[slots]; that of an empty document for no documents.

    Example:
        >>> union_of_all(np.array([[3, 5], [4, 1], [9, 9]], np.uint32)).tolist()
        [3, 1]
    """
    return np.asarray(np.minimum.reduce(signatures, axis=0, initial=np.uint32(EMPTY_SLOT)), np.uint32)


def union_by_group(signatures: U32, groups: I64, count: int) -> U32:
    """The signature of the union of each group's documents: uint32[count, slots].

    Args:
        signatures: uint32[n, slots], of one scheme.
        groups: int64[n] in [0, count), the group of each document.
        count: the number of groups; a group without documents gets the signature of an empty document.

    Cost:
        one sort of the groups, and a copy of the signatures.

    Example:
        >>> union_by_group(np.array([[3, 5], [4, 1], [9, 9]], np.uint32), np.array([1, 0, 1]), 2).tolist()
        [[4, 1], [3, 5]]
    """
    if groups.shape != signatures.shape[:1] or (groups.size and not 0 <= groups.min() <= groups.max() < count):
        raise InvariantError(
            f"groups: got {groups.size} for {len(signatures)} signatures, expected one each, 0 to {count - 1}"
        )
    united = np.full((count, signatures.shape[1]), EMPTY_SLOT, np.uint32)
    if groups.size:
        order = np.argsort(groups, kind="stable")
        present, starts = np.unique(groups[order], return_index=True)
        united[present] = np.minimum.reduceat(signatures[order], starts, axis=0)
    return united
