"""Remembers sets of hashes by number, and counts what pairs of them share.

A set that is compared with many others joins a *group* of similar sets (`bit_rows`); all others stay arrays.  A set is
in one group at most, and may be compared with the sets of any: its bits in another union give the same count.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.measure.bit_rows import BitRows
from stream_lsh.measure.jaccard import shared_counts

_SET_COST = 32
"""The overhead of a set in hashes: the array and the entry take some 250 bytes."""
_LEAST_PAIRS = 4
"""A set that is compared with this many others starts a group."""
_LEAST_HASHES = 128
"""Smaller sets are compared as fast without groups."""
_WIDEST = 32
"""A group is closed when its union is this many times as large as its sets: a row has half of the bytes of a set."""
_MOST_ROWS = 1 << 12
_ROW_BITS = 20
_ROW_MASK = (1 << _ROW_BITS) - 1


class _Group(BitRows):
    """A group of similar sets; `refs` are the sets of its rows, `charged` its size as counted so far."""

    def __init__(self) -> None:
        super().__init__()
        self.refs = list[int]()
        self.hashes = 0
        self.charged = 0

    def join(self, ref: int, hashes: U64) -> int:
        self.refs.append(ref)
        self.hashes += hashes.size
        return self.add(hashes)

    @property
    def is_open(self) -> bool:
        return len(self.refs) < _MOST_ROWS and self.width * len(self.refs) <= _WIDEST * self.hashes

    @property
    def size(self) -> int:
        return self.nbytes // 8 + _SET_COST * len(self.refs)


class SetMemory:
    """Sets by number, the least recently used of which are dropped first.

    Args:
        limit: hashes, with an overhead of 32 for each set; one set, or one group, always fits.

    Example:
        >>> memory, made = SetMemory(1_000), {n: np.array([n, n + 1], np.uint64) for n in (4, 5, 9)}
        >>> memory.hold(9, [4, 5], made)
        >>> memory.shared(np.array([5, 9], np.uint64), np.array([4, 4], np.uint64)).tolist()
        [1, 0]
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._arrays = dict[int, U64]()
        self._groups = dict[int, _Group]()
        self._home = dict[int, int]()  # group and row of a set, in one number
        self._recent = OrderedDict[int, None]()  # sets by number, groups by -1 - number
        self._begun = 0
        self._touched = set[int]()

    def __len__(self) -> int:
        """The number of sets."""
        return len(self._arrays) + len(self._home)

    def __contains__(self, ref: int) -> bool:
        return ref in self._home or ref in self._arrays

    def get(self, ref: int) -> U64:
        """A set, ascending.

        Raises:
            KeyError: it is not here.
        """
        home = self._home.get(ref)
        if home is None:
            return self._arrays[ref]
        return self._groups[home >> _ROW_BITS].members(home & _ROW_MASK)

    def sizes(self, refs: Sequence[int]) -> I64:
        """The size of each set: int64[n]."""
        if not self._groups:
            return np.array([self._arrays[ref].size for ref in refs], np.int64)
        sizes, homes = np.empty(len(refs), np.int64), self._homes(refs)
        for number, at in _by_value(homes >> _ROW_BITS):
            if number < 0:
                sizes[at] = [self._arrays[refs[place]].size for place in at.tolist()]
            else:
                sizes[at] = self._groups[number].sizes(homes[at] & _ROW_MASK)
        return sizes

    def shared(self, left: U64, right: U64) -> I64:
        """The number of hashes that two sets share, for pairs: int64[n].

        Args:
            left: uint64[n], sets; fastest if equal ones are adjacent.
            right: uint64[n], sets.
        """
        lefts, rights = left.tolist(), right.tolist()
        ours, theirs = self._homes(lefts), self._homes(rights)
        counts, groups = np.empty(left.size, np.int64), theirs >> _ROW_BITS
        same = (ours >> _ROW_BITS == groups) & (groups >= 0)
        together = same.nonzero()[0]
        for number, part in _by_value(groups[together]):
            at = together[part]
            counts[at] = self._groups[number].shared(ours[at] & _ROW_MASK, theirs[at] & _ROW_MASK)
        alone = (groups < 0).nonzero()[0]
        for one, part in _by_value(left[alone]):
            at = alone[part]
            counts[at] = shared_counts(self.get(one), [self._arrays[rights[place]] for place in at.tolist()])
        apart = (~same & (groups >= 0)).nonzero()[0]
        for one, part in _by_value(left[apart]):
            hashes = self.get(one)
            for number, some in _by_value(groups[apart[part]]):
                at = apart[part[some]]
                counts[at] = self._groups[number].shared_with(hashes, theirs[at] & _ROW_MASK)
        return counts

    def hold(self, one: int, others: Sequence[int], made: Mapping[int, U64], *, joins: bool = True) -> None:
        """Remember a set and those that it is going to be compared with; they join one group if they are many.

        Args:
            one: a set.
            others: other sets.
            made: the sets that are not here yet, ascending and without repetitions.
            joins: whether sets may join a group; not for a set that is forgotten at once.
        """
        home = self._home
        known = {code >> _ROW_BITS for ref in others if (code := home.get(ref)) is not None}
        if one in home:
            known.add(home[one] >> _ROW_BITS)
        for number in known:
            self._recent.move_to_end(-1 - number)
        number = self._chosen(one, len(others), known, made) if joins else -1
        for ref in (one, *others):
            if ref in home:
                continue
            if number >= 0:
                self._join(number, ref, made)
            elif ref in self._arrays:
                self._recent.move_to_end(ref)
            else:
                self._arrays[ref] = made[ref]
                self._recent[ref] = None
                self._size += made[ref].size + _SET_COST

    def trim(self) -> None:
        """Drop the least recently used sets beyond the limit."""
        for number in self._touched:
            group = self._groups[number]
            self._size += group.size - group.charged
            group.charged = group.size
        self._touched.clear()
        while self._size > self._limit and len(self._recent) > 1:
            key, _ = self._recent.popitem(last=False)
            if key >= 0:
                self._take_array(key)
            else:
                self._drop_group(-1 - key)

    def forget(self, ref: int) -> None:
        """Drop a set; the row of a group stays as long as the group."""
        self._home.pop(ref, None)
        self._take_array(ref)
        self._recent.pop(ref, None)

    def _chosen(self, one: int, others: int, known: set[int], made: Mapping[int, U64]) -> int:
        """The group that a set and others join, -1 for none."""
        if one in self._home:
            number = self._home[one] >> _ROW_BITS
            return number if self._groups[number].is_open else -1
        number = max((number for number in known if self._groups[number].is_open), default=-1)
        if number >= 0 or others < _LEAST_PAIRS:
            return number
        size = made[one].size if one in made else self._arrays[one].size
        if size < _LEAST_HASHES:
            return -1
        number, self._begun = self._begun, self._begun + 1
        self._groups[number] = _Group()
        self._recent[-1 - number] = None
        return number

    def _join(self, number: int, ref: int, made: Mapping[int, U64]) -> None:
        held = self._take_array(ref)
        self._recent.pop(ref, None)
        row = self._groups[number].join(ref, made[ref] if held is None else held)
        self._home[ref] = number << _ROW_BITS | row
        self._touched.add(number)

    def _take_array(self, ref: int) -> U64 | None:
        held = self._arrays.pop(ref, None)
        self._size -= 0 if held is None else held.size + _SET_COST
        return held

    def _drop_group(self, number: int) -> None:
        group = self._groups.pop(number)
        self._size -= group.charged
        for ref in group.refs:
            if self._home.get(ref, -1) >> _ROW_BITS == number:
                del self._home[ref]

    def _homes(self, refs: Iterable[int]) -> I64:
        return np.fromiter(map(self._home.get, refs, repeat(-1)), np.int64)


def _by_value(values: I64 | U64) -> Iterator[tuple[int, I64]]:
    """Each distinct value, ascending, with its places, ascending."""
    if not values.size:
        return
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    cuts = [0, *((ordered[1:] != ordered[:-1]).nonzero()[0] + 1).tolist(), values.size]
    for start, stop in pairwise(cuts):
        yield int(ordered[start]), order[start:stop]
