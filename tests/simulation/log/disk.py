"""Copies of band-bucket tables on the disk of a machine, in memory: the contract of `worker.storage.buckets`.

A copy is the state of its writer at one offset of the changelog.  Its parts are written first and their manifest last,
so that a crash leaves the previous copy or the new one.  A disk outlives the processes of its machine.

An owner does not read records that others append to its changelog.  So a copy lacks late records of earlier owners that
were stored between the recovery of its writer and its offset.  Nothing is lost: such a record comes from messages of
`bands` that its sender never acknowledged, so the writer, or its successor, indexes them again.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.buckets import Captured, captured, release_memory, stored_segment

Arrays = dict[str, np.ndarray]


class BucketCopy:
    """The copy of one partition.

    Attributes:
        manifest: the parts of the copy; None before the first one.
        unread: the offsets of late records of earlier owners that the copy lacks.
    """

    def __init__(self) -> None:
        self.manifest: Captured | None = None
        self.unread = frozenset[int]()
        self._parts: dict[str, Arrays] = {}
        self._next = 0

    @property
    def offset(self) -> int | None:
        """The last record of the changelog that is in it."""
        return None if self.manifest is None else self.manifest.offset

    def fits(self, first: int, end: int) -> bool:
        """Whether it can be continued with a changelog that has the offsets from `first` to `end`, exclusive."""
        return self.offset is not None and first <= self.offset + 1 <= end

    def discard(self) -> None:
        """Begin with nothing."""
        self.manifest, self.unread = None, frozenset()
        self._parts.clear()

    def restored(self, settings: dict[str, Any]) -> tuple[BandTable, LogHead, Horizon]:
        """The table, the head of its changelog, and its horizon."""
        found = self.manifest
        assert found is not None
        segments = [stored_segment(_mapped(self._parts[part.name]), part.name) for part in found.parts]
        table = BandTable.assembled(found.marks, found.in_parts, segments, **settings)
        return table, LogHead.restored(found.runs, found.offset), found.horizon

    def capture(
        self, table: BandTable, offset: int, head: LogHead, horizon: Horizon, unread: Iterable[int]
    ) -> Callable[[], Iterator[None]]:
        """Capture a table as it is now; returns the function that writes it, with a pause before each step."""
        made, lacks = captured(table, offset, head, horizon, self._name), frozenset(unread)
        return lambda: self._written(made, lacks)

    def _written(self, made: Captured, unread: frozenset[int]) -> Iterator[None]:
        for part in made.parts:
            if part.arrays is not None:
                yield
                self._parts[part.name] = _copied(part.arrays)
        yield
        self.manifest, self.unread = made, unread
        names = {part.name for part in made.parts}
        self._parts = {name: arrays for name, arrays in self._parts.items() if name in names}
        new = [part for part in made.parts if part.arrays is not None and "keys" in part.arrays]
        release_memory({part.name: _copied(self._parts[part.name]) for part in new}, made.parts)

    def _name(self) -> str:
        self._next += 1
        return str(self._next)


class Disk:
    """The copies of one machine, by partition."""

    def __init__(self) -> None:
        self._copies: dict[int, BucketCopy] = {}

    def buckets(self, partition: int) -> BucketCopy:
        """The copy of a partition; an empty one at first."""
        return self._copies.setdefault(partition, BucketCopy())


def _mapped(arrays: Arrays) -> Arrays:
    """Copies of the arrays of a segment; a log has room for its capacity, as where it is mapped."""
    mapped = _copied(arrays)
    if "log" in mapped:
        mapped["log"] = np.zeros((int(arrays["fields"][0]) + 1, 2), np.uint64)
        mapped["log"][: len(arrays["log"])] = arrays["log"]
    return mapped


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}
