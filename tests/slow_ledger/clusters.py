"""Cluster identity: components get an id when they form and keep it while they live.

- A new cluster takes the id of its oldest member's document; if a live cluster has that id, or one was closed under it
  whose members have not all expired yet, then that id, `~` and the edges offset, again until it is free.
- In a merge the id of the older cluster stays (by the edges offset at which it was made).
- In a split the largest part keeps the id; among equals the one with the smallest document id.

So ids are a function of the order of edges, which every replay repeats.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable

from stream_lsh.ledger.changes import ClosedState, ClusterChange, ClusterState
from stream_lsh.retention import ExpiryQueue, Horizon

NEWEST_LISTED = 100
"""Members that a cluster event lists."""


class Cluster:
    """A component with an id; `members` are (event time, id), ascending, so the oldest comes first."""

    __slots__ = ("created", "id", "members")

    def __init__(self, id: str, created: int, members: list[tuple[int, str]]) -> None:
        self.id = id
        self.created = created
        self.members = members

    def __len__(self) -> int:
        return len(self.members)

    def state(self) -> ClusterState:
        """The cluster as a row of the changelog; its members are in the rows of the nodes."""
        return ClusterState(self.id, self.created)

    def add(self, time_ms: int, id: str) -> None:
        """Put a member in."""
        insort(self.members, (time_ms, id))

    def remove(self, time_ms: int, id: str) -> None:
        """Take a member out that is in."""
        del self.members[bisect_left(self.members, (time_ms, id))]

    def absorb(self, other: "Cluster") -> None:
        """Take over all members of another cluster: one by one if they are few, else as a merge of two sorted runs."""
        if 16 * len(other) < len(self):
            for member in other.members:
                insort(self.members, member)
        else:
            self.members += other.members
            self.members.sort()

    def seen(self) -> ClusterChange:
        """What the public sees of the cluster, apart from what happened to it."""
        (first_time_ms, oldest), (last_time_ms, _) = self.members[0], self.members[-1]
        return ClusterChange(
            id=self.id,
            size=len(self.members),
            members=tuple(id for _, id in reversed(self.members[-NEWEST_LISTED:])),
            representative=oldest,
            first_time_ms=first_time_ms,
            last_time_ms=last_time_ms,
        )


class ClusterIds:
    """Which ids are taken: by live clusters, or by closed ones whose members could still be remembered."""

    def __init__(self) -> None:
        self.live: dict[str, Cluster] = {}
        self.closed: dict[str, ClosedState] = {}
        self._queue = ExpiryQueue()

    def open(self, members: Iterable[tuple[int, str]], offset: int) -> Cluster:
        """A new cluster of these (event time, id), under a free id."""
        ordered = sorted(members)
        id = ordered[0][1]
        while id in self.live or id in self.closed:
            id = f"{id}~{offset}"
        cluster = self.live[id] = Cluster(id, offset, ordered)
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


def older(one: Cluster, other: Cluster) -> tuple[Cluster, Cluster]:
    """Both clusters, the one whose id stays first."""
    return (one, other) if (one.created, one.id) <= (other.created, other.id) else (other, one)
