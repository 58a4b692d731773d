"""Who is connected with whom: nodes, pairs, identical documents, and what expired documents leave behind.

A node is a live document with a match, with an identical document, or with a link to the past.  Two nodes are
neighbours if

- they are a live pair, or
- they are *twins*: equal digests, next to each other by event time, and no further apart than the retention.  So any
  number of identical documents costs two links each, and taking one away never parts the others; or
- both are linked to the same *past node*: a set of expired documents that were connected, contracted into one.  A
  past node keeps its links to live nodes only, so an endless story costs memory for its live members.

Components of this graph are what they would be if expired documents had stayed in it.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Set

from stream_lsh.ledger.changes import NodeState, PairState


class Node:
    """A live document in the graph; `cluster` is the id-bearing component that it is in, set by the ledger."""

    __slots__ = ("cluster", "digest", "id", "pairs", "pasts", "ref", "time_ms")

    def __init__(self, id: str, ref: int, time_ms: int, digest: int) -> None:
        self.id = id
        self.ref = ref
        self.time_ms = time_ms
        self.digest = digest
        self.pairs: dict[str, PairState] = {}
        self.pasts: set[int] = set()
        self.cluster = ""

    def best_similarity(self) -> float | None:
        """The similarity of the best live pair, None without one."""
        return max((pair.similarity for pair in self.pairs.values()), default=None)

    def state(self) -> NodeState:
        """The node as a row of the changelog; its pairs are rows of their own."""
        return NodeState(self.id, self.ref, self.time_ms, self.digest, self.cluster, tuple(sorted(self.pasts)))


class Graph:
    """Nodes and the three kinds of links.  Nothing here knows clusters, versions in doubt, or what is published."""

    def __init__(self, retention_ms: int | None) -> None:
        self.nodes: dict[str, Node] = {}
        self.pasts: dict[int, set[str]] = {}
        self.next_past = 0
        self._retention_ms = retention_ms
        self._twins: dict[int, list[tuple[int, str]]] = {}

    # -- nodes and twins

    def add(self, node: Node) -> None:
        """Put a node in, beside its twins."""
        self.nodes[node.id] = node
        if node.digest:
            insort(self._twins.setdefault(node.digest, []), (node.time_ms, node.id))

    def remove(self, node: Node) -> None:
        """Take a node out that has no pairs and no pasts any more."""
        self._leave_twins(node)
        del self.nodes[node.id]

    def replace(self, node: Node, ref: int, time_ms: int, digest: int) -> None:
        """Give a node another version: its pairs stay, its twins are those of the new digest."""
        self._leave_twins(node)
        node.ref, node.time_ms, node.digest = ref, time_ms, digest
        self.add(node)

    def twins(self, node: Node) -> list[str]:
        """The identical documents next to a node by event time and within the retention: at most two."""
        group = self._twins.get(node.digest) if node.digest else None
        if group is None or len(group) == 1:
            return []
        at = bisect_left(group, (node.time_ms, node.id))
        near = group[max(0, at - 1) : at] + group[at + 1 : at + 2]
        reach = self._retention_ms
        return [id for time_ms, id in near if reach is None or abs(time_ms - node.time_ms) <= reach]

    def _leave_twins(self, node: Node) -> None:
        if node.digest:
            group = self._twins[node.digest]
            del group[bisect_left(group, (node.time_ms, node.id))]
            if not group:
                del self._twins[node.digest]

    # -- pairs

    def put_pair(self, pair: PairState) -> None:
        """Add a pair between two nodes, or replace it."""
        self.nodes[pair.left].pairs[pair.right] = pair
        self.nodes[pair.right].pairs[pair.left] = pair

    def drop_pair(self, pair: PairState) -> None:
        """Take a pair out that is there."""
        del self.nodes[pair.left].pairs[pair.right]
        del self.nodes[pair.right].pairs[pair.left]

    # -- the past

    def past_company(self, node: Node) -> set[str]:
        """The other live nodes that share a past node with this one."""
        company: set[str] = set().union(*(self.pasts[past] for past in node.pasts))
        company.discard(node.id)
        return company

    def forget_past(self, node: Node) -> None:
        """Drop the links of a node to the past."""
        for past in node.pasts:
            links = self.pasts[past]
            links.discard(node.id)
            if not links:
                del self.pasts[past]
        node.pasts = set()

    def contract(self, node: Node) -> set[str]:
        """Turn a node into (a part of) the past of its neighbours, and return these."""
        links = set(node.pairs).union(self.twins(node), self.past_company(node))
        past = min(node.pasts, default=self.next_past)
        self.next_past = max(self.next_past, past + 1)
        for pair in tuple(node.pairs.values()):
            self.drop_pair(pair)
        for merged in node.pasts:
            for id in self.pasts.pop(merged):
                if id != node.id:
                    self.nodes[id].pasts.discard(merged)
        node.pasts = set()
        self.remove(node)
        if links:
            self.pasts[past] = links
            for id in links:
                self._add_past(self.nodes[id], past)
        return links

    def _add_past(self, node: Node, past: int) -> None:
        """Link a node to the past; past nodes that only it is linked to say the same, so one of them is enough."""
        node.pasts.add(past)
        alone = sorted(p for p in node.pasts if len(self.pasts[p]) == 1)
        for redundant in alone[1:] if len(alone) == len(node.pasts) else alone:
            node.pasts.discard(redundant)
            del self.pasts[redundant]

    def link_past(self, node: Node, pasts: Set[int]) -> None:
        """Recovery: the past nodes that a node is linked to are exactly these."""
        for past in node.pasts - pasts:
            self.pasts[past].discard(node.id)
            if not self.pasts[past]:
                del self.pasts[past]
        for past in pasts - node.pasts:
            self.pasts.setdefault(past, set()).add(node.id)
        node.pasts = set(pasts)

    # -- connectivity

    def neighbours(self, node: Node) -> Iterator[str]:
        """Ids of the nodes that one step leads to; an id may come twice."""
        yield from node.pairs
        yield from self.twins(node)
        for past in node.pasts:
            yield from self.pasts[past]

    def alone(self, node: Node) -> bool:
        """Whether nothing holds the node in the graph any more."""
        return not node.pairs and not node.pasts and not self.twins(node)

    def reach(self, start: str, targets: Set[str]) -> tuple[set[str], bool]:
        """Nodes connected with `start`, and whether the search ended early because all targets were among them.

        Cost: breadth first; the whole component at worst, a step or two where the targets are near.
        """
        missing = set(targets)
        seen, seen_pasts = {start}, set[int]()
        ring = [start]
        while ring and missing:
            step: list[str] = []
            for id in ring:
                node = self.nodes[id]
                step.extend(node.pairs)
                step.extend(self.twins(node))
                for past in node.pasts - seen_pasts:
                    seen_pasts.add(past)
                    step.extend(self.pasts[past])
            ring = [id for id in dict.fromkeys(step) if id not in seen]
            seen.update(ring)
            missing.difference_update(ring)
        return seen, not missing
