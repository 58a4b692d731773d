"""Where the log of a segment can be cut without dividing a document."""

import numpy as np

from stream_lsh.arrays import U64

BORDER = 1 << 12
"""Rows between two borders, at least."""


def borders_of(ordinals: U64) -> list[int]:
    """Row counts, ascending from 0: no document has postings on both sides of one.

    Args:
        ordinals: uint64[m], the document of each row of a log.
    """
    after = np.minimum.accumulate(ordinals[::-1])[::-1]
    cuts = (np.maximum.accumulate(ordinals)[:-1] < after[1:]).nonzero()[0] + 1
    borders = [0]
    while (at := int(np.searchsorted(cuts, borders[-1] + BORDER))) < len(cuts):
        borders.append(int(cuts[at]))
    return borders
