"""The graph of connected documents: nodes, pairs, identical documents, and past nodes.

A node is a live document with a match, with an identical document, or with a link to the past.  Two nodes are
neighbours if

- they are a live pair that links (a pair of similarity `link_from` or more), or
- they are *twins*: equal digests, next to each other by event time, and no further apart than the retention.  So any
  number of identical documents costs two links each, and removing one never disconnects the others; or
- both are linked to the same *past node*: a set of expired documents that were connected, contracted into one.  A
  past node keeps its links to live nodes only, so an endless story takes memory for its live members only.

The components of this graph are the same as if expired documents had stayed in it (docs/internals/adr/0006).
"""

from heapq import heappop, heappush

from stream_lsh.ledger.graph.expiry import Expiry
from stream_lsh.ledger.graph.identical import Twins
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.ledger.graph.pairs import Pairs
from stream_lsh.ledger.graph.past import Past
from stream_lsh.model import NO_ABOUT, About

_STEPS = 32
"""The steps of a search before the next search runs."""


class Graph:
    """Nodes, by their slots, and the three kinds of links.

    The graph does not handle clusters, versions in doubt, or publication.
    """

    def __init__(self, retention_ms: int | None, link_from: float = 0.0, *, chosen: bool = False) -> None:
        self.nodes = Nodes()
        self.pairs = Pairs(self.nodes, link_from, chosen=chosen)
        self.twins = Twins(self.nodes, retention_ms)
        self.past = Past()
        self.expiry = Expiry(self.nodes, retention_ms)

    def add(self, id: str, ref: int, time_ms: int, digest: int, about: About = NO_ABOUT) -> int:
        """Add a node and connect it with its twins; returns its slot."""
        slot = self.nodes.add(id, ref, time_ms, digest, about)
        self.pairs.grow()
        self.twins.add(slot)
        self.expiry.watch((slot,))
        return slot

    def remove(self, slot: int) -> None:
        """Remove a node without pairs and past nodes."""
        self.twins.remove(slot)
        self.expiry.forget(slot)
        self.nodes.remove(slot)

    def replace(self, slot: int, ref: int, time_ms: int, digest: int, about: About) -> None:
        """Replace the version of a node: its pairs stay, its twins are those of the new digest."""
        self.pairs.keep_versions(slot)
        self.twins.remove(slot)
        self.expiry.forget(slot)
        nodes = self.nodes
        nodes.refs[slot], nodes.times[slot], nodes.digests[slot] = ref, time_ms, digest
        nodes.abouts[slot] = about
        self.twins.add(slot)
        self.expiry.watch((slot,))

    def alone(self, slot: int) -> bool:
        """Whether a node has no link left."""
        return not (self.pairs.any_of(slot) or self.past.of(slot) or self.twins.near(slot))

    # -- connectivity

    def parts(self, slots: list[int]) -> list[list[int]]:
        """The components that contain `slots`, without the last of them; empty if one component contains all.

        A search starts from each slot, the smallest search runs next, and searches that meet are merged.  So the cost
        is the size of the separated parts, not of the whole component.  Searches pass through past nodes.
        """
        components = [[slot] for slot in slots]
        to_visit = [[slot] for slot in slots]
        search_of = {slot: number for number, slot in enumerate(slots)}
        smallest = [(1, number) for number in range(len(components))]
        parts: list[list[int]] = []
        searching = len(components)
        while searching > 1:
            _, search = heappop(smallest)
            if not to_visit[search]:
                if components[search]:
                    parts.append([vertex for vertex in components[search] if vertex >= 0])
                    components[search] = []
                    searching -= 1
                continue
            for vertex in self._walk(search, to_visit[search], components[search], search_of):
                other = search_of[vertex]
                if other != search:
                    small, search = sorted((search, other), key=lambda number: len(components[number]))
                    search_of.update(dict.fromkeys(components[small], search))
                    components[search] += components[small]
                    to_visit[search] += to_visit[small]
                    components[small], to_visit[small] = [], []
                    searching -= 1
            heappush(smallest, (len(components[search]), search))
        return parts

    def _walk(self, search: int, waiting: list[int], reached: list[int], search_of: dict[int, int]) -> list[int]:
        """Run some steps of a search; returns vertices of other searches that it met."""
        met = list[int]()
        steps = self.steps if self.twins.groups or self.past.links else self.pairs.neighbours
        for _ in range(_STEPS):
            if not waiting or met:
                break
            for vertex in steps(waiting.pop()):
                other = search_of.get(vertex)
                if other is None:
                    search_of[vertex] = search
                    reached.append(vertex)
                    waiting.append(vertex)
                elif other != search:
                    met.append(vertex)
        return met

    def component(self, slot: int) -> list[int]:
        """The component of a document.  Cost: O(members and their links)."""
        component, waiting = {slot}, [slot]
        while waiting:
            for vertex in self.steps(waiting.pop()):
                if vertex not in component:
                    component.add(vertex)
                    waiting.append(vertex)
        return [vertex for vertex in component if vertex >= 0]

    def steps(self, vertex: int) -> list[int]:
        """The adjacent nodes and past nodes; the past node n is the vertex -1 - n."""
        if vertex < 0:
            return [*self.past.links[-1 - vertex]]
        pairs = self.pairs
        steps = [partner for partner, _ in pairs.linked(vertex)] if pairs.is_selective else pairs.neighbours(vertex)
        if self.twins.groups:
            steps += self.twins.near(vertex)
        if self.past.links:
            steps += [-1 - past for past in self.past.of(vertex)]
        return steps
