"""A progress bar on a terminal, and nothing anywhere else."""

import sys
import time

_EVERY_S = 0.2
_WIDTH = 30


class Progress:
    """How much has been read.

    Args:
        total: bytes there are; 0 where that is not known.
        shown: whether to show anything; it never is where standard error is no terminal.
        what: is counted.
    """

    def __init__(self, total: int, *, shown: bool, what: str = "documents") -> None:
        self._what = what
        self._total = total
        self._shown = shown and sys.stderr.isatty()
        self._next = time.monotonic() + _EVERY_S
        self._drawn = False

    def update(self, position: int, documents: int) -> None:
        """Draw the bar, if it is time to."""
        if not self._shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY_S
        self._drawn = True
        share = min(position / self._total, 1.0) if self._total else 0.0
        bar = f"[{'#' * int(share * _WIDTH):<{_WIDTH}}] {share:4.0%} " if self._total else ""
        sys.stderr.write(f"\r{bar}{documents:,} {self._what}")
        sys.stderr.flush()

    def say(self, words: str) -> None:
        """Say what is done now, in place of the bar."""
        if self._shown:
            sys.stderr.write(f"\r\033[K{words}")
            sys.stderr.flush()
            self._drawn = True

    def clear(self) -> None:
        """Wipe the bar away, before something else is written."""
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._drawn = False
