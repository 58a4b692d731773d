"""A small chart of one series: an area below a line, from the oldest value on the left to the newest on the right."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 300, 48


@dataclass(frozen=True, slots=True)
class Series:
    """A chart.

    Attributes:
        line: the path of the line.
        area: the path of the area below it.
        last: the newest value.
        highest: the greatest value.
    """

    line: str
    area: str
    last: float
    highest: float


def series(values: Sequence[float], places: int) -> Series | None:
    """The chart of some values; None for none.

    Args:
        values: oldest first, at most `places`.
        places: values that fill the width, so that a short series begins further to the right.

    Example:
        >>> series([0.0, 2.0, 1.0], 3).line
        'M0 48L150 0L300 24'
    """
    if not values:
        return None
    highest, step = max(values), WIDTH / max(1, places - 1)
    first = WIDTH - step * (len(values) - 1)
    points = [
        f"{first + step * place:.4g} {HEIGHT - HEIGHT * value / (highest or 1):.3g}"
        for place, value in enumerate(values)
    ]
    line = "M" + "L".join(points)
    return Series(line, f"{line}L{WIDTH} {HEIGHT}L{first:.4g} {HEIGHT}Z", values[-1], highest)
