"""How similar the pairs of a collection are, and where the curve of a banding lies over them."""

from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import BLUE, GREY, INK, MUTED, figure
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.lsh.solver import Banding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def similarities_figure(histogram: F64, banding: Banding | None = None, documents: int = 0) -> "Figure":
    """The drawing: counts on a logarithmic scale, for most pairs share next to nothing and few are of interest.

    Args:
        histogram: numbers of pairs by similarity, in bins of equal width over 0 to 1.
        banding: its S-curve is drawn over the histogram.
        documents: the number of documents; 0: unknown.

    Raises:
        ConfigError: matplotlib is missing, or there are no pairs.
    """
    if histogram.size == 0 or not histogram.sum() > 0:
        raise ConfigError("histogram: got no pairs, expected some to draw")
    of = f"{histogram.sum():,.0f} pairs" + (f" of {documents:,} documents" if documents else "")
    drawn, (axes,) = figure("Similarities", of)
    edges = np.linspace(0, 1, histogram.size + 1)
    least = min(0.5, float(histogram[histogram > 0].min()) / 2)
    axes.bar(edges[:-1], np.maximum(histogram, least), np.diff(edges) * 0.86, align="edge", color=GREY)
    axes.set_yscale("log")
    axes.set_ylim(least, float(histogram.max()) * 3)
    axes.set_xlim(0, 1)
    axes.set_ylabel("pairs")
    axes.set_xlabel("Jaccard similarity of a pair")
    if banding is not None:
        over = axes.twinx()
        places = np.linspace(0, 1, 401)
        over.plot(places, candidate_probability(places, banding.bands, banding.rows), color=BLUE, linewidth=2)
        over.axvline(banding.threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        over.set_ylim(0, 1.08)
        over.set_ylabel(f"becomes a candidate ({banding.bands} bands of {banding.rows})", color=BLUE)
        over.tick_params(colors=MUTED, labelcolor=BLUE)
        over.spines[["top", "left", "bottom"]].set_visible(False)
        over.spines["right"].set_color(MUTED)
        left = banding.threshold > 0.5
        over.annotate(
            f"threshold {banding.threshold:.4g}", (banding.threshold, 1.04), xytext=(-5 if left else 5, 0),
            textcoords="offset points", ha="right" if left else "left", va="center", color=INK, fontsize=9,
        )  # fmt: skip
    return drawn
