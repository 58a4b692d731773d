"""The ids of a table by row.  After a start they are read one shard at a time, when they are first used."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from stream_lsh.pipeline.documents.sharded_dict import ShardedDict, ShardedIds


class IdColumn:
    """Ids by row.

    Args:
        ids: of the rows from 0 on.
    """

    __slots__ = ("_ids", "_rows", "_starts")

    def __init__(self, ids: Iterable[str | None] = ()) -> None:
        self._ids: list[str | None] = [*ids]
        self._starts: list[int] = []  # the first row of each shard that was unread at first
        self._rows: ShardedDict[str] | None = None

    @classmethod
    def of_all(cls, ids: list[str] | ShardedIds, rows: ShardedDict[str]) -> "IdColumn":
        """A column, together with the dictionary of its rows; ids in shards are read when they are first used.

        Args:
            ids: of the rows from 0 on.
            rows: the empty dictionary; it is filled with the ids.
        """
        if not isinstance(ids, ShardedIds):
            for row, id in enumerate(ids):
                rows[id] = row
            return cls(ids)
        starts = [0, *accumulate(ids.sizes)]
        column = cls([None] * starts[-1])
        column._starts, column._rows = starts, rows

        def read(shard: int) -> Iterable[tuple[str, int]]:
            of_shard, at = ids.read(shard), range(starts[shard], starts[shard + 1])
            column._ids[at.start : at.stop] = of_shard
            return zip(of_shard, at, strict=True)

        rows.fill(ids.sizes, read)
        return column

    def __len__(self) -> int:
        return len(self._ids)

    def __setitem__(self, row: int, id: str) -> None:
        """Set the id of a row whose former id was read."""
        self._ids[row] = id

    def append(self, id: str) -> None:
        """Add a row."""
        self._ids.append(id)

    def of(self, rows: Sequence[int]) -> list[str]:
        """The id of each row."""
        ids = self._ids
        found = [ids[row] for row in rows]
        if self._rows is not None and None in found:
            self._rows.read({bisect_right(self._starts, row) - 1 for row in rows if ids[row] is None})
            found = [ids[row] for row in rows]
        return found  # type: ignore[return-value]  # all of them are read now
