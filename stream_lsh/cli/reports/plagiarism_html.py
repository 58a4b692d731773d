"""Copied passages side by side, as a page: one file of HTML, without scripts, light or dark as its reader has it."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from stream_lsh.applications.partial_copies import PartialCopy
from stream_lsh.controls import CONTROLS_IN_TEXT
from stream_lsh.markup.page import END, encoded, head
from stream_lsh.text.passages.copied import Copied

_CONTEXT = 240
"""Characters that are shown before and behind a passage."""
_HUES = 6

_STYLE = """
.cut { color: var(--muted); }
a.number { font-size: .75rem; font-weight: 600; text-decoration: none; color: inherit; padding-right: .25rem; }
mark:target { outline: 2px solid currentColor; }
.h0 { background: #ffe8a3; } .h1 { background: #cfe5ff; } .h2 { background: #d5f0d0; } .h3 { background: #fbd9e5; }
.h4 { background: #e5dcfb; } .h5 { background: #ffdcc2; }
@media screen and (prefers-color-scheme: dark) {
  .h0 { background: #574500; } .h1 { background: #0d3a6b; } .h2 { background: #1c4a1e; } .h3 { background: #5e1f3a; }
  .h4 { background: #3f2f6b; } .h5 { background: #653414; }
}"""


class PairReport(NamedTuple):
    """A pair, both texts, and the passages that they share."""

    pair: PartialCopy
    left: str
    right: str
    passages: Sequence[Copied]


class _Mark(NamedTuple):
    """A passage as it lies in one text, and its number."""

    start: int
    end: int
    number: int


def page(copies: Sequence[PairReport], count: int, *, full: bool) -> Iterator[bytes]:
    """The lines of the page.

    Args:
        copies: the pairs to show, in this order.
        count: how many pairs there are.
        full: leave nothing out between passages.
    """
    return encoded(_parts(copies, count, full=full))


def _parts(copies: Sequence[PairReport], count: int, *, full: bool) -> Iterator[str]:
    title = f"{count:,} pair{'s' * (count != 1)} of texts with passages in common"
    yield from head(title, _STYLE)
    if len(copies) < count:
        yield f"<p>Shown are the {len(copies):,} with the greatest shares.</p>"
    if copies:
        yield from _table(copies)
    for number, copy in enumerate(copies, 1):
        yield from _section(number, copy, full=full)
    yield END


def _table(copies: Sequence[PairReport]) -> Iterator[str]:
    yield '<table>\n<tr><th class="number">#</th><th class="number">share</th><th>of</th><th class="number">share</th>'
    yield '<th>of</th><th class="number">passages</th></tr>'
    for number, (pair, _, _, passages) in enumerate(copies, 1):
        yield (
            f'<tr><td class="number"><a href="#pair{number}">{number}</a></td>'
            f'<td class="number">{pair.left_share:.0%}</td><td>{_shown(pair.left)}</td>'
            f'<td class="number">{pair.right_share:.0%}</td><td>{_shown(pair.right)}</td>'
            f'<td class="number">{len(passages):,}</td></tr>'
        )
    yield "</table>"


def _section(number: int, copy: PairReport, *, full: bool) -> Iterator[str]:
    pair = copy.pair
    yield f'<h2 id="pair{number}">{number}. {_shown(pair.left)} and {_shown(pair.right)}</h2>'
    origin = "" if pair.source is None else f" Both texts copied from {_shown(pair.source)}."
    yield f"<p>Both texts have {pair.shared:,} of the shingles that count.{origin}</p>"
    sides = (
        (("l", "r"), pair.left, pair.left_share, pair.left_shingles, copy.left, 0),
        (("r", "l"), pair.right, pair.right_share, pair.right_shingles, copy.right, 2),
    )
    yield '<div class="sides">'
    for letters, id, share, shingles, text, at in sides:
        marks = [_Mark(passage[at], passage[at + 1], place) for place, passage in enumerate(copy.passages, 1)]
        yield f"<div><h3>{_shown(id)}: {share:.0%} of {shingles:,}</h3>"
        yield f'<div class="text">{"".join(_marked(text, marks, number, letters, full=full))}</div></div>'
    yield "</div>"


def _marked(text: str, marks: Sequence[_Mark], pair: int, sides: tuple[str, str], *, full: bool) -> Iterator[str]:
    """A text with its passages marked, each a link to where it lies in the other text.

    Args:
        text: of one side.
        marks: its passages.
        pair: the number of the pair, for names of places.
        sides: letters of this side and of the other one, for the same.
        full: leave nothing out.
    """
    side, other = sides
    at = 0
    for begin, end, number in sorted(marks):
        start = max(begin, at)  # passages may overlap where a part of one lies in another one
        if start >= end:
            continue
        yield _between(text[at:start], first=not at, full=full)
        yield (
            f'<mark id="{side}{pair}-{number}" class="h{number % _HUES}">'
            f'<a class="number" href="#{other}{pair}-{number}">{number}</a>{_shown(text[start:end])}</mark>'
        )
        at = end
    yield _between(text[at:], first=not at, last=True, full=full)


def _between(text: str, *, first: bool, full: bool, last: bool = False) -> str:
    """Text between two passages, shortened."""
    head, tail = 0 if first else _CONTEXT, 0 if last else _CONTEXT
    if first and last:
        head = _CONTEXT
    left_out = len(text) - head - tail
    if full or left_out <= _CONTEXT:
        return _shown(text)
    cut = f'<span class="cut"> [… {left_out:,} characters …] </span>'
    return f"{_shown(text[:head])}{cut}{_shown(text[len(text) - tail :])}"


def _shown(text: str) -> str:
    return escape(text.replace("\r\n", "\n").translate(CONTROLS_IN_TEXT))
