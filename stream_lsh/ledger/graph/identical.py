"""Identical documents: those of equal digests, in the order of their event time.

Nearly every digest belongs to one document only.  A hash table of slots, with open addressing over the column of
digests, holds these.  The documents of a shared digest are in `groups`, and the table points to the first of them.  The
table consists of pieces that grow one by one, so adding a document never pauses for all others.
"""

from array import array
from bisect import bisect_left, insort
from collections import Counter

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.ledger.graph.nodes import Nodes

_PIECES = 256
_LEAST = 8
_SHIFT = np.uint64(56)
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
        self._masks = np.full(_PIECES, _LEAST - 1, np.uint64)
        self._used = [0] * _PIECES
        self.groups: dict[int, list[int]] = {}

    def add(self, slot: int) -> list[int]:
        """Add a document to its twins; returns its neighbours, as `near` does."""
        digest = self._nodes.digests[slot]
        if self.add_alone(slot, digest):
            return []
        group = self.groups.get(digest)
        if group is None:
            piece = self._pieces[digest >> 56]
            group = self.groups[digest] = [piece[self._place(piece, digest)] - 1]
        insort(group, slot, key=self._nodes.age)
        return self._near(group, slot)

    def add_alone(self, slot: int, digest: int) -> bool:
        """Add a document of this digest unless it has twins; returns whether it has none."""
        if not digest:
            return True
        number = digest >> 56
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
        numbers = (digests >> _SHIFT).astype(np.int64)
        for number, count in Counter(numbers.tolist()).items():
            self._used[number] += count
            if 2 * self._used[number] >= len(pieces[number]):
                self._rebuild(number, count)
        places = (digests & self._masks[numbers]).tolist()
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
        piece = self._pieces[digest >> 56]
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
        old, digests = self._pieces[number], self._nodes.digests
        held = [entry for entry in old if entry and entry != _GONE]
        size = max(_LEAST, 2 << (len(held) + coming).bit_length())
        self._masks[number] = size - 1
        piece = self._pieces[number] = array("I", bytes(4 * size))
        for entry in held:
            at = digests[entry - 1] & size - 1
            while piece[at]:
                at = at + 1 & size - 1
            piece[at] = entry
        self._used[number] = len(held) + coming
