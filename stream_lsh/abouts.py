"""Columns of `About`: one for each row, or none at all where there is nothing to tell of any.

So pipelines without stories carry empty columns, and their bytes know nothing of this.
"""

from collections.abc import Iterable, Sequence

from stream_lsh.model import NO_ABOUT, About

Abouts = Sequence[About]


def told(abouts: Abouts) -> Abouts:
    """The column, or none at all where it says nothing."""
    return () if abouts.count(NO_ABOUT) == len(abouts) else abouts


def in_full(abouts: Abouts, rows: int) -> Abouts:
    """One for each row, whatever the column is."""
    return abouts or [NO_ABOUT] * rows


def at_rows(abouts: Abouts, rows: Iterable[int]) -> Abouts:
    """The column of some of the rows, in their order."""
    return [abouts[row] for row in rows] if abouts else ()


def joined(columns: Iterable[tuple[Abouts, int]]) -> Abouts:
    """Columns one behind the other, each given with its number of rows."""
    parts = [*columns]
    return (
        [about for abouts, rows in parts for about in in_full(abouts, rows)] if any(part for part, _ in parts) else ()
    )
