"""Lines that scroll over a line of status, only lines where nobody watches; and a table that takes the whole screen."""

import os
import shutil
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from stream_lsh.cli.output.atomic_files import STDOUT, Output

_GREEN, _YELLOW, _DIM = "32", "33", "2"
COLOURS = {"new": _GREEN, "gone": _YELLOW, "dim": _DIM}

_STATUS_EVERY_S = 0.2
_WIPE = b"\r\033[K"
_HOME, _TO_LINE_END, _TO_SCREEN_END = "\033[H", "\033[K", "\033[J"
_OTHER_SCREEN, _BACK = "\033[?1049h\033[?25l\033[H", "\033[?25h\033[?1049l"  # and without the cursor
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    # what turns the direction of writing around, and what no terminal can be sent
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
"""For `str.translate`: what would move the cursor, or worse, made visible."""


class Screen:
    """Standard output, for people.

    On a terminal there is a line of status at the bottom, and colours unless NO_COLOR is set.

    Attributes:
        watched: whether it is a terminal.
        colours: whether there are colours.
    """

    def __init__(self) -> None:
        self._out = Output(STDOUT)
        self.watched = os.isatty(1) and os.environ.get("TERM") != "dumb"
        self.colours = self.watched and not os.environ.get("NO_COLOR")
        self._status = ""
        self._next = 0.0
        self._page: list[str] | None = None

    @property
    def closed(self) -> bool:
        """Whether the reader has had enough."""
        return self._out.closed_by_reader

    @property
    def height(self) -> int:
        """Lines that there are now."""
        return shutil.get_terminal_size().lines

    @property
    def width(self) -> int:
        """Columns that there are now."""
        return shutil.get_terminal_size().columns if self.watched else 100

    def line(self, text: str = "") -> None:
        """Write one line."""
        if self._status:
            os.write(1, _WIPE)
        self._out.write([text.encode("utf-8", "replace")])
        self._draw(self._status)

    def status(self, text: str) -> None:
        """Set the line of status, not more often than the eye follows."""
        if self.watched and time.monotonic() >= self._next:
            self._next = time.monotonic() + _STATUS_EVERY_S
            self._draw(text)

    def _draw(self, text: str) -> None:
        self._status = text
        if text:
            os.write(1, _WIPE + text[: self.width - 1].encode("utf-8", "replace"))

    def clear(self) -> None:
        """Take the line of status away."""
        if self._status:
            os.write(1, _WIPE)
            self._status = ""

    def coloured(self, text: str, colour: str) -> str:
        """The text in one of COLOURS, where there are colours."""
        return f"\033[{COLOURS[colour]}m{text}\033[0m" if self.colours and colour in COLOURS else text

    def page(self, lines: Sequence[str]) -> None:
        """Put lines on the whole screen, in place of what is there; `close` brings that back."""
        if lines != self._page:
            start = _OTHER_SCREEN if self._page is None else _HOME
            self._page = [*lines]
            self._write((start + (_TO_LINE_END + "\n").join(lines) + _TO_LINE_END + _TO_SCREEN_END).encode())

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.clear()
        if self._page is not None:
            self._write(_BACK.encode())
            self._page = None
        self._out.close()


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
    """The text in at most so many columns.

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
    """The text in exactly so many columns.

    Example:
        >>> padded("ab", 4), padded("abcdef", 4)
        ('ab  ', 'abc…')
    """
    text = clipped(text, width)
    return text + " " * (width - columns(text))
