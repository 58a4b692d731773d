"""Bars as inline SVG, in tables: readable on any width and by a screen reader, light and dark, with or without a style.

The numbers stand beside the bars, so that no information is in a picture or a colour alone.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.markup.texts import line
from stream_lsh.markup.waterfall import WIDTH as STEPS_WIDTH
from stream_lsh.markup.waterfall import bars

BLUE, ORANGE, GREY = "#2f81d6", "#c2691b", "#818b98"
"""Colours with enough contrast on white and on black."""
_WIDTH, _HEIGHT = 200, 10
_MOST_BINS = 25


def edges_of(values: F64, marks: Sequence[float], most: int = _MOST_BINS) -> F64:
    """The lower edges of bins of equal, round width that hold some values; every mark is an edge as well.

    Args:
        values: float64[n], n > 0.
        marks: thresholds.
        most: bins, besides those that marks split.

    Example:
        >>> edges_of(np.array([0.82, 0.97, 1.0]), [0.8], 5).tolist()
        [0.8, 0.85, 0.9, 0.95, 1.0]
    """
    low, high = min((float(values.min()), *marks)), max((float(values.max()), *marks))
    power = 10.0 ** math.floor(math.log10(max((high - low) / most, 1e-6)))
    for width in (power * by for by in (1, 2, 5, 10)):
        first, last = math.floor(low / width + 1e-9), math.floor(high / width + 1e-9)
        if last - first < most:
            break
    grid = [round(number * width, 9) for number in range(first, last + 1)]
    return np.unique(np.array([*grid, *marks]))


def histogram(values: F64, marks: Mapping[float, str], caption: str, most: int = _MOST_BINS) -> Iterator[str]:
    """The distribution of some values, with thresholds marked.

    Args:
        values: float64[n].
        marks: the names of the thresholds.
        caption: of the table, unescaped.
        most: as for `edges_of`.
    """
    if not values.size:
        return
    edges = edges_of(values, [*marks], most)
    # The first edge is rounded, so the least value may lie below it by a rounding error.
    places = np.maximum(np.searchsorted(edges, values, side="right") - 1, 0)
    counts = np.bincount(places, minlength=edges.size).tolist()
    digits = max((_decimals(edge) for edge in edges.tolist() if edge not in marks), default=0)
    names = [_number(edge, digits + 2 * (_decimals(edge) > digits)) for edge in edges.tolist()]
    longest = math.log1p(max(counts))
    first = min(int(np.argmax(np.array(counts) > 0)), int(np.argmax(np.isin(edges, [*marks]))) if marks else edges.size)
    yield f'<table class="chart"><caption>{escape(caption)}</caption><tbody>'
    for at, count in [*enumerate(counts)][first:]:
        if edges[at] in marks:
            yield f'<tr class="threshold"><th scope="rowgroup" colspan="3">{escape(marks[edges[at]])}</th></tr>'
        above = " and above" if values.max() > edges[-1] else ""
        ends = f" to {names[at + 1]}" if at + 1 < edges.size else above
        yield (
            f'<tr><th scope="row" class="number">{names[at]}{ends}</th>'
            f'<td class="bar">{bar(math.log1p(count) / longest)}</td><td class="number">{count:,}</td></tr>'
        )
    yield "</tbody></table>"


def bar(share: float, colour: str = BLUE) -> str:
    """A bar from the left.

    Example:
        >>> bar(0.5)  # doctest: +ELLIPSIS
        '<svg width="200" ...><rect x="0" width="100.0" height="10" fill="#2f81d6"/></svg>'
    """
    return _drawn([(0, _WIDTH * share, colour)], _WIDTH)


def signed_bar(value: float, reach: float) -> str:
    """A bar from the middle: to the right for a positive value, to the left for a negative one.

    Args:
        value: any.
        reach: the value that fills a side, above 0.
    """
    half = _WIDTH / 2
    length = half * min(1.0, abs(value) / reach)
    return _drawn([(half - length if value < 0 else half, length, ORANGE if value < 0 else BLUE)], _WIDTH)


def steps(
    rows: Sequence[tuple[str, str, float, bool]], columns: Sequence[str], total: tuple[str, float]
) -> Iterator[str]:
    """A waterfall: bars that start where the bar above ends, and the total.

    Args:
        rows: an escaped name, escaped cells between name and bar, the amount, and whether there is one.
        columns: the names of all columns, unescaped.
        total: its name, unescaped, and its amount.
    """
    amounts = [row[2] for row in rows]
    *drawn, whole = bars([*amounts, -sum(amounts)])  # the last step leads back to 0
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    yield f'<table class="steps"><thead><tr>{heads}</tr></thead><tbody>'
    for (name, cells, amount, known), (start, width) in zip(rows, drawn, strict=True):
        colour = ORANGE if amount < 0 else BLUE
        yield (
            f'<tr><th scope="row" class="name">{name}</th>{cells}'
            f'<td class="bar">{_drawn([(start, width, colour)], STEPS_WIDTH) if known else ""}</td>'
            f'<td class="number amount">{signed(amount) if known else ""}</td></tr>'
        )
    name, amount = total
    empty = "<td></td>" * (len(columns) - 3)
    yield (
        f'<tr><th scope="row" class="name"><strong>{escape(name)}</strong></th>{empty}'
        f'<td class="bar">{_drawn([(*whole, GREY)], STEPS_WIDTH)}</td>'
        f'<td class="number amount"><strong>{signed(amount)}</strong></td></tr></tbody></table>'
    )


def signed(value: float) -> str:
    """A number with its sign and two decimals.

    Example:
        >>> signed(4.476), signed(-2.25), signed(0)
        ('+4.48', '−2.25', '0.00')
    """
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


def weights(named: Mapping[str, float], prior: float) -> Iterator[str]:
    """The waterfall of a score: the prior, the weight of each comparison in bits, the total."""
    rows = [("prior", "", prior, True), *((line(name, 60), "", amount, True) for name, amount in named.items())]
    yield from steps(rows, ("field", "evidence", "bits"), ("total", prior + sum(named.values())))


def _drawn(parts: Sequence[tuple[float, float, str]], width: int) -> str:
    rects = "".join(
        f'<rect x="{start:.4g}" width="{max(length, 0.5):.1f}" height="{_HEIGHT}" fill="{colour}"/>'
        for start, length, colour in parts
        if length
    )
    return (
        f'<svg width="{width}" height="{_HEIGHT}" viewBox="0 0 {width} {_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true">{rects}</svg>'
    )


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _decimals(number: float) -> int:
    """The digits behind the point of a number, 4 at most."""
    return next((digits for digits in range(4) if round(number, digits) == round(number, 9)), 4)
