"""The probability that an estimate is precise, by slots: Chernoff's bound and the binomial distribution.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.3; Mitzenmacher and Upfal, Probability
and Computing, section 4.2.
"""

from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import BLUE, INK, MUTED, ORANGE, figure
from stream_lsh.sketch.advice import SlotsAdvice, worst_failure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLACES = 160
_LEAST = 3


def slots_figure(advice: SlotsAdvice) -> "Figure":
    """The drawing: the probability of an error that is too great, on a logarithmic scale, by the length of a signature.

    Args:
        advice: an accuracy, and how many slots it takes.

    Raises:
        ConfigError: matplotlib is missing, or there is next to nothing to draw, as a slot or two suffice.
    """
    if advice.by_chernoff < _LEAST:
        raise ConfigError(f"advice: got {advice.by_chernoff} slots by Chernoff's bound, expected {_LEAST} at least")
    drawn, (axes,) = figure(
        f"Estimates within {advice.relative_error:.3g} of the similarity",
        f"probability of a greater error to one side, at worst over similarities from {advice.least_similarity:.3g} on",
    )
    most = advice.by_chernoff * 1.15
    slots = np.unique(np.linspace(1, most, _PLACES).round().astype(np.int64))
    exact = [worst_failure(int(k), advice.least_similarity, advice.relative_error) for k in slots]
    bound = np.exp(-(advice.relative_error**2) * advice.least_similarity * slots / 2)
    axes.plot(slots, bound, color=ORANGE, linestyle="--", linewidth=2, label="Chernoff's bound")
    axes.plot(slots, exact, color=BLUE, linewidth=2, label="binomial distribution")
    axes.axhline(advice.failure, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    for count in (advice.slots, advice.by_chernoff):
        axes.plot([count], [advice.failure], "o", color=INK, markersize=5)
        axes.annotate(
            f"{count:,} slots", (count, advice.failure), xytext=(6, 6), textcoords="offset points", color=INK,
            fontsize=9,
        )  # fmt: skip
    axes.annotate(
        f"{advice.failure:.3g} is allowed", (0, advice.failure), xytext=(4, -12), textcoords="offset points", color=INK,
        fontsize=9,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlim(0, most)
    axes.set_ylim(advice.failure / 20, 1.3)
    axes.set_xlabel("slots of a signature")
    axes.set_ylabel("probability")
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=INK)
    return drawn
