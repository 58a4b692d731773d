"""Clusters where guards decide what of a component belongs together.

Links that come and go only note whose connection is to be looked at.  At the end of a frame, and before documents
expire, the components of these are searched, the guards say what the clusters are, and these get their ids from the
clusters that their members were in: of each cluster the largest part keeps the id; where several come together, the
oldest id stays.  A document that nothing holds in a cluster with others has one of its own.
"""

from collections import Counter
from collections.abc import Sequence

from stream_lsh.ledger.clusters import NOWHERE, Cluster
from stream_lsh.ledger.components import Components
from stream_lsh.ledger.graph import Graph
from stream_lsh.ledger.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.guards.links import Links, components


class Groups(Components):
    """The state of a ledger, with the clusters kept as its guards want them; without guards, as the components.

    Cost: with guards, O(members and links of the component) for each component that a frame touches.
    """

    def __init__(self, retention_ms: int | None, guards: Guards = NO_GUARDS) -> None:
        super().__init__(retention_ms)
        self.guards = guards
        self._loose: set[int] = set()

    # -- links that come and go

    def _join(self, one: int, other: int) -> None:
        if self.guards:
            self._loose.update((one, other))
        else:
            super()._join(one, other)

    def _repair(self, suspects: set[int], reason: str) -> None:
        if not self.guards:
            super()._repair(suspects, reason)
            return
        alone = [slot for slot in self._live(suspects) if self.graph.alone(slot)]
        if alone:
            self._drop_nodes(alone, reason)
        self._loose |= suspects

    def _leave(self, slots: list[int], reason: str) -> None:
        clusters = self.graph.nodes.clusters
        super()._leave([slot for slot in slots if clusters[slot] is not NOWHERE], reason)

    def _live(self, slots: set[int]) -> list[int]:
        """Those that are in the ledger, in ascending order of their ids."""
        nodes = self.graph.nodes
        return nodes.by_id(slot for slot in slots if nodes.slots.get(nodes.ids[slot]) == slot)

    # -- what belongs together

    def _regroup(self) -> None:
        """Bring the clusters of everybody whose connection may have changed up to date."""
        if not self._loose:
            return
        nodes, seen, groups = self.graph.nodes, set[int](), list[list[int]]()
        for slot in self._live(self._loose):
            if slot not in seen:
                members = nodes.by_age(self.graph.component(slot))
                seen.update(members)
                vertices = _vertices(self.graph, members)
                for part in self.guards.parts(_links(self.graph, vertices)):
                    groups.append(nodes.by_age([slot for vertex in part for slot in vertices[vertex]]))
        self._loose = set()
        self._assign(groups)

    def _assign(self, groups: list[list[int]]) -> None:
        """Make these the clusters of their members, who were in none yet, or in one of which all members are here."""
        clusters = self.graph.nodes.clusters
        shares = [Counter(clusters[slot].id for slot in group if clusters[slot] is not NOWHERE) for group in groups]
        kept = self._kept(groups, shares)
        changed = [at for at, group in enumerate(groups) if len(kept[at]) != 1 or kept[at][0] != group]
        for at in changed:
            self._touch(groups[at], shares[at], kept[at])
        for at in changed:
            self._make(groups[at], shares[at], kept[at])

    def _kept(self, groups: list[list[int]], shares: list[Counter[str]]) -> list[list[Cluster]]:
        """For each group the clusters of which it is the largest part, the oldest first."""
        parts: dict[str, list[int]] = {}
        for at, share in enumerate(shares):
            for id in share:
                parts.setdefault(id, []).append(at)
        kept: list[list[Cluster]] = [[] for _ in groups]
        for id, found in sorted(parts.items()):
            most = max(shares[at][id] for at in found)
            largest = [at for at in found if shares[at][id] == most]
            heir = largest[0] if len(largest) == 1 else min(largest, key=lambda at: self._first_of(id, groups[at]))
            kept[heir].append(self.ids.live[id])
        for of in kept:
            of.sort(key=lambda cluster: (cluster.created, cluster.id))
        return kept

    def _first_of(self, id: str, group: list[int]) -> str:
        nodes = self.graph.nodes
        return nodes.first_id(slot for slot in group if nodes.clusters[slot].id == id)

    def _touch(self, group: list[int], share: Counter[str], kept: list[Cluster]) -> None:
        """Note what is about to happen to the clusters that the members of a group are in."""
        frame, keeps = self._frame, {cluster.id for cluster in kept}
        for id in sorted(share):
            cluster = self.ids.live[id]
            if id not in keeps:
                frame.touch_cluster(cluster, "left" if kept else "split")
            elif len(kept) > 1:
                frame.touch_cluster(cluster, "merged")
            elif share[id] < len(group):
                frame.touch_cluster(cluster, "joined")

    def _make(self, group: list[int], share: Counter[str], kept: list[Cluster]) -> None:
        """Make a group the cluster that stays of those that it keeps, or a new one."""
        frame, nodes = self._frame, self.graph.nodes
        if kept:
            cluster, *merged = kept
            for goes in merged:
                frame.merged_into[goes.id] = cluster.id
                frame.merged_from.setdefault(cluster.id, set()).update(frame.merged_from.pop(goes.id, ()), {goes.id})
                self._close(goes, nodes.times[goes[-1]], nodes.refs[goes[-1]])
            cluster.become(group)
        else:
            cluster = self.ids.open(nodes.ids[group[0]], group, frame.offset)
            frame.touch_new_cluster(cluster)
            if share:
                source = min(share, key=lambda id: (-share[id], id))
                frame.split_from[cluster.id] = frame.split_from.get(source, source)
        for slot in group:
            before = nodes.clusters[slot]
            if before is not cluster:
                nodes.clusters[slot] = cluster
                if before is not NOWHERE:
                    frame.moved.setdefault(slot, before.id)


def _vertices(graph: Graph, slots: Sequence[int]) -> list[list[int]]:
    """Those of a component who stay together whatever the guards say; everything in ascending order of age.

    Identical documents do, and those that share a past: expiry splits nothing.
    """
    number = {slot: at for at, slot in enumerate(slots)}
    first_of: dict[int, int] = {}
    held = list[tuple[int, int]]()
    for slot, at in number.items():
        held += [(at, number[twin]) for twin in graph.twins.near(slot)]
        held += [(at, first_of.setdefault(past, at)) for past in graph.past.of(slot)]
    return [[slots[at] for at in part] for part in components(len(slots), held)]


def _links(graph: Graph, vertices: Sequence[Sequence[int]]) -> Links:
    """A component as guards see it."""
    vertex_of = {slot: at for at, vertex in enumerate(vertices) for slot in vertex}
    pairs = list[tuple[int, int, float]]()
    for slot, one in vertex_of.items():
        for partner, pair in graph.pairs.partners(slot):
            other = vertex_of[partner]
            if one < other:
                pairs.append((one, other, graph.pairs.similarity[pair]))
    return Links([*map(len, vertices)], pairs)
