"""Lines that scroll over a line of status; only lines where nobody watches."""

import os
import shutil
import time

from stream_lsh.cli.outputs import STDOUT, Output

_GREEN, _YELLOW, _DIM = "32", "33", "2"
COLOURS = {"new": _GREEN, "gone": _YELLOW, "dim": _DIM}

_STATUS_EVERY_S = 0.2
_WIPE = b"\r\033[K"


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

    @property
    def closed(self) -> bool:
        """Whether the reader has had enough."""
        return self._out.closed_by_reader

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

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.clear()
        self._out.close()


def clipped(text: str, width: int) -> str:
    """The text in at most so many columns.

    Example:
        >>> clipped("newswire/module-heapq", 12)
        'newswire/mo…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"
