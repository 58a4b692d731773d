"""Jaccard similarity of bags where the union takes the greater count of every element.

    Σ min(a_i, b_i) / Σ max(a_i, b_i)

A bag of equal elements numbered one after the other is a set (`stream_lsh.measure.bags`), and this is the Jaccard
similarity of those sets; so one minus it is a metric.

Reference: Ruzicka, Anwendung mathematisch-statistischer Methoden in der Geobotanik, 1958; Leskovec, Rajaraman and
Ullman, Mining of Massive Datasets, section 3.1.3.
"""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.arrays import U64
from stream_lsh.measure.bags import shared_of_bags
from stream_lsh.measure.distance import HashesDistance


def max_union(left: U64, right: U64) -> float:
    """The similarity of two bags, given as hashes with their repetitions in any order; 0.0 if one of them is empty.

    Example:
        >>> import numpy as np
        >>> one, other = np.array([1, 2, 3, 3], np.uint64), np.array([1, 1, 3, 3, 3, 3], np.uint64)
        >>> max_union(one, other) == 3 / 7
        True
    """
    shared = shared_of_bags(left, right)
    return shared / (left.size + right.size - shared) if shared else 0.0


@dataclass(frozen=True, slots=True)
class MaxUnion(HashesDistance):
    """The distance `max_union`: one minus the similarity.

    The empty bag is at 1 from every bag, itself included.

    Example:
        >>> import numpy as np
        >>> MaxUnion()(np.array([5, 5, 5], np.uint64), np.array([5], np.uint64)) == 2 / 3
        True
    """

    name: ClassVar[str] = "max_union"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """Of two bags."""
        shared = shared_of_bags(left, right)
        union = left.size + right.size - shared
        return (union - shared) / union if shared else 1.0
