"""The band-bucket table of one partition on disk: a file per segment, and a manifest of these files.

    manifest         `archive` without records; its head holds the identity of the state, the offset of the
                     changelog's last record in it, the horizon, and the names of the other files
    <number>.seg     arrays (`wire.mapped_arrays`): of a sealed segment all arrays that a probe reads, of an open one
                     a snapshot, with room for further postings; and beside them the marks of the table and the head of
                     the changelog

Segments that have not changed since they were written stay as they are; the others are copied at one moment, written
by a thread, and then the manifest replaces the one before.  So the files always hold the state of one offset, and the
changelog has the rest.  They are mapped: the process reads the page cache, and later changes are kept in memory.  The
file of an open segment, once replaced, takes its space on disk until the segment is dropped or sealed.

The files may lack late records of an earlier owner, which an owner does not read.  It, or its successor, indexes their
messages again, because the earlier owner has not acknowledged them.

Copies are written in the order in which they were made, whichever thread comes first: a later one names the segments
that an earlier one writes.

A table is saved while none of it is ahead of the changelog: a posting that is retired on disk but not in the changelog
would not be retired again when it is delivered once more, and its copies would never be compared.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.index.sealed import Sealed
from stream_lsh.index.segment import Segment
from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.changelog.head import Extent, LogHead
from stream_lsh.retention import Horizon
from stream_lsh.wire.archive import read_archive, write_archive
from stream_lsh.wire.mapped_arrays import map_arrays, write_arrays
from stream_lsh.worker.storage.folder import Identity, writing
from stream_lsh.worker.storage.partition import PartitionStore

_MANIFEST, _SUFFIX = "manifest", ".seg"


class Part(NamedTuple):
    """A segment to save: its file, and its arrays if the file has to be written."""

    name: str
    segment: Segment | Sealed
    arrays: dict[str, np.ndarray] | None


class Captured(NamedTuple):
    """A table at one moment, and the offset of the last record of the changelog that it contains."""

    offset: int
    runs: tuple[tuple[int, Extent], ...]
    horizon: Horizon
    marks: U64
    in_parts: bool
    beside: str
    parts: list[Part]


class BucketStore(PartitionStore):
    """The copy on disk of the band-bucket table of one partition.

    Args:
        place, identity: see `PartitionStore`.
        settings: of the table.

    Attributes:
        table: the table as read at the start.
    """

    table: BandTable

    def __init__(self, place: Path, identity: Identity, **settings: Any) -> None:
        self._settings = settings
        self._next = 0
        self._writing = Lock()
        self._unwritten: deque[Captured] = deque()
        self._closed = False
        super().__init__(place, identity)

    def _open(self) -> None:
        self._next = max((int(file.stem) for file in self._files()), default=self._next)
        manifest = self._place / _MANIFEST
        if not manifest.exists():
            self.offset, self.head, self.horizon = None, LogHead(), Horizon()
            self.table = BandTable(**self._settings)
            return
        with manifest.open("rb") as file:
            head = read_archive(file, manifest).head
        self._identity.check(head["identity"], self._place)
        segments, beside = [self._loaded(name) for name in head["segments"]], map_arrays(self._place / head["beside"])
        self.table = BandTable.assembled(beside["marks"], head["in_parts"], segments, **self._settings)
        self.offset = head["offset"]
        self.horizon = Horizon(head["horizon"][0], tuple(head["horizon"][1]))
        self.head = LogHead.restored(_runs(beside), head["offset"])

    def _loaded(self, name: str) -> Segment | Sealed:
        return stored_segment(map_arrays(self._place / name), name)

    def _files(self) -> list[Path]:
        return [file for file in self._place.iterdir() if file.suffix == _SUFFIX and file.stem.isdigit()]

    def _let_go(self) -> None:
        """Drop the unwritten copies; the mapping lives as long as the table, which is replaced."""
        with self._writing:
            self._unwritten.clear()

    def close(self) -> None:
        """Wait for the current write, and release the files."""
        with self._writing:
            self._closed = True

    # -- saving

    def capture(self, table: BandTable, offset: int, head: LogHead, horizon: Horizon) -> Captured:
        """A copy of a table as it is now, for `save` in any thread.

        Args:
            table: its segments are stored under the names that they have here.
            offset: of the last record in it; no part of the table may be ahead of it.
            head: of the changelog.
            horizon: the limit of what has expired from it.

        Cost: a copy of what has changed since the last one, 16 bytes a posting of open segments, 4 of sealed ones.
        """
        copy = captured(table, offset, head, horizon, self._name)
        self._unwritten.append(copy)
        return copy

    def _name(self) -> str:
        self._next += 1
        return f"{self._next}{_SUFFIX}"

    def save(self, captured: Captured) -> dict[str, dict[str, np.ndarray]]:
        """Write a captured table, after those that were captured before it.

        Returns:
            the sealed segments that were written, mapped, by name: for `release_memory`.  None that a later copy has
            replaced.

        Raises:
            DoubtError: the disk is full, or does not work.
        """
        with self._writing, writing(self._place):
            if self._closed:
                return {}
            while any(copy is captured for copy in self._unwritten):
                self._write(self._unwritten.popleft())
            sealed = [part.name for part in captured.parts if part.arrays is not None and "keys" in part.arrays]
            return {name: map_arrays(self._place / name) for name in sealed if (self._place / name).exists()}

    def _write(self, captured: Captured) -> None:
        """Write the files of a captured table, and remove all others."""
        for part in captured.parts:
            if part.arrays is not None:
                # With room for the log, a restored segment needs no copy of it.
                rows = {"log": part.segment.capacity + 1} if "log" in part.arrays else None
                write_arrays(self._place / part.name, part.arrays, rows)
        write_arrays(self._place / captured.beside, {"marks": captured.marks, **_columns(captured.runs)})
        names, horizon = [part.name for part in captured.parts], captured.horizon
        header = {
            "identity": self._identity.as_json(),
            "offset": captured.offset,
            "horizon": [horizon.time_ms, horizon.min_offsets],
            "in_parts": captured.in_parts,
            "beside": captured.beside,
            "segments": names,
        }
        write_archive(self._place / _MANIFEST, header, ())
        for file in self._files():
            if file.name not in (*names, captured.beside):
                file.unlink()
        self.offset = captured.offset


def captured(table: BandTable, offset: int, head: LogHead, horizon: Horizon, new_name: Callable[[], str]) -> Captured:
    """A copy of a table; arguments as for `BucketStore.capture`.  `new_name` gives a name for each new file."""
    marks, in_parts, segments = table.state
    parts = []
    for segment in segments:
        arrays = None
        if not segment.stored:
            arrays = segment.arrays() if isinstance(segment, Sealed) else segment.snapshot()
            segment.stored = new_name()
        parts.append(Part(segment.stored, segment, arrays))
    return Captured(offset, head.runs, horizon, marks, in_parts, new_name(), parts)


def stored_segment(arrays: dict[str, np.ndarray], name: str) -> Segment | Sealed:
    """The segment that is stored under a name."""
    segment: Segment | Sealed = Sealed.adopt(arrays) if "keys" in arrays else Segment.adopt(arrays)
    segment.stored = name
    return segment


def release_memory(mapped: Mapping[str, dict[str, np.ndarray]], parts: Sequence[Part]) -> None:
    """Release the memory of segments that have not changed since they were written, and use their files, mapped.

    Args:
        mapped: the sealed segments that were written, by name, as `BucketStore.save` returns them.
        parts: of the captured table.
    """
    for name, segment, _ in parts:
        if name in mapped and isinstance(segment, Sealed) and segment.stored == name:
            segment.take(mapped[name])


def _columns(runs: Sequence[tuple[int, Extent]]) -> dict[str, np.ndarray]:
    """The head of a changelog as arrays: of each run the first offset, the newest time, its entries, its refs."""
    numbers = [(first, extent.newest_ms, extent.entries, len(extent.refs)) for first, extent in runs]
    refs = [ref for _, extent in runs for ref in extent.refs]
    return {"runs": np.array(numbers, np.int64).reshape(-1, 4), "named": np.array(refs, np.uint64)}


def _runs(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[int, Extent]]:
    """The head of a changelog from these columns."""
    named = iter(columns["named"].tolist())
    for first, newest_ms, entries, count in columns["runs"].tolist():
        yield first, Extent(newest_ms, tuple(islice(named, count)), entries)
