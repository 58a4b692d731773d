"""The same filters for strings that arrive one by one: an index of symbol, position and suffix length.

The caller orders the symbols of the strings, because their frequencies are not known in advance.  Any order that is the
same for all strings is exact; one that begins with the rare symbols is fast.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.errors import ConfigError
from stream_lsh.measure.filters import prefix_lengths, suffix_allows


class JoinMatch(NamedTuple):
    """A matching string: its number, in order of arrival, and its similarity."""

    number: int
    similarity: float


class Index:
    """An index of strings in memory that finds similar ones.

    Args:
        threshold: least Jaccard similarity, above 0 and at most 1.

    Attributes:
        compared: the number of pairs compared so far.

    Guarantees:
        exact for strings without repeated symbols, all in one order.

    Cost:
        a dictionary entry for each of the first symbols of a string, and a comparison with each string that has it
        among its own.  It demonstrates the filters, and is their oracle in tests; for many sets see `join`, and for a
        stream of texts the method `exact` of a pipeline.

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
        """The first symbols of a string: its keys in the index, for storage and look-up."""
        return string[: int(prefix_lengths(np.array([len(string)]), self._threshold)[0])]

    def add(self, string: Sequence[Hashable]) -> int:
        """Add a string; returns its number."""
        number = len(self._strings)
        self._strings.append(string)
        for before, symbol in enumerate(self.filed_under(string)):
            self._filed.setdefault(symbol, []).append((number, before))
        return number

    def candidates(self, string: Sequence[Hashable]) -> list[int]:
        """The numbers of the strings that have to be compared with a string, ascending."""
        met = [
            (number, len(self._strings[number]), before, other_before)
            for before, symbol in enumerate(self.filed_under(string))
            for number, other_before in self._filed.get(symbol, ())
        ]
        numbers, sizes, before, others_before = np.array(met, np.int64).reshape(-1, 4).T
        # The bound of suffixes implies that of lengths, because the number of symbols before a shared one is 0 or more.
        may = suffix_allows(np.full(len(met), len(string)), sizes, before, others_before, self._threshold)
        candidates: list[int] = np.unique(numbers[may]).tolist()
        return candidates

    def find(self, string: Sequence[Hashable]) -> list[JoinMatch]:
        """The strings similar to a string, ascending by number; the index stays unchanged."""
        members, candidates = set(string), self.candidates(string)
        self.compared += len(candidates)
        shared = [(number, len(members.intersection(self._strings[number]))) for number in candidates]
        sizes = {number: len(string) + len(self._strings[number]) for number in candidates}
        matches = (JoinMatch(number, common / (sizes[number] - common)) for number, common in shared)
        return [match for match in matches if match.similarity >= self._threshold]

    def add_and_find(self, string: Sequence[Hashable]) -> list[JoinMatch]:
        """Add a string; returns the similar strings before it."""
        matches = self.find(string)
        self.add(string)
        return matches
