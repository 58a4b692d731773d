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
    """

    def __init__(self, total: int, *, shown: bool) -> None:
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
        sys.stderr.write(f"\r{bar}{documents:,} documents")
        sys.stderr.flush()

    def clear(self) -> None:
        """Wipe the bar away, before something else is written."""
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._drawn = False
