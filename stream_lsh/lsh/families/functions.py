"""The functions that families draw, their sensitivity, and checks of settings and items."""

from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from stream_lsh.arrays import F64, U32, Bools
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.sketch.scheme import EMPTY_SLOT

Items: TypeAlias = Any
"""A batch of items of a family: an array [n, dimension], shingles, or lengths, as documented by the family."""

NOTHING = EMPTY_SLOT
"""The value of a function that is undefined for an item: the item agrees with no other in it."""


class Sensitivity(NamedTuple):
    """Up to the distance d1 a function agrees with a probability of p1 or more; from d2 on, of p2 or less."""

    d1: float
    d2: float
    p1: float
    p2: float


class Hashes(Protocol):
    """Functions drawn from a family.

    Guarantees:
        pure; the values of an item depend on the item and the functions alone, bit by bit, not on the batch.
    """

    def __call__(self, items: Items, /) -> U32:
        """One value a function: uint32[n, count].  Two items agree where values are equal and not `NOTHING`."""


class Margins(NamedTuple):
    """The distance of each item from another value in each function.

    Attributes:
        others: the values next to the item's own, uint32[n, count, m].
        costs: the unlikelihood of each for a near item: the square of the item's distance from the border,
            float64[n, count, m].  For m = 2, the roots of an item's two costs add up to the width of a cell.
    """

    others: U32
    costs: F64


class MarginHashes(Hashes, Protocol):
    """Functions that also compute the distance of an item from the neighbouring values."""

    def margins(self, items: Items) -> Margins:
        """The neighbours of the values that the functions return."""


class _Sensitive(Protocol):
    def probability(self, distance: float) -> float: ...


def sensitivity_of(family: _Sensitive, d1: float, d2: float) -> Sensitivity:
    """The sensitivity at two distances.

    Raises:
        ConfigError: d1 is not below d2 -> swap them.
    """
    if not 0 <= d1 < d2:
        raise ConfigError(f"sensitivity: got the distances {d1} and {d2}, expected 0 <= d1 < d2")
    return Sensitivity(d1, d2, family.probability(d1), family.probability(d2))


def agreements(left: U32, right: U32) -> Bools:
    """Whether two items agree in each function: bool, of the shape of the values.

    Example:
        >>> agreements(np.array([1, 2, NOTHING], np.uint32), np.array([1, 3, NOTHING], np.uint32)).tolist()
        [True, False, False]
    """
    return np.asarray((left == right) & (left != np.uint32(NOTHING)), np.bool_)


def check_settings(name: str, **least: tuple[float, float]) -> None:
    """Reject settings below their least value.

    Raises:
        ConfigError: lists all settings that are too small, or not finite -> use the values that it expects.
    """
    problems = [
        f"{name}: got {setting} = {value}, expected {smallest} or more"
        for setting, (value, smallest) in least.items()
        if not smallest <= value < float("inf")
    ]
    if problems:
        raise ConfigError(problems)


def check_columns(name: str, items: Items, columns: int) -> None:
    """Assert that items are an array of `columns` columns."""
    if items.ndim != 2 or items.shape[1] != columns:
        raise InvariantError(f"{name}: got items of the shape {items.shape}, expected (n, {columns})")
