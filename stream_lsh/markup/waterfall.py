"""The waterfall of match weights: each bar starts where the one above ends."""

from collections.abc import Sequence
from itertools import pairwise

WIDTH = 220


def bars(weights: Sequence[float]) -> list[tuple[float, float]]:
    """Start and width of the bar of each weight, in pixels of `WIDTH`; a weight of 0 has no width.

    Example:
        >>> bars([3.0, -1.0, 2.0])
        [(0.0, 165.0), (110.0, 55.0), (110.0, 110.0)]
    """
    ends = [0.0]
    for weight in weights:
        ends.append(ends[-1] + weight)
    least, span = min(ends), (max(ends) - min(ends)) or 1.0
    return [
        (round(WIDTH * (min(pair) - least) / span, 1), round(WIDTH * abs(pair[1] - pair[0]) / span, 1))
        for pair in pairwise(ends)
    ]
