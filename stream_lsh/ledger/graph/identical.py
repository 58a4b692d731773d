"""Identical documents: those of equal digests, in the order of their event time.

Nearly every digest belongs to one document only.  A hash table of slots, with open addressing over the column of
digests, holds these.  The documents of a shared digest are in `groups`, and the table points to the first of them.  The
table consists of pieces that grow one by one, so adding a document never pauses for all others.
"""

from array import array
from bisect import bisect_left, insort

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.ledger.graph.nodes import Nodes, view_i64, view_u32, view_u64

_PIECES, _SHIFT = 64, 58
_LEAST = 256
_GONE = 0xFFFFFFFF
"""Marks a removed slot, so that a search continues."""


class Twins:
    """The documents in `nodes` by their digest; a digest of 0 has no twins.

    Args:
        nodes: the live documents.
        retention_ms: the maximum distance of twins in event time; None: any distance.
    """

    def __init__(self, nodes: Nodes, retention_ms: int | None) -> None:
        self._nodes = nodes
        self._retention_ms = retention_ms
        self._pieces = [array("I", bytes(4 * _LEAST)) for _ in range(_PIECES)]
        self._masks = np.full(_PIECES, _LEAST - 1, np.int64)
        self._used = array("q", bytes(8 * _PIECES))
        self.groups: dict[int, list[int]] = {}

    def add(self, slot: int) -> list[int]:
        """Add a document to its twins; returns its neighbours, as `near` does."""
        digest = self._nodes.digests[slot]
        if self.add_alone(slot, digest):
            return []
        group = self.groups.get(digest)
        if group is None:
            piece = self._pieces[digest >> _SHIFT]
            group = self.groups[digest] = [piece[self._place(piece, digest)] - 1]
        insort(group, slot, key=self._nodes.age)
        return self._near(group, slot)

    def add_alone(self, slot: int, digest: int) -> bool:
        """Add a document of this digest unless it has twins; returns whether it has none."""
        if not digest:
            return True
        number = digest >> _SHIFT
        piece = self._pieces[number]
        mask = len(piece) - 1
        at = digest & mask
        if piece[at]:
            at = self._place(piece, digest)
            if piece[at]:
                return False
        piece[at] = slot + 1
        used = self._used[number] = self._used[number] + 1
        if 2 * used > mask:
            self._rebuild(number)
        return True

    def add_all_alone(self, slots: list[int], digests: U64) -> set[int]:
        """Add the documents without twins; returns the others, including twins among `slots`.

        Of several documents with one digest the first is added.
        """
        pieces, left = self._pieces, set[int]()
        numbers = (digests >> np.uint64(_SHIFT)).astype(np.int64)
        coming = np.bincount(numbers, minlength=_PIECES)
        used = view_i64(self._used)
        used += coming
        for number in (2 * used > self._masks).nonzero()[0].tolist():
            self._rebuild(number, int(coming[number]))
        places = (digests.astype(np.int64) & self._masks[numbers]).tolist()
        for slot, number, place, digest in zip(slots, numbers.tolist(), places, digests.tolist(), strict=True):
            piece = pieces[number]
            if digest:
                at = self._place(piece, digest) if piece[place] else place
                if piece[at]:
                    left.add(slot)
                else:
                    piece[at] = slot + 1
        return left

    def _place(self, piece: "array[int]", digest: int) -> int:
        """The position of a digest in its piece; if it is absent, its free position."""
        digests, mask = self._nodes.digests, len(piece) - 1
        at = digest & mask
        while held := piece[at]:
            if held != _GONE and digests[held - 1] == digest:
                break
            at = at + 1 & mask
        return at

    def remove(self, slot: int) -> None:
        """Remove a document, before its digest or its time changes."""
        digest = self._nodes.digests[slot]
        if not digest:
            return
        group = self.groups.get(digest)
        if group is None:
            self._lead(digest, slot, _GONE)
            return
        del group[bisect_left(group, self._nodes.age(slot), key=self._nodes.age)]
        if self._leads(digest, slot):
            self._lead(digest, slot, group[0] + 1)
        if len(group) == 1:
            del self.groups[digest]

    def near(self, slot: int) -> list[int]:
        """The twins of a document: identical, next to it by event time and within the retention; at most two."""
        group = self.groups.get(self._nodes.digests[slot]) if self.groups else None
        return [] if group is None else self._near(group, slot)

    def _near(self, group: list[int], slot: int) -> list[int]:
        times, reach = self._nodes.times, self._retention_ms
        at = bisect_left(group, self._nodes.age(slot), key=self._nodes.age)
        beside = group[max(0, at - 1) : at] + group[at + 1 : at + 2]
        return [twin for twin in beside if reach is None or abs(times[twin] - times[slot]) <= reach]

    def _at(self, digest: int, slot: int) -> "tuple[array[int], int]":
        """The piece and the position of the table entry of a slot, -1 if there is none."""
        piece = self._pieces[digest >> _SHIFT]
        mask = len(piece) - 1
        at = digest & mask
        while piece[at] != slot + 1:
            if not piece[at]:
                return piece, -1
            at = at + 1 & mask
        return piece, at

    def _leads(self, digest: int, slot: int) -> bool:
        return self._at(digest, slot)[1] >= 0

    def _lead(self, digest: int, slot: int, instead: int) -> None:
        piece, at = self._at(digest, slot)
        piece[at] = instead

    def _rebuild(self, number: int, coming: int = 0) -> None:
        """Rebuild a piece without removed entries, with space for `coming` more and for growth."""
        entries = view_u32(self._pieces[number])
        entries = entries[(entries != 0) & (entries != _GONE)]
        size = max(_LEAST, 2 << (entries.size + coming).bit_length())
        piece = self._pieces[number] = array("I", bytes(4 * size))
        self._masks[number], self._used[number] = size - 1, entries.size + coming
        digests = view_u64(self._nodes.digests)[entries - np.uint32(1)]
        places = digests.astype(np.int64) & size - 1
        order, steps = np.argsort(places), np.arange(entries.size)
        # In the order of their places, each takes its own place or the one behind the entry before it.
        at = np.maximum.accumulate(places[order] - steps) + steps
        fits = at < size
        view_u32(piece)[at[fits]] = entries[order[fits]]
        for entry in entries[order[~fits]].tolist():
            piece[self._place(piece, self._nodes.digests[entry - 1])] = entry
