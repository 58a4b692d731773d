"""Random lines, for the Euclidean distance: a line is cut into cells, and a function returns the projection's cell.

    value = floor((v . x + offset) / width)                            offset uniform in 0 to width

With independent normal components v the projection of a distance d is normal with deviation d, and with t = width / d

    P(agree) = 1 - 2 Phi(-t) - 2 / (sqrt(2 pi) t) (1 - exp(-t^2 / 2))

With v uniform on the unit sphere, the projection is d sin(phi) with a density proportional to cos(phi)^(dimension - 2):

    P(agree) = the mean of max(0, 1 - d sin(phi) / width)

which is (width/2, 2 width, 1/2, 1/3)-sensitive in two, three and four dimensions, and in no more: the projections
become shorter as the dimension grows.  At 2 width the probability is .163, .25, .312, and .359 in five dimensions.

Reference: Datar, Immorlica, Indyk and Mirrokni, Locality-sensitive hashing scheme based on p-stable distributions,
2004, section 3.2; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.7.4, for lines of uniform
direction.
"""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, U32
from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.lsh.families.draws import gaussians, uniforms
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import Items, MarginHashes, Margins, check_settings
from stream_lsh.lsh.families.projections import Directions

_CELLS = 4294967295.0
"""Cell numbers are taken modulo 2^32 - 1, so that none is `NOTHING`."""
_FARTHEST = 2.0**40
"""The most cells from the origin: beyond, floats cannot resolve a cell."""


@dataclass(frozen=True)
class Lines(Family):
    """Items are numbers [n, dimension].

    Args:
        dimension: components of a vector.
        width: of a cell, in the unit of the components.
        uniform: directions of length 1, as in the textbook, instead of normal components, which grow with the root of
            the dimension: for few dimensions.

    Guarantees:
        the sensitivity of the curve.  Cells 2^32 - 1 apart count as one.
    Cost:
        2 `dimension` multiplications a function, in two matrix products of float64 (see `projections`): the rounding
        error must be small compared with a cell, not with the vector.

    Example:
        >>> [round(p, 3) for p in Lines(dimension=64, width=4.0).sensitivity(1, 8)]
        [1, 8, 0.801, 0.195]
        >>> [round(p, 3) for p in Lines(dimension=2, width=1.0, uniform=True).sensitivity(0.5, 2)]
        [0.5, 2, 0.682, 0.163]
    """

    dimension: int
    width: float
    uniform: bool = False

    name: ClassVar[str] = "lines"
    unit: ClassVar[str] = "Euclidean distance"

    def __post_init__(self) -> None:
        check_settings(self.name, dimension=(self.dimension, 2 if self.uniform else 1))
        if not 1e-150 < self.width < 1e150:
            raise ConfigError(f"lines: got width = {self.width}, expected a number between 1e-150 and 1e150")

    @property
    def farthest(self) -> float:
        """Four cells: beyond, the curve falls slowly."""
        return 4 * self.width

    def curve(self, distances: F64) -> F64:
        """The collision curve of the module's docstring."""
        with np.errstate(over="ignore"):
            ratios = (distances / self.width).tolist()
        probability = self._uniform_probability if self.uniform else _normal_probability
        return np.array([probability(ratio) if ratio < math.inf else 0.0 for ratio in ratios], np.float64)

    def _uniform_probability(self, ratio: float) -> float:
        power = self.dimension - 2
        end = min(math.pi / 2, 12 / math.sqrt(max(1, power)))  # beyond, the density is below e^-72
        last = min(end, math.asin(1 / ratio)) if ratio > 1 else end
        return _mean(last, power, ratio) / _mean(end, power, 0.0)

    def draw(self, count: int, seed: int) -> MarginHashes:
        """One line with its offset a function."""
        directions = gaussians(count, self.dimension, seed, salt=301)
        if self.uniform:
            directions = directions / np.sqrt(np.square(directions).sum(axis=1, keepdims=True))
        bits = (1, 20) if self.uniform else (4, 16)
        return _Cells(Directions(directions, bits, slices=2), self.width, uniforms(count, seed, salt=302))


def _normal_probability(ratio: float) -> float:
    """Equation of section 3.2 for the normal distribution, at the distance `ratio` in cells."""
    if ratio == 0:
        return 1.0
    t = 1 / ratio
    return math.erf(t / math.sqrt(2)) + math.sqrt(2 / math.pi) * ratio * math.expm1(-t * t / 2)


def _mean(last: float, power: int, ratio: float) -> float:
    """The integral of (1 - ratio sin(phi)) cos(phi)^power from 0 to `last`."""
    places, weights = _nodes()
    angles = last / 2 * (places + 1)
    return float(last / 2 * (weights * (1 - ratio * np.sin(angles)) * np.cos(angles) ** power).sum())


@functools.cache
def _nodes() -> tuple[F64, F64]:
    """Places and weights of Gauss and Legendre on -1 to 1."""
    places, weights = np.polynomial.legendre.leggauss(64)
    return np.asarray(places, np.float64), np.asarray(weights, np.float64)


class _Cells:
    def __init__(self, directions: Directions, width: float, offsets: F64) -> None:
        self._directions = directions
        self._width = width
        self._offsets = offsets

    def _positions(self, items: Items) -> F64:
        """The position of each item on each line, in cells."""
        with np.errstate(over="ignore"):
            positions = self._directions(Lines.name, items) / self._width + self._offsets
        if not (np.abs(positions) < _FARTHEST).all():
            row = int(np.flatnonzero(~(np.abs(positions) < _FARTHEST).all(axis=1))[0])
            raise UnusableDocument(
                "vector",
                f"lines: vector {row} of the batch is more than 2^40 cells from the origin; is the width right?",
            )
        return positions

    def __call__(self, items: Items) -> U32:
        return _values(np.floor(self._positions(items)))

    def margins(self, items: Items) -> Margins:
        """The cells below and above; the cost is the square of the distance from the border, in cells."""
        positions = self._positions(items)
        cells = np.floor(positions)
        inside = positions - cells
        others = np.stack((_values(cells - 1), _values(cells + 1)), axis=2)
        return Margins(others, np.square(np.stack((inside, 1 - inside), axis=2)))


def _values(cells: F64) -> U32:
    return np.mod(cells, _CELLS).astype(np.uint32)
