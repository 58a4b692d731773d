"""Sources wait while the worker has enough to do.

Fault (faust-streaming 0.15.3): nothing bounds what lies in the topics between the agents.  A source is read as fast as
its own agent goes, however far behind the others are.

So the source's partitions are closed, in the consumer, while too many bytes are under way.  What was fetched before
still comes.  What is to be read of the internal topics meanwhile, `holding.py` sees to.

Delete when: the engine has a bound for what is under way.
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
        consumer: gives the app's consumer, which is made anew with every start.
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
        """Say how many bytes are under way between the agents; costs nothing unless a limit is crossed."""
        if not self.closed and bytes_under_way > self._high:
            await self.close()
        elif self.closed and bytes_under_way < self._low:
            await self.open()

    async def close(self) -> None:
        """Fetch nothing more from the sources, after a rebalance neither."""
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
