"""A uniform sample of the documents that are read, and an estimate of their number."""

import heapq
from collections.abc import Iterable

import mmh3

from stream_lsh.model import Document

_ALL = 1 << 64


class Sample:
    """The documents with the least hashes of their ids.

    A repeated id replaces its text and counts once, as everywhere; the sample does not depend on the order.  Memory
    grows with the sample only.

    Args:
        most: the size of the sample.

    Example:
        >>> sample = Sample(2)
        >>> sample.take([Document(id, f"text of {id}") for id in "abcab"])
        >>> len(sample.texts), sample.whole
        (2, False)
        >>> sample.take([Document(id, None) for id in "abc"])
        >>> sample.texts
        []
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._below = _ALL
        self._texts: dict[str, str] = {}
        self._greatest: list[tuple[int, str]] = []

    def take(self, documents: Iterable[Document]) -> None:
        """Add documents; one without a text is deleted."""
        for document in documents:
            hashed, _ = mmh3.hash64(document.id.encode("utf-8", "surrogatepass"), signed=False)
            if hashed >= self._below:
                continue
            if document.text is None:
                self._texts.pop(document.id, None)
                continue
            if document.id not in self._texts:
                heapq.heappush(self._greatest, (-hashed, document.id))
            self._texts[document.id] = document.text
            while len(self._texts) > self._most:
                self._below, id = -self._greatest[0][0], heapq.heappop(self._greatest)[1]
                self._texts.pop(id, None)

    @property
    def texts(self) -> list[str]:
        """The texts in the sample."""
        return list(self._texts.values())

    @property
    def whole(self) -> bool:
        """Whether the sample contains all documents."""
        return self._below == _ALL

    @property
    def documents(self) -> int:
        """The number of documents; if not all were kept, estimated from the greatest hash in the sample."""
        return round(len(self._texts) * (_ALL / self._below))
