"""Cluster identity: components get an id when they form and keep it while they live.

- A new cluster takes the id of its oldest member's document; if a live cluster has that id, or one was closed under it
  whose members have not all expired yet, then that id, `~` and the edges offset, again until it is free.
- In a merge the id of the older cluster stays (by the edges offset at which it was made).
- In a split the largest part keeps the id; among equals the one with the smallest document id.

So ids are a function of the order of edges, which every replay repeats.
"""

from typing import Protocol

from stream_lsh.ledger.changes import ClosedState, ClusterState
from stream_lsh.retention import ExpiryQueue, Horizon

NEWEST_LISTED = 100
"""Members that a cluster event lists."""


class HeldIds(Protocol):
    """What a describer keeps with a cluster: it hears of members that come and go, and ends where many do at once."""

    def put_in(self, slot: int) -> None:
        """A member more, or one in another version."""

    def take_out(self, slot: int) -> None:
        """A member less; its version is still the one that was put in."""


class Cluster(list[int]):
    """A component with an id: the slots of its members, in ascending order of event time, then id.

    `kept` is what whoever tells of clusters keeps with it.
    """

    __slots__ = ("created", "id", "kept")

    def __init__(self, id: str, created: int, members: list[int]) -> None:
        super().__init__(members)
        self.id = id
        self.created = created
        self.kept: HeldIds | None = None

    def become(self, members: list[int]) -> None:
        """These are the members now, in order."""
        if members is not self:
            self[:] = members
            self.kept = None

    def state(self) -> ClusterState:
        """The cluster as a row of the changelog; its members are in the rows of the nodes."""
        return ClusterState(self.id, self.created)


NOWHERE = Cluster("", -1, [])
"""Where a document is before it is in a cluster, and when it is gone."""


class ClusterIds:
    """Which ids are taken: by live clusters, or by closed ones whose members could still be remembered."""

    def __init__(self) -> None:
        self.live: dict[str, Cluster] = {}
        self.closed: dict[str, ClosedState] = {}
        self._queue = ExpiryQueue()

    def open(self, oldest: str, members: list[int], offset: int) -> Cluster:
        """A new cluster of these members, in order, under a free id."""
        id = oldest
        while id in self.live or id in self.closed:
            id = f"{id}~{offset}"
        cluster = self.live[id] = Cluster(id, offset, members)
        return cluster

    def retire(self, id: str, time_ms: int, ref: int) -> ClosedState:
        """Keep an id from being used again until the horizon passes its newest member."""
        self.live.pop(id, None)
        state = ClosedState(id, time_ms, ref)
        self.restore_closed(state)
        return state

    def restore_closed(self, state: ClosedState) -> None:
        """Recovery: an id that was closed."""
        self.closed[state.id] = state
        self._queue.push(state.id, state.time_ms, state.ref)

    def expire(self, horizon: Horizon) -> None:
        """Free the ids that the horizon has passed."""
        for id in self._queue.pop_due(horizon):
            del self.closed[id]


def older(left: Cluster, right: Cluster) -> tuple[Cluster, Cluster]:
    """Both clusters, the one whose id stays first."""
    return (left, right) if (left.created, left.id) <= (right.created, right.id) else (right, left)
