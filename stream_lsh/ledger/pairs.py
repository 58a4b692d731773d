"""Live pairs, one row each, and who is a partner of whom.

A pair has a number, a row of the columns; its two *half-edges* are 2 x number (the end with the smaller id) and
2 x number + 1.  The half-edges of a document with few pairs are a list through `after`; a *hub*, one with many, has a
dict from partner to pair instead, so that finding a pair costs a few steps at its smaller end, and none at a hub.

A pair names the versions of its ends; where they are not those of the nodes any more, they stand in `versions`.
"""

from array import array
from collections.abc import Iterator

from stream_lsh.ledger.changes import PairState
from stream_lsh.ledger.nodes import NO_PAIR, Nodes

HUB_FROM = 16
"""Pairs that make a hub."""

_HUB = 0xFFFFFFFF


class Pairs:
    """The pairs between the documents in `nodes`."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self.ends = array("I")
        self.similarity = array("d")
        self.shared = array("I")
        self.union = array("I")
        self.versions: dict[int, tuple[int, int, int, int]] = {}
        self._after = array("I")
        self._first = array("I")
        self._hubs: dict[int, dict[int, int]] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return self.similarity.__len__() - len(self._free)

    def grow(self) -> None:
        """There are more nodes than there were."""
        missing = len(self._nodes.ids) - len(self._first)
        if missing > 0:
            self._first.frombytes(bytes(4 * missing))

    # -- asking

    def find(self, one: int, other: int) -> int:
        """The pair of two documents, -1 if there is none.  Cost: O(1)."""
        first = self._first[one]
        if not first:
            return -1
        if first == _HUB:
            return self._hubs[one].get(other, -1)
        if self._first[other] == _HUB:
            return self._hubs[other].get(one, -1)
        ends, after = self.ends, self._after
        half = first
        while half:
            half -= 1
            if ends[half ^ 1] == other:
                return half >> 1
            half = after[half]
        return -1

    def partners(self, slot: int) -> list[tuple[int, int]]:
        """The partners of a document, each with the pair."""
        half = self._first[slot]
        if half == _HUB:
            return [*self._hubs[slot].items()]
        ends, after, found = self.ends, self._after, []
        while half:
            half -= 1
            found.append((ends[half ^ 1], half >> 1))
            half = after[half]
        return found

    def neighbours(self, slot: int) -> list[int]:
        """The partners of a document."""
        half = self._first[slot]
        if half == _HUB:
            return [*self._hubs[slot]]
        ends, after, found = self.ends, self._after, []
        while half:
            half -= 1
            found.append(ends[half ^ 1])
            half = after[half]
        return found

    def any_of(self, slot: int) -> bool:
        """Whether a document has a pair."""
        return self._first[slot] != 0

    def in_doubt(self, pair: int) -> bool:
        """Whether a version that the pair was confirmed for is not the newest known of its document."""
        known = self.versions.get(pair)
        if known is None:
            return False
        refs, ends = self._nodes.refs, self.ends
        return known[0] != refs[ends[2 * pair]] or known[1] != refs[ends[2 * pair + 1]]

    def versions_of(self, pair: int) -> tuple[int, int, int, int]:
        """The refs, then the times, of the versions that a pair was confirmed for."""
        known = self.versions.get(pair)
        if known is not None:
            return known
        refs, times = self._nodes.refs, self._nodes.times
        left, right = self.ends[2 * pair], self.ends[2 * pair + 1]
        return refs[left], refs[right], times[left], times[right]

    def state(self, pair: int) -> PairState:
        """The pair as a row of the changelog."""
        ids, ends = self._nodes.ids, self.ends
        counts = (self.similarity[pair], self.shared[pair], self.union[pair])
        return PairState(ids[ends[2 * pair]], ids[ends[2 * pair + 1]], *self.versions_of(pair), *counts)

    # -- changing

    def add(self, left: int, right: int, similarity: float, shared: int, union: int) -> int:
        """Put a pair in that is not in, the end with the smaller id first; returns its number."""
        if self._free:
            pair = self._free.pop()
            self.ends[2 * pair], self.ends[2 * pair + 1] = left, right
            self.similarity[pair], self.shared[pair], self.union[pair] = similarity, shared, union
        else:
            pair = len(self.similarity)
            self.ends.append(left)
            self.ends.append(right)
            self._after.append(0)
            self._after.append(0)
            self.similarity.append(similarity)
            self.shared.append(shared)
            self.union.append(union)
        self.attach(left, 2 * pair)
        self.attach(right, 2 * pair + 1)
        best = self._nodes.best
        best[left] = max(best[left], similarity)
        best[right] = max(best[right], similarity)
        return pair

    def replace(self, pair: int, similarity: float, shared: int, union: int) -> None:
        """Give a pair that is in another similarity, for the versions of its ends as they are now."""
        before = self.similarity[pair]
        self.similarity[pair], self.shared[pair], self.union[pair] = similarity, shared, union
        self.versions.pop(pair, None)
        best = self._nodes.best
        for end in (self.ends[2 * pair], self.ends[2 * pair + 1]):
            if similarity >= best[end]:
                best[end] = similarity
            elif before == best[end]:
                self._find_best(end)

    def drop(self, pair: int) -> None:
        """Take a pair out."""
        before, best = self.similarity[pair], self._nodes.best
        self.versions.pop(pair, None)
        for half in (2 * pair, 2 * pair + 1):
            end = self.ends[half]
            self._detach(end, half)
            if before == best[end]:
                self._find_best(end)
        self._free.append(pair)

    def keep_versions(self, slot: int) -> None:
        """The node is about to name another version: its pairs go on naming the one that they do.

        Cost: O(pairs of the node).
        """
        for _, pair in self.partners(slot):
            if pair not in self.versions:
                self.versions[pair] = self.versions_of(pair)

    def attach(self, slot: int, half: int) -> None:
        """Put a half-edge to the others of its end."""
        first = self._first[slot]
        if first == _HUB:
            self._hubs[slot][self.ends[half ^ 1]] = half >> 1
            return
        self._after[half] = first
        self._first[slot] = half + 1
        if first and self._is_long(first):
            self._hubs[slot] = dict(self.partners(slot))
            self._first[slot] = _HUB

    def _is_long(self, half: int) -> bool:
        after = self._after
        for _ in range(HUB_FROM - 2):
            half = after[half - 1]
            if not half:
                return False
        return True

    def _detach(self, slot: int, half: int) -> None:
        first = self._first[slot]
        if first == _HUB:
            hub = self._hubs[slot]
            del hub[self.ends[half ^ 1]]
            if not hub:
                del self._hubs[slot]
                self._first[slot] = 0
        elif first == half + 1:
            self._first[slot] = self._after[half]
        else:
            at = first - 1
            while self._after[at] != half + 1:
                at = self._after[at] - 1
            self._after[at] = self._after[half]

    def _find_best(self, slot: int) -> None:
        """Look for the best pair of a node again; as soon as one is as good as the last best, it is that."""
        was, best, similarity = self._nodes.best[slot], NO_PAIR, self.similarity
        for pair in self._of(slot):
            if similarity[pair] > best:
                best = similarity[pair]
                if best >= was:
                    break
        self._nodes.best[slot] = best

    def _of(self, slot: int) -> Iterator[int]:
        half = self._first[slot]
        if half == _HUB:
            yield from self._hubs[slot].values()
            return
        while half:
            yield half - 1 >> 1
            half = self._after[half - 1]
