"""The length filter: who is compared are strings whose lengths allow a match.

Of two strings of lengths L >= M all M symbols are shared at best, so the similarity is M / L at most; a distance of J
or less needs L (1 - J) <= M <= L / (1 - J).

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.3.
"""

from collections.abc import Iterator

from stream_lsh.arrays import I64
from stream_lsh.measure.joins.meetings import allowed_rows, cut, runs
from stream_lsh.measure.joins.strings import Strings


def candidates(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """Pairs that are to be compared, each once: rows of `left` and rows of `right`.

    Args:
        left: probe.
        right: are probed; None: those of `left` that come before, so that every two are met once.
        threshold: least similarity, above 0 and at most 1.
    """
    first, stops = allowed_rows(left, right, threshold)
    for rows in cut(stops - first):
        one, other = runs(first[rows], stops[rows])
        yield one + rows.start, other
