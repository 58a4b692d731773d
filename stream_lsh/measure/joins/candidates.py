"""The pairs that a join compares: those that pass one of four filters, each applied after the previous one.

The filters are those of `stream_lsh.measure.filters`.
"""

from collections.abc import Iterator

from stream_lsh.arrays import I64
from stream_lsh.measure.filters import position_allows, suffix_allows
from stream_lsh.measure.joins.prefix_hits import allowed_rows, cut, distinct_pairs, prefix_hits, runs
from stream_lsh.measure.joins.strings import Strings


def by_length(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """Pairs of strings whose lengths allow a match, each once: rows of `left` and rows of `right`.

    Two strings of lengths L >= M share at most all M symbols, so the similarity is at most M / L; a distance of J or
    less needs L (1 - J) <= M <= L / (1 - J).

    Args:
        left: the strings that probe.
        right: the probed strings; None: the earlier ones of `left`, so that every pair occurs once.
        threshold: least similarity, above 0 and at most 1.

    Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.3.
    """
    first, stops = allowed_rows(left, right, threshold)
    for rows in cut(stops - first):
        left_rows, right_rows = runs(first[rows], stops[rows])
        yield left_rows + rows.start, right_rows


def by_prefix(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """The pairs of `by_length` that share one of their first symbols; arguments as for `by_length`."""
    return distinct_pairs(prefix_hits(left, right, threshold), _others(left, right))


def by_position(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """The pairs of `by_prefix` whose first shared symbol is early enough in both; arguments as for `by_length`."""
    return distinct_pairs(
        prefix_hits(left, right, threshold),
        _others(left, right),
        lambda met: position_allows(met.left_sizes, met.left_before, met.right_before, threshold),
    )


def by_suffix(left: Strings, right: Strings | None, threshold: float) -> Iterator[tuple[I64, I64]]:
    """The pairs of `by_position` with enough symbols after it in both; arguments as for `by_length`."""
    return distinct_pairs(
        prefix_hits(left, right, threshold),
        _others(left, right),
        lambda met: suffix_allows(met.left_sizes, met.right_sizes, met.left_before, met.right_before, threshold),
    )


def _others(left: Strings, right: Strings | None) -> int:
    return len(left if right is None else right)
