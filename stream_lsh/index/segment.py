"""A presized chained hash table of postings: an append-only log, and the heads of its chains.

    head  u32[2^s]         slot = top s bits of the bucket -> newest row of its chain, 0 for none
    log   u64[capacity, 2] row = (bucket, next older row of the slot << 32 | RETIRED? | ordinal of the document); 0 ends
                           a chain, which omits retired rows
    refs  u64[capacity]    ordinal -> ref;  alive u32[capacity] ordinal -> live postings

Rows of a chain descend from newest to oldest.  Arrays never grow or move: a full segment gets a successor, so no batch
pauses.  The arrays are reserved in full and touched as they fill, so unused space takes no memory.

A segment does not handle caps, time or other segments.  `sealed` makes it smaller and faster once it is closed to new
postings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import TypeAlias, TypeVar

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.errors import DamagedBytes
from stream_lsh.index.documents import Documents
from stream_lsh.index.links import LOW32, ORDINAL, RETIRED, S32, copy_log

FOREVER_MS = (1 << 63) - 1
_HUGE_FROM = 1 << 22
BORDER = 1 << 12
"""The least number of rows between two borders."""
FEW = 40
"""Up to this many chains are followed one by one: a round of numpy costs as much as forty steps in plain Python."""
ROUNDS = 64
"""After this many rounds only a few different hot buckets are left."""


Unsigned = TypeVar("Unsigned", np.uint32, np.uint64)
Posting: TypeAlias = tuple[int, int]
"""(bucket, ref)"""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The positions of postings in a segment: columns of equal length.

    Attributes:
        asked: int64, the index of each posting in the query.
        rows: int64, their rows.
        newer: int64, the row that links to each, 0 for the head.
    """

    asked: I64
    rows: I64
    newer: I64


class Segment(Documents):
    """A table of fixed capacity.

    Args:
        capacity: the most postings it can hold; at most 2^31.
        until_ms: the end of its stretch of event time, exclusive; FOREVER_MS for none.
        base: number of documents that arrived before its first.

    Attributes:
        borders: row counts, ascending from 0, at the end of a call: no document has postings on both sides of one.

    Cost: 16 bytes a posting, 12 a document, 4 to 8 a posting of capacity for the heads.
    """

    __slots__ = ("borders", "head", "log", "shift")

    def __init__(self, capacity: int, until_ms: int, base: int) -> None:
        bits = max(1, (capacity - 1).bit_length())
        super().__init__(capacity, until_ms, base)
        self.shift = np.uint64(64 - bits)
        self.head: U32 = _reserved(np.uint32, 1 << bits)
        self.log: U64 = _reserved(np.uint64, 2 * capacity + 2).reshape(-1, 2)
        self.borders = [0]
        self.refs = _reserved(np.uint64, capacity)
        self.alive = _reserved(np.uint32, capacity)

    @property
    def room(self) -> int:
        """Postings that still fit."""
        return self.capacity - self.count

    @property
    def rows(self) -> int:
        """Postings that occupy space, live or not."""
        return self.count

    @property
    def nbytes(self) -> int:
        """Bytes in use, without reserved untouched memory."""
        return self.count * 16 + self.documents * 12 + self.head.nbytes

    def heads(self, buckets: U64) -> I64:
        """The newest row of each bucket's chain: int64[m], 0 for none."""
        return self.head.take((buckets >> self.shift).astype(np.int64)).astype(np.int64)

    def first_row(self, bucket: int) -> int:
        """The newest row of the chain of one bucket, 0 for none."""
        return self.head.item(bucket >> int(self.shift))

    def run(self, bucket: int, row: int) -> Iterator[int]:
        """The ordinals of a bucket's live postings, newest first, starting at a row of its chain."""
        read = self.log.item
        while row:
            link = read(row, 1)
            if read(row, 0) == bucket:
                yield link & 0xFFFFFFFF
            row = link >> 32

    def older(self, rows: I64) -> I64:
        """The next older rows of the chains, 0 for the end."""
        older: I64 = (self.log[rows, 1] >> S32).astype(np.int64)
        return older

    def postings(self, rows: I64) -> tuple[U64, I64]:
        """The buckets and the ordinals of rows."""
        return self.log[rows, 0], (self.log[rows, 1] & ORDINAL).astype(np.int64)

    def append(self, refs: U64, counts: I64, rows: I64, buckets: U64) -> I64:
        """Add postings and return the row before each.

        Args:
            refs: uint64[n], one per document, each with a posting.
            counts: int64[n], postings of each.
            rows: int64[m] in [0, n), the document of a posting.
            buckets: uint64[m], sorted by slot, within a slot in order of arrival; m <= room.

        Returns:
            int64[m]: the next older row in the chain of each posting, 0 for none.
        """
        self.stored = ""
        m, n, first = len(buckets), len(refs), self.count + 1
        slots = (buckets >> self.shift).astype(np.int64)
        leads = np.empty(m + 1, dtype=np.bool_)  # leads[1:] marks the last ones of each slot
        leads[0] = leads[m] = True
        np.not_equal(slots[1:], slots[:-1], out=leads[1:m])
        older = np.arange(self.count, self.count + m)
        at = leads[:-1].nonzero()[0]
        older[at] = self.head[slots[at]]
        at = leads[1:].nonzero()[0]
        self.head[slots[at]] = at + first
        self.log[first : first + m, 0] = buckets
        self.log[first : first + m, 1] = older << 32 | (rows + self.documents)
        self.refs[self.documents : self.documents + n] = refs
        self.alive[self.documents : self.documents + n] = counts
        self.count += m
        if self.count - self.borders[-1] >= BORDER:
            self.borders.append(self.count)
        self.live += m
        self.documents += n
        self.live_documents += n
        self._widen(refs)
        return older

    def find(self, refs: U64, buckets: U64) -> Places:
        """The positions of the postings (bucket, ref), without those that are not here.

        Cost: all chains in step at first, then one by one, each once for all of its postings in the query: some .3 us
            for each posting before the last one found.  There is no cap, because a posting that is not found would be
            inserted twice.
        """
        asked = self.may_hold(refs).nonzero()[0]
        current = self.heads(buckets[asked])
        newer = np.zeros(len(asked), dtype=np.int64)
        hits: list[tuple[I64, I64, I64]] = []
        for _ in range(ROUNDS):
            on = current.nonzero()[0]
            if len(on) < len(current):
                asked, current, newer = asked[on], current[on], newer[on]
            if len(on) <= FEW:
                break
            record = self.log.take(current, axis=0)
            link = record[:, 1]
            older = (link >> S32).astype(np.int64)
            at = (record[:, 0] == buckets[asked]).nonzero()[0]
            at = at[self.refs[(link[at] & LOW32).astype(np.int64)] == refs[asked[at]]]
            if len(at):
                hits.append((asked[at], current[at], newer[at]))
                older[at] = 0
            newer, current = current, older
        hits.append(self._find_one_by_one(asked, current, newer, refs[asked], buckets[asked]))
        return Places(*(np.concatenate(column) for column in zip(*hits, strict=True)))

    def _find_one_by_one(self, asked: I64, current: I64, newer: I64, refs: U64, buckets: U64) -> tuple[I64, I64, I64]:
        """The rest of `find`: postings of one slot are at the same row, and share a pass over its chain."""
        chains: dict[tuple[int, int], dict[Posting, list[int]]] = {}
        columns = (asked.tolist(), current.tolist(), newer.tolist(), refs.tolist(), buckets.tolist())
        for number, row, before, ref, bucket in zip(*columns, strict=True):
            chains.setdefault((row, before), {}).setdefault((bucket, ref), []).append(number)
        hits: list[tuple[int, int, int]] = []
        read, ref_of = self.log.item, self.refs.item
        for start, wanted in chains.items():
            row, before = start
            wanted_buckets = {bucket for bucket, _ in wanted}
            while row and wanted:
                bucket, link = read(row, 0), read(row, 1)
                if bucket in wanted_buckets:
                    numbers = wanted.pop((bucket, ref_of(link & 0xFFFFFFFF)), ())
                    hits += [(number, row, before) for number in numbers]
                before, row = row, link >> 32
        table = np.array(hits, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    def unlink(self, places: Places) -> None:
        """Remove postings from their chains.

        One call may remove neighbours: each remaining newer row is linked past the whole run of removed rows, which is
        found by doubling (log2 of the longest run).

        Args:
            places: distinct rows in ascending order.
        """
        gone = places.rows
        links = self.log[gone, 1]
        older = (links >> S32).astype(np.int64)
        while True:
            at = np.searchsorted(gone, older)
            at[at == len(gone)] = 0
            still_linked = (gone[at] == older).nonzero()[0]
            if len(still_linked) == 0:
                break
            older[still_linked] = older[at[still_linked]]
        at = np.searchsorted(gone, places.newer)
        at[at == len(gone)] = 0
        stays = gone[at] != places.newer
        chained = (stays & (places.newer != 0)).nonzero()[0]
        newer = places.newer[chained]
        self.log[newer, 1] = older[chained].astype(np.uint64) << S32 | (self.log[newer, 1] & LOW32)
        heading = (places.newer == 0).nonzero()[0]
        slots = (self.log[gone[heading], 0] >> self.shift).astype(np.int64)
        self.head[slots] = older[heading]
        self.log[gone, 1] |= RETIRED
        self.leave((links & ORDINAL).astype(np.int64))

    def snapshot(self) -> dict[str, np.ndarray]:
        """Copies of all used parts of the arrays, by name."""
        return {
            **self.snapshot_documents(),
            "log": self.log[: self.count + 1].copy(),
            "head": self.head.copy(),
            "borders": np.array(self.borders, np.int64),
        }

    @classmethod
    def adopt(cls, arrays: dict[str, np.ndarray]) -> "Segment":
        """A segment that owns the heads, and the log with room for its full capacity; they are not copied or checked.

        Raises:
            DamagedBytes: an array is missing, or the log has no room.
        """
        documents = cls.restore_documents(arrays)
        segment = cls(documents.capacity, documents.until_ms, documents.base)
        if not {"log", "head", "borders"} <= arrays.keys() or arrays["log"].shape != segment.log.shape:
            raise DamagedBytes("a stored segment lacks arrays, or room in its log: rebuild the table")
        segment._take(documents, arrays["log"], arrays["head"], arrays["borders"].tolist())
        return segment

    def _take(self, documents: Documents, log: U64, head: U32, borders: list[int]) -> None:
        """Use these arrays; the columns of the documents are copied, to have room for others."""
        refs, alive = self.refs, self.alive
        self.take_documents(documents)
        refs[: documents.documents], alive[: documents.documents] = documents.refs, documents.alive
        self.refs, self.alive = refs, alive
        self.log, self.head, self.borders = log, head, borders

    @classmethod
    def restore(cls, arrays: dict[str, np.ndarray]) -> "Segment":
        """The segment of a snapshot, with its full capacity.

        Raises:
            DamagedBytes: an array is missing or does not fit the others.
        """
        documents = cls.restore_documents(arrays)
        try:
            log, head, borders = arrays["log"], arrays["head"], arrays["borders"].tolist()
        except KeyError as missing:
            raise DamagedBytes(f"the snapshot of a segment has no array {missing}: rebuild the table") from missing
        if log.shape != (documents.count + 1, 2):
            raise DamagedBytes(
                f"got a log of shape {log.shape} in the snapshot of a segment, expected ({documents.count + 1}, 2): "
                "rebuild the table"
            )
        segment = cls(documents.capacity, documents.until_ms, documents.base)
        invalid = head.shape != segment.head.shape or int(head.max()) >= len(log)
        if invalid or borders[:1] != [0] or borders[-1] > documents.count or sorted(set(borders)) != borders:
            raise DamagedBytes("the arrays of a segment's snapshot do not fit each other: rebuild the table")
        if not copy_log(segment.log, log, max(documents.documents, 1), documents.live):
            raise DamagedBytes(
                "a segment's snapshot has links to rows or documents that do not exist: rebuild the table"
            )
        segment.head[:] = head
        segment._take(documents, segment.log, segment.head, borders)
        return segment


def _reserved(kind: type[Unsigned], size: int) -> np.ndarray[tuple[int], np.dtype[Unsigned]]:
    """`size` zeros whose memory is allocated page by page as they are written.

    numpy requests huge pages from 4 MB on.  The first batch of a large segment touches its heads in random places and
    then waits until the kernel has cleared them all: 64 MB took up to 140 ms, against some 5 ms in small pages.
    """
    nbytes = size * np.dtype(kind).itemsize
    if nbytes < _HUGE_FROM:
        return np.zeros(size, dtype=kind)
    return np.frombuffer(mmap(-1, nbytes), dtype=kind)
