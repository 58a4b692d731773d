"""Random hyperplanes, for the cosine distance: a function returns the side of a plane through 0 that a vector is on.

    value = 1 if v . x >= 0 else 0        v: independent normal components, or -1 and 1
    P(agree) = 1 - d / 180                d: the angle in degrees

Reference: Charikar, Similarity estimation techniques from rounding algorithms, 2002; Leskovec, Rajaraman and Ullman,
Mining of Massive Datasets, sections 3.7.2 and 3.7.3 (sketches of -1 and 1).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.draws import gaussians, signs
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import Items, MarginHashes, Margins, check_settings
from stream_lsh.lsh.families.projections import Directions


@dataclass(frozen=True)
class Hyperplanes(Family):
    """Items are numbers [n, dimension]; only their direction counts.

    Args:
        dimension: components of a vector.
        signs: directions of -1 and 1, which are cheaper to draw; with few components, or few that are not 0, they
            approximate the angle only roughly.

    Guarantees:
        (d1, d2, 1 - d1/180, 1 - d2/180)-sensitive, exactly for normal directions; with `signs` in the limit of many
        components.  A vector and its product with a positive power of two have the same values.  A vector of zeros has
        no angle; all its values are 1, and the caller masks it.
    Cost:
        `dimension` multiplications a function, in one matrix product of float64 (see `projections`).

    Example:
        >>> planes = Hyperplanes(dimension=3)
        >>> planes.sensitivity(18, 90)
        Sensitivity(d1=18, d2=90, p1=0.9, p2=0.5)
        >>> planes.draw(8, seed=1)(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.1], [-1.0, -2.0, -3.0]])).tolist()
        [[0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0, 0, 1]]
    """

    dimension: int
    signs: bool = False

    name: ClassVar[str] = "hyperplanes"
    unit: ClassVar[str] = "degrees"

    def __post_init__(self) -> None:
        check_settings(self.name, dimension=(self.dimension, 1))

    @property
    def farthest(self) -> float:
        """The distance of opposite directions."""
        return 180.0

    def curve(self, distances: F64) -> F64:
        """1 - d / 180."""
        return np.maximum(0.0, 1 - distances / 180)

    def draw(self, count: int, seed: int) -> MarginHashes:
        """Draw one plane for each function."""
        if self.signs:
            return _Sides(Directions(signs(count, self.dimension, seed, salt=202), bits=(1, 0), slices=1))
        # 16 bits after the point: a direction is off by less than a thousandth of a degree.
        return _Sides(Directions(gaussians(count, self.dimension, seed, salt=201), bits=(4, 16), slices=1))


class _Sides:
    def __init__(self, directions: Directions) -> None:
        self._directions = directions

    def __call__(self, items: Items) -> U32:
        return (self._directions.relative(Hyperplanes.name, items)[0] >= 0).astype(np.uint32)

    def margins(self, items: Items) -> Margins:
        """The other side of each plane; the cost is the square of the projection of the scaled vector."""
        projections = self._directions.relative(Hyperplanes.name, items)[0]
        return Margins((projections < 0).astype(np.uint32)[:, :, None], np.square(projections)[:, :, None])


def estimated_angle(left: U32, right: U32) -> F64:
    """The estimated angle between vectors from their sketches, in degrees: float64[n].

    Args:
        left: values of the same functions for one vector a row, uint32[n, count].
        right: values for its partner.

    Example:
        >>> estimated_angle(np.array([[1, 1, 0]], np.uint32), np.array([[1, 0, 1]], np.uint32)).tolist()
        [120.0]
    """
    if not left.size or left.shape != right.shape:
        raise ConfigError(f"sketches: got the shapes {left.shape} and {right.shape}, expected equal ones, not empty")
    return np.asarray(180 * np.count_nonzero(left != right, axis=1) / left.shape[1], np.float64)
