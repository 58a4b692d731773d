"""Grid triples, for fingerprints: a function is a few squares of a grid; prints with minutiae in all of them agree.

    P(agree) = (occupied (1 - d))^size

where `occupied` is the share of squares with a minutia, and d the share of one print's minutiae that the other print
lacks in the same square.  Two prints of one finger have d = .2 or so; prints of different fingers d = 1 - occupied.
For two given prints with `shared` squares occupied in both, it is exactly C(shared, size) / C(squares, size).

Unlike those of other families, a function mostly returns `NOTHING`: a print without a minutia in one of the squares
agrees with no print, not even with another one that lacks it.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.8.5.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, I64, U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.draws import below
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.functions import NOTHING, Hashes, Items, check_columns, check_settings


@dataclass(frozen=True)
class GridTriples(Family):
    """Items are bool [n, squares]: which squares of the grid have a minutia, the prints turned and scaled alike.

    Args:
        squares: of the grid.
        size: squares of a function, all different.
        occupied: share of the squares that have a minutia, for the curve.

    Guarantees:
        the sensitivity of the curve, on average over prints whose squares are occupied independently.

    Example:
        >>> prints = GridTriples(squares=400).or_(1024)
        >>> round(prints.probability(0.2), 3), round(prints.probability(0.8), 3)
        (0.985, 0.063)
    """

    squares: int
    size: int = 3
    occupied: float = 0.2

    name: ClassVar[str] = "grid_triples"
    unit: ClassVar[str] = "share of the minutiae that the other print lacks"

    def __post_init__(self) -> None:
        check_settings(self.name, size=(self.size, 1), squares=(self.squares, self.size))
        if not 0 < self.occupied <= 1:
            raise ConfigError(f"grid_triples: got occupied = {self.occupied}, expected a share above 0, at most 1")

    @property
    def farthest(self) -> float:
        """The distance of prints without common minutiae."""
        return 1.0

    def curve(self, distances: F64) -> F64:
        """(occupied (1 - d))^size."""
        return (self.occupied * np.maximum(0.0, 1 - distances)) ** self.size

    def probability_for(self, shared: int) -> float:
        """The exact probability for two prints with `shared` squares occupied in both.

        Example:
            >>> GridTriples(squares=10).probability_for(shared=4) == 4 / 120
            True
        """
        return math.comb(shared, self.size) / math.comb(self.squares, self.size)

    def draw(self, count: int, seed: int) -> Hashes:
        """Draw `size` different squares for each function."""
        return _Triples(_combinations(self.squares, self.size, count, seed), self.squares)


def _combinations(squares: int, size: int, count: int, seed: int) -> I64:
    """`size` different squares a row, each choice equally likely, ascending: int64[count, size]."""
    chosen = np.empty((count, 0), np.int64)
    for place in range(size):
        # `square` is a rank among the free squares: skip each smaller taken one.
        square = below(squares - place, count, seed, salt=400 + place)
        for taken in chosen.T:
            square += square >= taken
        chosen = np.sort(np.column_stack((chosen, square)), axis=1)
    return chosen


class _Triples:
    def __init__(self, chosen: I64, squares: int) -> None:
        self._chosen = chosen
        self._squares = squares

    def __call__(self, items: Items) -> U32:
        check_columns(GridTriples.name, items, self._squares)
        occupied = np.asarray(items, np.bool_)
        held = np.ones((len(occupied), len(self._chosen)), np.bool_)
        for squares in self._chosen.T:
            held &= occupied[:, squares]
        return np.where(held, np.uint32(0), np.uint32(NOTHING))
