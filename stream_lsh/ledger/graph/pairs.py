"""Live pairs, one row each, and the partners of each document.

A pair has a number, a row of the columns; its two *half-edges* are 2 x number (the end with the smaller id) and
2 x number + 1.  The half-edges of a document with few pairs are a list through `after`; a *hub*, one with many, has a
dict from partner to pair instead, so that finding a pair costs a few steps at its smaller end, and none at a hub.

A pair refers to versions of its ends: those of the nodes, unless `versions` holds others.  `evidence` holds the texts
of pairs, and `verdicts` whether a human decision calls the ends of a pair the same.

Numbers are reused; a free number has the same slot twice.
"""

from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from stream_lsh.arrays import F64, I64, U32
from stream_lsh.ledger.changes import PairState
from stream_lsh.ledger.graph.nodes import NO_PAIR, Nodes, view_f64, view_u32

HUB_FROM = 16
"""A document with this many pairs is a hub."""

Counts = tuple[float, int, int, int, str]
"""Of a pair: similarity, shared, union, the shingles of its left end (0: the measure does not report it), evidence."""
Columns = tuple[F64, U32, U32, U32, Sequence[str]]
"""The same of many pairs; evidence is empty if no pair has one."""

UNPUBLISHED, MATCH, REVIEW = 0, 1, 2
"""The topic of a pair."""

_HUB = 0xFFFFFFFF
_SIDES = np.array([0, 1])


class Pairs:
    """The pairs between the documents in `nodes`.

    Args:
        nodes: the live documents.
        link_from: less similar pairs connect no documents.
        chosen: a pair is a match only if both its ends are in the same cluster; another pair that links is a review.
    """

    def __init__(self, nodes: Nodes, link_from: float = 0.0, *, chosen: bool = False) -> None:
        self._nodes = nodes
        self.link_from = link_from
        self.chosen = chosen
        self.verdicts: dict[int, bool] = {}
        self.ends = array("I")
        self.similarity = array("d")
        self.shared = array("I")
        self.union = array("I")
        self.left_shingles = array("I")
        self.versions: dict[int, tuple[int, int, int, int]] = {}
        self.evidence: dict[int, str] = {}
        self._after = array("I")
        self._first = array("I")
        self._degrees = array("I")
        self._hubs: dict[int, dict[int, int]] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.similarity) - len(self._free)

    def grow(self) -> None:
        """Extend the columns to the number of nodes."""
        missing = len(self._nodes.ids) - len(self._first)
        if missing > 0:
            self._first.frombytes(bytes(4 * missing))
            self._degrees.frombytes(bytes(4 * missing))

    def numbers(self, start: int = 0, stop: int | None = None) -> I64:
        """The numbers of all pairs from `start` to `stop`, exclusive, ascending."""
        ends = view_u32(self.ends).reshape(-1, 2)[start:stop]
        numbers: I64 = (ends[:, 0] != ends[:, 1]).nonzero()[0] + start
        return numbers

    # -- queries

    def find(self, left: int, right: int) -> int:
        """The pair of two documents, -1 if there is none.  Cost: O(1)."""
        first = self._first[left]
        if not first:
            return -1
        if first == _HUB:
            return self._hubs[left].get(right, -1)
        if self._first[right] == _HUB:
            return self._hubs[right].get(left, -1)
        ends, after = self.ends, self._after
        half = first
        while half:
            half -= 1
            if ends[half ^ 1] == right:
                return half >> 1
            half = after[half]
        return -1

    def partners(self, slot: int) -> list[tuple[int, int]]:
        """The partners of a document, each with the pair."""
        half = self._first[slot]
        if half == _HUB:
            return [*self._hubs[slot].items()]
        ends, after, partners = self.ends, self._after, []
        while half:
            half -= 1
            partners.append((ends[half ^ 1], half >> 1))
            half = after[half]
        return partners

    def neighbours(self, slot: int) -> list[int]:
        """The partners of a document."""
        half = self._first[slot]
        if half == _HUB:
            return [*self._hubs[slot]]
        ends, after, neighbours = self.ends, self._after, []
        while half:
            half -= 1
            neighbours.append(ends[half ^ 1])
            half = after[half]
        return neighbours

    def links(self, pair: int) -> bool:
        """Whether a pair connects its ends."""
        verdict = self.verdicts.get(pair) if self.verdicts else None
        return self.similarity[pair] >= self.link_from if verdict is None else verdict

    def topic(self, pair: int) -> int:
        """The topic of a pair: `MATCH`, `REVIEW` or `UNPUBLISHED`."""
        if pair in self.verdicts:
            return MATCH if self.verdicts[pair] else UNPUBLISHED
        if self.similarity[pair] < self.link_from:
            return REVIEW
        clusters, ends = self._nodes.clusters, self.ends
        lost = self.chosen and clusters[ends[2 * pair]] is not clusters[ends[2 * pair + 1]]
        return REVIEW if lost else MATCH

    def best(self, slot: int) -> float:
        """The similarity of the best match of a document; `NO_PAIR` without one."""
        if not self.chosen:
            return self._nodes.best[slot]
        matches = (pair for _, pair in self.partners(slot) if self.topic(pair) == MATCH)
        return max((self.similarity[pair] for pair in matches), default=NO_PAIR)

    def linked(self, slot: int) -> list[tuple[int, int]]:
        """The partners that a document is connected with, each with the pair."""
        partners = self.partners(slot)
        return [entry for entry in partners if self.links(entry[1])] if self.is_selective else partners

    @property
    def is_selective(self) -> bool:
        """Whether some pairs may connect no documents."""
        return bool(self.link_from or self.verdicts)

    def any_of(self, slot: int) -> bool:
        """Whether a document has a pair."""
        return self._first[slot] != 0

    def in_doubt(self, pair: int) -> bool:
        """Whether a version that the pair was confirmed for is not the newest known of its document."""
        versions = self.versions.get(pair)
        if versions is None:
            return False
        refs, ends = self._nodes.refs, self.ends
        return versions[0] != refs[ends[2 * pair]] or versions[1] != refs[ends[2 * pair + 1]]

    def versions_of(self, pair: int) -> tuple[int, int, int, int]:
        """The refs, then the times, of the versions that a pair was confirmed for."""
        versions = self.versions.get(pair)
        if versions is not None:
            return versions
        refs, times = self._nodes.refs, self._nodes.times
        left, right = self.ends[2 * pair], self.ends[2 * pair + 1]
        return refs[left], refs[right], times[left], times[right]

    def state(self, pair: int) -> PairState:
        """The pair as a row of the changelog."""
        ids, ends = self._nodes.ids, self.ends
        similarity, shared, union, left_shingles, evidence = self.counts_of(pair)
        ends_of = ids[ends[2 * pair]], ids[ends[2 * pair + 1]], *self.versions_of(pair)
        return PairState(*ends_of, similarity, shared, union, left_shingles, evidence)

    def counts_of(self, pair: int) -> Counts:
        """The similarity of a pair, its counts and its evidence."""
        evidence = self.evidence.get(pair, "")
        return self.similarity[pair], self.shared[pair], self.union[pair], self.left_shingles[pair], evidence

    # -- changes

    def add(self, left: int, right: int, counts: Counts, verdict: bool | None = None) -> int:
        """Add a new pair, the end with the smaller id first; returns its number."""
        if self._free:
            pair = self._free.pop()
            self.ends[2 * pair], self.ends[2 * pair + 1] = left, right
            self._count(pair, counts)
        else:
            pair = len(self.similarity)
            self.ends.append(left)
            self.ends.append(right)
            self._after.append(0)
            self._after.append(0)
            self.similarity.append(counts[0])
            self.shared.append(counts[1])
            self.union.append(counts[2])
            self.left_shingles.append(counts[3])
            if counts[4]:
                self.evidence[pair] = counts[4]
        if verdict is not None:
            self.verdicts[pair] = verdict
        self._attach(left, 2 * pair)
        self._attach(right, 2 * pair + 1)
        if self.links(pair):
            best = self._nodes.best
            best[left] = max(best[left], counts[0])
            best[right] = max(best[right], counts[0])
        return pair

    def add_many(self, left: I64, right: I64, counts: Columns) -> None:
        """Add new pairs without decisions, each once, the ends with the smaller ids in `left`."""
        if not left.size:
            return
        similarity, shared, union, left_shingles, evidence = counts
        reused = min(left.size, len(self._free))
        ends = np.empty((left.size, 2), np.uint32)
        ends[:, 0], ends[:, 1] = left, right
        numbers = np.empty(left.size, np.int64)
        if reused:
            numbers[:reused] = self._free[len(self._free) - reused :]
            del self._free[len(self._free) - reused :]
            at = numbers[:reused]
            view_u32(self.ends).reshape(-1, 2)[at] = ends[:reused]
            view_f64(self.similarity)[at] = similarity[:reused]
            view_u32(self.shared)[at] = shared[:reused]
            view_u32(self.union)[at] = union[:reused]
            view_u32(self.left_shingles)[at] = left_shingles[:reused]
        if reused < left.size:
            numbers[reused:] = np.arange(len(self.similarity), len(self.similarity) + left.size - reused)
            self.ends.frombytes(ends[reused:].tobytes())
            self._after.frombytes(bytes(8 * (left.size - reused)))
            self.similarity.frombytes(similarity[reused:].tobytes())
            self.shared.frombytes(shared[reused:].tobytes())
            self.union.frombytes(union[reused:].tobytes())
            self.left_shingles.frombytes(left_shingles[reused:].tobytes())
        if evidence:
            self.evidence |= {pair: text for pair, text in zip(numbers.tolist(), evidence, strict=True) if text}
        self._attach_many(ends.reshape(-1), (numbers[:, None] * 2 + _SIDES).reshape(-1))
        best = view_f64(self._nodes.best)
        if self.link_from:
            linking = similarity >= self.link_from
            left, right, similarity = left[linking], right[linking], similarity[linking]
        np.maximum.at(best, left, similarity)
        np.maximum.at(best, right, similarity)

    def _attach_many(self, slots: U32, halves: I64) -> None:
        """Add half-edges to those of their ends: prepend them to the lists, and add those of hubs to their dicts."""
        order = slots.argsort(kind="stable")
        slots, halves = slots[order], halves[order]
        begins = np.empty(slots.size, np.bool_)
        begins[0] = True
        np.not_equal(slots[1:], slots[:-1], out=begins[1:])
        starts = begins.nonzero()[0]
        last = np.append(starts[1:], slots.size) - 1
        own = slots[starts]
        before = np.empty(slots.size, np.uint32)
        before[1:] = halves[:-1] + 1
        first, degrees = view_u32(self._first), view_u32(self._degrees)
        was = first[own]
        before[starts] = was
        grown = degrees[own] + (last - starts + 1).astype(np.uint32)
        degrees[own] = grown
        view_u32(self._after)[halves] = before
        first[own] = halves[last] + 1
        hubs = was == _HUB
        if not (hubs | (grown >= HUB_FROM)).any():
            return
        first[own[hubs]] = _HUB
        for at in hubs.nonzero()[0].tolist():
            hub = self._hubs[int(own[at])]
            for half in halves[starts[at] : last[at] + 1].tolist():
                hub[self.ends[half ^ 1]] = half >> 1
        for slot in own[(grown >= HUB_FROM) & ~hubs].tolist():
            self._make_hub(slot)

    def _count(self, pair: int, counts: Counts) -> None:
        self.similarity[pair], self.shared[pair], self.union[pair], self.left_shingles[pair], evidence = counts
        if evidence:
            self.evidence[pair] = evidence
        elif self.evidence:
            self.evidence.pop(pair, None)

    def replace(self, pair: int, counts: Counts) -> None:
        """Replace the similarity of a pair, for the current versions of its ends."""
        before = self._linking(pair)
        self._count(pair, counts)
        self.versions.pop(pair, None)
        self._rank(pair, before)

    def decide(self, pair: int, verdict: bool | None) -> None:
        """Set the human verdict on a pair: the ends are the same, they are different, or (None) no decision."""
        before = self._linking(pair)
        if verdict is None:
            self.verdicts.pop(pair, None)
        else:
            self.verdicts[pair] = verdict
        self._rank(pair, before)

    def _rank(self, pair: int, before: float) -> None:
        """Update the best similarity of both ends after a change of a pair."""
        similarity, best = self._linking(pair), self._nodes.best
        for end in (self.ends[2 * pair], self.ends[2 * pair + 1]):
            if similarity >= best[end]:
                best[end] = similarity
            elif before == best[end]:
                self._find_best(end)

    def drop(self, pair: int) -> None:
        """Remove a pair."""
        before, best = self._linking(pair), self._nodes.best
        self.versions.pop(pair, None)
        self.evidence.pop(pair, None)
        self.verdicts.pop(pair, None)
        for half in (2 * pair, 2 * pair + 1):
            end = self.ends[half]
            self._detach(end, half)
            if before == best[end]:
                self._find_best(end)
        self.ends[2 * pair] = self.ends[2 * pair + 1]
        self._free.append(pair)

    def keep_versions(self, slot: int) -> None:
        """Keep the current versions of a node's pairs before the node gets another version.

        Cost: O(pairs of the node).
        """
        for _, pair in self.partners(slot):
            if pair not in self.versions:
                self.versions[pair] = self.versions_of(pair)

    def _attach(self, slot: int, half: int) -> None:
        """Add a half-edge to those of its end."""
        first, degree = self._first[slot], self._degrees[slot] + 1
        self._degrees[slot] = degree
        if first == _HUB:
            self._hubs[slot][self.ends[half ^ 1]] = half >> 1
            return
        self._after[half] = first
        self._first[slot] = half + 1
        if degree >= HUB_FROM:
            self._make_hub(slot)

    def _make_hub(self, slot: int) -> None:
        self._hubs[slot] = dict(self.partners(slot))
        self._first[slot] = _HUB

    def _detach(self, slot: int, half: int) -> None:
        first = self._first[slot]
        self._degrees[slot] -= 1
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

    def _linking(self, pair: int) -> float:
        """The similarity of a pair if it connects its ends, else `NO_PAIR`."""
        return self.similarity[pair] if self.links(pair) else NO_PAIR

    def _find_best(self, slot: int) -> None:
        """Search the best pair of a node; the search stops at a pair as good as the previous best."""
        was, best, similarity = self._nodes.best[slot], NO_PAIR, self.similarity
        for pair in self._of(slot):
            if similarity[pair] > best and self.links(pair):
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
