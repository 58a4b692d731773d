"""The angle between two vectors, the distance for cosine similarity.

The arc cosine of a product close to 1 loses half of the digits, so the angle is computed from both diagonals of the
rhombus of the unit vectors u and v, which is equally precise for the smallest angles and for those near 180:

    angle = 2 atan2(|u - v|, |u + v|)

It is a metric of directions: vectors of the same direction have the distance 0 for all lengths.  One minus the cosine,
sometimes called cosine distance, is no metric: 1 - cos 90 > 2 (1 - cos 45).

Reference: Kahan, How futile are mindless assessments of roundoff, 2006, section 12; Leskovec, Rajaraman and Ullman,
Mining of Massive Datasets, section 3.5.4.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64
from stream_lsh.measure.distance import RowDistance
from stream_lsh.measure.vectors import as_rows, blocks, check_rows

HALF_TURN = 180.0
"""Degrees of the widest angle."""

RIGHT_ANGLE = 90.0
"""Degrees between vectors that have nothing in common, and between the zero vector and any other."""


@dataclass(frozen=True, slots=True)
class Angle(RowDistance):
    """The distance `angle`, in degrees, 0 to 180.

    The zero vector has no direction: its angle with every vector is 90 degrees, itself included.

    Guarantees:
        a precision of some 1e-14 degrees, also for the smallest angles, and for vectors whose squares overflow or
        underflow float64.  Equal vectors have exactly 0.0.  The axioms hold for directions.

    Raises:
        InputError: vectors of different dimensions, or values that are not finite; reason `vector`.

    Example:
        >>> Angle()([1, 0], [0, 3]), Angle()([1, 2], [2, 4]), Angle()([1, 0], [-1, 0]), Angle()([0, 0], [1, 0])
        (90.0, 0.0, 180.0, 90.0)
        >>> f"{Angle()([1, 0], [1, 1e-12]) * np.pi / 180:.12g}"
        '1e-12'
    """

    name: ClassVar[str] = "angle"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "degrees"

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        sides = check_rows(left, right)
        angles = np.full(sides[0].shape[0], RIGHT_ANGLE)
        for rows, some, others in blocks(*sides):
            left_units, right_units = _unit(some), _unit(others)
            between = np.degrees(2 * np.arctan2(_length(left_units - right_units), _length(left_units + right_units)))
            pointing = left_units.any(axis=1) & right_units.any(axis=1)
            angles[rows] = np.where(pointing, np.minimum(between, HALF_TURN), RIGHT_ANGLE)
        return angles


@dataclass(frozen=True, slots=True)
class Cosine(RowDistance):
    """The distance `cosine`: the angle as a share of 180 degrees, 0 to 1.

    Example:
        >>> Cosine()([1, 0], [0, 3]), cosine([1, 0], [0, 3]), cosine([1, 1], [2, 2])
        (0.5, 0.0, 1.0)
    """

    name: ClassVar[str] = "cosine"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        return np.asarray(Angle().many(left, right) / HALF_TURN)


def cosine(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Cosine similarity, -1 to 1; 0.0 if one of the vectors is zero."""
    return float(cosines(*as_rows(left, right))[0])


def cosines(left: npt.ArrayLike, right: npt.ArrayLike) -> F64:
    """The cosine similarities of the rows [n, d] of both sides, pair by pair: float64[n]."""
    sides = check_rows(left, right)
    products = np.zeros(sides[0].shape[0])
    for rows, some, others in blocks(*sides):
        left_units, right_units = _unit(some), _unit(others)
        short, long = (left_units - right_units), (left_units + right_units)
        less, more = (short * short).sum(axis=1), (long * long).sum(axis=1)
        # From the diagonals as well: exactly 1 for equal vectors, -1 for opposite ones, never beyond.
        products[rows] = np.where(
            left_units.any(axis=1) & right_units.any(axis=1), (more - less) / np.maximum(more + less, 1), 0
        )
    return products


def _unit(rows: F64) -> F64:
    """The rows scaled to length 1; rows of zeros stay unchanged."""
    scaled, _ = _scaled(rows)
    lengths = np.sqrt((scaled * scaled).sum(axis=1))
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1)[:, None])


def _length(rows: F64) -> F64:
    scaled, exponents = _scaled(rows)
    return np.asarray(np.ldexp(np.sqrt((scaled * scaled).sum(axis=1)), exponents))


def _scaled(rows: F64) -> tuple[F64, npt.NDArray[np.int32]]:
    """The rows divided by powers of two, which is exact, so that no square overflows; and the exponents."""
    _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0))
    return np.ldexp(rows, -exponents[:, None]), exponents
