"""The documents of a segment, independent of the form of its postings.

refs  u64[capacity]    ordinal -> ref;  alive u32[capacity] ordinal -> live postings
"""

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.errors import DamagedBytes
from stream_lsh.model import ref_offsets, ref_partitions

_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIELDS = 7


class Documents:
    """The documents of a segment, independent of the form of its postings.

    Args:
        capacity: the most postings it can hold; at most 2^31.
        until_ms: the end of its stretch of event time, exclusive; FOREVER_MS for none.
        base: number of documents that arrived before its first.

    Attributes:
        count: all postings that arrived.
        live, live_documents: without retired ones.
        stored: the name under which the current state is stored; empty after any change.
    """

    __slots__ = (
        "alive", "base", "capacity", "count", "documents", "highest", "live", "live_documents", "lowest", "refs",
        "stored", "until_ms",
    )  # fmt: skip

    def __init__(self, capacity: int, until_ms: int, base: int) -> None:
        self.capacity, self.until_ms, self.base = capacity, until_ms, base
        self.stored = ""
        self.count = self.documents = self.live = self.live_documents = 0
        self.refs: U64 = np.empty(0, dtype=np.uint64)
        self.alive: U32 = np.empty(0, dtype=np.uint32)
        self.lowest: U64 = np.empty(0, dtype=np.uint64)
        self.highest: U64 = np.empty(0, dtype=np.uint64)

    def _widen(self, refs: U64) -> None:
        """Extend the range of refs per source partition, which excludes segments from the search for a ref."""
        partitions = ref_partitions(refs)
        self.lowest = reach(self.lowest, int(partitions.max()) + 1, _NONE)
        self.highest = reach(self.highest, len(self.lowest), np.uint64(0))
        np.minimum.at(self.lowest, partitions, refs)
        np.maximum.at(self.highest, partitions, refs)

    def may_hold(self, refs: U64) -> Bools:
        """False if a ref is certainly not in this segment."""
        if self.documents == 0:
            return np.zeros(len(refs), dtype=np.bool_)
        partitions = ref_partitions(refs)
        known = partitions < len(self.lowest)
        partitions[~known] = 0
        return known & (refs >= self.lowest[partitions]) & (refs <= self.highest[partitions])

    def below(self, min_offsets: U64) -> bool:
        """Whether every ref lies below the lowest live offset of its source partition."""
        used = (self.lowest != _NONE).nonzero()[0]
        if len(used) and used[-1] >= len(min_offsets):
            return False
        return bool((ref_offsets(self.highest[used]) < min_offsets[used]).all())

    def leave(self, ordinals: I64) -> None:
        """Subtract retired postings from the counts, given the document of each."""
        self.stored = ""
        self.live -= len(ordinals)
        np.subtract.at(self.alive, ordinals, np.uint32(1))
        emptied = np.unique(ordinals)
        self.live_documents -= int(np.count_nonzero(self.alive[emptied] == 0))

    def take_documents(self, other: "Documents") -> None:
        """Take over the documents of another segment, which this one replaces."""
        self.count, self.documents = other.count, other.documents
        self.live, self.live_documents = other.live, other.live_documents
        self.refs, self.alive = other.refs, other.alive
        self.lowest, self.highest = other.lowest, other.highest

    def snapshot_documents(self) -> dict[str, np.ndarray]:
        """Copies, by name."""
        counts = (self.count, self.documents, self.live, self.live_documents)
        return {
            "fields": np.array((self.capacity, self.until_ms, self.base, *counts), dtype=np.int64),
            "refs": self.refs[: self.documents].copy(),
            "alive": self.alive[: self.documents].copy(),
            "lowest": self.lowest.copy(),
            "highest": self.highest.copy(),
        }

    @classmethod
    def restore_documents(cls, arrays: dict[str, np.ndarray]) -> "Documents":
        """The documents of a snapshot.

        Raises:
            DamagedBytes: an array is missing or does not fit the others.
        """
        try:
            fields, refs, alive = arrays["fields"], arrays["refs"], arrays["alive"]
            lowest, highest = arrays["lowest"], arrays["highest"]
        except KeyError as missing:
            raise DamagedBytes(f"the snapshot of a segment has no array {missing}: rebuild the table") from missing
        if fields.shape != (_FIELDS,):
            raise DamagedBytes(
                f"got fields of shape {fields.shape} in the snapshot of a segment, expected ({_FIELDS},): "
                "rebuild the table"
            )
        capacity, until_ms, base, count, documents, live, live_documents = fields.tolist()
        if not len(refs) == len(alive) == documents <= capacity or len(lowest) != len(highest) or count > capacity:
            raise DamagedBytes("the arrays of a segment's snapshot do not fit each other: rebuild the table")
        docs = Documents(capacity, until_ms, base)
        docs.count, docs.documents, docs.live, docs.live_documents = count, documents, live, live_documents
        docs.refs, docs.alive = refs.astype(np.uint64, copy=False), alive.astype(np.uint32, copy=False)
        docs.lowest, docs.highest = lowest.astype(np.uint64), highest.astype(np.uint64)
        return docs


def reach(values: U64, size: int, fill: np.uint64) -> U64:
    """`values` if it has `size` entries, else a copy padded with `fill`."""
    if len(values) >= size:
        return values
    longer = np.full(size, fill, dtype=np.uint64)
    longer[: len(values)] = values
    return longer
