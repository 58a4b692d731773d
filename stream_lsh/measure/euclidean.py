"""Euclidean distance and the other distances of the norms L_p.

    (Σ |x_i - y_i|^p)^(1/p)      p = 1: Manhattan distance; p = 2: the straight line; p = inf: the greatest difference

Reference: Minkowski, Geometrie der Zahlen, 1896; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section
3.5.2.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.measure.distance import RowDistance
from stream_lsh.measure.vectors import blocks, check_rows

MOST_P = 64.0
"""Beyond, use infinity: the p-th power of one half is still exact, and L_64 is within 7 % of it in 64 dimensions."""


@dataclass(frozen=True, slots=True)
class Euclidean(RowDistance):
    """The distance `euclidean`, and with another p the distance `l<p>`, such as `l1` or `linf`.

    Args:
        p: 1 to 64, or `math.inf`; below 1 the triangle inequality fails.

    Guarantees:
        precise to a few units of the last place; intermediate squares never overflow; an overflowing distance is
        infinite.

    Raises:
        ConfigError: a p out of range.
        InputError: vectors of different dimensions, or values that are not finite; reason `vector`.

    Example:
        >>> Euclidean()([0, 0], [3, 4]), Euclidean(1)([0, 0], [3, 4]), Euclidean(math.inf)([0, 0], [3, 4])
        (5.0, 7.0, 4.0)
        >>> Euclidean().name, Euclidean(1).name, Euclidean(1.5).name, Euclidean(math.inf).name
        ('euclidean', 'l1', 'l1.5', 'linf')
    """

    p: float = 2.0

    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "length"

    def __post_init__(self) -> None:
        if not 1 <= self.p <= MOST_P and self.p != math.inf:
            raise ConfigError(f"p: got {self.p}, expected a number from 1 to {MOST_P:g}, or inf")

    @property
    def name(self) -> str:
        """`euclidean` for p = 2, else `l` and p."""
        return "euclidean" if self.p == 2 else f"l{float(self.p)!r}".removesuffix(".0")

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        sides = check_rows(left, right)
        distances = np.zeros(sides[0].shape[0])
        with np.errstate(over="ignore"):  # to infinity, the documented result
            for rows, some, others in blocks(*sides):
                distances[rows] = self._norms(np.abs(some - others))
        return distances

    def _norms(self, differences: F64) -> F64:
        greatest = differences.max(axis=1, initial=0)
        if self.p == math.inf:
            return np.asarray(greatest)
        # Scale by a power of two, which is exact, to between one half and 1; infinite values stay infinite.
        _, exponents = np.frexp(greatest)
        scaled = np.ldexp(differences, -exponents[:, None])
        if self.p == 1:
            total = scaled.sum(axis=1)
        elif self.p == 2:
            total = np.sqrt((scaled * scaled).sum(axis=1))
        else:
            total = (scaled**self.p).sum(axis=1) ** (1 / self.p)
        return np.asarray(np.ldexp(total, exponents))
