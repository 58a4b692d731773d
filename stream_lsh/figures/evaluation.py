"""Precision, recall and F1 of pairs by threshold, and F1 of clusters and of B-cubed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stream_lsh.figures.drawing import MUTED, SERIES, figure, legend
from stream_lsh.measure.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def evaluation_figure(thresholds: Sequence[tuple[float, Evaluation]], best: float) -> "Figure":
    """The drawing.

    Args:
        thresholds: the scores at each, ascending.
        best: the threshold that is marked.

    Raises:
        ConfigError: matplotlib is missing.
    """
    at_best = dict(thresholds)[best].pairs
    drawn, (axes,) = figure(
        "Scores by threshold",
        f"best F1 of pairs: {at_best.f1:.4f} at {best:.4g} (precision {at_best.precision:.4f}, "
        f"recall {at_best.recall:.4f})",
    )
    places = [threshold for threshold, _ in thresholds]
    curves = {
        "precision of pairs": [scores.pairs.precision for _, scores in thresholds],
        "recall of pairs": [scores.pairs.recall for _, scores in thresholds],
        "F1 of pairs": [scores.pairs.f1 for _, scores in thresholds],
        "F1 of clusters": [scores.clusters.f1 for _, scores in thresholds if scores.clusters],
        "F1 of B-cubed": [scores.bcubed.f1 for _, scores in thresholds if scores.bcubed],
    }
    for (label, values), (colour, line) in zip(curves.items(), SERIES, strict=True):
        if values:
            axes.plot(
                places, values, color=colour, linestyle=line, linewidth=1.8, label=label, marker="o", markersize=3
            )
    axes.axvline(best, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("threshold: the least similarity or probability of a match")
    axes.set_ylabel("score")
    legend(axes, "lower left")
    return drawn
