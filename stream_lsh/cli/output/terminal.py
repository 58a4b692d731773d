"""Standard output of interactive commands: lines, and on a terminal a status line or a view that fills the screen.

`rich` draws what changes in place.  It is loaded for terminals only, so that piped output neither waits for it nor
depends on it.
"""

import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.controls import CONTROLS

_GREEN, _YELLOW, _DIM = "32", "33", "2"
COLOURS = {"new": _GREEN, "gone": _YELLOW, "dim": _DIM}

_STATUS_EVERY_S = 0.2


class Screen:
    """Text output to a terminal, a pipe or a file.

    A terminal gets a status line at the bottom, and colours unless NO_COLOR is set.

    Args:
        path: the file; by default standard output.

    Attributes:
        watched: whether it is a terminal.
        colours: whether there are colours.
    """

    def __init__(self, path: str = STDOUT) -> None:
        self._out = Output(path)
        self.watched = path == STDOUT and os.isatty(1) and os.environ.get("TERM") != "dumb"
        self.colours = self.watched and not os.environ.get("NO_COLOR")
        self._next = 0.0
        self._live: Any = None

    @property
    def closed(self) -> bool:
        """Whether the reader has closed the output."""
        return self._out.closed_by_reader

    @property
    def width(self) -> int:
        """The current number of columns."""
        return shutil.get_terminal_size().columns if self.watched else 100

    def line(self, text: str = "") -> None:
        """Write one line, above the line of status."""
        if self._live is None:
            self._out.write([text.encode("utf-8", "replace")])
        else:
            from rich.text import Text  # noqa: PLC0415 - for terminals only

            self._live.console.print(Text.from_ansi(text), soft_wrap=True)

    def status(self, text: str) -> None:
        """Set the status line, at a rate that the eye can follow."""
        if self.watched and time.monotonic() >= self._next:
            self._next = time.monotonic() + _STATUS_EVERY_S
            self._show(clipped(text, self.width - 1), fills_screen=False)

    def page(self, view: Any) -> None:
        """Put a renderable of `rich` on the whole screen, in place of its contents; `close` restores them."""
        self._show(view, fills_screen=True)

    def _show(self, view: Any, *, fills_screen: bool) -> None:
        if self._live is None:
            self._live = live_view(sys.stdout, fills_screen=fills_screen)
        self._live.update(view, refresh=True)

    def clear(self) -> None:
        """Remove the status line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def coloured(self, text: str, colour: str) -> str:
        """The text in one of COLOURS, where there are colours."""
        return f"\033[{COLOURS[colour]}m{text}\033[0m" if self.colours and colour in COLOURS else text

    def finish(self) -> None:
        """The output is complete: a file gets its name."""
        self.clear()
        self._out.finish()

    def close(self) -> None:
        """Restore the terminal; an unfinished file is removed."""
        self.clear()
        self._out.close()


def live_view(stream: TextIO, *, fills_screen: bool = False) -> Any:
    """A started view of `rich` on a terminal, which changes on request, and is wiped away by `stop`.

    Args:
        stream: standard output or standard error.
        fills_screen: whether it replaces the screen, and brings it back at the end; else it is the last line.
    """
    from rich.console import Console  # noqa: PLC0415 - for terminals only
    from rich.live import Live  # noqa: PLC0415

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    view = Live(
        console=console,
        screen=fills_screen,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    view.start()
    if not fills_screen:
        console.show_cursor(True)  # a command that is killed leaves the terminal with its cursor
    return view


def plain(text: str) -> str:
    r"""The text on one line, with everything that would move the cursor, or worse, made visible.

    Example:
        >>> print(plain("a" + chr(10) + chr(27) + "[2Jb"))
        a\x0a\x1b[2Jb
    """
    return text.translate(CONTROLS)


def columns(text: str) -> int:
    """Columns that a text takes on a terminal.

    Example:
        >>> columns("news"), columns("新聞"), columns("e" + chr(0x301))
        (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def paragraphs(parts: Iterable[Iterable[str]]) -> Iterator[bytes]:
    """Lines of text as they are written, with an empty one between two parts.

    Example:
        >>> list(paragraphs([["a", "b"], ["c"]]))
        [b'a', b'b', b'', b'c']
    """
    for number, part in enumerate(parts):
        yield from (line.encode("utf-8", "replace") for line in (("", *part) if number else part))


def clipped(text: str, width: int) -> str:
    """The text cut to at most `width` columns.

    Example:
        >>> clipped("newswire/module-heapq", 12)
        'newswire/mo…'
    """
    if columns(text) <= width:
        return text
    taken = 0
    for at, character in enumerate(text):
        taken += _columns(character)
        if taken > width - 1:
            return text[:at] + "…"
    return text


def padded(text: str, width: int) -> str:
    """The text cut or padded to exactly `width` columns.

    Example:
        >>> padded("ab", 4), padded("abcdef", 4)
        ('ab  ', 'abc…')
    """
    text = clipped(text, width)
    return text + " " * (width - columns(text))
