"""The second number of a posting in the log of a segment: next older row of the slot << 32 | RETIRED? | ordinal."""

import numpy as np

from stream_lsh.arrays import U64

S32 = np.uint64(32)
LOW32 = np.uint64(0xFFFFFFFF)
RETIRED = np.uint64(1 << 31)
ORDINAL = np.uint64((1 << 31) - 1)
_PIECE = 1 << 14


def copy_log(into: U64, log: U64, documents: int, live: int) -> bool:
    """Copy a log into the beginning of another one, and check it.

    It checks each piece while the piece is in the processor's cache.

    Returns:
        whether each link leads to an older row and belongs to one of `documents`, and `live` postings are not retired.
    """
    into[0] = log[0]
    valid, counted = True, 0
    for start in range(1, len(log), _PIECE):
        stop = min(start + _PIECE, len(log))
        into[start:stop] = log[start:stop]
        links = into[start:stop, 1].copy()
        counted += int(np.count_nonzero(links & RETIRED == 0))
        valid &= bool(((links & ORDINAL) < np.uint64(documents)).all())
        links >>= S32
        valid &= bool((links < np.arange(start, stop, dtype=np.uint64)).all())
    return valid and counted == live
