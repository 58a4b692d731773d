"""The position filter, behind that of prefixes: the first shared symbol stands early enough in both strings.

If symbol i of one string, of length L, is symbol j of the other and the first that they share, at most C = L - i + 1
symbols are shared, and at least E = i + j - 2 are not.  The similarity is C / (C + E) at most, so a distance of J or
less needs j <= (J L - J - i + 2) / (1 - J).  A later symbol that they share only gives a lower bound, so a pair of
which no shared symbol reaches the threshold is none, and a match is kept by its first one.

Here L is the length of the string that probes, the longer one in a self-join: of the other one, what an index of symbol
and position knows is the position.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.5.
"""

from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.measure.joins.meetings import Meetings, meetings, pairs_that
from stream_lsh.measure.joins.strings import Strings


def candidates(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """Pairs that are to be compared; see `length.candidates`."""
    others = len(left if right is None else right)
    return pairs_that(meetings(left, right, threshold), others, lambda met: early(met, threshold))


def early(met: Meetings, threshold: float) -> Bools:
    """Whether the shared symbol of each meeting stands early enough: bool[n]."""
    # i is one more than what stands before the symbol, and C + E = L + j - 1; the quotients round as similarities.
    return np.asarray((met.left_sizes - met.left_before) / (met.left_sizes + met.right_before) >= threshold)
