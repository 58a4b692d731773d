"""The prefix filter, behind that of lengths: who is compared share one of their first symbols.

A match of a string of length L shares at least L (1 - J) of its symbols, so not all of those can lie behind its first
floor(J L) + 1; as both strings have one order, the first of the shared symbols is among the first of both.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.4.
"""

from collections.abc import Iterator

from stream_lsh.arrays import I64
from stream_lsh.measure.joins.meetings import meetings, pairs_that
from stream_lsh.measure.joins.strings import Strings


def candidates(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """Pairs that are to be compared; see `length.candidates`."""
    return pairs_that(meetings(left, right, threshold), len(left if right is None else right))
