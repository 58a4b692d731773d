"""The latest events of each cluster, since a process has settled the edges.

The topic of clusters is compacted, so it has the present state only.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.ledger.changes import ClusterChange

EVENTS_KEPT = 50
"""The newest events of a cluster that are kept."""
CLUSTERS_KEPT = 20_000
"""The clusters with the newest events that have a history: some 20 MB if each has five events."""


class ClusterEvent(NamedTuple):
    """A change of a cluster.

    `changes` in a row, of documents that joined, are one event; its time and size are those after the last of them.
    """

    time_ms: int
    event: str
    size: int
    changes: int = 1
    merged_from: tuple[str, ...] = ()
    split_from: str | None = None


class ClusterHistory:
    """The latest events of the clusters that changed last.

    Attributes:
        since_ms: the time of the first frame; None before it.

    Cost:
        some 1 us for each change of a cluster; bounded memory.
    """

    def __init__(self) -> None:
        self.since_ms: int | None = None
        self._events: dict[str, deque[ClusterEvent]] = {}

    def note(self, changes: Sequence[ClusterChange], time_ms: int) -> None:
        """Add the changes of a frame.

        Args:
            changes: as published.
            time_ms: when the frame was stored, in milliseconds since the epoch.
        """
        if self.since_ms is None:
            self.since_ms = time_ms
        for change in changes:
            events = self._events.pop(change.id, None)
            if change.event is None:
                continue
            events = deque[ClusterEvent](maxlen=EVENTS_KEPT) if events is None else events
            event = ClusterEvent(time_ms, change.event, change.size, 1, change.merged_from, change.split_from)
            if change.event == "joined" and events and events[-1].event == "joined":
                event = event._replace(changes=events.pop().changes + 1)
            events.append(event)
            self._events[change.id] = events  # the last one that changed is the last key
        while len(self._events) > CLUSTERS_KEPT:
            del self._events[next(iter(self._events))]

    def of(self, id: str) -> list[ClusterEvent]:
        """The events of a cluster, newest first; empty if none is known."""
        return [*reversed(self._events.get(id, ()))]
