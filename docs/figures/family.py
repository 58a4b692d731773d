"""Curves of locality-sensitive families and of what AND, OR and cascades of them make of a probability.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.6.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import INK, MUTED, SERIES, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """One family.

    Attributes:
        name: such as `AND 4, OR 4`.
        probabilities: with which it makes a candidate, at places of equal distance over 0 to 1 of the probability of
            the base family: float64[m], two or more.
        fixed_point: where it leaves the probability as it is, between 0 and 1: below it the family makes it smaller,
            above it greater; None if there is none.
        functions: the number of functions of the base family; 0: unknown.
    """

    name: str
    probabilities: F64
    fixed_point: float | None = None
    functions: int = 0


def family_figure(curves: Sequence[Curve], title: str = "Families") -> "Figure":
    """The drawing.

    Args:
        curves: one to five.
        title: above it.

    Raises:
        ConfigError: matplotlib is missing, or there are no curves or too many.
    """
    if not 1 <= len(curves) <= len(SERIES) or any(curve.probabilities.size < 2 for curve in curves):
        raise ConfigError(f"curves: got {len(curves)}, expected 1 to {len(SERIES)}, of two or more places each")
    drawn, (axes,) = figure(
        title, "above the diagonal a family makes candidates likelier than its base, below it rarer"
    )
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (1, 2)), label="the base family")
    for curve, (colour, line) in zip(curves, SERIES, strict=False):
        functions = f", {curve.functions:,} functions" if curve.functions else ""
        fixed = "" if curve.fixed_point is None else f", fixed at {curve.fixed_point:.3f}"
        places = np.linspace(0, 1, curve.probabilities.size)
        label = f"{curve.name}{functions}{fixed}"
        axes.plot(places, curve.probabilities, color=colour, linestyle=line, linewidth=2, label=label)
        if curve.fixed_point is not None:
            axes.plot([curve.fixed_point], [curve.fixed_point], "o", color=INK, markersize=5)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("probability of the base family")
    axes.set_ylabel("becomes a candidate")
    drawn.legend(loc="outside lower left", ncols=2, frameon=False, fontsize=9, labelcolor=INK)
    return drawn
