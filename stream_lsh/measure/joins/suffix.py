"""The filter of suffix lengths, behind that of positions: enough is left in both strings behind their shared symbol.

Where symbol i of one string and symbol j of the other are the first that they share, with p and q symbols behind them,
at most C = min(p, q) + 1 symbols are shared, and at least E = i + j - 2 + |p - q| are not: the bound C / (C + E) on the
similarity is never above that of `position`, as C is no greater there and E no less.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.6.
"""

from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.measure.joins.meetings import Meetings, meetings, pairs_that
from stream_lsh.measure.joins.strings import Strings


def candidates(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """Pairs that are to be compared; see `length.candidates`."""
    others = len(left if right is None else right)
    return pairs_that(meetings(left, right, threshold), others, lambda met: enough(met, threshold))


def enough(met: Meetings, threshold: float) -> Bools:
    """Whether enough is left behind the shared symbol of each meeting: bool[n]."""
    # C + E is what both have together when C of it is shared.
    most = np.minimum(met.left_sizes - met.left_before, met.right_sizes - met.right_before)
    return np.asarray(most / (met.left_sizes + met.right_sizes - most) >= threshold)
