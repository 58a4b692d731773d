"""The candidates that the caps omitted: their number, and a sample of them.

The number is that of the pairs that a probe without caps would return and the probe with caps did not.  To count them,
the whole buckets of a document are read.  Credit limits this work: each posting read costs one unit, and the postings
that the probes themselves read earn some.  Without credit, a document waits, and its number is interpolated between
two that are counted.  So the number is exact until the credit is spent for the first time, and an estimate from there
on, at a bounded share of the cost of the probes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64, U64
from stream_lsh.hashing import fmix64

CREDIT = 1 << 20
"""Postings that may be read at the beginning: some 80 ms of work, and .3 s if all belong to one document."""
_EARNS = 8
"""Postings that probes read for one unit of credit."""


@dataclass(frozen=True, slots=True, eq=False)
class OmittedSample:
    """Pairs drawn from those that the caps omitted.

    Attributes:
        new, old: uint64[n], the refs of a pair.
        weights: float64[n], the number of omitted pairs that each one stands for.
    """

    new: U64
    old: U64
    weights: F64

    def __len__(self) -> int:
        return len(self.new)


class OmittedCounter:
    """Counts the omitted candidates of documents, and draws some.

    Args:
        credit: postings that may be read at the beginning.
        draws: the most pairs drawn for each document; 0 draws none.

    Attributes:
        pairs: the number of omitted pairs so far.
        is_exact: whether every document with omitted pairs has been counted.
    """

    __slots__ = ("_credit", "_drawn", "_draws", "_estimated", "_last_mean", "_most", "_waiting", "is_exact", "pairs")

    def __init__(self, credit: int, draws: int) -> None:
        self._most = self._credit = credit
        self._draws = draws
        self._drawn: list[OmittedSample] = []
        self._waiting = 0
        self._last_mean = 0.0
        self._estimated = 0
        self.pairs = 0
        self.is_exact = True

    @property
    def is_none(self) -> bool:
        """Whether certainly no pair was omitted."""
        return self.is_exact and not self.pairs

    def earn(self, visited: int) -> None:
        """Add credit for the postings that probes have read."""
        self._credit = min(self._most, self._credit + visited // _EARNS)

    @property
    def may_count(self) -> bool:
        """Whether there is credit for a further document."""
        return self._credit > 0

    def spend(self, visited: int) -> None:
        """Take off the postings that were read in order to count."""
        self._credit -= visited

    def wait(self, documents: int) -> int:
        """Take documents that cannot be counted now; returns the estimate of their number, by the last count."""
        self._waiting += documents
        self.is_exact = self.is_exact and not documents
        estimated = round(documents * self._last_mean)
        self._estimated += estimated
        self.pairs += estimated
        return estimated

    def add_known(self, new: U64, rows: I64, old: U64) -> int:
        """Add omitted pairs that are known without reading buckets again; returns their number; arguments as `add`."""
        self.pairs += len(old)
        self._draw(new, rows, old, 1.0)
        return len(old)

    def add(self, new: U64, rows: I64, old: U64) -> int:
        """Add the omitted pairs of some documents, at least one; returns the number that they stand for.

        Args:
            new: uint64[n], the documents.
            rows: int64[m], the document of each omitted pair; ascending.
            old: uint64[m], the old end.
        """
        # Buckets grow: those that wait had the mean of the last count at first, and this one in the end.
        mean = len(old) / len(new)
        counted = len(old) + max(0, round(self._waiting * (mean - self._last_mean) / 2))
        self._waiting, self._last_mean = 0, mean
        self.pairs += counted
        if len(old):
            stands_for, self._estimated = (counted + self._estimated) / len(old), 0
            self._draw(new, rows, old, stands_for)
        return counted

    def _draw(self, new: U64, rows: I64, old: U64, stands_for: float) -> None:
        """Draw pairs of each document; each pair of the arguments stands for `stands_for` omitted ones."""
        if not self._draws:
            return
        order = np.lexsort((fmix64(old ^ fmix64(new[rows])), rows))
        rows, old = rows[order], old[order]
        totals = np.bincount(rows, minlength=len(new))
        standing = np.arange(len(rows)) - np.searchsorted(rows, rows)
        keep = standing < self._draws
        rows, old = rows[keep], old[keep]
        weights = stands_for * totals[rows] / np.minimum(totals[rows], self._draws)
        self._drawn.append(OmittedSample(new[rows], old, weights))

    def take(self) -> OmittedSample | None:
        """The pairs drawn since the last call; None if there are none."""
        drawn, self._drawn = self._drawn, []
        return _concatenated(drawn) if drawn else None


def _concatenated(parts: Iterable[OmittedSample]) -> OmittedSample:
    some = [*parts]
    return OmittedSample(
        np.concatenate([part.new for part in some]),
        np.concatenate([part.old for part in some]),
        np.concatenate([part.weights for part in some]),
    )
