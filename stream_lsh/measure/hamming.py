"""Hamming distance: the number of positions in which two vectors differ.

Reference: Hamming, Error detecting and error correcting codes, 1950.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64
from stream_lsh.errors import InputError
from stream_lsh.measure.distance import RowDistance
from stream_lsh.measure.vectors import check_rows


@dataclass(frozen=True, slots=True)
class Hamming(RowDistance):
    """The distance `hamming`: of vectors of numbers or of single bits, one in each position.

    Raises:
        InputError: vectors of different dimensions, or a value that is not a number; reason `vector`.

    Example:
        >>> Hamming()([1, 0, 1, 1], [1, 1, 1, 0])
        2.0
    """

    name: ClassVar[str] = "hamming"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "positions"

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        left_rows, right_rows = check_rows(left, right)
        for side in (left_rows, right_rows):
            if side.dtype.kind == "f" and np.isnan(side.astype(np.float64, copy=False)).any():
                raise InputError("vector", "vectors: got a value that is not a number, which equals not even itself")
        return np.asarray(np.count_nonzero(left_rows != right_rows, axis=1), np.float64)


@dataclass(frozen=True, slots=True)
class HammingBits(RowDistance):
    """The distance `hamming_bits`: of bits packed into unsigned integers, as `numpy.packbits` packs them.

    Raises:
        InputError: rows of different lengths, or of anything but unsigned integers; reason `vector`.

    Example:
        >>> HammingBits()(np.packbits([1, 0, 1, 1]), np.packbits([1, 1, 1, 0]))
        2.0
    """

    name: ClassVar[str] = "hamming_bits"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "positions"

    def many(self, left: npt.ArrayLike, right: npt.ArrayLike, /) -> F64:
        """The distances of the rows [n, d] of both sides, pair by pair: float64[n]."""
        left_rows, right_rows = check_rows(left, right)
        if left_rows.dtype.kind != "u" or right_rows.dtype != left_rows.dtype:
            raise InputError(
                "vector",
                f"packed bits: got {left_rows.dtype} and {right_rows.dtype}, expected one type of unsigned integers",
            )
        return np.asarray(np.bitwise_count(np.bitwise_xor(left_rows, right_rows)).sum(axis=1), np.float64)
