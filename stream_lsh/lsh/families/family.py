"""What a locality-sensitive family is: functions of which one, drawn at random, tells near items from far ones.

A family is (d1, d2, p1, p2)-sensitive if a function drawn from it agrees for two items at a distance of at most d1 with
a probability of at least p1, and for two items at a distance of d2 or more with a probability of at most p2.  It is a
value: its settings and nothing else.  What it draws depends on the settings and the seed alone.

Reference: Indyk and Motwani, Approximate nearest neighbors, 1998; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, sections 3.6 and 3.7.
"""

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, overload

import numpy as np

from stream_lsh.arrays import F64, U32, Bools
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.sketch.scheme import EMPTY_SLOT

if TYPE_CHECKING:
    from stream_lsh.lsh.families.composed import Composed

Items: TypeAlias = Any
"""A batch of what a family compares: an array [n, dimension], shingles, or lengths; the family says which."""

NOTHING = EMPTY_SLOT
"""The value of a function that has nothing to say about an item: the item agrees in it with no other."""


class Sensitivity(NamedTuple):
    """Up to the distance d1 a function agrees with a probability of p1 or more; from d2 on, of p2 or less."""

    d1: float
    d2: float
    p1: float
    p2: float


class Hashes(Protocol):
    """Functions drawn from a family.

    Guarantees:
        pure; the values of an item depend on the item and the functions alone, to the last bit, not on the batch.
    """

    def __call__(self, items: Items, /) -> U32:
        """One value a function: uint32[n, count].  Two items agree where values are equal and not `NOTHING`."""


class Margins(NamedTuple):
    """How near each item is to another value in each function.

    Attributes:
        others: the values next to the item's own, uint32[n, count, m].
        costs: how unlikely a near item has each: the square of the item's distance from the border, float64[n, count,
            m].  Where m = 2, the roots of an item's two costs add up to the width of a cell.
    """

    others: U32
    costs: F64


class MarginHashes(Hashes, Protocol):
    """Functions that also know how near an item is to having had another value."""

    def margins(self, items: Items) -> Margins:
        """The values next to those that the functions give."""


class Family(Protocol):
    """A locality-sensitive family; a base class too, which turns `curve` into all that is said about a family.

    Attributes:
        name: in the catalog.
        version: raised whenever any item would get another value; for the fingerprint of what is stored.
        unit: of the distance.
        cost: base functions that one function is made of.
        farthest: the distance up to which the curve is worth a look.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    unit: ClassVar[str]
    cost: ClassVar[int] = 1

    @property
    def farthest(self) -> float:
        """The distance up to which the curve is worth a look."""

    def curve(self, distances: F64) -> F64:
        """The probability that one function agrees for two items at each of these distances; it never rises."""

    def draw(self, count: int, seed: int) -> Hashes:
        """As many functions, independent of one another."""

    @overload
    def probability(self, distance: float) -> float: ...
    @overload
    def probability(self, distance: F64) -> F64: ...
    def probability(self, distance: float | F64) -> float | F64:
        """The probability that one function agrees for two items at this distance; a number or float64[n]."""
        distances = np.asarray(distance, np.float64)
        if not (distances >= 0).all():
            raise ConfigError(f"{self.name}: got the distance {distances.min()}, expected 0 or more")
        found = self.curve(np.atleast_1d(distances))
        return found if isinstance(distance, np.ndarray) else float(found[0])

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """What the family promises at two distances, d1 below d2."""
        return sensitivity_of(self, d1, d2)

    def and_(self, count: int) -> "Composed":
        """The family whose function agrees where all of `count` functions of this one agree."""
        from stream_lsh.lsh.families.composed import Composed  # noqa: PLC0415 - it is made of families

        return Composed(self).and_(count)

    def or_(self, count: int) -> "Composed":
        """The family whose function agrees where at least one of `count` functions of this one agrees."""
        from stream_lsh.lsh.families.composed import Composed  # noqa: PLC0415 - it is made of families

        return Composed(self).or_(count)

    def settings(self) -> dict[str, Any]:
        """What the family was made with, by name: `catalog.family(name, **settings)` is an equal one."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.settings().items())
        return f"{self.name}({shown})"


class _Sensitive(Protocol):
    def probability(self, distance: float) -> float: ...


def sensitivity_of(family: _Sensitive, d1: float, d2: float) -> Sensitivity:
    """The sensitivity at two distances.

    Raises:
        ConfigError: d1 is not below d2 -> exchange them.
    """
    if not 0 <= d1 < d2:
        raise ConfigError(f"sensitivity: got the distances {d1} and {d2}, expected 0 <= d1 < d2")
    return Sensitivity(d1, d2, family.probability(d1), family.probability(d2))


def agreements(left: U32, right: U32) -> Bools:
    """In which functions two items agree: bool, of the shape of the values.

    Example:
        >>> agreements(np.array([1, 2, NOTHING], np.uint32), np.array([1, 3, NOTHING], np.uint32)).tolist()
        [True, False, False]
    """
    return np.asarray((left == right) & (left != np.uint32(NOTHING)), np.bool_)


def check_settings(name: str, **least: tuple[float, float]) -> None:
    """Refuses settings below their least value.

    Raises:
        ConfigError: all settings that are too small, or not numbers -> take what the message expects.
    """
    problems = [
        f"{name}: got {setting} = {value}, expected {smallest} or more"
        for setting, (value, smallest) in least.items()
        if not smallest <= value < float("inf")
    ]
    if problems:
        raise ConfigError(problems)


def check_columns(name: str, items: Items, columns: int) -> None:
    """Asserts that items are an array of so many columns."""
    if items.ndim != 2 or items.shape[1] != columns:
        raise InvariantError(f"{name}: got items of the shape {items.shape}, expected (n, {columns})")
