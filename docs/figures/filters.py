"""How many pairs each filter of an exact join leaves to be compared, by the threshold.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import INK, MUTED, SERIES, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def filters_figure(
    thresholds: Sequence[float], compared: Mapping[str, Sequence[int]], matches: Sequence[int], sets: int
) -> "Figure":
    """The drawing, on a logarithmic scale.

    Args:
        thresholds: least similarities, ascending.
        compared: pairs that were compared at each threshold, by the filter.
        matches: pairs that reach each threshold.
        sets: that make the pairs.

    Raises:
        ConfigError: matplotlib is missing, there are no filters or too many, or not a number for each threshold.
    """
    counts = {**compared, "reach the threshold": matches}
    if not 2 <= len(counts) <= len(SERIES) or any(len(one) != len(thresholds) for one in counts.values()):
        raise ConfigError(
            f"compared: got {len(compared)} filters of {[len(one) for one in compared.values()]} thresholds and "
            f"{len(matches)} matches, expected 1 to {len(SERIES) - 1} of {len(thresholds)}"
        )
    every = sets * (sets - 1) // 2
    drawn, (axes,) = figure(
        "What exact joins compare", f"of {every:,} pairs of {sets:,} sets; all filters give the same answer"
    )
    axes.axhline(every, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), label="all pairs")
    for (name, pairs), (colour, line) in zip(counts.items(), SERIES, strict=False):
        shown = np.maximum(pairs, 0.5)
        axes.plot(thresholds, shown, color=colour, linestyle=line, linewidth=2, marker="o", markersize=4, label=name)
    axes.set_yscale("log")
    axes.set_xticks(list(thresholds))
    axes.set_xticklabels([f"{threshold:g}" for threshold in thresholds])
    axes.set_xlabel("threshold")
    axes.set_ylabel("pairs")
    drawn.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9, labelcolor=INK)
    return drawn
