"""Who is connected with whom: nodes, pairs, identical documents, and what expired documents leave behind.

A node is a live document with a match, with an identical document, or with a link to the past.  Two nodes are
neighbours if

- they are a live pair, or
- they are *twins*: equal digests, next to each other by event time, and no further apart than the retention.  So any
  number of identical documents costs two links each, and taking one away never parts the others; or
- both are linked to the same *past node*: a set of expired documents that were connected, contracted into one.  A
  past node keeps its links to live nodes only, so an endless story costs memory for its live members.

Components of this graph are what they would be if expired documents had stayed in it (docs/adr/0006).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Set
from heapq import heappop, heappush

from stream_lsh.ledger.changes import NodeState, PairState


class Node:
    """A live document in the graph; `cluster` is the id-bearing component that it is in, set by the ledger."""

    __slots__ = ("_similarities", "cluster", "digest", "id", "pairs", "pasts", "ref", "time_ms")

    def __init__(self, id: str, ref: int, time_ms: int, digest: int) -> None:
        self.id = id
        self.ref = ref
        self.time_ms = time_ms
        self.digest = digest
        self.pairs: dict[str, PairState] = {}
        self.pasts: set[int] = set()
        self.cluster = ""
        self._similarities: list[float] = []

    def put_pair(self, partner: str, pair: PairState) -> None:
        """Add or replace the pair with a partner."""
        if partner in self.pairs:
            self.drop_pair(partner)
        self.pairs[partner] = pair
        insort(self._similarities, pair.similarity)

    def drop_pair(self, partner: str) -> None:
        """Take out the pair with a partner."""
        del self._similarities[bisect_left(self._similarities, self.pairs.pop(partner).similarity)]

    def best_similarity(self) -> float | None:
        """The similarity of the best live pair, None without one."""
        return self._similarities[-1] if self._similarities else None

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

    def fill(self, nodes: Iterable[Node]) -> None:
        """Put all nodes into an empty graph; their pairs and links to the past come beside."""
        self.nodes |= {node.id: node for node in nodes}
        for node in self.nodes.values():
            if node.digest:
                self._twins.setdefault(node.digest, []).append((node.time_ms, node.id))
        for group in self._twins.values():
            group.sort()

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
        self.nodes[pair.left].put_pair(pair.right, pair)
        self.nodes[pair.right].put_pair(pair.left, pair)

    def drop_pair(self, pair: PairState) -> None:
        """Take a pair out that is there."""
        self.nodes[pair.left].drop_pair(pair.right)
        self.nodes[pair.right].drop_pair(pair.left)

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

    def contract(self, node: Node, touch: Callable[[Node], None]) -> None:
        """Turn a node into (a part of) the past of its neighbours; `touch` is told of each of them before it changes.

        Of the past nodes that it was linked to the largest takes the others in, so that few links change.
        """
        links = self.twins(node)
        for pair in tuple(node.pairs.values()):
            partner = pair.right if pair.left == node.id else pair.left
            touch(self.nodes[partner])
            self.drop_pair(pair)
            links.append(partner)
        past = max(node.pasts, key=lambda past: (len(self.pasts[past]), -past), default=self.next_past)
        for merged in node.pasts - {past}:
            links.extend(self.pasts[merged])
            self._drop_past(merged, touch)
        held = self.pasts.setdefault(past, set())
        held.discard(node.id)
        node.pasts = set()
        self.remove(node)
        new = set(links) - held - {node.id}
        for id in new:
            touch(self.nodes[id])
            self.nodes[id].pasts.add(past)
        held |= new
        if not held:
            del self.pasts[past]
        else:
            self.next_past = max(self.next_past, past + 1)
            self._prune_pasts(past, new, touch)

    def _prune_pasts(self, past: int, new: Set[str], touch: Callable[[Node], None]) -> None:
        """Drop past nodes that say nothing because all their links are also links of another one, and always will be.

        `past` has just gained the links `new`, and perhaps lost one.
        """
        held = self.pasts[past]
        for other in set().union(*(self.nodes[id].pasts for id in new)) - {past}:
            if self.pasts[other] <= held:
                self._drop_past(other, touch)
        if any(held <= self.pasts[other] for other in self.nodes[next(iter(held))].pasts - {past}):
            self._drop_past(past, touch)

    def _drop_past(self, past: int, touch: Callable[[Node], None]) -> None:
        for id in self.pasts.pop(past):
            touch(self.nodes[id])
            self.nodes[id].pasts.discard(past)

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

    def alone(self, node: Node) -> bool:
        """Whether nothing holds the node in the graph any more."""
        return not node.pairs and not node.pasts and not self.twins(node)

    def parts(self, ids: Iterable[str]) -> list[set[str]]:
        """The components that hold `ids`, all but one of them; empty if they all are in one.

        A search starts from each, the smallest one takes the next step, and searches that meet become one; so what came
        off is found at the cost of its own size, not of what it came off.  Past nodes are steps on the way (by number).
        """
        found: list[set[str | int]] = [{id} for id in ids]
        to_visit: list[list[str | int]] = [list(start) for start in found]
        search_of = {vertex: number for number, start in enumerate(found) for vertex in start}
        smallest = [(1, number) for number in range(len(found))]
        parts: list[set[str]] = []
        searching = len(found)
        while searching > 1:
            _, search = heappop(smallest)
            if not to_visit[search]:
                if found[search]:
                    parts.append({vertex for vertex in found[search] if isinstance(vertex, str)})
                    found[search] = set()
                    searching -= 1
                continue
            for vertex in self._steps(to_visit[search].pop()):
                other = search_of.get(vertex)
                if other is None:
                    search_of[vertex] = search
                    found[search].add(vertex)
                    to_visit[search].append(vertex)
                elif other != search:
                    small, search = sorted((search, other), key=lambda number: len(found[number]))
                    search_of.update(dict.fromkeys(found[small], search))
                    found[search] |= found[small]
                    to_visit[search] += to_visit[small]
                    found[small], to_visit[small] = set(), []
                    searching -= 1
            heappush(smallest, (len(found[search]), search))
        return parts

    def _steps(self, vertex: str | int) -> list[str | int]:
        """Nodes and past nodes that one step leads to."""
        if isinstance(vertex, int):
            return [*self.pasts[vertex]]
        node = self.nodes[vertex]
        return [*node.pairs, *self.twins(node), *node.pasts]
