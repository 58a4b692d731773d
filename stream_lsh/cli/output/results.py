"""The result of a run: the pairs and clusters that the settled frames add up to.

With a retention, a document that expires leaves the ledger, so that the memory of a stream stays flat.  The result of a
file keeps its pairs and its place in its cluster: a file has an end, and its result covers all of it.
"""

from collections.abc import Iterable, Iterator

from stream_lsh.ledger.changes import MatchChange, MemberChange, Settled
from stream_lsh.model import Cluster

_EXPIRED = "expired"


class Answers:
    """Adds up settled frames.

    Example:
        >>> answers = Answers()
        >>> pair = MatchChange("a", "b", 1.0, 3, 3)
        >>> members = [MemberChange("a", "a", 1.0, 5), MemberChange("b", "a", 1.0, 7)]
        >>> answers.add(members=members, matches=[pair])
        >>> answers.add(members=[MemberChange("a", reason="expired")])
        >>> [(pair.left, pair.right) for pair in answers.matches()], list(answers.clusters())
        ([('a', 'b')], [Cluster(id='a', members=('b', 'a'))])
    """

    def __init__(self) -> None:
        self._matches: dict[tuple[str, str], MatchChange] = {}
        self._members: dict[str, MemberChange] = {}
        self._merged: dict[str, str] = {}

    def __len__(self) -> int:
        """Pairs."""
        return len(self._matches)

    def settled(self, frames: Iterable[Settled]) -> None:
        """Apply the changes of settled frames, in their order."""
        for frame in frames:
            for cluster in frame.clusters:
                if cluster.event is not None:
                    self._merged.pop(cluster.id, None)
            self.add(frame.matches, frame.members)
            for cluster in frame.clusters:
                if cluster.merged_into is not None:
                    self._merged[cluster.id] = cluster.merged_into

    def add(self, matches: Iterable[MatchChange] = (), members: Iterable[MemberChange] = ()) -> None:
        """Apply changes of pairs and of memberships."""
        for match in matches:
            if match.similarity is not None:
                self._matches[match.left, match.right] = match
            else:
                self._matches.pop((match.left, match.right), None)
        for member in members:
            if member.cluster is not None:
                self._members[member.id] = member
            elif member.reason != _EXPIRED:
                self._members.pop(member.id, None)

    def matches(self) -> Iterator[MatchChange]:
        """The pairs, ascending."""
        return (self._matches[key] for key in sorted(self._matches))

    def member(self, id: str) -> MemberChange:
        """The membership of a document that is in a cluster."""
        return self._members[id]

    def clusters(self) -> Iterator[Cluster]:
        """The clusters, ascending by id, members newest first."""
        grouped: dict[str, list[tuple[int, str]]] = {}
        for member in self._members.values():
            if member.cluster is not None:
                grouped.setdefault(self._now(member.cluster), []).append((member.time_ms, member.id))
        for id in sorted(grouped):
            yield Cluster(id, tuple(member for _, member in sorted(grouped[id], reverse=True)))

    def _now(self, cluster: str) -> str:
        """The cluster that a cluster has been merged into, in the end."""
        while cluster in self._merged:
            cluster = self._merged[cluster]
        return cluster
