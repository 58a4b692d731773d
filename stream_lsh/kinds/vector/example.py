"""Generated vectors for example messages."""

import math

import numpy as np
import numpy.typing as npt

from stream_lsh.kinds.examples import draws
from stream_lsh.kinds.vector.metric import COSINE, HAMMING, VectorMeasure

_NEAR = 1 / 3
"""The distance of a vector from the first one of its group, as a share of the greatest distance of a match."""
_FAR = 10.0
"""The size of Euclidean components, as a multiple of that distance: two groups are far apart."""


def example_vector(metric: VectorMeasure, group: int, member: int) -> npt.NDArray[np.float64]:
    """A vector: those of one group are within two thirds of the greatest distance of a match, two groups are far apart.

    Args:
        metric: of the pipeline.
        group: 0 and up.
        member: 0 and up.

    Example:
        >>> metric = VectorMeasure(name="hamming", dimension=64, distance=6)
        >>> int((example_vector(metric, 5, 1) != example_vector(metric, 5, 2)).sum()) <= 4
        True
    """
    drawn = draws(group, 0, metric.dimension)
    if metric.name == HAMMING:
        bits = (drawn >> np.uint64(63)).astype(np.float64)
        flipped = draws(group, member + 1, int(metric.distance * _NEAR)) % np.uint64(metric.dimension)
        bits[flipped.astype(np.int64)] = (member + 1) % 2
        return bits
    first, noise = _even(drawn), _even(draws(group, member + 1, metric.dimension))
    if metric.name == COSINE:
        first /= np.linalg.norm(first)
        step = math.tan(math.radians(min(metric.distance * _NEAR, 45.0)))
    else:
        first *= _FAR * metric.distance
        step = metric.distance * _NEAR
    vector: npt.NDArray[np.float64] = first + step * noise / np.linalg.norm(noise)
    return vector


def _even(drawn: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Numbers between -1 and 1."""
    return drawn.astype(np.float64) / 2.0**63 - 1.0
