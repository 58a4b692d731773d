"""A dictionary that never doubles at once: many small ones, so that no single insertion moves a million entries.

A `dict` of a million entries takes some 200 ms to grow, and a stream waits for it.  64 of a 64th of the size take 3 ms
each, and not all in the same batch.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Generic, TypeVar

import mmh3
import numpy as np

from stream_lsh.arrays import I64, U64

_Key = TypeVar("_Key")

_SHARDS = 64


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

    __slots__ = ("_shard", "_shards")

    def __init__(self, shard: Callable[[_Key], int]) -> None:
        self._shard = shard
        self._shards: list[dict[_Key, int]] = [{} for _ in range(_SHARDS)]

    def __len__(self) -> int:
        return sum(map(len, self._shards))

    def fill(self, keys: Iterable[_Key], rows: Iterable[int], sizes: Iterable[int]) -> None:
        """Set the rows of keys that are sorted by shard; `sizes` has the number of keys of each shard.

        Cost: some 0.1 us a key.
        """
        pairs = zip(keys, rows, strict=True)
        for shard, size in zip(self._shards, sizes, strict=True):
            shard.update(islice(pairs, size))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of keys of each shard."""
        return tuple(map(len, self._shards))

    def __iter__(self) -> Iterator[_Key]:
        """All keys, shard by shard."""
        return chain.from_iterable(self._shards)

    def __contains__(self, key: _Key) -> bool:
        return key in self._shards[self._shard(key)]

    def __setitem__(self, key: _Key, row: int) -> None:
        self._shards[self._shard(key)][key] = row

    def get(self, key: _Key) -> int | None:
        """The row of a key, None if it is absent."""
        return self._shards[self._shard(key)].get(key)

    def find(self, keys: Iterable[_Key]) -> Iterator[int]:
        """The row of each key, -1 if it is absent."""
        shards, shard = self._shards, self._shard
        return (shards[shard(key)].get(key, -1) for key in keys)

    def pop(self, key: _Key) -> int | None:
        """Remove a key and return its row; None if it is absent."""
        return self._shards[self._shard(key)].pop(key, None)

    def values(self) -> Iterator[int]:
        """All rows, in the order of their keys."""
        return chain.from_iterable(shard.values() for shard in self._shards)


def text_shard(text: str) -> int:
    """The shard of a string, by its bytes."""
    return mmh3.hash(text.encode("utf-8", "surrogatepass")) % _SHARDS


def ref_shard(ref: int) -> int:
    """The shard of a ref: runs of 4,096 offsets share one."""
    return (ref >> 12) % _SHARDS


def by_ref_shard(refs: U64, rows: I64) -> tuple[list[int], list[int], list[int]]:
    """Refs and their rows sorted by shard, and the number in each shard: the arguments of `ShardedDict.fill`."""
    shards = (refs >> np.uint64(12)).astype(np.uint8) % _SHARDS
    order = np.argsort(shards, kind="stable")
    return refs[order].tolist(), rows[order].tolist(), np.bincount(shards, minlength=_SHARDS).tolist()
