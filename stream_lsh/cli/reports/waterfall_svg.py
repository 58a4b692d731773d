"""Why two records match, or do not, as a picture: bars from the prior to the total, each where the one before it ends.

A self-contained SVG, light or dark as its reader has it.
"""

import math
import textwrap
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from stream_lsh.cli.output.terminal import clipped, plain
from stream_lsh.cli.reports.waterfall import (
    Pair,
    amount,
    as_given,
    capitalised,
    found,
    shown,
    thresholds,
    title,
    total_text,
    without_values,
)
from stream_lsh.records.explained import PairEvidence, Verdict
from stream_lsh.records.steps import Step, level, rarity

WIDTH = 960
_MARGIN, _VALUES, _PLOT, _PLOT_END, _NUMBERS = 24, 232, 430, 836, 852
"""Left edges: of fields, of values, of the bars and their end, of numbers."""
_ROW, _BAR = 40, 16
_FIELD_COLUMNS, _LEVEL_COLUMNS, _VALUE_COLUMNS, _ID_COLUMNS, _LINE_COLUMNS = 25, 34, 26, 36, 140
_MOST_BLOCKS = 6
_LONGEST = 500
"""Characters of a value in a tooltip."""
_NO_XML = {0xFFFE: "\N{REPLACEMENT CHARACTER}", 0xFFFF: "\N{REPLACEMENT CHARACTER}"}
_STYLE = """\
text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; fill: #1f2328; }
.ground { fill: #ffffff; }
.title { font-size: 17px; font-weight: 600; }
.strong { font-weight: 600; }
.value { font: 12px ui-monospace, "SFMono-Regular", Menlo, "DejaVu Sans Mono", monospace; unicode-bidi: isolate; }
.id { unicode-bidi: isolate; }
.small { font-size: 11px; }
.muted { fill: #59636e; }
.for { fill: #1f6fc4; }
.against { fill: #b3550a; }
.whole { fill: #57606a; }
.rule { stroke: #d1d9e0; stroke-width: 1; }
.step { stroke: #818b98; stroke-width: 1; }
.threshold { stroke: #818b98; stroke-width: 1; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .ground { fill: #0d1117; }
  .muted { fill: #9198a1; }
  .for { fill: #5aa9ff; }
  .against { fill: #f29a4a; }
  .whole { fill: #8b949e; }
  .rule { stroke: #2a313c; }
  .step, .threshold { stroke: #6e7681; }
}"""


class _Row(NamedTuple):
    """A bar with its start, its end and its labels."""

    field: str
    start: float
    end: float
    number: str
    style: str
    step: Step | None = None
    note: str = ""


class _Scale(NamedTuple):
    """Maps totals to x coordinates."""

    least: float
    most: float

    def at(self, total: float) -> float:
        return _PLOT + (_PLOT_END - _PLOT) * (total - self.least) / (self.most - self.least)


def as_svg(pair: Pair) -> str:
    """The picture, as one text."""
    evidence = pair.evidence
    rows, lines = _rows(evidence), _head(pair)
    scale = _scale(evidence, rows)
    top = 62 + 17 * len(lines)
    bottom = top + 40 + _ROW * len(rows)
    notes = _wrapped(_notes(evidence))
    height = bottom + 36 + 17 * len(notes) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        ' role="img">',
        f"<title>{_safe(title(pair))}</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        f'<text x="{_MARGIN}" y="34" class="title">{" and ".join(map(_id, pair.ids))}</text>',
        *(_text(_MARGIN, 58 + 17 * at, text, style) for at, (text, style) in enumerate(lines)),
        *_axis(evidence, scale, top, bottom),
        *(_text(_VALUES, top + 18 + 14 * at, clipped(plain(id), _VALUE_COLUMNS), "value muted")
          for at, id in enumerate(pair.ids)),
        *_bars(rows, scale, top + 40),
        *(_text(_MARGIN, bottom + 40 + 17 * at, text, "muted") for at, text in enumerate(notes)),
        "</svg>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _rows(evidence: PairEvidence) -> list[_Row]:
    """The prior, the comparisons for which one of the two has a value, the total."""
    at = evidence.prior
    rows = [_Row("prior", 0.0, at, amount(evidence, at), _style(at))] if evidence.learned else []
    for step in evidence.steps:
        if any(step.values):
            number = "" if step.missing else amount(evidence, step.adds)
            note = rarity(step) if evidence.learned or step.missing else f"of {amount(evidence, step.most)}"
            rows.append(_Row(step.field, at, at + step.adds, number, _style(step.adds), step, note))
            at += step.adds
    return [*rows, _Row("total", 0.0, evidence.total, amount(evidence, evidence.total), "whole")]


def _style(adds: float) -> str:
    return "against" if adds < 0 else "for" if adds > 0 else "muted"


def _scale(evidence: PairEvidence, rows: list[_Row]) -> _Scale:
    if not evidence.learned:
        return _Scale(0.0, 1.0)
    shown = [0.0, *(row.end for row in rows), *(total for _, total in _thresholds(evidence))]
    room = 0.04 * (max(shown) - min(shown)) or 1.0
    return _Scale(min(shown) - room, max(shown) + room)


def _thresholds(evidence: PairEvidence) -> list[tuple[str, float]]:
    """Names and totals of the thresholds that have a place on the axis."""
    both = [("review", evidence.threshold(evidence.review)), ("match", evidence.threshold(evidence.match))]
    return [(name, total) for name, total in both if math.isfinite(total)]


# -- the parts, from top to bottom


def _head(pair: Pair) -> list[tuple[str, str]]:
    """Lines below the title, with their styles."""
    evidence = pair.evidence
    verdict = {Verdict.MATCH: "strong for", Verdict.NONE: "strong against"}.get(evidence.verdict, "strong")
    style = "muted" if evidence.compared else "strong against"
    return [
        (f"{capitalised(evidence.verdict)}: {total_text(evidence)}", verdict),
        *((line, style) for line in _wrapped(f"{capitalised(found(evidence, most=_MOST_BLOCKS))}.")),
    ]


def _notes(evidence: PairEvidence) -> str:
    nothing = without_values(evidence)
    ending = f" No value in either record: {', '.join(nothing)}." if nothing else ""
    return f"{capitalised(thresholds(evidence))}.{ending}"


def _axis(evidence: PairEvidence, scale: _Scale, top: float, bottom: float) -> Iterator[str]:
    """Numbers below, thresholds from above: the lower one is named at its left, the higher one at its right."""
    for total in _ticks(scale):
        x = scale.at(total)
        yield _line(x, top + 36, x, bottom, "rule")
        yield _text(x, bottom + 16, f"{total:g}", "small muted", "middle")
    yield _text(_NUMBERS, bottom + 16, "bits" if evidence.learned else "mean", "small muted")
    for name, total in _thresholds(evidence):
        x = scale.at(total)
        yield _line(x, top + 8, x, bottom, "threshold")
        left = name == "review"
        yield _text(x - 4 if left else x + 4, top + 16, name, "small muted", "end" if left else "start")


def _ticks(scale: _Scale) -> list[float]:
    """Some five to ten round numbers."""
    rough = (scale.most - scale.least) / 8
    power = 10.0 ** math.floor(math.log10(rough))
    size = next(power * by for by in (1, 2, 5, 10) if power * by >= rough)
    return [round(size * at, 9) for at in range(math.ceil(scale.least / size), math.floor(scale.most / size) + 1)]


def _bars(rows: list[_Row], scale: _Scale, top: float) -> Iterator[str]:
    for number, row in enumerate(rows):
        y = top + _ROW * number
        left, right = sorted((scale.at(row.start), scale.at(row.end)))
        yield "<g>"
        yield f"<title>{_safe(_tooltip(row))}</title>"
        yield _line(_MARGIN, y, WIDTH - _MARGIN, y, "rule")
        yield from _labels(row, y)
        if row.step is None or not row.step.missing:
            width = max(right - left, 1.5)
            yield (
                f'<rect class="{row.style} bar" x="{left:.2f}" y="{y + (_ROW - _BAR) / 2:g}" width="{width:.2f}"'
                f' height="{_BAR}" rx="1.5"/>'
            )
        if number + 1 < len(rows):
            x, drawn = scale.at(row.end), row.step is None or not row.step.missing
            start, end = (y + (_ROW + _BAR) / 2 if drawn else y + (_ROW - _BAR) / 2), y + _ROW + (_ROW - _BAR) / 2
            yield _line(x, start, x, end, "step")
        yield "</g>"


def _labels(row: _Row, y: float) -> Iterator[str]:
    """The labels on the left and on the right of a bar."""
    step = row.step
    if step is None:
        yield _text(_MARGIN, y + 25, row.field, "strong")
        yield _text(_NUMBERS, y + 25, row.number, "strong")
        return
    muted = " muted" if step.missing else ""
    yield _text(_MARGIN, y + 17, clipped(row.field, _FIELD_COLUMNS), f"strong{muted}")
    yield _text(
        _MARGIN,
        y + 32,
        clipped(level(step), _LEVEL_COLUMNS),
        "small muted",
    )
    for at, value in enumerate(step.values):
        yield _text(_VALUES, y + 17 + 15 * at, clipped(shown(value)[:_LONGEST], _VALUE_COLUMNS), f"value{muted}")
    yield _text(_NUMBERS, y + (17 if row.note else 25), row.number, f"strong {row.style}")
    if row.note:
        yield _text(_NUMBERS, y + 32, row.note, "small muted")


def _tooltip(row: _Row) -> str:
    """The tooltip of a row."""
    step = row.step
    if step is None:
        return f"{row.field}: {row.number}"
    lines = [f"{step.field}, {step.comparator}: {level(step)} {row.number} {row.note}".rstrip()]
    for value, raw_value in zip(step.values, as_given(step), strict=True):
        came = f", given as {raw_value[:_LONGEST]}" if raw_value else ""
        lines.append(f"{shown(value)[:_LONGEST]}{came}")
    if step.frequency:
        lines.append(f"{step.frequency.records:,} of {step.frequency.of:,} records have this value")
    return "\n".join(lines)


# -- elements


def _id(id: str) -> str:
    """An id of its own direction of writing, whatever stands beside it."""
    return f'<tspan class="id">{_safe(clipped(plain(id), _ID_COLUMNS))}</tspan>'


def _safe(text: str) -> str:
    """The text as XML has it, without what XML cannot have."""
    return "\n".join(escape(plain(line)).translate(_NO_XML) for line in text.split("\n"))


def _text(x: float, y: float, text: str, style: str, anchor: str = "") -> str:
    placed = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.6g}" y="{y:g}" class="{style}"{placed}>{_safe(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line class="{style}" x1="{x:.6g}" y1="{y:g}" x2="{to_x:.6g}" y2="{to_y:g}"/>'


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _LINE_COLUMNS, break_on_hyphens=False)
