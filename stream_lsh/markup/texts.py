"""Untrusted texts as HTML: escaped, truncated, each with its own direction of writing."""

from collections.abc import Iterable, Iterator
from html import escape

from stream_lsh.controls import LONG, SHORT, one_line, whole_text

_CONTEXT = 400
"""Characters that are shown before the first difference of a long text."""


def line(text: object, most: int = SHORT) -> str:
    """A text on one line.

    Example:
        >>> line("<b>"), line("abcdef", 4)
        ('<bdi>&lt;b&gt;</bdi>', '<bdi>abc…</bdi>')
    """
    return f"<bdi>{escape(one_line(text, most))}</bdi>"


def lines(text: str, most: int = LONG) -> str:
    """A text with its lines, without an element around it."""
    return escape(whole_text(text, most))


def differences(text: str, passages: Iterable[tuple[int, int, bool]], most: int) -> Iterator[str]:
    """A text whose passages that the other text lacks are marked, `most` characters of it.

    Args:
        text: any.
        passages: start, end, and whether the other text has the passage; ascending, without overlaps.
        most: characters to show; they begin shortly before the first difference if that lies beyond them.

    Example:
        >>> "".join(differences("a b & c", [(0, 3, True), (4, 7, False)], 100))
        'a b <mark>&amp; c</mark>'
    """
    only_here = [(start, end) for start, end, shared in passages if not shared]
    first = only_here[0][0] if only_here else 0
    start = max(0, first - _CONTEXT) if first > most - _CONTEXT else 0
    end = min(len(text), start + most)
    if start:
        yield _left_out(start)
    at = start
    for begin, stop in ((max(begin, start), min(stop, end)) for begin, stop in only_here):
        if begin < stop:
            yield lines(text[at:begin])
            yield f"<mark>{lines(text[begin:stop])}</mark>"
            at = stop
    yield lines(text[at:end])
    if end < len(text):
        yield _left_out(len(text) - end)


def _left_out(characters: int) -> str:
    return f' <span class="muted">[… {characters:,} characters …]</span> '
