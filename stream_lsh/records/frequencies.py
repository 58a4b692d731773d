"""How often each value, or each word, occurs: kept record by record, so that rare ones weigh more.

    share = (others + before * expected) / (total + before), at least expected / 4

`others` are the records that have the value beside the two which are compared: what only these two have may well be
theirs alone, and would else look as frequent as two in all.  The first records say little about frequencies: as long as
there are fewer than `before` of them, the share that the profile expects of any value holds against what was counted.
That a value is rare adds two bits to a score at the most, and that it is frequent takes away log2(1 / expected).
"""

from collections.abc import Iterable

from stream_lsh.errors import InvariantError

_THEMSELVES = 2
_RAREST = 4


class Frequencies:
    """Counts of values, to which records are added and from which they are taken.

    Guarantees:
        the same values in any order, whatever was added and removed in between, leave the same counts.

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
        """Count some values, one of each record."""
        counts = self._counts
        for value in values:
            counts[value] = counts.get(value, 0) + 1
            self.total += 1

    def remove(self, values: Iterable[str]) -> None:
        """Take back what was added.

        Raises:
            InvariantError: a value that was not.
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
        """How often a value occurs."""
        return self._counts.get(value, 0)

    def share(self, value: str, expected: float, before: float) -> float:
        """The share of other records that have a value which two have, as above; both of these were counted."""
        others = max(0, self._counts.get(value, 0) - _THEMSELVES)
        return max(expected / _RAREST, (others + before * expected) / (self.total + before))
