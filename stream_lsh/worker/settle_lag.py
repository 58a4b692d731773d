"""How many bytes wait for settle: the one worker that settles reports it, and the sources of all workers wait by it.

A report is repeated while it holds, and expires where none follows it: a worker that died reports nothing any more.
"""

import time
from collections.abc import Callable

REPORT_SECONDS = 1.0
"""How often it is reported while much waits."""
EXPIRY_SECONDS = 10.0
LEAST_BYTES = 1 << 20
"""What is below counts as nothing: it delays no source, and an idle pipeline reports nothing."""


class SettleLag:
    """The bytes that wait for settle of one pipeline, as this worker reports them or learns of them.

    Args:
        clock: seconds of a clock that never falls.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._received: tuple[int, float] = 0, 0.0
        self._reported = 0

    def receive(self, size: int) -> None:
        """Take in a report of the worker that settles."""
        self._received = size, self._clock()

    @property
    def size(self) -> int:
        """Bytes, as last received; 0 once the report has expired."""
        size, at = self._received
        return size if self._clock() - at < EXPIRY_SECONDS else 0

    def report(self, size: int) -> int | None:
        """What the worker that settles reports now, where so many bytes wait; None for nothing."""
        before, self._reported = self._reported, size if size >= LEAST_BYTES else 0
        return self._reported if before or self._reported else None
