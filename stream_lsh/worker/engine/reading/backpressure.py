"""Sources wait while the worker has many bytes under way.

Fault (faust-streaming 0.15.3): nothing limits the bytes in the topics between the agents.  A source is read as fast as
its own agent runs, regardless of the lag of the others.

So the source's partitions are closed, in the consumer, while too many bytes are under way.  Records that were fetched
before are still delivered.  `per_partition_buffer.py` keeps them from blocking the internal topics meanwhile.

Delete when: the engine has a bound for the bytes under way.
"""

from collections.abc import Iterable
from typing import Any

HIGH_BYTES = 64 << 20
"""Close the sources above this many bytes under way."""
LOW_BYTES = 48 << 20
"""Open them again below this: not at every frame."""


class Backpressure:
    """Closes and opens the sources of one worker.

    Args:
        app: the engine; its consumer is replaced at every start.
        sources: the topics that wait.
        high_bytes: close above this many bytes under way.
        low_bytes: open below this.
    """

    def __init__(
        self, app: Any, sources: Iterable[str], *, high_bytes: int = HIGH_BYTES, low_bytes: int = LOW_BYTES
    ) -> None:
        self._app = app
        self._sources = frozenset(sources)
        self._high, self._low = high_bytes, low_bytes
        self.closed = False

    async def report(self, bytes_under_way: int) -> None:
        """Report the bytes under way between the agents; without effect unless a limit is crossed."""
        if not self.closed and bytes_under_way > self._high:
            await self.close()
        elif self.closed and bytes_under_way < self._low:
            await self.open()

    async def close(self) -> None:
        """Stop fetching from the sources, also after a rebalance."""
        self.closed = True
        await self._in_thread("hold")

    async def open(self) -> None:
        """Fetch from the sources again."""
        self.closed = False
        await self._in_thread("release")

    async def _in_thread(self, step: str) -> None:
        consumer = self._app.consumer
        thread = consumer._thread

        async def call() -> None:
            getattr(consumer.gate, step)(thread._ensure_consumer(), self._sources)

        await thread.call_thread(call)
