"""The interface of distances between sets, bags, vectors or strings.

A distance is a metric if it satisfies four axioms: it is never negative, it is zero for equal items and for no others,
it is the same in both directions, and no detour is shorter (the triangle inequality).  Indexes that prune by the
triangle inequality, and families of hash functions for a distance, depend on that, so every distance declares it.

An empty item, an empty set or a vector of zeros, is similar to nothing, not even to itself: such a distance puts it as
far from everything as two items with nothing in common, and its axioms hold for all other items.  Norms, numbers of
positions and numbers of edits have no such item.

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
    """A distance between two items."""

    @property
    def name(self) -> str:
        """The name in `stream_lsh.measure.distances.distance`."""

    @property
    def metric(self) -> bool:
        """Whether the distance satisfies the four axioms."""

    @property
    def unit(self) -> str:
        """The unit: degrees, positions, edits, or a share from 0 to 1."""

    def __call__(self, left: Any, right: Any, /) -> float:
        """The distance of two items: 0 or more, and bit by bit the same in both directions."""

    def many(self, left: Any, right: Any, /) -> F64:
        """The distances of n pairs of items: float64[n], bit by bit those of single calls."""


class RowDistance(ABC):
    """A distance of vectors that is defined for many rows at once."""

    __slots__ = ()

    @abstractmethod
    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""

    def __call__(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> float:
        """The distance of two rows."""
        return float(self.many(*as_rows(left, right))[0])


class HashesDistance(ABC):
    """A distance of sets or bags of hashes that is defined for two of them."""

    __slots__ = ()

    @abstractmethod
    def __call__(self, left: U64, right: U64, /) -> float:
        """The distance of two sets or bags."""

    def many(self, left: Sequence[U64], right: Sequence[U64], /) -> F64:
        """The distances of the items of both sides, pair by pair: float64[n]."""
        return np.array(
            [self(left_item, right_item) for left_item, right_item in zip(left, right, strict=True)], np.float64
        )
