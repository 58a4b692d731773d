"""The one place that decides what is true about pairs and clusters.

A frame (one message of `edges`) is settled as a whole: retirements, then edges, then the horizon, each with all its
consequences, and then what changed is told once.  The result depends on the state and the frame alone - no clock, no
randomness, no order of a hash table - so that a frame settled again after a crash says the same.

    update      the pairs of the older version stay, in doubt; rechecks are asked for; the answer keeps or withdraws
    delete      the pairs below the tombstone are withdrawn at once, and the membership
    expiry      withdraws nothing and never splits: the node becomes part of the past (see `graph`); only a pair in
                doubt goes, for nobody can answer for an expired version

A pair is *in doubt* while a version that it was confirmed for is not the newest known of its document.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stream_lsh.ledger.changes import NewestState, Settled
from stream_lsh.ledger.clusters import NOWHERE
from stream_lsh.ledger.edges import Edge, Edges, End
from stream_lsh.ledger.frame import DELETED, EXPIRED, UPDATED, Frame
from stream_lsh.ledger.grouping import Groups
from stream_lsh.ledger.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.mirrors import Mirrors
from stream_lsh.ledger.outcome import (
    PairNews,
    changes_of,
    cluster_changes,
    match_changes,
    member_changes,
    node_news,
    pair_news,
)
from stream_lsh.ledger.page_counts import PageCounts
from stream_lsh.ledger.pairs import Counts
from stream_lsh.ledger.plain import LEAST_ROWS, PlainPairs, pair_tables, plain_pairs
from stream_lsh.model import About, Retirement
from stream_lsh.retention import Horizon


class Ledger(Groups):
    """Live pairs, their clusters, and what must be remembered to keep them right.

    Args:
        threshold: pairs below it are not true.
        retention_ms: how far apart in event time two documents may be; None: any distance.
        guards: what holds a cluster together besides pairs; without, clusters are the connected components.
        stories: clusters tell headline, outlets and who was first.
        mirror_share: sites of which this share of pages is in another one are told; 0: sites are not watched.
        partitions: of the source, of which each says how many pages it has.

    Guarantees:
        Edges may come again, late, and in any order between documents; the end is the same.
    Cost:
        O(size of the part that changes) for an edge, a retirement or an expiry, with guards O(size of the component)
        for a frame; memory for live members, live pairs, and one entry for each id that was updated or deleted within
        the retention.
    """

    def __init__(
        self,
        threshold: float,
        retention_ms: int | None = None,
        guards: Guards = NO_GUARDS,
        stories: bool = False,
        mirror_share: float = 0.0,
        *,
        partitions: int = 1,
    ) -> None:
        super().__init__(retention_ms, guards)
        self._threshold = threshold
        self._stories = stories
        if mirror_share:
            self.mirrors = Mirrors(threshold, mirror_share, self.pairs_of, partitions)

    # -- one frame

    def settle(
        self,
        offset: int,
        *,
        retirements: Sequence[Retirement] = (),
        edges: Edges | Iterable[Edge] = (),
        horizon: Horizon | None = None,
        pages: PageCounts | None = None,
    ) -> Settled:
        """Apply one frame and return what there is to publish, to ask again, and to log.

        Args:
            offset: the offset of the frame on its topic; greater than that of any frame before.
            retirements: documents whose older versions are no longer true.
            edges: confirmed pairs and answers to rechecks.
            horizon: what has expired now, if it has moved.
            pages: how many a site has.
        """
        settled = self._settle(offset, retirements, edges, horizon)
        if self.mirrors is None:
            return settled
        mirrors, changes = self.mirrors.settle(offset, settled.changes, pages)
        return replace(settled, mirrors=mirrors, changes=changes)

    def _settle(
        self, offset: int, retirements: Sequence[Retirement], edges: Edges | Iterable[Edge], horizon: Horizon | None
    ) -> Settled:
        self._frame = Frame(offset, self.graph, self._stories)
        if horizon is None and not retirements and isinstance(edges, Edges) and len(edges) >= LEAST_ROWS:
            found = None if self.guards else plain_pairs(edges, self, self._threshold)
            if found is not None:
                return self._settled_plain(found)
        for retirement in retirements:
            self._retire(retirement)
        for edge in edges.rows() if isinstance(edges, Edges) else edges:
            self._link(edge)
        if horizon is not None:
            self._expire(self.horizon.joined(horizon))
        self._regroup()
        settled = self._settled()
        self.graph.nodes.release()
        return settled

    # -- retirements

    def _retire(self, retired: Retirement) -> None:
        self._frame.asked.add(retired.id)
        entry = self.newest.get(retired.id)
        ref, keep_until_ms = retired.ref, retired.keep_until_ms
        if entry is not None:
            ref, keep_until_ms = max(ref, entry.ref), max(keep_until_ms, entry.keep_until_ms)
        self._remember(NewestState(retired.id, ref, keep_until_ms))
        nodes = self.graph.nodes
        slot = nodes.slots.get(retired.id)
        if slot is None:
            return
        if retired.ref > nodes.refs[slot]:
            if retired.deleted or self.horizon.passed(retired.time_ms, retired.ref):
                self._remove(slot, DELETED if retired.deleted else UPDATED)
            else:
                self._replace_version(slot, retired.ref, retired.time_ms, retired.digest, retired.about)
        elif retired.deleted:
            self._withdraw_below(slot, retired.ref)

    def _withdraw_below(self, slot: int, tombstone: int) -> None:
        """Withdraw the pairs that name a version from before a delete; the node is of a version after it."""
        suspects, pairs = {slot}, self.graph.pairs
        for _, pair in pairs.partners(slot):
            left_ref, right_ref, *_ = pairs.versions_of(pair)
            if (left_ref if pairs.ends[2 * pair] == slot else right_ref) < tombstone:
                suspects |= self._withdraw(pair, DELETED)
        self._repair(suspects, DELETED)

    def _remove(self, slot: int, reason: str) -> None:
        """A document is gone, with its pairs, its membership and its link to the past."""
        graph = self.graph
        partners = graph.pairs.partners(slot)
        suspects = graph.past.company(slot).union(graph.twins.near(slot), (partner for partner, _ in partners))
        for _, pair in reversed(partners):
            self._withdraw(pair, reason)
        self._frame.touch_node(slot)
        graph.past.link(slot, ())
        self._drop_nodes([slot], reason)
        self._repair(suspects, reason)

    def _replace_version(self, slot: int, ref: int, time_ms: int, digest: int, about: About) -> None:
        """A node names a newer version: its pairs stay, in doubt; its twins are others, and it has no past.

        What its old company has lost is settled before the new twins are joined, or an update would merge two clusters
        only to split them.
        """
        graph, nodes = self.graph, self.graph.nodes
        self._frame.touch_node(slot)
        id, was_ms = nodes.ids[slot], nodes.times[slot]
        self._remember(NewestState(id, ref, max(was_ms, self._keep_until(id, was_ms))))
        suspects = graph.past.company(slot).union(graph.twins.near(slot), {slot})
        graph.past.link(slot, ())
        cluster = nodes.clusters[slot]
        if cluster is not NOWHERE:
            self._frame.touch_cluster(cluster, "changed")
            nodes.take_out(cluster, slot)
        graph.replace(slot, ref, time_ms, digest, about)
        if cluster is not NOWHERE:
            nodes.put_in(cluster, slot)
        self._repair(suspects, UPDATED)
        if nodes.clusters[slot] is not NOWHERE:
            self._join_twins(slot)

    def _keep_until(self, id: str, default: int) -> int:
        entry = self.newest.get(id)
        return default if entry is None else entry.keep_until_ms

    def _remember(self, entry: NewestState) -> None:
        if self.newest.get(entry.id) != entry and not self.horizon.passed(entry.keep_until_ms, entry.ref):
            self.remember(entry)
            self._frame.newest[entry.id] = entry

    # -- edges

    def _link(self, edge: Edge) -> None:
        one, other = edge[:2]
        if one.id == other.id:
            return
        if self._is_stale(one) or self._is_stale(other) or self._has_expired(one) or self._has_expired(other):
            return
        slots, refs = self.graph.nodes.slots, self.graph.nodes.refs
        for end in (one, other):
            slot = slots.get(end.id)
            if slot is not None and end.ref > refs[slot]:
                self._replace_version(slot, *end[1:])
        edge = edge if one.id < other.id else edge.turned()
        left, right = edge[:2]
        if edge.similarity >= self._threshold:
            self._confirm(left, right, edge[2:])
        elif left.id in slots and right.id in slots:
            pair = self.graph.pairs.find(slots[left.id], slots[right.id])
            if pair >= 0:
                self._repair(self._withdraw(pair, UPDATED), UPDATED)

    def _is_stale(self, end: End) -> bool:
        return end.ref < self.newest_ref(end.id)

    def _has_expired(self, end: End) -> bool:
        return self.horizon.passed(end.time_ms, end.ref)

    def _confirm(self, left: End, right: End, counts: Counts) -> None:
        one, other = self._node(left), self._node(right)
        frame, pairs, times = self._frame, self.graph.pairs, self.graph.nodes.times
        pair, key = pairs.find(one, other), (one, other)
        named = (left.ref, right.ref, left.time_ms, right.time_ms)
        if pair >= 0:
            if pairs.counts_of(pair) == counts and pairs.versions_of(pair) == named:
                return
        frame.touch_node(one)
        frame.touch_node(other)
        if pair >= 0:
            frame.touch_pair(key, pairs.state(pair))
            pairs.replace(pair, counts)
        else:
            frame.touch_pair(key, None)
            pair = pairs.add(one, other, counts)
        frame.put[key] = pair
        if times[one] != left.time_ms or times[other] != right.time_ms:
            pairs.versions[pair] = named
        self._join_twins(one)
        self._join_twins(other)
        self._join(one, other)

    def _node(self, end: End) -> int:
        slot = self.graph.nodes.slots.get(end.id)
        if slot is None:
            slot = self.graph.add(*end)
            self._frame.touch_new_node(slot)
        return slot

    def _withdraw(self, pair: int, reason: str) -> set[int]:
        """Take a pair out; returns both ends, whose connection is to be looked at."""
        frame, pairs = self._frame, self.graph.pairs
        key = left, right = pairs.ends[2 * pair], pairs.ends[2 * pair + 1]
        frame.touch_node(left)
        frame.touch_node(right)
        frame.touch_pair(key, pairs.state(pair))
        frame.put.pop(key, None)
        frame.pair_reasons[key] = reason
        pairs.drop(pair)
        return {left, right}

    # -- the past

    def _expire(self, horizon: Horizon) -> None:
        before, self.horizon = self.horizon, horizon
        nodes = self.graph.nodes
        expired = nodes.by_id(self.graph.expiry.due(before, horizon))
        self._withdraw_doubts(expired)
        self._regroup()
        for slot in expired:
            if nodes.clusters[slot] is not NOWHERE:
                self._contract(slot)
        self.forget_expired()
        self._frame.newest = {id: self.newest[id] for id in self._frame.newest if id in self.newest}

    def _withdraw_doubts(self, expired: list[int]) -> None:
        """Nobody can answer for an expired version, so its pairs in doubt go, and leave no link."""
        suspects, pairs = set[int](), self.graph.pairs
        for slot in expired if pairs.versions else ():
            for _, pair in pairs.partners(slot):
                if pairs.in_doubt(pair):
                    suspects |= self._withdraw(pair, UPDATED)
        self._repair(suspects, UPDATED)

    def _contract(self, slot: int) -> None:
        """An expired document leaves its cluster and lives on as a link between those that it was connected with.

        Guards may have put some of these into other clusters: to them it is no link.
        """
        frame, graph, clusters = self._frame, self.graph, self.graph.nodes.clusters
        neighbours = graph.twins.near(slot)
        partners = graph.pairs.partners(slot)
        cluster, suspects = clusters[slot], graph.past.company(slot).union(neighbours)
        frame.touch_node(slot)
        for partner, pair in reversed(partners):
            state = graph.pairs.state(pair)
            key = graph.pairs.ends[2 * pair], graph.pairs.ends[2 * pair + 1]
            frame.touch_node(partner)
            frame.touch_pair(key, state)
            frame.expired[key] = state
            frame.put.pop(key, None)
            graph.pairs.drop(pair)
            suspects.add(partner)
            if clusters[partner] is cluster:
                neighbours.append(partner)
        self._leave([slot], EXPIRED)
        graph.past.contract(slot, neighbours, frame.touch_node)
        graph.remove(slot)
        if self.guards:
            self._repair(suspects, EXPIRED)

    # -- what came of it

    def _settled(self) -> Settled:
        frame, graph = self._frame, self.graph
        news, pairs = node_news(frame, graph), pair_news(frame, graph)
        return Settled(
            matches=match_changes(pairs, frame, graph),
            members=member_changes(news, frame, graph),
            clusters=cluster_changes(frame, self.ids.live),
            rechecks=self._rechecks(),
            changes=changes_of(news, pairs, frame, self.ids.live, self.horizon),
        )

    def _settled_plain(self, found: PlainPairs) -> Settled:
        frame, graph = self._frame, self.graph
        news = self._link_plain(found)
        matches, pairs = pair_tables(found)
        return Settled(
            matches=matches,
            members=member_changes(news, frame, graph),
            clusters=cluster_changes(frame, self.ids.live),
            rechecks=[],
            changes=changes_of(news, PairNews(pairs, [], {}), frame, self.ids.live, self.horizon),
        )

    def _rechecks(self) -> list[tuple[int, int]]:
        """One for each pair in doubt of a document that a retirement came for, in the newest versions of both ends."""
        nodes, pairs = self.graph.nodes, self.graph.pairs
        rechecks: dict[int, tuple[int, int]] = {}
        for id in sorted(self._frame.asked & nodes.slots.keys()):
            slot = nodes.slots[id]
            for partner, pair in pairs.partners(slot):
                if pairs.in_doubt(pair):
                    rechecks.setdefault(pair, (nodes.refs[slot], nodes.refs[partner]))
        return sorted(rechecks.values())
