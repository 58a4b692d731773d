"""A dictionary that never doubles at once: many small ones, so that no single insertion moves a million entries.

A `dict` of a million entries takes some 200 ms to grow, and a stream waits for it.  64 of a 64th of the size take 3 ms
each, and not all in the same batch.

After a start each shard is read when it is first used: no document waits for all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import mmh3
import numpy as np

from stream_lsh.arrays import I64, U8, U64

_Key = TypeVar("_Key")

_SHARDS = 64


class ShardedIds(NamedTuple):
    """Ids that lie shard by shard, see `ShardedDict`, and are read when they are needed.

    Attributes:
        sizes: the number of ids of each shard.
        read: the ids of a shard.
    """

    sizes: Sequence[int]
    read: Callable[[int], list[str]]


class ShardedDict(Generic[_Key]):
    """Row numbers by key.

    Args:
        shard: the shard of a key, from 0 to 63, always the same.

    Example:
        >>> rows = ShardedDict(text_shard)
        >>> rows["a"] = 7
        >>> rows.get("a"), rows.get("b"), "a" in rows, len(rows), rows.pop("a"), len(rows)
        (7, None, True, 1, 7, 0)
    """

    __slots__ = ("_read", "_shard", "_shards", "_unread")

    def __init__(self, shard: Callable[[_Key], int]) -> None:
        self._shard = shard
        self._shards: list[dict[_Key, int]] = [{} for _ in range(_SHARDS)]
        self._unread: dict[int, int] = {}  # the number of keys of each shard that was not read yet
        self._read: Callable[[int], Iterable[tuple[_Key, int]]] = lambda number: ()

    def __len__(self) -> int:
        return sum(map(len, self._shards)) + sum(self._unread.values())

    def fill(self, sizes: Iterable[int], read: Callable[[int], Iterable[tuple[_Key, int]]]) -> None:
        """Fill an empty dictionary; each shard is read when it is first used.

        Args:
            sizes: the number of keys of each shard.
            read: the keys of a shard, with their rows; called once for each.

        Cost: none; later some 0.1 us for each key of a shard.
        """
        self._unread = {number: size for number, size in enumerate(sizes) if size}
        self._read = read

    def read(self, numbers: Iterable[int]) -> None:
        """Read these shards, as far as they are not read yet."""
        for number in self._unread.keys() & set(numbers):
            del self._unread[number]
            self._shards[number].update(self._read(number))

    def _shard_of(self, key: _Key) -> dict[_Key, int]:
        number = self._shard(key)
        if number in self._unread:
            self.read((number,))
        return self._shards[number]

    def _all(self) -> list[dict[_Key, int]]:
        self.read(range(_SHARDS))
        return self._shards

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of keys of each shard."""
        return tuple(map(len, self._all()))

    def keys_of(self, number: int) -> list[_Key]:
        """The keys of a shard."""
        self.read((number,))
        return [*self._shards[number]]

    def __iter__(self) -> Iterator[_Key]:
        """All keys, shard by shard."""
        return chain.from_iterable(self._all())

    def __contains__(self, key: _Key) -> bool:
        return key in self._shard_of(key)

    def __setitem__(self, key: _Key, row: int) -> None:
        self._shard_of(key)[key] = row

    def get(self, key: _Key) -> int | None:
        """The row of a key, None if it is absent."""
        return self._shard_of(key).get(key)

    def pop(self, key: _Key) -> int | None:
        """Remove a key and return its row; None if it is absent."""
        return self._shard_of(key).pop(key, None)

    def values(self) -> Iterator[int]:
        """All rows, in the order of their keys."""
        return chain.from_iterable(shard.values() for shard in self._all())


def text_shard(text: str) -> int:
    """The shard of a string, by its bytes."""
    return mmh3.hash(text.encode("utf-8", "surrogatepass")) % _SHARDS


def _ref_shard(ref: int) -> int:
    """The shard of a ref: runs of 4,096 offsets share one."""
    return (ref >> 12) % _SHARDS


def _ref_shards(refs: U64) -> U8:
    return (refs >> np.uint64(12)).astype(np.uint8) % np.uint8(_SHARDS)


class ShardedRefs(ShardedDict[int]):
    """Row numbers by ref.

    Example:
        >>> rows = ShardedRefs()
        >>> rows.fill_refs(np.array([5, 1 << 48], np.uint64), np.array([0, 1]))
        >>> rows.find(np.array([1 << 48, 6], np.uint64)).tolist()
        [1, -1]
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_ref_shard)

    def find(self, refs: U64) -> I64:
        """The row of each ref, -1 if it is absent: int64[n].  Cost: some 0.1 us each."""
        shards = _ref_shards(refs).tolist()
        if self._unread:
            self.read(shards)
        gets = [shard.get for shard in self._shards]
        found = [gets[shard](ref, -1) for ref, shard in zip(refs.tolist(), shards, strict=True)]
        return np.array(found, np.int64)

    def fill_refs(self, refs: U64, rows: I64) -> None:
        """Fill an empty dictionary: uint64[n] refs, int64[n] rows.

        Cost: 20 ns each, and as `fill`.
        """
        shards = _ref_shards(refs)
        order = np.argsort(shards, kind="stable")
        refs, rows, sizes = refs[order], rows[order], np.bincount(shards, minlength=_SHARDS).tolist()
        ends = np.cumsum(sizes).tolist()

        def read(number: int) -> Iterable[tuple[int, int]]:
            at = slice(ends[number] - sizes[number], ends[number])
            return zip(refs[at].tolist(), rows[at].tolist(), strict=True)

        self.fill(sizes, read)
