"""Every family of the package, found by walking it, and items to try it with: what no test can guess."""

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stream_lsh.arrays import F64, Bools
from stream_lsh.lsh import families
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.lengths import Lengths
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.minhash import MinHash
from stream_lsh.text.shingles import Shingles, offsets_of


@dataclass(frozen=True)
class Sample:
    """A family, how to get items for it, and pairs at a distance; and the distances to try."""

    family: Family
    items: Callable[[np.random.Generator, int], Any]
    pair: Callable[[np.random.Generator, float], Any]
    distances: tuple[float, ...]

    def __str__(self) -> str:
        return str(self.family)


def discovered() -> set[type[Family]]:
    """The classes of families that the modules of the room define."""
    found = set()
    for module in pkgutil.iter_modules(families.__path__, f"{families.__name__}."):
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, type) and Family in one.__mro__[1:]:
                found.add(one)
    return found


def parts(items: Any, rows: list[int] | slice) -> Any:
    """Some items of a batch, as a batch."""
    if not isinstance(items, Shingles):
        return items[rows]
    chosen = list(range(len(items)))[rows] if isinstance(rows, slice) else rows
    hashes = [items.document(row) for row in chosen]
    return Shingles(
        np.concatenate([np.empty(0, np.uint64), *hashes]), offsets_of(np.array([h.size for h in hashes], np.int64))
    )


def size(items: Any) -> int:
    return len(items)


def vectors(dimension: int, scale: float = 1.0) -> Callable[[np.random.Generator, int], F64]:
    return lambda generator, count: scale * generator.standard_normal((count, dimension))


def at_angle(generator: np.random.Generator, left: F64, degrees: float) -> F64:
    """For each vector one at this angle from it, of length 1."""
    unit = left / np.linalg.norm(left, axis=1, keepdims=True)
    across = generator.standard_normal(left.shape)
    across -= (across * unit).sum(axis=1, keepdims=True) * unit
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = math.radians(degrees)
    return np.asarray(math.cos(angle) * unit + math.sin(angle) * across, np.float64)


def at_distance(generator: np.random.Generator, left: F64, distance: float) -> F64:
    """For each vector one at this Euclidean distance from it."""
    step = generator.standard_normal(left.shape)
    return np.asarray(left + distance * step / np.linalg.norm(step, axis=1, keepdims=True), np.float64)


def _angles(family: Hyperplanes) -> Sample:
    def pair(generator: np.random.Generator, degrees: float) -> F64:
        left = vectors(family.dimension)(generator, 1)
        return np.concatenate((left, at_angle(generator, left, degrees)))

    return Sample(family, vectors(family.dimension), pair, (0.0, 5.0, 30.0, 60.0, 90.0, 150.0, 180.0))


def _points(family: Lines) -> Sample:
    def pair(generator: np.random.Generator, distance: float) -> F64:
        left = 10 * family.width * vectors(family.dimension)(generator, 1)
        return np.concatenate((left, at_distance(generator, left, distance)))

    width = family.width
    items = vectors(family.dimension, 10 * width)
    return Sample(family, items, pair, (0.0, width / 10, width / 2, width, 2 * width, 10 * width))


def _bits(family: BitSampling) -> Sample:
    def pair(generator: np.random.Generator, distance: float) -> Bools:
        left = generator.random(family.dimension) < 0.5
        differ = np.zeros(family.dimension, np.bool_)
        differ[generator.permutation(family.dimension)[: int(distance)]] = True
        return np.stack((left, left ^ differ))

    return Sample(
        family, lambda g, n: g.random((n, family.dimension)) < 0.5, pair, (0.0, 10.0, 20.0, 50.0, 80.0, 100.0)
    )


def prints(generator: np.random.Generator, family: GridTriples, distance: float) -> Bools:
    """Two prints with `occupied` of the squares each, of which this share is in one print only."""
    count = round(family.occupied * family.squares)
    order, lacking = generator.permutation(family.squares), round(distance * count)
    found = np.zeros((2, family.squares), np.bool_)
    found[0, order[:count]] = True
    found[1, order[lacking : lacking + count]] = True
    return found


def _prints(family: GridTriples) -> Sample:
    return Sample(
        family,
        lambda g, n: g.random((n, family.squares)) < family.occupied,
        lambda g, distance: prints(g, family, distance),
        (0.0, 0.2, 0.5, 0.8, 1.0),
    )


def _sets(family: MinHash) -> Sample:
    def items(generator: np.random.Generator, count: int) -> Shingles:
        counts = generator.integers(0, 60, count)
        return Shingles(generator.integers(0, 1 << 64, int(counts.sum()), np.uint64), offsets_of(counts))

    def pair(generator: np.random.Generator, distance: float) -> Shingles:
        both = generator.integers(0, 1 << 64, 400, np.uint64)  # of their union
        lacking = round(200 * distance)
        left, right = both[: 400 - lacking], both[lacking:]
        return Shingles(np.concatenate((left, right)), offsets_of(np.array([left.size, right.size])))

    return Sample(family, items, pair, (0.0, 0.2, 0.5, 0.8, 1.0))


def _lengths(family: Lengths) -> Sample:
    def pair(generator: np.random.Generator, distance: float) -> Any:
        shorter = int(generator.integers(1_000_000, 10_000_000))
        return np.array([shorter, round(shorter * math.exp(distance))])

    farthest = family.farthest
    return Sample(
        family, lambda g, n: g.integers(0, 10_000, n), pair, (0.0, farthest / 10, farthest / 2, farthest, 2 * farthest)
    )


def _samples() -> Iterator[Sample]:
    yield _sets(MinHash())
    yield _sets(MinHash("classic"))
    yield _bits(BitSampling(100))
    yield _angles(Hyperplanes(2))
    yield _angles(Hyperplanes(48))
    yield _angles(Hyperplanes(128, signs=True))
    yield _points(Lines(1, 3.0))
    yield _points(Lines(48, 0.5))
    yield _points(Lines(2, 1.0, uniform=True))
    yield _points(Lines(3, 2.0, uniform=True))
    yield _points(Lines(40, 1.0, uniform=True))
    yield _prints(GridTriples(4000))
    yield _prints(GridTriples(4000, size=1))
    yield _lengths(Lengths())
    yield _lengths(Lengths(1.25))


def samples() -> list[Sample]:
    """Every family with its settings varied."""
    return list(_samples())
