"""Shared code of the schemes in which every slot is a minimum over all shingles of a document."""

from collections.abc import Callable

import numpy as np

from stream_lsh.arrays import U32, U64
from stream_lsh.sketch.scheme import EMPTY_SLOT
from stream_lsh.text.shingles import Shingles

_PRODUCTS = 1 << 18  # values at once: the outer product of a long text and all slots would take gigabytes


def minima_by_document(
    shingles: Shingles, slots: int, minima: Callable[[U64], U32], greatest: int = EMPTY_SLOT - 1
) -> U32:
    """The least value of every slot over the shingles of each document: uint32[n, slots].

    Args:
        shingles: of the documents.
        slots: length of a signature.
        minima: the least value of every slot over some shingles, uint64[m] to uint32[slots]; m is 1 or more.
        greatest: a minimum above it becomes equal to it.  The default keeps the empty slot's value for empty
            documents.
    """
    signatures = np.full((len(shingles), slots), EMPTY_SLOT, np.uint32)
    offsets = shingles.offsets.tolist()
    step = max(1, _PRODUCTS // slots)
    for row in np.flatnonzero(shingles.counts).tolist():
        signature = signatures[row]
        signature[:] = greatest
        for start in range(offsets[row], offsets[row + 1], step):
            hashes = shingles.hashes[start : min(start + step, offsets[row + 1])]
            np.minimum(signature, minima(hashes), out=signature)
    return signatures
