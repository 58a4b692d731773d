"""Jaccard similarity of bags where the union takes both counts of every element.

    Σ min(a_i, b_i) / (|A| + |B|)

It is at most 1/2, for equal bags, so one minus it is no metric: a bag is not at 0 from itself.  Twice the similarity
is the one of Sørensen and Dice, whose way round can be shorter: {1} and {2} are at 1, and each at 1/3 from {1, 2}.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.1.3.
"""

from dataclasses import dataclass
from typing import ClassVar

from stream_lsh.arrays import U64
from stream_lsh.measure.bags import shared_of_bags
from stream_lsh.measure.distance import HashesDistance


def sum_union(left: U64, right: U64) -> float:
    """The similarity of two bags, given as hashes with their repetitions in any order; 0.0 if one of them is empty.

    Example:
        >>> import numpy as np
        >>> one, other = np.array([1, 2, 3, 3], np.uint64), np.array([1, 1, 3, 3, 3, 3], np.uint64)
        >>> sum_union(one, other), sum_union(one, one)
        (0.3, 0.5)
    """
    shared = shared_of_bags(left, right)
    return shared / (left.size + right.size) if shared else 0.0


@dataclass(frozen=True, slots=True)
class SumUnion(HashesDistance):
    """The distance `sum_union`: one minus the similarity, 1/2 to 1.

    Example:
        >>> import numpy as np
        >>> SumUnion()(np.array([5], np.uint64), np.array([5], np.uint64))
        0.5
    """

    name: ClassVar[str] = "sum_union"
    metric: ClassVar[bool] = False
    unit: ClassVar[str] = "share"

    def __call__(self, left: U64, right: U64, /) -> float:
        """Of two bags."""
        return 1 - sum_union(left, right)
