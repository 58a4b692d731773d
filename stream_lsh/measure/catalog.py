"""Measures by name, and their interface."""

from typing import Protocol

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.errors import ConfigError
from stream_lsh.measure.containment import SIZE_RATIO, Containment
from stream_lsh.measure.jaccard import Jaccard, shared_count
from stream_lsh.spelling import suggestion

MEASURES = (Jaccard.name, Containment.name)
"""The names of all measures."""

JACCARD = Jaccard()
"""The default measure."""


class Measure(Protocol):
    """The similarity of two sets of shingles, and the bounds that it implies for a search."""

    @property
    def name(self) -> str:
        """The name in matches and settings."""

    @property
    def reports_sizes(self) -> bool:
        """Whether a match includes the sizes of both sets, because shared and union do not determine the similarity."""

    @property
    def settings(self) -> dict[str, str | float]:
        """The settings that stored pairs depend on: the name, and those of the measure."""

    def similarity(self, shared: U32 | I64, sizes: U32 | I64, others: U32 | I64) -> F64:
        """The similarity of pairs, from the shared shingles and the sizes of both sets: float64[n]."""

    def sizes_allow(self, sizes: U32 | I64, others: U32 | I64, threshold: float) -> Bools:
        """Whether pairs of sets of these sizes can reach the threshold: bool[n]; never False for one that does."""

    def least_jaccard(self, threshold: float) -> float:
        """The least Jaccard similarity of a pair that reaches the threshold; signatures have to find such pairs."""


def measure_of(name: str = Jaccard.name, size_ratio: float | None = None) -> Measure:
    """The measure of a name.

    Args:
        name: `jaccard` or `containment`.
        size_ratio: only with `containment`: the greatest ratio of the sizes of the larger and smaller set; None: 2.

    Raises:
        ConfigError: an unknown name, or a ratio that is out of range or that the measure does not use.

    Example:
        >>> measure_of("containment", 3)
        Containment(size_ratio=3)
        >>> measure_of("contained")
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: measure: got 'contained', expected jaccard or containment; did you mean \
'containment'?
    """
    if name == Containment.name:
        return Containment(SIZE_RATIO if size_ratio is None else size_ratio)
    if name != Jaccard.name:
        expected = " or ".join(MEASURES)
        raise ConfigError(f"measure: got {name!r}, expected {expected}{suggestion(name, MEASURES)}")
    if size_ratio is not None:
        raise ConfigError(f"size_ratio: {no_size_ratio(size_ratio)}")
    return JACCARD


def no_size_ratio(size_ratio: float) -> str:
    """The message for a ratio of sizes with a measure that does not use it."""
    return f"got {size_ratio:g}, expected none, as the measure is {Jaccard.name}: only {Containment.name} uses it"


def similarity_of(measure: Measure, left: U64, right: U64) -> float:
    """The exact similarity of two sets, each ascending and without repetitions; 0.0 if one of them is empty.

    Example:
        >>> one, other = np.array([1, 4], np.uint64), np.array([1, 3, 4, 5], np.uint64)
        >>> similarity_of(JACCARD, one, other), similarity_of(Containment(), one, other)
        (0.5, 1.0)
    """
    counts = np.array([[shared_count(left, right)], [left.size], [right.size]])
    return float(measure.similarity(*counts)[0])
