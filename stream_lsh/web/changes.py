"""Changes of a pipeline's results for browsers: their types, numbers and keys, at most two messages a second.

One subscription to the query API serves all open pages of a pipeline.  The messages carry no state: a page that gets
one requests its contents again, so a lost message loses nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from stream_lsh.web.source import Source

MOST_LISTENERS = 200
_MOST_KEYS = 50
_INTERVAL_S = 0.5
_COMMENT_S = 15.0
_AGAIN_S = 2.0
CONNECTED, LOST = b"event: connected\ndata:\n\n", b"event: lost\ndata:\n\n"
"""The workers report changes, or no longer do."""
COMMENT = b": no changes\n\n"


class Listener:
    """The changes that one page has not been sent yet; their size does not depend on their number."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._keys: dict[str, list[str]] = {}
        self._connected: bool | None = None
        self._more = asyncio.Event()
        self._ended = False

    def add(self, kind: str, key: str) -> None:
        """Count a change."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        keys = self._keys.setdefault(kind, [])
        if len(keys) <= _MOST_KEYS and key not in keys:
            keys.append(key)
        self._more.set()

    def set_connected(self, connected: bool) -> None:
        """Note whether the workers report changes."""
        self._connected = connected
        self._more.set()

    def end(self) -> None:
        """End the messages."""
        self._ended = True
        self._more.set()

    async def taken(self) -> bytes:
        """The next message; a comment after a time without any, and nothing at the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_COMMENT_S):
                await self._more.wait()
        if not self._more.is_set():
            return COMMENT
        if self._ended:
            return b""
        await asyncio.sleep(_INTERVAL_S)
        if not self._ended:
            self._more.clear()
        counts, self._counts = self._counts, {}
        keys, self._keys = self._keys, {}
        connected, self._connected = self._connected, None
        lines = b"" if connected is None else CONNECTED if connected else LOST
        return lines + (_message(counts, keys) if counts else b"")


def _message(counts: dict[str, int], keys: dict[str, list[str]]) -> bytes:
    """The changes; the keys of a type are left out if there are too many."""
    found = {
        kind: {"count": count, "keys": keys[kind] if len(keys[kind]) <= _MOST_KEYS else None}
        for kind, count in counts.items()
    }
    return b"event: changed\ndata: %b\n\n" % json.dumps(found).encode()


class _Feed:
    """The subscription of one pipeline, while it has listeners."""

    def __init__(self, source: Source, pipeline: str) -> None:
        self.listeners = set[Listener]()
        self.connected = False
        self.reading = asyncio.create_task(self._read(source, pipeline), name=f"changes of {pipeline}")

    async def _read(self, source: Source, pipeline: str) -> None:
        while True:
            async for kind, key in source.changes(pipeline):
                self._set_connected(True)
                for listener in self.listeners:
                    if kind:
                        listener.add(kind, key)
            self._set_connected(False)
            await asyncio.sleep(_AGAIN_S)

    def _set_connected(self, connected: bool) -> None:
        if connected != self.connected:
            self.connected = connected
            for listener in self.listeners:
                listener.set_connected(connected)


class Changes:
    """The changes of all pipelines.

    Args:
        source: the query API.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._feeds: dict[str, _Feed] = {}
        self._left = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether there are as many listeners as there may be."""
        return sum(len(feed.listeners) for feed in self._feeds.values()) >= MOST_LISTENERS

    @asynccontextmanager
    async def listening(self, pipeline: str) -> AsyncIterator[Listener]:
        """A listener of a pipeline; the last one to leave ends the subscription."""
        feed = self._feeds.get(pipeline) or self._feeds.setdefault(pipeline, _Feed(self._source, pipeline))
        listener = Listener()
        listener.set_connected(feed.connected)
        feed.listeners.add(listener)
        try:
            yield listener
        finally:
            feed.listeners.discard(listener)
            if not feed.listeners:
                self._feeds.pop(pipeline, None)
                feed.reading.cancel()
            self._left.set()

    async def end(self, seconds: float) -> None:
        """End all listeners, and return when they have left, or after a time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while listeners := [one for feed in self._feeds.values() for one in feed.listeners]:
                    for listener in listeners:
                        listener.end()
                    self._left.clear()
                    await self._left.wait()
