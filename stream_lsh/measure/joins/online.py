"""The same filters for strings that come one by one: an index of symbol, position and suffix length.

Whoever brings the strings gives the order of their symbols, as nobody knows yet how rare each will be: any order is
exact that is the same for all strings, and one that begins with the rare ones is fast.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.errors import ConfigError
from stream_lsh.measure.filters import prefix_lengths, suffix_allows


class JoinMatch(NamedTuple):
    """A string that is similar enough: its number, by arrival, and its similarity."""

    number: int
    similarity: float


class Index:
    """Strings in memory, and which of them are similar.

    Args:
        threshold: least Jaccard similarity, above 0 and at most 1.

    Attributes:
        compared: how many pairs have been compared so far.

    Guarantees:
        exact for strings that have no symbol twice, all in one order.

    Cost:
        a dictionary entry for each of the first symbols of a string, and a look at all strings that have it among
        theirs.  It shows how the filters work, and is their oracle in tests; for many sets see `join`, and for texts
        that come, change and go the method `exact` of a pipeline.

    Example:
        >>> index = Index(0.8)
        >>> index.add_and_find("abcdef"), index.add_and_find("bcdef"), index.add_and_find("cdef")
        ([], [JoinMatch(number=0, similarity=0.8333333333333334)], [JoinMatch(number=1, similarity=0.8)])
        >>> index.filed_under("bcdef"), index.compared
        ('bc', 2)
    """

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and at most 1")
        self.compared = 0
        self._threshold = threshold
        self._strings: list[Sequence[Hashable]] = []
        self._filed: dict[Hashable, list[tuple[int, int]]] = {}

    def filed_under(self, string: Sequence[Hashable]) -> Sequence[Hashable]:
        """The first symbols of a string: those that it is filed under, and looked for."""
        return string[: int(prefix_lengths(np.array([len(string)]), self._threshold)[0])]

    def add(self, string: Sequence[Hashable]) -> int:
        """Add a string; returns its number."""
        number = len(self._strings)
        self._strings.append(string)
        for before, symbol in enumerate(self.filed_under(string)):
            self._filed.setdefault(symbol, []).append((number, before))
        return number

    def candidates(self, string: Sequence[Hashable]) -> list[int]:
        """The numbers of the strings that one has to be compared with, ascending."""
        met = [
            (number, len(self._strings[number]), before, other_before)
            for before, symbol in enumerate(self.filed_under(string))
            for number, other_before in self._filed.get(symbol, ())
        ]
        numbers, sizes, before, others_before = np.array(met, np.int64).reshape(-1, 4).T
        # The bound of lengths follows from that of suffixes, as at least no symbol stands before a shared one.
        may = suffix_allows(np.full(len(met), len(string)), sizes, before, others_before, self._threshold)
        candidates: list[int] = np.unique(numbers[may]).tolist()
        return candidates

    def find(self, string: Sequence[Hashable]) -> list[JoinMatch]:
        """Which strings are similar to one, ascending by number; nothing is changed."""
        members, candidates = set(string), self.candidates(string)
        self.compared += len(candidates)
        shared = [(number, len(members.intersection(self._strings[number]))) for number in candidates]
        sizes = {number: len(string) + len(self._strings[number]) for number in candidates}
        matches = (JoinMatch(number, common / (sizes[number] - common)) for number, common in shared)
        return [match for match in matches if match.similarity >= self._threshold]

    def add_and_find(self, string: Sequence[Hashable]) -> list[JoinMatch]:
        """Add a string; returns those before it that are similar to it."""
        matches = self.find(string)
        self.add(string)
        return matches
