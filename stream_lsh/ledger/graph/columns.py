"""Rows stored as columns: the rows of a frame are gathered, sorted, encoded and sent column by column."""

from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any, Generic, TypeVar, overload

import numpy as np

Row = TypeVar("Row", bound=tuple[Any, ...])


class Table(Sequence[Row], Generic[Row]):
    """A sequence of named tuples.

    Args:
        row: the type of the rows.
        columns: one for each of its fields, all of one length; sequences or arrays.

    Guarantees:
        equal to any sequence of equal rows.
    Cost:
        each access to a row builds it; fast code reads `columns`.

    Example:
        >>> from stream_lsh.ledger.changes import ClusterState
        >>> table = Table(ClusterState, (["a", "b"], [1, 2]))
        >>> table[1], table == [("a", 1), ("b", 2)]
        (ClusterState(id='b', created=2), True)
    """

    __slots__ = ("columns", "row")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, row: Callable[..., Row], columns: Sequence[Any]) -> None:
        self.row = row
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def plain(self) -> list[Sequence[Any]]:
        """The columns, with arrays converted to lists."""
        return [column.tolist() if isinstance(column, np.ndarray) else column for column in self.columns]

    def __iter__(self) -> Iterator[Row]:
        return starmap(self.row, zip(*self.plain(), strict=True))

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [*starmap(self.row, zip(*[column[at] for column in self.plain()], strict=True))]
        return self.row(*[column[at] for column in self.plain()])

    def __eq__(self, right: object) -> bool:
        if not isinstance(right, Sequence) or isinstance(right, str):
            return NotImplemented
        return len(self) == len(right) and all(left == another for left, another in zip(self, right, strict=True))

    def __repr__(self) -> str:
        return repr([*self])


def columns_of(rows: Sequence[Row]) -> Sequence[Any]:
    """The columns of a table, or of any sequence of at least one row."""
    return rows.columns if isinstance(rows, Table) else [*zip(*rows, strict=True)]
