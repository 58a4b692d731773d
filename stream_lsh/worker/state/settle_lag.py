"""The bytes that wait for settle: the one worker that settles reports them, and all workers close their sources by it.

A report is repeated while it holds, and expires without a successor: a worker that died reports nothing any more.
"""

import time
from collections.abc import Callable

REPORT_SECONDS = 1.0
"""The period of the reports while many bytes wait."""
EXPIRY_SECONDS = 10.0
LEAST_BYTES = 1 << 20
"""Fewer bytes count as none: they delay no source, and an idle pipeline reports nothing."""


class SettleLag:
    """The bytes that wait for settle of one pipeline, as reported or received by this worker.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._received: tuple[int, float] = 0, 0.0
        self._reported = 0

    def receive(self, size: int) -> None:
        """Store a report of the worker that settles."""
        self._received = size, self._clock()

    @property
    def size(self) -> int:
        """The bytes of the last report; 0 once it has expired."""
        size, at = self._received
        return size if self._clock() - at < EXPIRY_SECONDS else 0

    def report(self, size: int) -> int | None:
        """The report that the settling worker sends now, if this number of bytes wait; None for no report."""
        before, self._reported = self._reported, size if size >= LEAST_BYTES else 0
        return self._reported if before or self._reported else None
