"""Compares pairs of vectors: filters them by their signatures, then computes their exact distances as evidence."""

import numpy as np

from stream_lsh.arrays import F64, I64, Bools
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.pipeline.compare import Compared, Criteria, Pairs, SignaturePrefilter, by_estimate

_NUMBERS = 1 << 20
"""The values on each side of the pairs that are compared together: 8 MB in float64."""
_STEPS = 4
"""The values of all pairs in a bounded comparison."""


class VectorPairs:
    """Computes the distances of pairs of vectors, without a cache: decoding a text is as fast as a lookup.

    Args:
        measure: of the pipeline.
    """

    def __init__(self, measure: VectorMeasure) -> None:
        self._measure = measure

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The similarity of the two vectors of each pair, and their distance as a text (`distance_text`).

        Vectors with equal bytes have the distance 0 by every measure.  Candidates whose signatures agree in too few
        slots are not compared.
        """
        stored = SignaturePrefilter(pairs)
        same = stored.identical()
        unlike = near & ~same & ~pairs.recheck
        wanted = pairs.recheck | (near & same) | stored.select(by_estimate, criteria, unlike)
        at, count = np.flatnonzero(wanted), len(pairs)
        step = max(1, _NUMBERS // self._measure.dimension)
        if bounded and at.size > _STEPS * step:
            at, count = at[: _STEPS * step], int(at[_STEPS * step])
        similarity, evidence = np.zeros(count), [""] * count
        for start in range(0, at.size, step):
            rows = at[start : start + step]
            distances = self._distances(pairs, rows)
            similarity[rows] = self._measure.similarity(distances)
            for row, distance in zip(rows.tolist(), distances.tolist(), strict=True):
                evidence[row] = distance_text(distance)
        similarity[~near[:count]] = 0
        none = np.zeros(count, np.uint32)
        return Compared(similarity, none, none, None, evidence)

    def _distances(self, pairs: Pairs, at: I64) -> F64:
        new = pairs.new[at]
        rows, places = np.unique(new, return_inverse=True)
        ones = self._measure.vectors([pairs.asked.texts[row] for row in rows.tolist()])
        others = self._measure.vectors(pairs.documents.texts(pairs.old[at]))
        return self._measure.between(ones[places], others)

    def forget(self, ref: int) -> None:
        """No effect: there is no cache."""

    def __len__(self) -> int:
        return 0


def distance_text(distance: float) -> str:
    """A distance as the evidence of a pair: the shortest decimal representation of this number.

    Example:
        >>> distance_text(0.1), distance_of(distance_text(2.0))
        ('0.1', 2.0)
    """
    return repr(distance)


def distance_of(evidence: str) -> float:
    """The distance in the evidence of a pair."""
    return float(evidence)
