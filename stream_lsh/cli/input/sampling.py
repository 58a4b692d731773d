"""So many documents out of all that are read, each with the same chance, and how many there are."""

import heapq
from collections.abc import Iterable

import mmh3

from stream_lsh.model import Document

_ALL = 1 << 64


class Sample:
    """The documents with the least hashes of their ids.

    An id that comes again replaces its text and counts once, as everywhere; what is kept does not depend on the order.
    No more is remembered than is kept.

    Args:
        most: documents that are kept.

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
        """Take in more documents; one without a text is deleted."""
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
        """Those that were kept."""
        return list(self._texts.values())

    @property
    def whole(self) -> bool:
        """Whether all were."""
        return self._below == _ALL

    @property
    def documents(self) -> int:
        """How many there are: where not all were kept, as the greatest hash among those kept tells."""
        return round(len(self._texts) * (_ALL / self._below))
