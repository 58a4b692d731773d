"""The picture of `peers`: what a call takes, and F1."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.records.peers_rows import CONTENDERS, DEDUPE, INDEXED, OURS, SPLINK, Latency, Quality

_COLOURS = {OURS: "orange", DEDUPE: "tab:green", SPLINK: "tab:blue"}


def draw(timed: Sequence[Latency], rows: Sequence[Quality], file: Path) -> None:
    """Draw what a call takes, with its quartiles, and F1 at each threshold."""
    importlib.import_module("matplotlib").use("Agg")
    plots = importlib.import_module("matplotlib.pyplot")
    figure, (left, right) = plots.subplots(1, 2, figsize=(16, 4.8), width_ratios=(1, 1.6))
    _draw_latency(timed, left)
    _draw_quality(rows, right)
    for place in (left, right):
        place.grid(alpha=0.3, axis="y")
        if place.patches:
            place.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.tight_layout()
    figure.savefig(file, dpi=80)
    plots.close(figure)


def _draw_latency(timed: Sequence[Latency], place: Any) -> None:
    calls = list(dict.fromkeys((row.corpus, row.call) for row in timed))
    for number, name in enumerate(CONTENDERS):
        own = [row for row in timed if row.contender == name]
        spread = [
            [row.median_ms - row.quartiles_ms[0] for row in own],
            [row.quartiles_ms[1] - row.median_ms for row in own],
        ]
        at = [calls.index((row.corpus, row.call)) + 0.22 * number - 0.33 for row in own]
        colour = _COLOURS[name.split()[0]]
        bars = place.bar(at, [row.median_ms for row in own], 0.2, yerr=spread, ecolor="grey", label=name, color=colour)
        place.bar_label(bars, fmt="%.2f", fontsize=8)
    place.set(title=f"one record against {INDEXED:,}, ms: median and quartiles")
    place.set_xticks(range(len(calls)), [f"{call}, {corpus}" for corpus, call in calls])


def _draw_quality(rows: Sequence[Quality], place: Any) -> None:
    names = list(dict.fromkeys(row.corpus for row in rows))
    for side, contender in enumerate((OURS, SPLINK)):
        own = [row for row in rows if row.contender == contender]
        for step, (key, alpha) in enumerate({"0.5": 0.45, "0.95": 1.0, "best": 0.2}.items()):
            at = [names.index(row.corpus) + 0.4 * side - 0.33 + 0.13 * step for row in own]
            label = f"{contender}, {'at its best threshold' if key == 'best' else f'p ≥ {key}'}"
            values = [row.at[key]["f1"] for row in own]
            bars = place.bar(at, values, 0.12, label=label, color=_COLOURS[contender], alpha=alpha)
            place.bar_label(bars, fmt="%.3f", fontsize=7, rotation=90, padding=2)
    place.set(title="F1 of pairs, nothing labelled", ylim=(0, 1.2))
    place.set_xticks(range(len(names)), names)
