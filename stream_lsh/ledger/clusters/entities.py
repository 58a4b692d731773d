"""What a cluster of records tells: who is in it, from where, and the golden record that is made of all of them."""

from collections.abc import Callable, Sequence

from stream_lsh.ledger.changes import EntityTelling
from stream_lsh.ledger.clusters.ids import NEWEST_LISTED, Cluster
from stream_lsh.ledger.graph.nodes import Nodes

Golden = Callable[[Sequence[tuple[str, str, int, str]]], str]
"""From all members of a cluster, oldest first, each with its id, source, event time and fields as JSON, to one text."""


class _Told:
    """What a cluster told last, as long as it has the same members in the same versions."""

    __slots__ = ("telling",)

    def __init__(self, telling: EntityTelling) -> None:
        self.telling: EntityTelling | None = telling

    def put_in(self, slot: int) -> None:
        """A member more."""
        self.telling = None

    def take_out(self, slot: int) -> None:
        """A member less."""
        self.telling = None


class Entities:
    """Clusters are entities.

    Args:
        golden: of the members; a function of them alone.

    Guarantees:
        what is told is a function of the members, never of the order in which they came.
    Cost:
        `golden` over all members, once for each cluster and frame that changes it, and once more the first time after
        a start.  What was told last is kept with the cluster.

    Example:
        >>> entities = Entities(lambda members: members[0][3])
        >>> nodes = Nodes()
        >>> from stream_lsh.model import About
        >>> slots = [nodes.add(id, 1, 5, 0, About(f'{{"name":"{id}"}}', "crm")) for id in "ab"]
        >>> entities.telling(Cluster("a", 0, slots), nodes)
        EntityTelling(members=(('b', 'crm'), ('a', 'crm')), golden='{"name":"a"}')
    """

    def __init__(self, golden: Golden) -> None:
        self._golden = golden

    def representative(self, cluster: Cluster, nodes: Nodes) -> int:
        """The oldest member."""
        return cluster[0]

    def telling(self, cluster: Cluster, nodes: Nodes) -> EntityTelling:
        """What a cluster tells."""
        kept = cluster.kept
        if isinstance(kept, _Told) and kept.telling is not None:
            return kept.telling
        ids, times, abouts = nodes.ids, nodes.times, nodes.abouts
        newest = cluster[: -NEWEST_LISTED - 1 : -1]
        told = EntityTelling(
            members=tuple([(ids[slot], abouts[slot].source) for slot in newest]),
            golden=self._golden(
                [(ids[slot], abouts[slot].source, times[slot], abouts[slot].title) for slot in cluster]
            ),
        )
        cluster.kept = _Told(told)
        return told
