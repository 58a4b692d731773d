"""Curves of a long run as a picture."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.long_runs.watching import MB, Sample


def draw(samples: Sequence[Sample], panels: Mapping[str, Sequence[str]], axis: str, file: Path) -> None:
    """Draw measures over one of them into a PNG file, a panel each group.

    Args:
        samples: in their order.
        panels: title to measures; those of a title that ends with `MB` are bytes.
        axis: the measure that the others are drawn over.
        file: where the picture goes.
    """
    importlib.import_module("matplotlib").use("Agg")
    plots = importlib.import_module("matplotlib.pyplot")
    columns = 2
    rows = -(-len(panels) // columns)
    figure, places = plots.subplots(rows, columns, figsize=(14, 3.6 * rows), squeeze=False)
    for place, (title, names) in zip(places.flat, panels.items(), strict=False):
        scale = MB if title.endswith("MB") else 1
        for name in names:
            points = [(one[axis], one[name] / scale) for one in samples if name in one]
            if points:
                place.plot(*zip(*points, strict=True), label=name)
        place.set(title=title, xlabel=axis, ylim=(0, None))
        place.grid(alpha=0.3)
        if place.lines:
            place.legend(fontsize=8)
    for place in list(places.flat)[len(panels) :]:
        place.remove()
    figure.tight_layout()
    figure.savefig(file, dpi=80)
    plots.close(figure)
