"""Cluster identity: components get an id when they form and keep it while they live.

- A new cluster takes the id of its oldest member's document.  If a live cluster has that id, or a closed one whose
  members have not all expired, it appends `~` and the edges offset until the id is free.
- In a merge the id of the older cluster stays (by the edges offset at which it was created).
- In a split the largest part keeps the id; among equals, the part with the smallest document id.

So ids are a function of the order of edges, which every replay repeats.
"""

from collections.abc import Sequence
from typing import Protocol

from stream_lsh.ledger.changes import ClosedState, ClusterState
from stream_lsh.ledger.clusters.listed import Listed
from stream_lsh.retention import ExpiryQueue, Horizon

NEWEST_LISTED = 100
"""The most members that a cluster event lists."""


_LISTED_FROM = 16
"""The ids of the newest members are kept for clusters from this size on: smaller ones are not worth the memory."""


class DescriberState(Protocol):
    """State that a describer caches in a cluster: updated member by member, dropped after many changes at once."""

    def put_in(self, slot: int) -> None:
        """Add a member, or a member in another version."""

    def take_out(self, slot: int) -> None:
        """Remove a member; its version is still the added one."""


class Cluster(list[int]):
    """A component with an id: the slots of its members, in ascending order of event time, then id.

    `describer_state` is None if nothing is cached.  `listed` are the ids of its newest members, newest first, as
    of `listed_size` members; None after any change but newer members.
    """

    __slots__ = ("created", "describer_state", "id", "listed", "listed_size")

    def __init__(self, id: str, created: int, members: list[int]) -> None:
        super().__init__(members)
        self.id = id
        self.created = created
        self.describer_state: DescriberState | None = None
        self.listed: Listed | None = None
        self.listed_size = 0

    def newest(self, ids: Sequence[str]) -> Sequence[str]:
        """The ids of the newest members, newest first, at most `NEWEST_LISTED`; `ids` are those of all slots.

        Cost: O(members that are new since the last call) and a copy of bytes, unless other members have changed.
        """
        size, listed = len(self), self.listed
        if size < _LISTED_FROM:
            return tuple([ids[slot] for slot in reversed(self)])
        joined = NEWEST_LISTED if listed is None else min(size - self.listed_size, NEWEST_LISTED)
        newest = [ids[self[-1]]] if joined == 1 else [ids[slot] for slot in self[: -joined - 1 : -1]]
        try:
            if listed is None or joined == NEWEST_LISTED:
                listed = Listed.of(newest)
            elif joined:
                listed = listed.newer(newest, NEWEST_LISTED)
        except ValueError:
            self.listed = None
            return tuple([ids[slot] for slot in self[: -NEWEST_LISTED - 1 : -1]])
        self.listed, self.listed_size = listed, size
        return listed

    def become(self, members: list[int]) -> None:
        """Replace the members, given in order."""
        if members is not self:
            self[:] = members
            self.describer_state = None
        self.listed = None

    def state(self) -> ClusterState:
        """The cluster as a row of the changelog; its members are in the rows of the nodes."""
        return ClusterState(self.id, self.created)


NOWHERE = Cluster("", -1, [])
"""Stands for no cluster: before the first one of a document, and after its removal."""


class ClusterIds:
    """The taken ids: those of live clusters, and of closed ones whose members have not all expired."""

    def __init__(self) -> None:
        self.live: dict[str, Cluster] = {}
        self.closed: dict[str, ClosedState] = {}
        self._queue = ExpiryQueue()

    def open(self, oldest: str, members: list[int], offset: int) -> Cluster:
        """Open a cluster of these members, in order, under a free id."""
        id = oldest
        while id in self.live or id in self.closed:
            id = f"{id}~{offset}"
        cluster = self.live[id] = Cluster(id, offset, members)
        return cluster

    def close(self, id: str, time_ms: int, ref: int) -> ClosedState:
        """Close a cluster; its id stays reserved until the horizon passes its newest member."""
        self.live.pop(id, None)
        state = ClosedState(id, time_ms, ref)
        self.restore_closed(state)
        return state

    def restore_closed(self, state: ClosedState) -> None:
        """Restore a closed id during recovery."""
        self.closed[state.id] = state
        self._queue.push(state.id, state.time_ms, state.ref)

    def expire(self, horizon: Horizon) -> None:
        """Free the ids that the horizon has passed."""
        for id in self._queue.pop_due(horizon):
            del self.closed[id]


def older(left: Cluster, right: Cluster) -> tuple[Cluster, Cluster]:
    """Both clusters, the one whose id stays first."""
    return (left, right) if (left.created, left.id) <= (right.created, right.id) else (right, left)
