"""The live documents of the ledger, one row each.

A live document has a *slot*, a row of the columns below; slots are reused.  Columns of numbers are arrays, which grow
without a copy (the allocator moves pages), so adding a document never pauses for all others.

    ids         the id
    refs        u64, its newest version
    times       i64, event time of the newest version
    digests     u64, digest of the newest version
    best        f64, similarity of its best live pair, -1 without one
    abouts      title, outlet and length of the newest version, for stories
    clusters    its cluster; `NOWHERE` before the first one, and after its removal
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64
from stream_lsh.ledger.clusters.ids import NOWHERE, Cluster
from stream_lsh.model import NO_ABOUT, About, Abouts

_FEW = 32
"""Fewer are sorted faster one by one."""
NO_PAIR = -1.0
"""The best similarity of a document without a pair."""


def view_u32(column: "array[int]") -> U32:
    """A column as a numpy array; drop it after use, because a column with an exported view cannot grow."""
    return np.frombuffer(column, np.uint32)


def view_u64(column: "array[int]") -> U64:
    """A column as a numpy array, see `view_u32`."""
    return np.frombuffer(column, np.uint64)


def view_i64(column: "array[int]") -> I64:
    """A column as a numpy array, see `view_u32`."""
    return np.frombuffer(column, np.int64)


def view_f64(column: "array[float]") -> F64:
    """A column as a numpy array, see `view_u32`."""
    return np.frombuffer(column, np.float64)


class Nodes:
    """Live documents by id and by slot.

    A removed document keeps its slot until `release`, and gets it back if it is added again before.
    """

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self.ids: list[str] = []
        self.refs = array("Q")
        self.times = array("q")
        self.digests = array("Q")
        self.best = array("d")
        self.abouts: list[About] = []
        self.clusters: list[Cluster] = []
        self._free: list[int] = []
        self._gone: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.slots)

    def add(self, id: str, ref: int, time_ms: int, digest: int, about: About) -> int:
        """Add a new document; returns its slot."""
        slot = self._gone.pop(id, -1) if self._gone else -1
        if slot < 0 and self._free:
            slot = self._free.pop()
        if slot < 0:
            slot = len(self.ids)
            self.ids.append(id)
            self.refs.append(ref)
            self.times.append(time_ms)
            self.digests.append(digest)
            self.best.append(NO_PAIR)
            self.abouts.append(about)
            self.clusters.append(NOWHERE)
        else:
            self.ids[slot], self.abouts[slot] = id, about
            self.refs[slot], self.times[slot], self.digests[slot] = ref, time_ms, digest
            self.best[slot] = NO_PAIR
        self.slots[id] = slot
        return slot

    def add_many(self, ids: list[str], refs: U64, times: I64, digests: U64, abouts: Abouts) -> list[int]:
        """Add new documents, each once; returns their slots."""
        reused = min(len(ids), len(self._free))
        slots = self._free[len(self._free) - reused :]
        del self._free[len(self._free) - reused :]
        if reused:
            at = np.array(slots, np.int64)
            view_u64(self.refs)[at] = refs[:reused]
            view_i64(self.times)[at] = times[:reused]
            view_u64(self.digests)[at] = digests[:reused]
            for slot, id in zip(slots, ids, strict=False):
                self.ids[slot], self.best[slot] = id, NO_PAIR
        if reused < len(ids):
            new = len(ids) - reused
            slots += range(len(self.ids), len(self.ids) + new)
            self.ids += ids[reused:]
            self.refs.frombytes(refs[reused:].tobytes())
            self.times.frombytes(times[reused:].tobytes())
            self.digests.frombytes(digests[reused:].tobytes())
            self.best.extend([NO_PAIR] * new)
            self.abouts += [NO_ABOUT] * new
            self.clusters += [NOWHERE] * new
        self.slots.update(zip(ids, slots, strict=True))
        for slot, about in zip(slots, abouts, strict=True) if abouts else ():
            self.abouts[slot] = about
        return slots

    def remove(self, slot: int) -> None:
        """Remove a document."""
        id = self.ids[slot]
        del self.slots[id]
        self._gone[id] = slot
        self.clusters[slot] = NOWHERE

    def release(self) -> None:
        """Free the slots of removed documents for reuse."""
        for slot in self._gone.values():
            self.ids[slot], self.abouts[slot] = "", NO_ABOUT
            self._free.append(slot)
        self._gone.clear()

    def age(self, slot: int) -> tuple[int, str]:
        """The sort key of members and twins: event time, then id."""
        return self.times[slot], self.ids[slot]

    def put_in(self, cluster: Cluster, slot: int) -> None:
        """Insert a member in order; most are the newest."""
        if cluster and self.times[slot] <= self.times[cluster[-1]]:
            cluster.listed = None
        self.insert(cluster, slot)
        if cluster.describer_state is not None:
            cluster.describer_state.put_in(slot)

    def take_out(self, cluster: Cluster, slot: int) -> None:
        """Remove a member, before its version changes."""
        cluster.listed = None
        self.delete(cluster, slot)
        if cluster.describer_state is not None:
            cluster.describer_state.take_out(slot)

    def insert(self, ordered: list[int], slot: int) -> None:
        """Insert a slot into a list in ascending order of age."""
        if not ordered or self.times[slot] > self.times[ordered[-1]]:
            ordered.append(slot)
        else:
            insort(ordered, slot, key=self.age)

    def delete(self, ordered: list[int], slot: int) -> None:
        """Remove a slot from a list in ascending order of age."""
        del ordered[bisect_left(ordered, self.age(slot), key=self.age)]

    def by_id(self, slots: Iterable[int]) -> list[int]:
        """Slots in ascending order of their ids."""
        return sorted(slots, key=self.ids.__getitem__)

    def first_id(self, slots: Iterable[int]) -> str:
        """The smallest id of some slots."""
        return min(map(self.ids.__getitem__, slots))

    def by_age(self, slots: list[int]) -> list[int]:
        """Slots in ascending order of age.  Cost: some 0.1 us each; more for equal times, which ids put in order."""
        if len(slots) < _FEW:
            return sorted(slots, key=self.age)
        times = view_i64(self.times)[np.array(slots)]
        order = times.argsort(kind="stable")
        times = times[order]
        ordered = [slots[at] for at in order.tolist()]
        if (times[1:] == times[:-1]).any():
            rows = [*zip(times.tolist(), map(self.ids.__getitem__, ordered), ordered, strict=True)]
            rows.sort()
            ordered = [slot for _, _, slot in rows]
        return ordered

    def in_order(self) -> Iterator[int]:
        """All slots in ascending order of their ids."""
        return map(self.slots.__getitem__, sorted(self.slots))
