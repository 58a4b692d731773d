"""Containment of sets of hashes: the share of one set that is in the other.

An excerpt, a mirror inside another frame or a quoted letter shares all of its shingles with the longer text, but little
of the union.  So the measure relates a pair to its smaller set: the greater of the containment of A in B and of B in A,
also known as the overlap coefficient.

    |A ∩ B| / min(|A|, |B|)     0 if the larger set has more than `size_ratio` times as many shingles

The bound on the sizes lets signatures find such pairs.  Signatures estimate the Jaccard similarity J; with a share c of
the smaller set in common, s shingles in it and l <= size_ratio * s in the larger one,

    J = c s / (s + l - c s) >= c / (1 + size_ratio - c)

Without a bound every text would have to be compared with every short one.

Reference: Broder, On the resemblance and containment of documents, 1997.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64, I64, U32, Bools
from stream_lsh.errors import ConfigError

SIZE_RATIO = 2.0
"""Finds an excerpt of half of a text, but none that is shorter."""

MOST_SIZE_RATIO = 100.0


@dataclass(frozen=True, slots=True)
class Containment:
    """The measure `containment`.

    Args:
        size_ratio: the greatest ratio of the sizes of the larger and the smaller set, 1 to 100.

    Guarantees:
        exact, with quotients rounded once: 4 of 5 shingles meet a threshold of 0.8, 23 to 20 meet a ratio of 1.15.

    Raises:
        ConfigError: a ratio out of range.

    Example:
        >>> measure = Containment(2.0)
        >>> shared, sizes, others = np.array([4, 4, 4]), np.array([5, 10, 5]), np.array([10, 5, 11])
        >>> measure.similarity(shared, sizes, others).tolist()
        [0.8, 0.8, 0.0]
        >>> round(measure.least_jaccard(0.8), 4), 4 / (5 + 10 - 4)
        (0.3636, 0.36363636363636365)
    """

    size_ratio: float = SIZE_RATIO

    name: ClassVar[str] = "containment"
    reports_sizes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.size_ratio <= MOST_SIZE_RATIO:
            raise ConfigError(f"size_ratio: got {self.size_ratio}, expected a number from 1 to {MOST_SIZE_RATIO:g}")

    @property
    def settings(self) -> dict[str, str | float]:
        """The settings that stored pairs depend on."""
        return {"measure": self.name, "size_ratio": float(self.size_ratio)}

    def similarity(self, shared: U32 | I64, sizes: U32 | I64, others: U32 | I64) -> F64:
        """The similarity of pairs, from the shared shingles and the sizes of both sets: float64[n]."""
        similarity: F64 = shared / np.maximum(np.minimum(sizes, others), 1)
        return np.where(self._near(sizes, others), similarity, 0.0)

    def sizes_allow(self, sizes: U32 | I64, others: U32 | I64, threshold: float) -> Bools:
        """Whether sets of these sizes can be a pair at any threshold: bool[n]."""
        return self._near(sizes, others)

    def _near(self, sizes: U32 | I64, others: U32 | I64) -> Bools:
        least, greatest = np.minimum(sizes, others), np.maximum(sizes, others)
        return np.asarray((least > 0) & (greatest / np.maximum(least, 1) <= self.size_ratio))

    def least_jaccard(self, threshold: float) -> float:
        """The least Jaccard similarity of a pair that reaches the threshold."""
        return threshold / (1 + self.size_ratio - threshold)
