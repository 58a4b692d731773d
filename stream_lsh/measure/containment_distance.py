"""Containment without a bound on the sizes: of A in B, and in the direction in which it is greater.

    of A in B    |A ∩ B| / |A|                  one direction: the share of a page that is in the frame around it
    of both      |A ∩ B| / min(|A|, |B|)        the overlap coefficient

Neither gives a metric.  Every set has the distance 0 from all sets that contain it, so different sets can have the
distance 0, and a large set is a detour shorter than the distance of its parts: {1} and {2} have the distance 1 from
each other and 0 from {1, 2}.

Reference: Broder, On the resemblance and containment of documents, 1997.
"""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.arrays import U64
from stream_lsh.measure.distance import HashesDistance
from stream_lsh.measure.jaccard import shared_count


def contained(left: U64, right: U64) -> float:
    """The share of the left set that is in the right one; 0.0 if the left one is empty.

    Args:
        left: ascending and without repetitions.
        right: likewise.

    Example:
        >>> import numpy as np
        >>> page, frame = np.array([4, 7], np.uint64), np.array([1, 4, 7, 9], np.uint64)
        >>> contained(page, frame), contained(frame, page)
        (1.0, 0.5)
    """
    return shared_count(left, right) / left.size if left.size else 0.0


@dataclass(frozen=True, slots=True)
class ContainmentDistance(HashesDistance):
    """The distance `containment`: the share of the smaller set that the larger one lacks.

    The empty set has the distance 1 from every set, itself included.

    Example:
        >>> import numpy as np
        >>> ContainmentDistance()(np.array([4, 7], np.uint64), np.array([1, 4, 9], np.uint64))
        0.5
    """

    name: ClassVar[str] = "containment"
    metric: ClassVar[bool] = False
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """The distance of two sets, each ascending and without repetitions."""
        smaller = min(left.size, right.size)
        return (smaller - shared_count(left, right)) / smaller if smaller else 1.0
