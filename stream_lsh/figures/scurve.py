"""The S-curve of a banding with its areas of misses and false candidates; below it, the pairs of a corpus.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.4.
"""

from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.figures.drawing import BLUE, GREY, INK, LIGHT_BLUE, LIGHT_ORANGE, MUTED, ORANGE, figure, legend
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.lsh.solver import Banding
from stream_lsh.lsh.spread import Agreements, agreeing_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE = 0.82
"""A label fits into what is left beyond."""


def scurve_figure(banding: Banding, seen: Agreements | None = None) -> "Figure":
    """The drawing.

    Args:
        banding: bands, rows and threshold.
        seen: similarities of the pairs of a corpus; if given, the candidates among them are drawn, too.

    Raises:
        ConfigError: matplotlib is missing.
    """
    subtitle = (
        f"{banding.slots_used} slots; a pair of similarity s becomes a candidate with probability "
        f"1 - (1 - s^{banding.rows})^{banding.bands}"
    )
    drawn, axes = figure(
        f"{banding.bands} bands of {banding.rows} rows", subtitle, (3, 2) if seen is not None else (1,)
    )
    _curve(axes[0], banding)
    if seen is not None:
        _pairs(axes[1], banding, seen)
    axes[-1].set_xlabel("Jaccard similarity of a pair")
    return drawn


def _curve(axes: "Axes", banding: Banding) -> None:
    threshold, reached, half = banding.threshold, banding.probability_at_threshold, banding.half_point
    places = np.unique(np.concatenate((np.linspace(0, 1, 401), [threshold])))
    curve = candidate_probability(places, banding.bands, banding.rows)
    below, above = places <= threshold, places >= threshold
    axes.fill_between(
        places[below], curve[below], color=LIGHT_BLUE, linewidth=0,
        label=f"false candidates: area {_area(banding.false_positive_area)}",
    )  # fmt: skip
    axes.fill_between(
        places[above], curve[above], 1.0, facecolor=LIGHT_ORANGE, edgecolor=ORANGE, hatch="////", linewidth=0,
        label=f"missed pairs: area {_area(banding.false_negative_area)}",
    )  # fmt: skip
    axes.plot(places, curve, color=BLUE, linewidth=2)
    axes.axvline(threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.plot([threshold], [reached], "o", color=INK, markersize=5)
    axes.plot([half], [0.5], "o", color=BLUE, markersize=5)
    # Labels go right of the threshold and left of the curve, where nothing is drawn, or to the bottom if it is narrow.
    label = f"threshold {threshold:.4g}:\nrecall {reached:.4f}"
    place, beside = ((threshold, reached), (10, -34)) if threshold <= _WIDE else ((threshold, 0.0), (-10, 8))
    _annotate(axes, label, place, beside)
    _annotate(axes, f"half of the pairs\nof {half:.2f}", (half, 0.5), (-12, 2) if half > 1 - _WIDE else (12, -24))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("becomes a candidate")
    legend(axes, "upper left" if half > 0.45 else "lower right")


def _annotate(axes: "Axes", label: str, place: tuple[float, float], beside: tuple[int, int]) -> None:
    """Write a label at an offset in points from a place: to its left, or to its right."""
    axes.annotate(
        label, place, xytext=beside, textcoords="offset points", ha="right" if beside[0] < 0 else "left", color=INK,
        fontsize=9,
    )  # fmt: skip


def _pairs(axes: "Axes", banding: Banding, seen: Agreements) -> None:
    """The pairs of a corpus by similarity, and those of them that are expected to become candidates."""
    edges = np.linspace(0, 1, 41)
    at = np.arange(seen.pairs.size) / seen.slots
    candidates = seen.pairs * agreeing_probability(seen.slots, banding.bands, banding.rows)
    every, shared_bucket = (_binned(at, counts, edges) for counts in (seen.pairs, candidates))
    least = 0.5
    totals = {"all pairs": float(seen.all_pairs), "candidates": float(candidates.sum())}
    for counts, colour, (what, total) in zip((every, shared_bucket), (GREY, BLUE), totals.items(), strict=True):
        axes.bar(
            edges[:-1], np.maximum(counts, least), np.diff(edges) * 0.86, align="edge", color=colour,
            label=f"{what}: {total:,.0f}",
        )  # fmt: skip
    axes.axvline(banding.threshold, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_yscale("log")
    axes.set_ylim(least, float(every.max()) * 3)
    axes.set_ylabel(f"pairs of {seen.documents:,}\ndocuments")
    legend(axes, "upper center")


def _binned(places: F64, counts: F64, edges: F64) -> F64:
    return np.histogram(places, edges, weights=counts)[0].astype(np.float64)


def _area(area: float) -> str:
    return f"{area:.3f}" if area >= 0.001 else f"{area:.5f}"
