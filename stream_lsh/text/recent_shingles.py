"""The shingles of texts that were signed last: verify needs the sets of many of them some milliseconds later."""

from collections import deque
from collections.abc import Sequence

from stream_lsh.arrays import U64
from stream_lsh.text.shingles import Shingles

_MOST_HASHES = 1 << 20
"""8 MB: some 1,500 texts of 3 KB."""
_END = 32

_Key = tuple[int, str, str]


class RecentShingles:
    """The shingles of recent batches of texts; the oldest batches leave first.

    Args:
        limit: hashes; a batch with more is not kept.

    Cost:
        0.4 us a text.  A text is found by its length and its ends and then compared, so of texts that agree in these
        only the last one is found.

    Example:
        >>> import numpy as np
        >>> recent = RecentShingles()
        >>> recent.add(["a b", "c"], Shingles(np.array([3, 7, 7], np.uint64), np.array([0, 2, 3])))
        >>> recent.get("c"), recent.get("d")
        (array([7], dtype=uint64), None)
    """

    def __init__(self, limit: int = _MOST_HASHES) -> None:
        self._limit = limit
        self._size = 0
        self._batches = deque[tuple[list[_Key], int]]()
        self._places: dict[_Key, tuple[str, Shingles, int]] = {}

    def add(self, texts: Sequence[str], shingles: Shingles) -> None:
        """Keep the shingles of a batch of texts."""
        size = shingles.hashes.size
        if size > self._limit:
            return
        keys = [*map(_key, texts)]
        for row, (key, text) in enumerate(zip(keys, texts, strict=True)):
            self._places[key] = text, shingles, row
        self._batches.append((keys, size))
        self._size += size
        while self._size > self._limit:
            keys, size = self._batches.popleft()
            self._size -= size
            for key in keys:
                self._places.pop(key, None)

    def get(self, text: str) -> U64 | None:
        """The shingles of a text with repetitions, a view; None if they are not here."""
        found = self._places.get(_key(text))
        return None if found is None or found[0] != text else found[1].document(found[2])


def _key(text: str) -> _Key:
    return len(text), text[:_END], text[-_END:]
