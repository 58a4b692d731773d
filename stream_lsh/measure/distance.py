"""What a distance is, whatever it is between: sets, bags, vectors or strings.

A distance is a metric if it has the four axioms: it is never negative, it is zero for equal items and for no others, it
is the same in both directions, and no way round is shorter (the triangle inequality).  Indexes that prune by the
triangle inequality, and families of hash functions stated for a distance, depend on that, so every distance says it.

An item that has nothing, an empty set or a vector of zeros, is similar to nothing, not even to itself: such a distance
puts it as far from everything as two items with nothing in common, and its axioms are those of the items that have
something.  Norms, numbers of positions and numbers of edits know no such item.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.5.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64, U64
from stream_lsh.measure.vectors import as_rows


class Distance(Protocol):
    """How far two items are from each other."""

    @property
    def name(self) -> str:
        """What `stream_lsh.measure.distances.distance` knows it as."""

    @property
    def metric(self) -> bool:
        """Whether it has the four axioms."""

    @property
    def unit(self) -> str:
        """What it counts: degrees, positions, edits, or a share from 0 to 1."""

    def __call__(self, left: Any, right: Any, /) -> float:
        """How far one item is from the other one: 0 or more, and the same in both directions to the last bit."""

    def many(self, left: Any, right: Any, /) -> F64:
        """How far each item on the left is from the one across: float64[n], to the last bit what one by one gives."""


class RowDistance(ABC):
    """A distance of vectors that is defined for many rows at once."""

    __slots__ = ()

    @abstractmethod
    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """Of each row [n, d] with the one across: float64[n]."""

    def __call__(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> float:
        """Of two rows."""
        return float(self.many(*as_rows(left, right))[0])


class HashesDistance(ABC):
    """A distance of sets or bags of hashes that is defined for two of them."""

    __slots__ = ()

    @abstractmethod
    def __call__(self, left: U64, right: U64, /) -> float:
        """Of two sets or bags."""

    def many(self, left: Sequence[U64], right: Sequence[U64], /) -> F64:
        """Of each one with the one across: float64[n]."""
        return np.array(
            [self(left_item, right_item) for left_item, right_item in zip(left, right, strict=True)], np.float64
        )
