"""Frequencies of values, or of words, updated record by record, so that rare ones weigh more.

    share = (others + before * expected) / (total + before), at least expected / 4

`others` are the records with the value except the two compared ones: a value of these two only may be unique to them,
and would otherwise count as frequent as two in all.  The first records are a poor estimate of frequencies: as long as
there are fewer than `before` of them, the share that the profile expects of any value outweighs the counts.  A rare
value adds at most two bits to a score, and a frequent one subtracts at most log2(1 / expected).
"""

from collections.abc import Iterable

from stream_lsh.errors import InvariantError

_THEMSELVES = 2
_RAREST = 4


class Frequencies:
    """Counts of values; records can be added and removed.

    Guarantees:
        the counts are a function of the present values, whatever their order and whatever was added and removed before.

    Example:
        >>> names = Frequencies()
        >>> names.add(["smith", "smith", "garski"])
        >>> names.count("smith"), names.total, round(names.share("smith", 0.01, before=1000), 5)
        (2, 3, 0.00997)
        >>> names.remove(["smith"])
        >>> names.count("smith"), names.total
        (1, 2)
    """

    __slots__ = ("_counts", "total")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.total = 0

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, values: Iterable[str]) -> None:
        """Add values to the counts, one of each record."""
        counts = self._counts
        for value in values:
            counts[value] = counts.get(value, 0) + 1
            self.total += 1

    def remove(self, values: Iterable[str]) -> None:
        """Remove values from the counts.

        Raises:
            InvariantError: a value that was not added.
        """
        for value in values:
            left = self._counts.get(value, 0) - 1
            if left < 0:
                raise InvariantError("frequencies: got a value to remove that was never added")
            if left:
                self._counts[value] = left
            else:
                del self._counts[value]
            self.total -= 1

    def count(self, value: str) -> int:
        """The count of a value."""
        return self._counts.get(value, 0)

    def share(self, value: str, expected: float, before: float) -> float:
        """The share of other records with a value that two records have, as above; both of these are counted."""
        others = max(0, self._counts.get(value, 0) - _THEMSELVES)
        return max(expected / _RAREST, (others + before * expected) / (self.total + before))


class TokenFrequencies:
    """The number of values with each token; values can be added and removed.

    Attributes:
        total: the number of values.
        changes: the number of additions and removals so far, by which a cache detects outdated weights.

    Example:
        >>> words = TokenFrequencies()
        >>> words.add({"the", "sea"})
        >>> words.add({"the", "sky"})
        >>> words.count("the"), words.count("sea"), words.total
        (2, 1, 2)
    """

    __slots__ = ("_counts", "changes", "total")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.total = 0
        self.changes = 0

    def add(self, tokens: Iterable[str]) -> None:
        """Count a value with these distinct tokens."""
        counts = self._counts
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
        self.total += 1
        self.changes += 1

    def remove(self, tokens: Iterable[str]) -> None:
        """Remove a value with these distinct tokens.

        Raises:
            InvariantError: a token that was not added.
        """
        counts = self._counts
        for token in tokens:
            left = counts.get(token, 0) - 1
            if left < 0:
                raise InvariantError("frequencies: got a token to remove that was never added")
            if left:
                counts[token] = left
            else:
                del counts[token]
        self.total -= 1
        self.changes += 1

    def count(self, token: str) -> int:
        """The number of values with a token."""
        return self._counts.get(token, 0)
