"""Locality-sensitive families: a function drawn at random from one distinguishes near items from far ones.

A family is (d1, d2, p1, p2)-sensitive if a function drawn from it agrees for two items at a distance of at most d1 with
a probability of at least p1, and for two items at a distance of d2 or more with a probability of at most p2.  It is a
value, defined by its settings.  The functions that it draws depend on the settings and the seed alone.

Reference: Indyk and Motwani, Approximate nearest neighbors, 1998; Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, sections 3.6 and 3.7.

Families can be composed by AND, OR, and any cascade of the two.

    AND of r:   agrees where all of r functions agree            p -> p^r
    OR of b:    agrees where at least one of b functions agrees  p -> 1 - (1 - p)^b

AND lowers the probability of far pairs more than that of near ones, OR raises that of near pairs more than that of far
ones; in sequence they steepen the curve.  The cost is the product of all counts.

The steps compute both p and 1 - p, each to its full relative precision: after a few steps one of them is so close to 1
that its complement would be lost.

Reference of compositions: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.6.3.
"""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, overload

import numpy as np

from stream_lsh.arrays import F64, U32, Bools
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.families.functions import NOTHING, Hashes, Items, Sensitivity, agreements, sensitivity_of

_PLACES = 4096
"""Intervals in which fixed points are searched; a curve of few steps has one at most."""


class Family(Protocol):
    """A locality-sensitive family; also a base class, which computes all properties of a family from `curve`.

    Attributes:
        name: in the catalog.
        version: raised whenever the value of any item changes; part of the fingerprint of stored values.
        unit: of the distance.
        cost: base functions in one function.
        farthest: the distance at which a table of the curve ends.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    unit: ClassVar[str]
    cost: ClassVar[int] = 1

    @property
    def farthest(self) -> float:
        """The distance at which a table of the curve ends."""

    def curve(self, distances: F64) -> F64:
        """The probability that one function agrees for two items at each of these distances; it never rises."""

    def draw(self, count: int, seed: int) -> Hashes:
        """Draw `count` independent functions."""

    @overload
    def probability(self, distance: float) -> float: ...
    @overload
    def probability(self, distance: F64) -> F64: ...
    def probability(self, distance: float | F64) -> float | F64:
        """The probability that one function agrees for two items at this distance; a number or float64[n]."""
        distances = np.asarray(distance, np.float64)
        if not (distances >= 0).all():
            raise ConfigError(f"{self.name}: got the distance {distances.min()}, expected 0 or more")
        probabilities = self.curve(np.atleast_1d(distances))
        return probabilities if np.ndim(distance) else float(probabilities[0])

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """The sensitivity of the family at two distances, d1 below d2."""
        return sensitivity_of(self, d1, d2)

    def and_(self, count: int) -> "Composed":
        """The family whose function agrees where all of `count` functions of this one agree."""
        return Composed(self).and_(count)

    def or_(self, count: int) -> "Composed":
        """The family whose function agrees where at least one of `count` functions of this one agrees."""
        return Composed(self).or_(count)

    def settings(self) -> dict[str, Any]:
        """The settings of the family, by name: `catalog.family(name, **settings)` is an equal one."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.settings().items())
        return f"{self.name}({shown})"


class Step(NamedTuple):
    """All of `size` functions, or at least one of them."""

    kind: Literal["AND", "OR"]
    size: int


@dataclass(frozen=True)
class Composed:
    """A family under a cascade of steps; made by `family.and_(4).or_(4)`.

    Args:
        base: the family whose functions are drawn.
        steps: the innermost first.

    Guarantees:
        the curve is exact for independent functions.

    Example:
        >>> from stream_lsh.lsh.families.minhash import MinHash
        >>> steep = MinHash().and_(4).or_(4)
        >>> str(steep), steep.cost
        ('minhash(scheme=fast) AND 4 OR 4', 16)
        >>> [round(p, 4) for p in steep.sensitivity(0.2, 0.8)]
        [0.2, 0.8, 0.8785, 0.0064]
        >>> [round(p, 4) for p in MinHash().or_(4).and_(4).sensitivity(0.2, 0.8)]
        [0.2, 0.8, 0.9936, 0.1215]
        >>> print(steep.table(4))
        minhash(scheme=fast) AND 4 OR 4
          distance  one function      composed
                 0             1             1
              0.25          0.75       0.78163
               0.5           0.5       0.22752
              0.75          0.25      0.015534
                 1             0             0
        distance: Jaccard distance
        fixed point: 0.7245
        base functions: 16
    """

    base: Family
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        wrong = [step for step in self.steps if step.kind not in ("AND", "OR") or step.size < 1]
        if wrong:
            raise ConfigError([f"{kind} {size}: expected AND or OR of at least 1 function" for kind, size in wrong])

    def and_(self, count: int) -> "Composed":
        """All of `count` functions of this family agree."""
        return Composed(self.base, (*self.steps, Step("AND", count)))

    def or_(self, count: int) -> "Composed":
        """At least one of `count` functions of this family agrees."""
        return Composed(self.base, (*self.steps, Step("OR", count)))

    @property
    def name(self) -> str:
        """The base family's name and the steps, in their order."""
        return " ".join((self.base.name, *(f"{kind} {size}" for kind, size in self.steps)))

    @property
    def unit(self) -> str:
        """The unit of the distance, that of the base family."""
        return self.base.unit

    @property
    def farthest(self) -> float:
        """The distance at which a table of the curve ends."""
        return self.base.farthest

    @property
    def cost(self) -> int:
        """Base functions in one function."""
        cost = self.base.cost
        for step in self.steps:
            cost *= step.size
        return cost

    def amplified(self, probabilities: F64) -> tuple[F64, F64]:
        """Apply the steps to the probability that one base function agrees: p and 1 - p, float64[n] each."""
        p = np.asarray(probabilities, np.float64)
        q = 1 - p
        with np.errstate(divide="ignore"):  # -inf is the correct logarithm of 0
            for kind, size in self.steps:
                if kind == "AND":
                    p, q = p**size, -np.expm1(size * np.log1p(-q))
                else:
                    p, q = -np.expm1(size * np.log1p(-p)), q**size
        return p, q

    def curve(self, distances: F64) -> F64:
        """The S-curve: the probability that one function agrees at each of these distances, float64[n]."""
        return self.amplified(self.base.probability(distances))[0]

    def misses(self, distances: F64) -> F64:
        """The probability that one function does not agree, precise even if it is tiny: float64[n]."""
        return self.amplified(self.base.probability(distances))[1]

    @overload
    def probability(self, distance: float) -> float: ...
    @overload
    def probability(self, distance: F64) -> F64: ...
    def probability(self, distance: float | F64) -> float | F64:
        """The probability that one function agrees for two items at this distance; a number or float64[n]."""
        found = self.curve(np.atleast_1d(np.asarray(distance, np.float64)))
        return found if np.ndim(distance) else float(found[0])

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """The sensitivity of the family at two distances, d1 below d2."""
        return sensitivity_of(self, d1, d2)

    def fixed_points(self) -> tuple[float, ...]:
        """The probabilities between 0 and 1 that the steps do not change, ascending.

        Below a single fixed point the steps lower a probability, above it they raise it.  So the probability of the
        base family should be near it at the distance that separates near from far.  AND alone and OR alone have none.

        Example:
            >>> from stream_lsh.lsh.families.minhash import MinHash
            >>> [round(p, 4) for p in MinHash().and_(4).or_(4).fixed_points()], MinHash().or_(4).fixed_points()
            ([0.7245], ())
        """
        if not any(step.size > 1 for step in self.steps):
            return ()  # the steps change no probability
        # The places are even in logits, because many steps push the fixed point to the ends.
        places = 1 / (1 + np.exp(-np.linspace(-30, 30, _PLACES)))
        above = self._rises(places)
        return tuple(
            self._between(float(places[i]), float(places[i + 1])) for i in np.flatnonzero(above[1:] != above[:-1])
        )

    def _rises(self, places: F64) -> Bools:
        """Whether the steps raise each probability; compares p or 1 - p, the smaller of both."""
        p, q = self.amplified(places)
        return np.where(places < 0.5, p > places, q < 1 - places)

    def _between(self, low: float, high: float) -> float:
        """The fixed point between two places on its two sides."""
        rises = bool(self._rises(np.array([low]))[0])
        for _ in range(60):
            middle = (low + high) / 2
            if bool(self._rises(np.array([middle]))[0]) == rises:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def draw(self, count: int, seed: int) -> "Drawn":
        """Draw `count` independent functions of the composed family."""
        return Drawn(self.base.draw(count * self.cost, seed), self.steps, count)

    def candidates(self, left: Items, right: Items, seed: int) -> Bools:
        """Whether one function, drawn by the seed, makes each pair a candidate: bool[n]; items i of both are a pair."""
        drawn = self.draw(1, seed)
        return drawn.agree(drawn(left), drawn(right))[:, 0]

    def bands(self, seed: int = 1) -> Bands:
        """The banding of an OR of ANDs: two items share a key exactly if the function makes them candidates.

        It takes the values of `draw(1, ...)`.  If a function can return `NOTHING`, the caller masks the keys outside
        `defined_bands`.

        Raises:
            ConfigError: other steps -> use AND r, then OR b; other cascades have no buckets.
        """
        rows, bands = self._rows_and_bands()
        return Bands(bands, rows, seed)

    def defined_bands(self, values: U32) -> Bools:
        """Whether no row of a band of an OR of ANDs is `NOTHING`: bool[n, bands]."""
        rows, bands = self._rows_and_bands()
        return np.asarray((values != np.uint32(NOTHING)).reshape(-1, bands, rows).all(axis=2))

    def _rows_and_bands(self) -> tuple[int, int]:
        if [step.kind for step in self.steps] not in ([], ["AND"], ["OR"], ["AND", "OR"]):
            raise ConfigError(f"{self.name}: expected an AND and then an OR; other cascades have no buckets")
        sizes = {step.kind: step.size for step in self.steps}
        return sizes.get("AND", 1), sizes.get("OR", 1)

    def __str__(self) -> str:
        return " ".join((str(self.base), *(f"{kind} {size}" for kind, size in self.steps)))

    def table(self, rows: int = 10) -> str:
        """The curve as text at `rows` + 1 distances, for one base function and the cascade; fixed points and cost."""
        distances = np.linspace(0, self.farthest, rows + 1)
        lines = [str(self), f"{'distance':>10}  {'one function':>12}  {'composed':>12}"]
        lines += [
            f"{distance:>10.4g}  {single:>12.5g}  {all_:>12.5g}"
            for distance, single, all_ in zip(
                distances.tolist(), self.base.curve(distances).tolist(), self.curve(distances).tolist(), strict=True
            )
        ]
        fixed = ", ".join(f"{point:.4g}" for point in self.fixed_points()) or "none"
        return "\n".join([*lines, f"distance: {self.unit}", f"fixed point: {fixed}", f"base functions: {self.cost}"])


class Drawn:
    """Functions drawn from a composed family: the base functions, and the steps that combine them.

    Example:
        >>> from stream_lsh.lsh.families.bit_sampling import BitSampling
        >>> drawn = BitSampling(dimension=4).and_(2).or_(3).draw(1, seed=1)
        >>> values = drawn(np.array([[0, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 0]], np.uint8))
        >>> values.shape, drawn.agree(values[:1], values[1:]).tolist()
        ((3, 6), [[True], [False]])
    """

    def __init__(self, hashes: Hashes, steps: tuple[Step, ...], count: int) -> None:
        self.hashes = hashes
        self._steps = steps
        self._count = count

    def __call__(self, items: Items) -> U32:
        """The values of the base functions, grouped by composed function: uint32[n, count * cost]."""
        return self.hashes(items)

    def agree(self, left: U32, right: U32) -> Bools:
        """Whether each pair of rows agrees in each function: bool[n, count]; a single row is paired with all."""
        agreeing = agreements(left, right)
        for kind, size in self._steps:
            groups = agreeing.reshape(len(agreeing), -1, size)
            agreeing = np.asarray(groups.all(axis=2) if kind == "AND" else groups.any(axis=2))
        return agreeing.reshape(len(agreeing), self._count)
