"""The S-curve on a terminal: dots of braille, or plain characters where the terminal has no others."""

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.lsh.solver import Banding

HEIGHT = 10
"""Lines of the plot."""
_AXIS = 5
"""Columns to the left of the plot."""
_LEAST, _MOST = 30, 72
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a cell of braille, by line and column."""
_NO_BRAILLE = ("dumb", "linux")
"""Terminals without the characters: TERM as it is set there."""


class _Signs(NamedTuple):
    """Characters of the axes and of the threshold, and the dots of a cell across and down."""

    side: str
    tick: str
    corner: str
    foot: str
    mark: str
    threshold: str
    across: int
    down: int


_BRAILLE = _Signs("│", "┤", "└", "─", "┴", "┊", 2, 4)
_PLAIN = _Signs("|", "+", "+", "-", "+", ":", 1, 1)


def has_braille() -> bool:
    """Whether standard output can show braille, by its encoding and by TERM."""
    try:
        "⣿┊".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return os.environ.get("TERM") not in _NO_BRAILLE


def drawn(banding: Banding, width: int, *, braille: bool) -> Iterator[str]:
    """The curve, with the threshold as a vertical line, and the legend below.

    Args:
        banding: bands, rows and threshold.
        width: columns.
        braille: whether the terminal can show braille.

    Example:
        >>> from stream_lsh.lsh.solver import choose_banding
        >>> for line in drawn(choose_banding(0.8), 36, braille=False):
        ...     print(line)
         1.0 +                     *********
             |                    *   :
             |                   *    :
             |                   *    :
         0.5 +                  *     :
             |                 *      :
             |                *       :
             |               *        :
             |             **         :
         0.0 +*************           :
             +--------------+--------------+
              0            0.5             1
    """
    signs = _BRAILLE if braille else _PLAIN
    columns = min(max(width - _AXIS - 1, _LEAST), _MOST)
    plot = _plot(banding, columns, signs)
    at = min(int(banding.threshold * columns), columns - 1)
    labels = {0: "1.0", HEIGHT // 2 - 1: "0.5", HEIGHT - 1: "0.0"}
    for number, line in enumerate(plot):
        if line[at] == " ":
            line[at] = signs.threshold
        label = labels.get(number, "")
        yield f"{label:>{_AXIS - 1}} {signs.tick if label else signs.side}{''.join(line)}".rstrip()
    half = columns // 2
    foot = [signs.foot * (half - 1), signs.foot * (columns - half - 1), ""]
    yield f"{'':{_AXIS}}{signs.corner}{signs.mark.join(foot)}"
    yield f"{'':{_AXIS}} 0{'0.5':^{columns - 3}} 1"


def _plot(banding: Banding, columns: int, signs: _Signs) -> list[list[str]]:
    across, down = columns * signs.across, HEIGHT * signs.down
    places = (np.arange(across) + 0.5) / across
    curve = candidate_probability(places, banding.bands, banding.rows)
    heights = np.minimum((curve * down).astype(np.int64), down - 1)
    cells = np.zeros((HEIGHT, columns), np.int64)
    before = int(heights[0])
    for place, height in enumerate(heights.tolist()):
        for dot in range(min(before + 1, height), height + 1):  # no gap where it is steep
            line, within = divmod(down - 1 - dot, signs.down)
            column, side = divmod(place, signs.across)
            cells[line, column] |= _DOTS[within][side]
        before = height
    return [
        [" " if not bits else chr(0x2800 + bits) if signs is _BRAILLE else "*" for bits in line]
        for line in cells.tolist()
    ]
