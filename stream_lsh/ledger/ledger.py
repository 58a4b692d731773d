"""The ledger: it alone decides which pairs and clusters are current.

The ledger settles a frame (one message of `edges`) as a whole: retirements, decisions, edges, the horizon, each with
all its consequences.  Then it publishes each change once.  The result depends on the state and the frame alone - no
clock, no randomness, no order of a hash table - so settling a frame again after a crash gives the same result.

    decision    counts until the next decision on the same ids, even if their documents change; `same` links a pair;
                `different` withdraws it, and separates the two ids even if other documents connect them; without a
                pair, the decision waits for one
    update      the pairs of the older version stay, in doubt; the ledger requests rechecks; the answer keeps or
                withdraws each pair
    delete      the pairs below the tombstone and the membership are withdrawn at once
    expiry      withdraws nothing and never splits: the node becomes part of the past (see `graph`); only pairs in
                doubt are withdrawn, because a recheck cannot read an expired version

A pair is *in doubt* while a version that it was confirmed for is not the newest known of its document.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.bulk_frame import LEAST_ROWS, bulk_pairs
from stream_lsh.ledger.changes import NewestState, Settled
from stream_lsh.ledger.clusters.components import ComponentClusters
from stream_lsh.ledger.clusters.guarded import GuardedClusters
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.clusters.ids import NOWHERE
from stream_lsh.ledger.clusters.stories import Stories
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, Edges, End
from stream_lsh.ledger.frame_diff import settled_bulk, settled_rows
from stream_lsh.ledger.frame_notes import DECIDED, DELETED, EXPIRED, UPDATED, ClusterDescriber, FrameNotes
from stream_lsh.ledger.graph.pairs import MATCH
from stream_lsh.ledger.rechecks import excess_doubts, rechecks
from stream_lsh.ledger.sites.live import Mirrors
from stream_lsh.ledger.sites.page_counts import PageCounts
from stream_lsh.ledger.state import LedgerState
from stream_lsh.model import About, Retirement
from stream_lsh.retention import Horizon


class Ledger(LedgerState):
    """Live pairs, their clusters, and the state that keeps them correct.

    Args:
        threshold: the least similarity of a match.
        retention_ms: the maximum distance in event time between two documents; None: any distance.
        guards: further conditions on a cluster; without guards, clusters are the connected components.
        stories: summaries have headline, outlets and the first outlet.
        mirror_share: publish site pairs that share at least this much of their pages; 0: none.
        partitions: the number of source partitions; the owner of each reports its page counts.
        link_from: the ledger keeps pairs below it and not below `threshold`, and publishes them as reviews; they
            connect no documents.  A score stays until a version changes or an answer counts more records.  0: all pairs
            connect.
        describer: makes the summaries of clusters (`entities`) if `stories` is off.
        cap_rechecks: the most pairs of a document that are compared again when it is updated; 0: all.

    Guarantees:
        Edges may arrive repeatedly, late, and in any order between documents; the final state is the same.
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
        link_from: float = 0.0,
        describer: ClusterDescriber | None = None,
        cap_rechecks: int = 0,
    ) -> None:
        super().__init__(retention_ms, link_from, chosen=guards.chosen_matches)
        self.guards = guards
        self._threshold = threshold
        self._cap_rechecks = cap_rechecks
        if guards or link_from > 0:
            self._clusters: ComponentClusters = GuardedClusters(self.graph, self.ids, guards, self.decisions)
        else:
            self._clusters = ComponentClusters(self.graph, self.ids)
        self._notes = FrameNotes(-1, self.graph)
        self.describer = Stories() if stories else describer
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
        decisions: Sequence[Decision] = (),
    ) -> Settled:
        """Apply one frame; returns the changes to publish, the rechecks, and the changelog record.

        Args:
            offset: the offset of the frame on its topic; greater than that of every earlier frame.
            retirements: documents whose older versions are obsolete.
            edges: confirmed pairs and answers to rechecks.
            horizon: the new horizon, if it has moved.
            pages: the page counts of sites.
            decisions: human decisions on two ids; the ledger needs `link_from` or guards for them.

        Raises:
            InvariantError: decisions for a ledger that cannot split a component.
        """
        settled = self._settle(offset, retirements, edges, horizon, decisions)
        self.note_changed(self._notes.clusters)
        if self.mirrors is None:
            return settled
        mirrors, changes = self.mirrors.settle(offset, settled.changes, pages)
        return replace(settled, mirrors=mirrors, changes=changes)

    def _settle(
        self,
        offset: int,
        retirements: Sequence[Retirement],
        edges: Edges | Iterable[Edge],
        horizon: Horizon | None,
        decisions: Sequence[Decision],
    ) -> Settled:
        self._notes = FrameNotes(offset, self.graph, self.describer, self.least_published)
        self._clusters.begin(self._notes)
        if horizon is None and not retirements and isinstance(edges, Edges) and len(edges) >= LEAST_ROWS:
            bulk = None if self._clusters.divides_components else bulk_pairs(edges, self, self._threshold)
            if bulk is not None:
                return settled_bulk(self._notes, self, self._clusters.link_bulk(bulk), bulk)
        for retirement in retirements:
            self._retire(retirement)
        for decision in decisions:
            self._decide(decision)
        for edge in edges.rows() if isinstance(edges, Edges) else edges:
            self._link(edge)
        if retirements:
            self._cap_doubts()
        if horizon is not None:
            self._expire(self.horizon.max(horizon))
        self._clusters.regroup()
        settled = settled_rows(self._notes, self, self._rechecks())
        self.graph.nodes.release()
        return settled

    # -- retirements

    def _retire(self, retired: Retirement) -> None:
        self._notes.retired_ids.add(retired.id)
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
        """Withdraw the pairs of versions before a delete; the version of the node is newer than the delete."""
        suspects, pairs = {slot}, self.graph.pairs
        for _, pair in pairs.partners(slot):
            left_ref, right_ref, *_ = pairs.versions_of(pair)
            if (left_ref if pairs.ends[2 * pair] == slot else right_ref) < tombstone:
                suspects |= self._withdraw(pair, DELETED)
        self._clusters.repair(suspects, DELETED)

    def _remove(self, slot: int, reason: str) -> None:
        """Remove a document with its pairs, its membership and its links to the past."""
        graph = self.graph
        partners = graph.pairs.partners(slot)
        suspects = graph.past.company(slot).union(graph.twins.near(slot), (partner for partner, _ in partners))
        for _, pair in reversed(partners):
            self._withdraw(pair, reason)
        self._notes.touch_node(slot)
        graph.past.link(slot, ())
        self._clusters.drop([slot], reason)
        self._clusters.repair(suspects, reason)

    def _replace_version(self, slot: int, ref: int, time_ms: int, digest: int, about: About) -> None:
        """Replace the version of a node: its pairs stay, in doubt; it gets new twins and loses its past.

        The clusters that the old version connected are repaired before the new twins are joined, because otherwise an
        update would merge two clusters only to split them.
        """
        graph, nodes = self.graph, self.graph.nodes
        self._notes.touch_node(slot)
        id, was_ms = nodes.ids[slot], nodes.times[slot]
        self._remember(NewestState(id, ref, max(was_ms, self._keep_until(id, was_ms))))
        suspects = graph.past.company(slot).union(graph.twins.near(slot), {slot})
        graph.past.link(slot, ())
        cluster = nodes.clusters[slot]
        if cluster is not NOWHERE:
            self._notes.touch_cluster(cluster, "changed")
            nodes.take_out(cluster, slot)
        graph.replace(slot, ref, time_ms, digest, about)
        if cluster is not NOWHERE:
            nodes.put_in(cluster, slot)
        self._clusters.repair(suspects, UPDATED)
        if nodes.clusters[slot] is not NOWHERE:
            self._clusters.join_twins(slot)

    def _keep_until(self, id: str, default: int) -> int:
        entry = self.newest.get(id)
        return default if entry is None else entry.keep_until_ms

    def _remember(self, entry: NewestState) -> None:
        if self.newest.get(entry.id) != entry and not self.horizon.passed(entry.keep_until_ms, entry.ref):
            self.remember(entry)
            self._notes.newest[entry.id] = entry

    # -- decisions

    def _decide(self, decision: Decision) -> None:
        """`same` links a pair of any similarity; `different` withdraws it and separates the two ids."""
        if not self._clusters.divides_components:
            raise InvariantError(
                f"got a decision about {decision.left!r} and {decision.right!r}, expected none in a ledger whose "
                "clusters are the components of its pairs: give it `link_from`, or guards"
            )
        if not self.decisions.put(decision):
            return
        notes, pairs, slots = self._notes, self.graph.pairs, self.graph.nodes.slots
        notes.decisions[decision.left, decision.right] = decision
        if decision.left not in slots or decision.right not in slots:
            return
        key = left, right = slots[decision.left], slots[decision.right]
        pair, verdict = pairs.find(left, right), self.decisions.verdict(decision.left, decision.right)
        if pair >= 0:
            notes.touch_node(left)
            notes.touch_node(right)
            notes.touch_pair(key, pairs.state(pair), pairs.topic(pair))
            if pairs.similarity[pair] < self._threshold and not verdict:
                self._withdraw(pair, DECIDED)  # only the former decision `same` justified it
            else:
                notes.live_pairs[key] = pair
                pairs.decide(pair, verdict)
        self._clusters.repair({left, right}, DECIDED)

    def _withdraw(self, pair: int, reason: str) -> set[int]:
        """Remove a pair; returns both ends, whose clusters need a repair."""
        notes, pairs = self._notes, self.graph.pairs
        key = left, right = pairs.ends[2 * pair], pairs.ends[2 * pair + 1]
        notes.touch_node(left)
        notes.touch_node(right)
        notes.touch_pair(key, pairs.state(pair), pairs.topic(pair))
        notes.live_pairs.pop(key, None)
        notes.pair_reasons[key] = reason
        pairs.drop(pair)
        return {left, right}

    def _cap_doubts(self) -> None:
        """Withdraw the pairs in doubt beyond the cap, document by document."""
        for id in sorted(self._notes.retired_ids) if self._cap_rechecks else ():
            excess = excess_doubts(self.graph, id, self._cap_rechecks)
            self._notes.capped_rechecks += len(excess)
            self._clusters.repair({end for pair in excess for end in self._withdraw(pair, UPDATED)}, UPDATED)

    def _rechecks(self) -> list[tuple[int, int]]:
        return rechecks(self.graph, sorted(self._notes.retired_ids))

    # -- edges

    def _link(self, edge: Edge) -> None:
        left_end, right_end = edge[:2]
        if left_end.id == right_end.id:
            return
        for end in (left_end, right_end):
            if self._is_stale(end) or self._has_expired(end):
                return
        slots, refs = self.graph.nodes.slots, self.graph.nodes.refs
        for end in (left_end, right_end):
            slot = slots.get(end.id)
            if slot is not None and end.ref > refs[slot]:
                self._replace_version(slot, *end[1:])
        edge = edge if left_end.id < right_end.id else edge.turned()
        left, right = edge[:2]
        if edge.similarity >= self._threshold or self.decisions.verdict(left.id, right.id):
            self._confirm(edge)
        elif left.id in slots and right.id in slots:
            pair = self.graph.pairs.find(slots[left.id], slots[right.id])
            if pair >= 0 and not self._is_scored(pair, edge):
                self._clusters.repair(self._withdraw(pair, UPDATED), UPDATED)

    def _is_stale(self, end: End) -> bool:
        return end.ref < self.newest_ref(end.id)

    def _has_expired(self, end: End) -> bool:
        return self.horizon.passed(end.time_ms, end.ref)

    def _is_scored(self, pair: int, edge: Edge) -> bool:
        """Whether the ledger keeps the score of a pair: it is of these versions, and counts as many records."""
        pairs, versions = self.graph.pairs, (edge.left.ref, edge.right.ref)
        return pairs.link_from > 0 and pairs.versions_of(pair)[:2] == versions and pairs.union[pair] >= edge.union

    def _confirm(self, edge: Edge) -> None:
        (left, right), counts = edge[:2], edge[2:]
        left_slot, right_slot = self._node(left), self._node(right)
        notes, pairs, times = self._notes, self.graph.pairs, self.graph.nodes.times
        pair, key = pairs.find(left_slot, right_slot), (left_slot, right_slot)
        named = (left.ref, right.ref, left.time_ms, right.time_ms)
        if pair >= 0:
            if self._is_scored(pair, edge):
                return
            if pairs.counts_of(pair) == counts and pairs.versions_of(pair) == named:
                return
        linked = pair >= 0 and pairs.links(pair)
        notes.touch_node(left_slot)
        notes.touch_node(right_slot)
        if pair >= 0:
            notes.touch_pair(key, pairs.state(pair), pairs.topic(pair))
            pairs.replace(pair, counts)
        else:
            notes.touch_pair(key, None)
            pair = pairs.add(left_slot, right_slot, counts, self.decisions.verdict(left.id, right.id))
        notes.live_pairs[key] = pair
        if times[left_slot] != left.time_ms or times[right_slot] != right.time_ms:
            pairs.versions[pair] = named
        self._clusters.join_twins(left_slot)
        self._clusters.join_twins(right_slot)
        if linked or pairs.links(pair):
            self._clusters.join(left_slot, right_slot)
        else:
            self._clusters.add_unlinked_pair(left_slot, right_slot)

    def _node(self, end: End) -> int:
        slot = self.graph.nodes.slots.get(end.id)
        if slot is None:
            slot = self.graph.add(*end)
            self._notes.touch_new_node(slot)
        return slot

    # -- the past

    def _expire(self, horizon: Horizon) -> None:
        before, self.horizon = self.horizon, horizon
        nodes = self.graph.nodes
        expired = nodes.by_id(self.graph.expiry.due(before, horizon))
        self._withdraw_doubts(expired)
        self._clusters.regroup()
        for slot in expired:
            if nodes.clusters[slot] is not NOWHERE:
                self._contract(slot)
        self.forget_expired()
        self._notes.newest = {id: self.newest[id] for id in self._notes.newest if id in self.newest}

    def _withdraw_doubts(self, expired: list[int]) -> None:
        """Withdraw the pairs in doubt of expired documents without a link: no recheck can read an expired version."""
        suspects, pairs = set[int](), self.graph.pairs
        for slot in expired if pairs.versions else ():
            for _, pair in pairs.partners(slot):
                if pairs.in_doubt(pair):
                    suspects |= self._withdraw(pair, UPDATED)
        self._clusters.repair(suspects, UPDATED)

    def _contract(self, slot: int) -> None:
        """Remove an expired document from its cluster and keep it as a link between the documents that it connected.

        It does not link documents that guards have put into other clusters.
        """
        notes, graph, clusters = self._notes, self.graph, self.graph.nodes.clusters
        near, partners = graph.twins.near(slot), graph.pairs.partners(slot)
        cluster, suspects = clusters[slot], graph.past.company(slot).union(near)
        neighbours = self._clusters.in_same_cluster(cluster, near)
        notes.touch_node(slot)
        for partner, pair in reversed(partners):
            state, topic, linked = graph.pairs.state(pair), graph.pairs.topic(pair), graph.pairs.links(pair)
            key = graph.pairs.ends[2 * pair], graph.pairs.ends[2 * pair + 1]
            notes.touch_node(partner)
            notes.touch_pair(key, state, topic)
            notes.expired[key] = state
            if topic != MATCH:
                notes.expired_topics[key] = topic
            notes.live_pairs.pop(key, None)
            graph.pairs.drop(pair)
            suspects.add(partner)
            if linked and clusters[partner] is cluster:
                neighbours.append(partner)
        self._clusters.leave([slot], EXPIRED)
        graph.past.contract(slot, neighbours, notes.touch_node)
        graph.remove(slot)
        self._clusters.expired(suspects)
