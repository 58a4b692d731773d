"""The measures of a pipeline of vectors: the distance, and the family of hash functions that finds near vectors.

    measure      unit         similarity     family
    cosine       degrees      1 - d / 180    random hyperplanes
    euclidean    length       1 / (1 + d)    random lines
    hamming      positions    1 - d / n      bit sampling

The similarity decreases with the distance, so clusters, guards and thresholds have one meaning for all kinds of data.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, sections 3.5 and 3.7.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.vector.content import bits_of, vectors_of
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.measure.cosine import HALF_TURN, Angle
from stream_lsh.measure.distance import Distance
from stream_lsh.measure.euclidean import Euclidean
from stream_lsh.measure.hamming import Hamming
from stream_lsh.spelling import suggestion

COSINE, EUCLIDEAN, HAMMING = "cosine", "euclidean", "hamming"
VECTOR_MEASURES = (COSINE, EUCLIDEAN, HAMMING)
"""All names."""

MOST_DIMENSIONS = 65_536
MOST_LENGTH = 1e15
"""The greatest length that 1 / (1 + d) distinguishes from infinity."""
WIDTHS = 4.0
"""The default width of the intervals on a line, as a multiple of the greatest distance of a match.

Two vectors at that distance then are in one interval with a probability of 0.8, and with a few hundred slots fewer
distant vectors become candidates than with intervals half or twice as wide.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMeasure:
    """The distance of vectors, and its greatest value for a match.

    Args:
        name: cosine, euclidean or hamming.
        dimension: of every vector.
        distance: the greatest distance of a match: degrees below 180, a length, or positions, fewer than `dimension`.
        line_width: only for euclidean: the width of the intervals on a line; 0: four times the distance.

    Guarantees:
        `similarity` never increases with the distance, so two vectors are a match if and only if their similarity is
        at least `least`; the similarity of vectors farther apart than `distance` is 0.

    Raises:
        ConfigError: all invalid arguments at once.

    Example:
        >>> measure = VectorMeasure(name="cosine", dimension=2, distance=45.0)
        >>> vectors = vectors_of(["AACAPwAAAAA=", "AAAAAAAAgD8="], 2)
        >>> measure.between(vectors[[0, 0]], vectors).tolist(), measure.least
        ([0.0, 90.0], 0.75)
        >>> measure.similarity(measure.between(vectors[[0, 0]], vectors)).tolist()
        [1.0, 0.0]
    """

    name: str
    dimension: int
    distance: float
    line_width: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in VECTOR_MEASURES:
            problem = f"measure: got {self.name!r}, expected {', '.join(VECTOR_MEASURES)}"
            raise ConfigError(f"{problem}{suggestion(self.name, VECTOR_MEASURES)}")
        problems = []
        if not 1 <= self.dimension <= MOST_DIMENSIONS:
            problems.append(f"dimension: got {self.dimension}, expected 1 to {MOST_DIMENSIONS}")
        end = {COSINE: HALF_TURN, EUCLIDEAN: MOST_LENGTH, HAMMING: float(self.dimension)}[self.name]
        if not 0 < self.distance < end:
            unit = {COSINE: "degrees", EUCLIDEAN: "a length", HAMMING: "positions"}[self.name]
            problems.append(f"distance: got {self.distance:g}, expected {unit}, above 0 and below {end:g}")
        if self.line_width and self.name != EUCLIDEAN:
            problems.append(f"line_width: got {self.line_width:g}, expected none, as the measure is {self.name}")
        elif not 0 <= self.line_width < MOST_LENGTH:
            problems.append(f"line_width: got {self.line_width:g}, expected a length above 0, or 0 for the default")
        if problems:
            raise ConfigError(problems)

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that stored pairs depend on."""
        named: dict[str, str | int | float] = {"measure": self.name, "dimension": self.dimension}
        named["distance"] = float(self.distance)
        return {**named, "line_width": self.width} if self.name == EUCLIDEAN else named

    @property
    def width(self) -> float:
        """The width of the intervals on a line."""
        return float(self.line_width or WIDTHS * self.distance)

    @property
    def reach(self) -> float:
        """The greatest sum of the absolute values of a vector: beyond it, the cells on a line are not distinct.

        All components of a line's direction are below 16, and cells are distinct up to 2^40.
        """
        return self.width * 2.0**35 if self.name == EUCLIDEAN else math.inf

    @property
    def least(self) -> float:
        """The least similarity of a match."""
        return float(self._falling(np.array([self.distance], np.float64))[0])

    def family(self) -> Family:
        """The family of hash functions that finds near vectors."""
        if self.name == COSINE:
            return Hyperplanes(self.dimension)
        return BitSampling(self.dimension) if self.name == HAMMING else Lines(self.dimension, self.width)

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors of texts: float32[n, dimension]; for hamming 0 and 1, uint8[n, dimension]."""
        return bits_of(texts, self.dimension) if self.name == HAMMING else vectors_of(texts, self.dimension)

    def between(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> F64:
        """The exact distance of each pair of vectors, computed in float64: float64[n]."""
        return _BETWEEN[self.name].many(left, right)

    def similarity(self, distances: F64) -> F64:
        """The similarity of vectors at these distances, 0 beyond the greatest distance of a match: float64[n]."""
        return np.where(distances <= self.distance, self._falling(distances), 0.0)

    def _falling(self, distances: F64) -> F64:
        if self.name == EUCLIDEAN:
            return np.asarray(1 / (1 + distances))
        return np.asarray(1 - distances / (HALF_TURN if self.name == COSINE else self.dimension))


_BETWEEN: Mapping[str, Distance] = {COSINE: Angle(), EUCLIDEAN: Euclidean(), HAMMING: Hamming()}
