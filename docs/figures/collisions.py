"""How likely a function of a family agrees for two items, by the distance between them.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, sections 3.6 and 3.7; of lines: Datar, Immorlica,
Indyk and Mirrokni, Locality-sensitive hashing scheme based on p-stable distributions (2004).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import INK, SERIES, figure
from stream_lsh.lsh.families.family import Composed, Family
from stream_lsh.lsh.families.functions import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLACES = 401


def collisions_figure(
    families: Mapping[str, Family | Composed],
    *,
    title: str = "Collisions",
    promises: Sequence[Sensitivity] = (),
    farthest: float = 0.0,
) -> "Figure":
    """The drawing.

    Args:
        families: one to five of one distance, each with what it is called.
        title: above it.
        promises: sensitivities that are marked: at least p1 up to d1, at most p2 from d2 on.
        farthest: distance up to which is drawn; 0: the greatest one that a family has.

    Raises:
        ConfigError: matplotlib is missing, there are no families or too many, or they are of several distances.
    """
    units = sorted({family.unit for family in families.values()})
    if not 1 <= len(families) <= len(SERIES) or len(units) > 1:
        got = f"{len(families)} of {units}"
        raise ConfigError(f"families: got {got}, expected 1 to {len(SERIES)}, of one distance")
    drawn, (axes,) = figure(title, "probability that a function agrees for two items, by the distance between them")
    farthest = farthest or max(family.farthest for family in families.values())
    places = np.linspace(0, farthest, _PLACES)
    for (name, family), (colour, line) in zip(families.items(), SERIES, strict=False):
        axes.plot(places, family.curve(places), color=colour, linestyle=line, linewidth=2, label=name)
    for promise in promises:
        # What is promised lies below near items and above far ones: the words go to the far side of the curve.
        for distance, probability, sign, beside in (
            (promise.d1, promise.p1, "≥", (-8, -14)),
            (promise.d2, promise.p2, "≤", (8, 7)),
        ):
            axes.plot([distance], [probability], "o", color=INK, markersize=5)
            axes.annotate(
                f"{sign} {probability:.3g} at {distance:.3g}", (distance, probability), xytext=beside,
                textcoords="offset points", ha="right" if beside[0] < 0 else "left", color=INK, fontsize=9,
            )  # fmt: skip
    axes.set_xlim(0, farthest)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel(units[0])
    axes.set_ylabel("agrees")
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=INK)
    return drawn
