"""The frames of the library classes: items from a frame, and results as one."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from stream_lsh.model import Cluster
from stream_lsh.tables import Columns, Table, frame_of, ids_of, table_of, times_of


class InFrames(ABC):
    """Adds frames to a class with clusters; it is a base class of `InMemory`."""

    _library: str | None = None
    """The library of the frame that was added last."""

    def _table(self, data: Any) -> Table:
        table = table_of(data)
        self._library = table.library
        return table

    def _frame(self, columns: Columns, types: Mapping[str, type], library: str | None) -> Any:
        return frame_of(columns, types, library or self._library)

    @abstractmethod
    def _pair_columns(self) -> tuple[dict[str, list[Any]], dict[str, type]]:
        """The columns of `matches_frame`, and their types."""

    @abstractmethod
    def clusters(self) -> list[Cluster]:
        """All clusters."""

    def matches_frame(self, library: str | None = None) -> Any:
        """All pairs as a frame: a row for each, with a column for each attribute; times in milliseconds since 1970.

        Args:
            library: `pandas`, `polars` or `pyarrow`, or `dicts` for a list of dicts; None: that of the last
                `add_frame`, or the first one that is installed.

        Raises:
            ConfigError: the library, or narwhals (extra `frames`), is missing.
        """
        return self._frame(*self._pair_columns(), library)

    def clusters_frame(self, library: str | None = None) -> Any:
        """All members of clusters as a frame: a row for each, with `cluster` and `id`, in the order of `clusters`.

        Args:
            library: as for `matches_frame`.

        Raises:
            ConfigError: as for `matches_frame`.
        """
        rows = [(cluster.id, member) for cluster in self.clusters() for member in cluster.members]
        columns = {"cluster": [row[0] for row in rows], "id": [row[1] for row in rows]}
        return self._frame(columns, dict.fromkeys(columns, str), library)


def attributes_of(pairs: Iterable[Any], types: Mapping[str, type]) -> dict[str, list[Any]]:
    """A column for each of some attributes of objects.

    Example:
        >>> from stream_lsh.model import Neighbour
        >>> attributes_of([Neighbour("a", 0.5)], {"id": str, "distance": float})
        {'id': ['a'], 'distance': [0.5]}
    """
    listed = list(pairs)
    return {name: [getattr(pair, name) for pair in listed] for name in types}


def value_rows(table: Table, id: str, values: tuple[str, str], time: str | None) -> list[tuple[str, Any, int]]:
    """The rows of a table as tuples of id, value and time.

    Args:
        table: with the items.
        id: the column of the ids.
        values: the argument and the column of the compared values.
        time: the column of the event times; None: all are 0.

    Raises:
        ConfigError: a column does not exist.
        MalformedMessage: an id, a value or a time is unusable; a missing value is one, too.
    """
    ids = ids_of(table, "id", id)
    times = times_of(table, "time", time, len(ids))
    return [*zip(ids, table.column(*values), times, strict=True)]
