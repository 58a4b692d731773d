"""A progress bar on a terminal, and nothing anywhere else."""

import sys
import time
from contextlib import suppress
from typing import Any

from stream_lsh.cli.output.atomic_files import discard_stderr
from stream_lsh.cli.output.terminal import live_view

_EVERY_S = 0.2
_WIDTH = 30


class Progress:
    """The share of the input that has been read.

    Args:
        total: the number of bytes; 0 if it is unknown.
        shown: whether to show anything; it never is where standard error is no terminal.
        what: is counted.
    """

    def __init__(self, total: int, *, shown: bool, what: str = "documents") -> None:
        self._what = what
        self._total = total
        self._shown = shown and sys.stderr.isatty()
        self._next = time.monotonic() + _EVERY_S
        self._live: Any = None

    def update(self, position: int, documents: int) -> None:
        """Draw the bar, if it is time to."""
        if not self._shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY_S
        from rich.progress_bar import ProgressBar  # noqa: PLC0415 - for terminals only
        from rich.table import Table  # noqa: PLC0415

        line, count = Table.grid(padding=(0, 1)), f"{documents:,} {self._what}"
        if self._total:
            share = min(position / self._total, 1.0)
            line.add_row(ProgressBar(1.0, share, width=_WIDTH), f"{share:4.0%}", count)
        else:
            line.add_row(count)
        self._show(line)

    def say(self, message: str) -> None:
        """Replace the bar with the current activity."""
        if self._shown:
            self._show(message)

    def _show(self, line: Any) -> None:
        try:
            if self._live is None:
                self._live = live_view(sys.stderr)
            self._live.update(line, refresh=True)
        except OSError:  # the terminal was closed
            self._shown = False
            discard_stderr()

    def clear(self) -> None:
        """Wipe the bar away, before something else is written."""
        if self._live is not None:
            live, self._live = self._live, None
            with suppress(OSError):  # the terminal was closed
                live.stop()
