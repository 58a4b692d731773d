"""Bit sampling, for the Hamming distance: a function returns one coordinate.

    P(agree) = 1 - d / dimension

Reference: Indyk and Motwani, Approximate nearest neighbors, 1998; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, section 3.7.1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, I64, U32
from stream_lsh.errors import InvariantError
from stream_lsh.lsh.families.draws import below
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import Hashes, Items, check_columns, check_settings


@dataclass(frozen=True)
class BitSampling(Family):
    """Items are bool, uint8, uint16 or uint32 [n, dimension]: bits, or symbols of an alphabet.

    Args:
        dimension: coordinates of an item.

    Guarantees:
        (d1, d2, 1 - d1/dimension, 1 - d2/dimension)-sensitive; coordinates are drawn with replacement, so that
        functions are independent.

    Example:
        >>> BitSampling(dimension=100).sensitivity(25, 50)
        Sensitivity(d1=25, d2=50, p1=0.75, p2=0.5)
        >>> BitSampling(dimension=3).draw(4, seed=1)(np.array([[0, 1, 0], [1, 1, 0]], np.uint8)).tolist()
        [[0, 0, 0, 0], [1, 1, 0, 1]]
    """

    dimension: int

    name: ClassVar[str] = "bit_sampling"
    unit: ClassVar[str] = "coordinates that differ"

    def __post_init__(self) -> None:
        check_settings(self.name, dimension=(self.dimension, 1))

    @property
    def farthest(self) -> float:
        """The distance of items that differ in all coordinates."""
        return float(self.dimension)

    def curve(self, distances: F64) -> F64:
        """1 - d / dimension."""
        return np.maximum(0.0, 1 - distances / self.dimension)

    def draw(self, count: int, seed: int) -> Hashes:
        """Draw one coordinate for each function."""
        return _Coordinates(below(self.dimension, count, seed, salt=101), self.dimension)


class _Coordinates:
    def __init__(self, places: I64, dimension: int) -> None:
        self._places = places
        self._dimension = dimension

    def __call__(self, items: Items) -> U32:
        check_columns(BitSampling.name, items, self._dimension)
        if items.dtype.kind not in "bu" or items.dtype.itemsize > 4:  # truncated values could make unequal items agree
            raise InvariantError(
                f"bit_sampling: got items of the type {items.dtype}, expected bool or unsigned up to 32"
            )
        return np.asarray(items[:, self._places].astype(np.uint32))
