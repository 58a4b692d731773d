"""The contents that were written last: gather and verify ask for them some milliseconds later."""

from collections import OrderedDict

from stream_lsh.model import About

Contents = tuple[str, bytes, About]
"""Text, signature and metadata of a version."""
_MOST_BYTES, _OVERHEAD = 8 << 20, 300
"""Of each partition; the objects of a version take some 300 bytes beside its text."""


class RecentContents:
    """The contents of recent versions of one partition, within a bound of memory; the oldest leave first."""

    def __init__(self) -> None:
        self._contents = OrderedDict[int, Contents]()
        self._size = 0

    def get(self, ref: int) -> Contents | None:
        """The contents of a version, if they are here."""
        return self._contents.get(ref)

    def add(self, ref: int, contents: Contents) -> None:
        """Add a version, and drop the oldest ones beyond the bound."""
        self.drop(ref)
        self._contents[ref] = contents
        self._size += _size_of(contents)
        while self._size > _MOST_BYTES:
            self._size -= _size_of(self._contents.popitem(last=False)[1])

    def drop(self, ref: int) -> None:
        """Drop a version, if it is here."""
        if (contents := self._contents.pop(ref, None)) is not None:
            self._size -= _size_of(contents)

    def clear(self) -> None:
        """Drop all."""
        self._contents.clear()
        self._size = 0


def _size_of(contents: Contents) -> int:
    """The size of a version in characters and bytes."""
    return len(contents[0]) + len(contents[1]) + _OVERHEAD
