"""Validates vectors for distances: rows of equal length, finite, in float64."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64
from stream_lsh.errors import InputError

Rows: TypeAlias = npt.NDArray[np.generic]

AT_ONCE = 65_536
"""Numbers of each side that are processed at once: the temporaries stay in the caches."""


def check_rows(left: npt.ArrayLike, right: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Both sides as arrays [n, d] of numbers or bits.

    Raises:
        InputError: other shapes, or sides of different ones; reason `vector`.
    """
    left_rows, right_rows = _array(left), _array(right)
    if left_rows.ndim != 2 or left_rows.shape != right_rows.shape:
        raise InputError(
            "vector",
            f"vectors: got shapes {left_rows.shape} and {right_rows.shape}, expected two equal ones [rows, dimensions]",
        )
    for side in (left_rows, right_rows):
        if side.dtype.kind not in "buif":
            raise InputError("vector", f"vectors: got values of type {side.dtype}, expected numbers or bits")
    return left_rows, right_rows


def blocks(left: Rows, right: Rows) -> Iterator[tuple[slice, F64, F64]]:
    """Pairs of checked rows, some at a time, in float64: the place of the rows in the result, and both sides.

    Guarantees:
        every row is contiguous in memory, so a sum along it does not depend on other rows.

    Raises:
        InputError: a value that is infinite or not a number; reason `vector`.
    """
    step = max(1, AT_ONCE // max(1, left.shape[1]))
    for start in range(0, left.shape[0], step):
        rows = slice(start, start + step)
        yield rows, _finite(left[rows]), _finite(right[rows])


def _finite(rows: Rows) -> F64:
    values = np.ascontiguousarray(rows, np.float64)
    if not np.isfinite(values).all():
        raise InputError("vector", "vectors: got a value that is infinite or not a number, expected finite ones")
    return values


def as_rows(left: npt.ArrayLike, right: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Two single vectors as two arrays of one row."""
    return _array(left)[None], _array(right)[None]


def _array(side: npt.ArrayLike) -> Rows:
    try:
        return np.asarray(side)
    except ValueError:
        raise InputError("vector", "vectors: got lists of different lengths, expected rows of one length") from None
