"""Clusters of a ledger whose guards divide components.

A new or removed link only marks its ends.  At the end of a frame, and before documents expire, the components of the
marked documents are searched and the guards divide them into clusters.  These inherit the ids of the previous clusters
of their members: the largest part of a cluster keeps its id, and a part that inherits several ids keeps the oldest.  A
document without links to other members forms a cluster of its own.

With pairs that do not link (`link_from`), many documents are such singletons from the start.  A singleton is never
published, not even as the rest of a larger cluster: the public sees a cluster from its second member until it shrinks
to one, and when clusters merge, a published one keeps its id.

Documents that must not share a cluster (`guards.constrained`) are separated before all other guards, even identical
ones: neighbouring twins, and documents that share a past, then count as the most similar pairs.

Where matches are chosen (`Guards.chosen_matches`), a pair that links is a match within a cluster and a review between
two clusters.  So a pair moves to the other topic when its ends come together or part.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf

from stream_lsh.ledger.clusters.components import ComponentClusters
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.clusters.guards.constrained import constrained
from stream_lsh.ledger.clusters.guards.links import Links, components
from stream_lsh.ledger.clusters.ids import NOWHERE, Cluster, ClusterIds
from stream_lsh.ledger.decisions import Decisions
from stream_lsh.ledger.frame_notes import EXPIRED
from stream_lsh.ledger.graph.graph import Graph

_MOST_SIMILAR = 1e300
"""The similarity of identical documents that constraints may separate: only pairs with a decision `same` have more."""


class GuardedClusters(ComponentClusters):
    """The clusters of a ledger with guards, with decisions, or with pairs that do not link.

    Args:
        graph: the live documents and pairs.
        ids: the live clusters, by id.
        guards: the conditions on a cluster besides its links.
        decisions: human decisions; `different` separates two ids.

    Cost:
        O(members and links of the component) for each component that a frame touches.  Pairs that do not link are
        skipped.
    """

    divides_components = True

    def __init__(self, graph: Graph, ids: ClusterIds, guards: Guards, decisions: Decisions) -> None:
        super().__init__(graph, ids)
        self._guards = guards
        self._decisions = decisions
        self._marked: set[int] = set()

    # -- new and removed links

    def join(self, left: int, right: int) -> None:
        """Mark two nodes with a new link."""
        self._marked.update((left, right))

    def add_unlinked_pair(self, left: int, right: int) -> None:
        """Register a pair that does not link: an end without a cluster gets one of its own."""
        clusters = self._graph.nodes.clusters
        self._marked.update(slot for slot in (left, right) if clusters[slot] is NOWHERE)

    def repair(self, suspects: set[int], reason: str) -> None:
        """Handle removed links of these nodes: drop nodes without links, and mark the others."""
        if self._notes.least > 1:
            for slot in suspects:
                self._notes.node_reasons.setdefault(slot, reason)
        alone = [slot for slot in self._live(suspects) if self._graph.alone(slot)]
        if alone:
            self.drop(alone, reason)
        self._marked |= suspects

    def expired(self, suspects: set[int]) -> None:
        """Mark the former neighbours of an expired document: guards may separate them now."""
        self.repair(suspects, EXPIRED)

    def in_same_cluster(self, cluster: Cluster, slots: list[int]) -> list[int]:
        """The identical documents of a member that are in its cluster."""
        clusters = self._graph.nodes.clusters
        return [slot for slot in slots if clusters[slot] is cluster]

    def _live(self, slots: set[int]) -> list[int]:
        """The slots that are in the ledger, in ascending order of their ids."""
        nodes = self._graph.nodes
        return nodes.by_id(slot for slot in slots if nodes.slots.get(nodes.ids[slot]) == slot)

    # -- grouping

    def regroup(self) -> None:
        """Update the clusters of all marked documents."""
        if not self._marked:
            return
        nodes, seen, groups = self._graph.nodes, set[int](), list[list[int]]()
        for slot in self._live(self._marked):
            if slot not in seen:
                members = nodes.by_age(self._graph.component(slot))
                seen.update(members)
                for allowed in self._allowed(members):
                    groups += self._guarded_parts(allowed) if self._guards.refine else [allowed]
        self._marked = set()
        self._assign(groups)

    def _guarded_parts(self, members: list[int]) -> Iterator[list[int]]:
        vertices = _vertices(self._graph, members)
        for part in self._guards.parts(_links(self._graph, vertices)):
            yield self._graph.nodes.by_age([slot for vertex in part for slot in vertices[vertex]])

    def _allowed(self, members: list[int]) -> list[list[int]]:
        """A component, divided by the cannot-link constraints; everything in ascending order of age."""
        nodes, sources = self._graph.nodes, list[tuple[str, ...]]()
        if self._guards.one_per_source:
            named = [nodes.abouts[slot].source for slot in members]
            if len({*named} - {""}) < len(named) - named.count(""):
                sources = [(source,) if source else () for source in named]
        apart = self._apart(members) if self._decisions.apart else []
        if not sources and not apart:
            return [members]
        links = Links([1] * len(members), _all_links(self._graph, members, self._guards), sources, apart)
        return [[members[at] for at in part] for part in constrained(links, one_per_source=self._guards.one_per_source)]

    def _apart(self, members: list[int]) -> list[tuple[int, int]]:
        """The numbers of the member pairs that a decision calls different."""
        ids, apart = self._graph.nodes.ids, self._decisions.apart
        number = {ids[slot]: at for at, slot in enumerate(members)}
        return [
            (at, number[other])
            for id, at in number.items()
            for other in apart.get(id, ())
            if at < number.get(other, -1)
        ]

    def _assign(self, groups: list[list[int]]) -> None:
        """Make a cluster of each group; a previous cluster of a member has all its members in these groups."""
        clusters = self._graph.nodes.clusters
        shares = [Counter(clusters[slot].id for slot in group if clusters[slot] is not NOWHERE) for group in groups]
        inherited = self._inherited(groups, shares)
        changed = [at for at, group in enumerate(groups) if len(inherited[at]) != 1 or inherited[at][0] != group]
        topics = self._topics([groups[at] for at in changed])
        for at in changed:
            self._touch(groups[at], shares[at], inherited[at])
        for at in changed:
            self._make(groups[at], shares[at], inherited[at])
        self._note_moved(topics)

    def _topics(self, groups: list[list[int]]) -> dict[int, int]:
        """The topics of the pairs of some groups before these change; empty if topics do not depend on clusters."""
        topics, pairs = dict[int, int](), self._graph.pairs
        for slot in (slot for group in groups for slot in group) if pairs.chosen else ():
            self._notes.touch_node(slot)  # its best match may change
            topics |= {pair: pairs.topic(pair) for _, pair in pairs.linked(slot)}
        return topics

    def _note_moved(self, topics: dict[int, int]) -> None:
        """Note the pairs that are no longer on these topics: chosen ones are matches, and the others reviews."""
        notes, pairs = self._notes, self._graph.pairs
        for pair, before in topics.items():
            if pairs.topic(pair) != before:
                key = pairs.ends[2 * pair], pairs.ends[2 * pair + 1]
                notes.touch_pair(key, pairs.state(pair), before)
                notes.live_pairs[key] = pair

    def _inherited(self, groups: list[list[int]], shares: list[Counter[str]]) -> list[list[Cluster]]:
        """The clusters whose ids each group inherits, as their largest part: published ones first, then the oldest."""
        parts: dict[str, list[int]] = {}
        for at, share in enumerate(shares):
            for id in share:
                parts.setdefault(id, []).append(at)
        inherited: list[list[Cluster]] = [[] for _ in groups]
        for id, part in sorted(parts.items()):
            most = max(shares[at][id] for at in part)
            largest = [at for at in part if shares[at][id] == most]
            successor = largest[0] if len(largest) == 1 else min(largest, key=lambda at: self._first_of(id, groups[at]))
            inherited[successor].append(self._ids.live[id])
        for of in inherited:
            of.sort(key=lambda cluster: (not self._notes.is_published(cluster), cluster.created, cluster.id))
        return inherited

    def _first_of(self, id: str, group: list[int]) -> str:
        nodes = self._graph.nodes
        return nodes.first_id(slot for slot in group if nodes.clusters[slot].id == id)

    def _touch(self, group: list[int], share: Counter[str], inherited: list[Cluster]) -> None:
        """Note the previous clusters of a group before they change."""
        notes, inherited_ids = self._notes, {cluster.id for cluster in inherited}
        for id in sorted(share):
            cluster = self._ids.live[id]
            if id not in inherited_ids:
                notes.touch_cluster(cluster, "left" if inherited or len(group) < notes.least else "split")
            elif len(inherited) > 1:
                notes.touch_cluster(cluster, "merged")
            elif share[id] < len(group):
                notes.touch_cluster(cluster, "joined")

    def _make(self, group: list[int], share: Counter[str], inherited: list[Cluster]) -> None:
        """Assign a group to the first cluster that it inherits, which absorbs the others; without any, to a new one."""
        notes, nodes = self._notes, self._graph.nodes
        if inherited:
            cluster, *merged = inherited
            for absorbed in merged:
                notes.merged_into[absorbed.id] = cluster.id
                notes.merged_from.setdefault(cluster.id, set()).update(
                    notes.merged_from.pop(absorbed.id, ()), {absorbed.id}
                )
                self._close(absorbed, nodes.times[absorbed[-1]], nodes.refs[absorbed[-1]])
            cluster.become(group)
        else:
            cluster = self._ids.open(nodes.ids[group[0]], group, notes.offset)
            notes.touch_new_cluster(cluster)
            if share:
                source = min(share, key=lambda id: (-share[id], id))
                notes.split_from[cluster.id] = notes.split_from.get(source, source)
        for slot in group:
            before = nodes.clusters[slot]
            if before is not cluster:
                nodes.clusters[slot] = cluster
                if before is not NOWHERE:
                    notes.moved.setdefault(slot, before.id)


def _vertices(graph: Graph, slots: Sequence[int]) -> list[list[int]]:
    """The vertices of a component, which no guard divides; everything in ascending order of age.

    Identical documents stay together, and so do those that share a past, because expiry never splits a cluster.
    """
    links = _twin_and_past_links(graph, {slot: at for at, slot in enumerate(slots)})
    return [[slots[at] for at in part] for part in components(len(slots), links)]


def _twin_and_past_links(graph: Graph, number: dict[int, int]) -> list[tuple[int, int]]:
    """The links between neighbouring twins, and between consecutive documents of one past node; by numbers."""
    last_of: dict[int, int] = {}
    links = list[tuple[int, int]]()
    for slot, at in number.items():
        links += [(number[twin], at) for twin in graph.twins.near(slot) if number.get(twin, at) < at]
        for past in graph.past.of(slot):
            if past in last_of:
                links.append((last_of[past], at))
            last_of[past] = at
    return links


def _all_links(graph: Graph, members: Sequence[int], guards: Guards) -> list[tuple[int, int, float]]:
    """All links between the members of a component, as pairs with their strength."""
    number = {slot: at for at, slot in enumerate(members)}
    pairs, verdicts = graph.pairs, graph.pairs.verdicts
    links = [(left, right, _MOST_SIMILAR) for left, right in _twin_and_past_links(graph, number)]
    for slot, left in number.items():
        for partner, pair in pairs.linked(slot):
            right = number[partner]
            if left < right:
                strength = guards.strength(pairs.similarity[pair], pairs.evidence.get(pair, ""))
                links.append((left, right, inf if pair in verdicts else strength))
    return links


def _links(graph: Graph, vertices: Sequence[Sequence[int]]) -> Links:
    """A component, as the input of guards."""
    vertex_of = {slot: at for at, vertex in enumerate(vertices) for slot in vertex}
    pairs = list[tuple[int, int, float]]()
    for slot, left in vertex_of.items():
        for partner, pair in graph.pairs.linked(slot):
            right = vertex_of.get(partner, -1)
            if left < right:
                pairs.append((left, right, inf if pair in graph.pairs.verdicts else graph.pairs.similarity[pair]))
    return Links([*map(len, vertices)], pairs)
