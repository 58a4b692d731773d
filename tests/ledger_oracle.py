"""A slow, obvious ledger, and a bench that drives the real one beside it and compares everything after each frame.

The oracle keeps every expired document with the links that it had when it expired, and searches the whole graph.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import methodcaller
from typing import NamedTuple

from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, MatchChange, MemberChange, PairState, Settled
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_identities import Checked, FrameChecks, FrameParts, clusters_of
from tests.ledger_inside import check_graph, members_of, nodes_of, pasts_of

Vertex = str | int
"""A live document by its id, an expired one by a number."""


class Version(NamedTuple):
    """The newest version that is known of a live document."""

    ref: int
    time_ms: int
    digest: int


@dataclass
class Oracle:
    """Live documents, pairs, and the full graph of the expired ones."""

    threshold: float
    retention_ms: int | None = None
    live: dict[str, Version] = field(default_factory=dict)
    pairs: dict[tuple[str, str], PairState] = field(default_factory=dict)
    newest: dict[str, tuple[int, int]] = field(default_factory=dict)
    old_links: dict[Vertex, set[Vertex]] = field(default_factory=dict)
    horizon: Horizon = field(default_factory=Horizon)
    expired: int = 0
    left_behind: dict[tuple[str, str], PairState] = field(default_factory=dict)
    link_from: float = 0.0
    reviews_left: dict[tuple[str, str], PairState] = field(default_factory=dict)
    one_per_source: bool = False
    decisions: dict[tuple[str, str], Decision] = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    cap_rechecks: int = 0
    capped: int = 0
    chosen: bool = False

    # -- one frame

    def settle(
        self,
        retirements: Iterable[Retirement],
        edges: Iterable[Edge],
        horizon: Horizon | None,
        decisions: Iterable[Decision] = (),
    ) -> set[frozenset[int]]:
        """Apply a frame; returns the refs of the pairs that need a recheck."""
        asked, retirements, edges = set(), list(retirements), list(edges)
        self.sources |= {retired.ref: retired.about.source for retired in retirements}
        self.sources |= {end.ref: end.about.source for edge in edges for end in edge[:2]}
        for decision in decisions:
            key = decision.left, decision.right
            if decision.ref > self.decisions.get(key, decision._replace(ref=-1)).ref:
                self.decisions[key] = decision
        for retired in retirements:
            self._retire(retired)
            asked.add(retired.id)
            self._let_go()
        for key, pair in list(self.pairs.items()):
            if pair.similarity < self.threshold and self.verdict(key) != "same":
                del self.pairs[key]
        self._let_go()
        for edge in edges:
            self._link(edge)
            self._let_go()
        for id in sorted(asked if self.cap_rechecks else ()):
            self._withdraw_excess(id)
            self._let_go()
        if horizon is not None:
            self._expire(self.horizon.max(horizon))
        return {
            frozenset((self.live[left].ref, self.live[right].ref))
            for (left, right), pair in self.pairs.items()
            if asked & {left, right} and self._in_doubt(pair)
        }

    def _retire(self, retired: Retirement) -> None:
        self._know(retired.id, retired.ref, retired.keep_until_ms)
        now = self.live.get(retired.id)
        if now is None:
            return
        if retired.ref > now.ref:
            if retired.deleted or self.horizon.passed(retired.time_ms, retired.ref):
                del self.live[retired.id]
                self._cut_past(retired.id)
                self.pairs = {key: pair for key, pair in self.pairs.items() if retired.id not in key}
            else:
                self._know(retired.id, retired.ref, now.time_ms)
                self._replace(End(retired.id, retired.ref, retired.time_ms, retired.digest))
        elif retired.deleted:
            for key, pair in list(self.pairs.items()):
                named = {pair.left: pair.left_ref, pair.right: pair.right_ref}
                if named.get(retired.id, retired.ref) < retired.ref:
                    del self.pairs[key]

    def _withdraw_excess(self, id: str) -> None:
        """Keep the most similar pairs in doubt, with the newest partners, and those with the decision `same`."""
        ranked = list[tuple[float, int, tuple[str, str]]]()
        for key, pair in self.pairs.items():
            if id in key and self._in_doubt(pair):
                (partner,) = {*key} - {id}
                ranked.append((pair.similarity, self.live[partner].ref, key))
        for *_, key in sorted(ranked, reverse=True)[self.cap_rechecks :]:
            if self.verdict(key) != "same":
                del self.pairs[key]
                self.capped += 1

    def _link(self, edge: Edge) -> None:
        ends = (edge.left, edge.right)
        if any(end.ref < self._newest_ref(end.id) or self.horizon.passed(end.time_ms, end.ref) for end in ends):
            return
        for end in ends:
            if end.id in self.live and end.ref > self.live[end.id].ref:
                self._know(end.id, end.ref, self.live[end.id].time_ms)
                self._replace(end)
                self._let_go()
        left, right = sorted(ends)
        stored = self.pairs.get((left.id, right.id))
        if self.link_from and stored is not None and (stored.left_ref, stored.right_ref) == (left.ref, right.ref):
            if stored.union >= edge.union:
                return
        if edge.similarity < self.threshold and self.verdict((left.id, right.id)) != "same":
            self.pairs.pop((left.id, right.id), None)
            return
        for end in ends:
            self.live[end.id] = Version(end.ref, end.time_ms, end.digest)
        refs_and_times = left.ref, right.ref, left.time_ms, right.time_ms
        self.pairs[left.id, right.id] = PairState(
            left.id, right.id, *refs_and_times, *edge[2:5], _shingles(edge, left), edge.evidence
        )

    def _expire(self, horizon: Horizon) -> None:
        self.horizon = horizon
        gone = {id for id, version in self.live.items() if horizon.passed(version.time_ms, version.ref)}
        for key, pair in list(self.pairs.items()):
            if gone & set(key) and self._in_doubt(pair):
                del self.pairs[key]
        self._let_go()
        gone &= self.live.keys()
        names: dict[Vertex, Vertex] = {id: self.expired + number for number, id in enumerate(sorted(gone))}
        self.expired += len(names)
        links = self.links()
        for id in gone:
            for other in links[id]:
                one, two = names[id], names.get(other, other)
                self.old_links.setdefault(one, set()).add(two)
                self.old_links.setdefault(two, set()).add(one)
        for id in gone:
            self._cut_past(id)
            del self.live[id]
        self.left_behind |= {key: pair for key, pair in self.matches().items() if gone & set(key)}
        self.reviews_left |= {key: pair for key, pair in self.reviews().items() if gone & set(key)}
        self.pairs = {key: pair for key, pair in self.pairs.items() if not gone & set(key)}
        self.newest = {id: (ref, keep) for id, (ref, keep) in self.newest.items() if not horizon.passed(keep, ref)}
        self._let_go()

    # -- pieces of it

    def _newest_ref(self, id: str) -> int:
        known = [self.newest[id][0]] if id in self.newest else []
        return max(known + ([self.live[id].ref] if id in self.live else [-1]))

    def _know(self, id: str, ref: int, keep_until_ms: int) -> None:
        before = self.newest.get(id, (ref, keep_until_ms))
        ref, keep_until_ms = max(ref, before[0]), max(keep_until_ms, before[1])
        if not self.horizon.passed(keep_until_ms, ref):
            self.newest[id] = ref, keep_until_ms

    def _replace(self, end: End) -> None:
        self.live[end.id] = Version(end.ref, end.time_ms, end.digest)
        self._cut_past(end.id)

    def _cut_past(self, id: Vertex) -> None:
        for other in self.old_links.pop(id, set()):
            self.old_links[other].discard(id)

    def _in_doubt(self, pair: PairState) -> bool:
        return (pair.left_ref, pair.right_ref) != (self.live[pair.left].ref, self.live[pair.right].ref)

    def _let_go(self) -> None:
        """Documents that nothing holds leave."""
        links, paired = self.links(), {id for key in self.pairs for id in key}
        for id in [id for id in self.live if not links[id] and id not in paired]:
            del self.live[id]

    def linking(self) -> dict[tuple[str, str], PairState]:
        """The pairs that connect."""
        return {key: pair for key, pair in self.pairs.items() if self._links(pair)}

    def matches(self) -> dict[tuple[str, str], PairState]:
        """The pairs that connect; with `chosen`, those within a group, and those with the decision `same`."""
        linking = self.linking()
        if not self.chosen:
            return linking
        group = {id: number for number, members in enumerate(self.groups()) for id in members}
        return {
            key: pair for key, pair in linking.items() if self.verdict(key) == "same" or group[key[0]] == group[key[1]]
        }

    def _links(self, pair: PairState) -> bool:
        verdict = self.verdict(pair[:2])
        return verdict == "same" or (verdict is None and pair.similarity >= self.link_from)

    def reviews(self) -> dict[tuple[str, str], PairState]:
        """The other pairs, without a decision."""
        matches = self.matches()
        return {key: pair for key, pair in self.pairs.items() if key not in matches and self.verdict(key) is None}

    def verdict(self, key: tuple[str, str]) -> str | None:
        """The last decision about two ids."""
        return self.decisions[key].verdict if key in self.decisions else None

    def groups(self) -> set[frozenset[str]]:
        """The clusters: the components, parted where some may not be together.  Then nothing may have expired."""
        apart = {frozenset(key) for key in self.decisions if self.verdict(key) == "different"}
        if not apart and not self.one_per_source:
            return self.components()
        assert not self.old_links
        number = {id: at for at, (_, id) in enumerate(sorted((self.live[id].time_ms, id) for id in self.live))}
        links = []
        for one, others in self.links().items():
            for other in others:
                assert isinstance(one, str)
                assert isinstance(other, str)
                pair = self.linking().get((min(one, other), max(one, other)))
                verdict = None if pair is None else self.verdict(pair[:2])
                values = [math.inf if verdict else pair.similarity] if pair is not None else []
                if self.is_twin(one, other):
                    values.append(1e300)
                if number[one] < number[other]:
                    links.append((-max(values), number[one], number[other], one, other))
        groups = [{id} for id in self.live]
        for *_, one, other in sorted(links):
            first, second = (next(group for group in groups if id in group) for id in (one, other))
            named = [self.sources[self.live[id].ref] for id in first | second]
            named = [source for source in named if source]
            twice = self.one_per_source and len(named) > len({*named})
            if first is not second and not twice and not any(pair <= first | second for pair in apart):
                groups = [group for group in groups if group not in (first, second)] + [first | second]
        return {frozenset(group) for group in groups}

    def is_twin(self, one: str, other: str) -> bool:
        """Whether two documents are identical, and next to each other; given that they are linked."""
        digest = self.live[one].digest
        group = sorted((version.time_ms, id) for id, version in self.live.items() if version.digest == digest)
        for (time_ms, id), (later_ms, later) in pairwise(group if digest else []):
            if {id, later} == {one, other}:
                return self.retention_ms is None or later_ms - time_ms <= self.retention_ms
        return False

    # -- results

    def links(self) -> dict[Vertex, set[Vertex]]:
        """Every link of the full graph, from both sides."""
        links: dict[Vertex, set[Vertex]] = {id: set() for id in self.live}
        for vertex, others in self.old_links.items():
            links.setdefault(vertex, set()).update(others)
        connected: list[tuple[Vertex, Vertex]] = [(left, right) for left, right in self.linking()]
        for digest in {version.digest for version in self.live.values()} - {0}:
            group = sorted((version.time_ms, id) for id, version in self.live.items() if version.digest == digest)
            for (time_ms, id), (later_ms, later) in pairwise(group):
                if self.retention_ms is None or later_ms - time_ms <= self.retention_ms:
                    connected.append((id, later))
        for one, other in connected:
            links[one].add(other)
            links[other].add(one)
        return links

    def components(self) -> set[frozenset[str]]:
        """The live documents of each component of the full graph."""
        links, left, components = self.links(), set(self.live), set()
        while left:
            todo: list[Vertex] = [next(iter(left))]
            seen: set[Vertex] = set()
            while todo:
                vertex = todo.pop()
                if vertex not in seen:
                    seen.add(vertex)
                    todo.extend(links[vertex])
            component = frozenset(id for id in seen if isinstance(id, str))
            components.add(component)
            left -= component
        return components

    def best(self, id: str) -> float | None:
        """The best similarity of a document's live matches."""
        return max((pair.similarity for key, pair in self.matches().items() if id in key), default=None)


class ChosenGuards(Guards):
    """Guards under which a pair between two clusters is no match."""

    @property
    def chosen_matches(self) -> bool:
        """True."""
        return True


@dataclass
class Topics:
    """The public topics as a consumer of compacted topics sees them."""

    matches: dict[tuple[str, str], MatchChange] = field(default_factory=dict)
    reviews: dict[tuple[str, str], MatchChange] = field(default_factory=dict)
    members: dict[str, MemberChange] = field(default_factory=dict)
    clusters: dict[str, ClusterChange] = field(default_factory=dict)

    def read(self, settled: Settled) -> None:
        """Fold the changes of a frame in; each has to be news."""
        for keys in (
            [change[:2] for change in settled.matches],
            [change[:2] for change in settled.reviews],
            [(change.id,) for change in settled.members],
            [(change.id,) for change in settled.clusters],
        ):
            assert keys == sorted(set(keys)), "sorted, and once each"
        for topic, changes in ((self.matches, settled.matches), (self.reviews, settled.reviews)):
            for match in changes:
                if match.similarity is None:
                    assert match.reason in {"updated", "deleted", "decided"}
                    del topic[match.left, match.right]
                else:
                    assert match.reason is None
                    assert topic.get((match.left, match.right)) != match, "nothing new"
                    topic[match.left, match.right] = match
        for member in settled.members:
            if member.cluster is None:
                assert member.reason in {"updated", "deleted", "expired", "decided"}
                del self.members[member.id]
            else:
                assert self.members.get(member.id) != member, "nothing new"
                self.members[member.id] = member
        for cluster in settled.clusters:
            self._read_cluster(cluster)

    def _read_cluster(self, cluster: ClusterChange) -> None:
        if cluster.event is None:
            assert cluster.merged_into is None or cluster.merged_into != cluster.id
            del self.clusters[cluster.id]
            return
        bare = cluster._replace(event=None, merged_from=(), split_from=None)
        before = self.clusters.get(cluster.id)
        assert before != bare, "nothing new"
        assert (before is None) == (cluster.event == "created" or cluster.split_from is not None)
        assert (cluster.event == "merged") == bool(cluster.merged_from)
        self.clusters[cluster.id] = bare


def _shingles(edge: Edge, end: End) -> int:
    """The shingles of one of the ends; 0 if they are not reported."""
    return edge.shingles if end == edge.left or not edge.shingles else edge.shared + edge.union - edge.shingles


def seen(pair: PairState) -> MatchChange:
    """A pair as it is published."""
    times = (pair.left_time_ms, pair.right_time_ms)
    about = pair.left_shingles, pair.evidence
    return MatchChange(*pair[:2], pair.similarity, pair.shared, pair.union, *times, None, *about)


def withdrawn_and_put(
    retirements: Iterable[Retirement], edges: Iterable[Edge], threshold: float
) -> set[tuple[str, str]]:
    """The pairs that a frame can withdraw and confirm: these are written, even if they end as they were."""
    retired, edges = {retired.id for retired in retirements}, list(edges)
    keys = [(min(edge.left.id, edge.right.id), max(edge.left.id, edge.right.id)) for edge in edges]
    below = {key for key, edge in zip(keys, edges, strict=True) if edge.similarity < threshold}
    above = {key for key, edge in zip(keys, edges, strict=True) if edge.similarity >= threshold}
    return {key for key in above if key in below or retired & {*key}}


class Bench:
    """A ledger, the oracle, the public topics, and ledgers recovered from records, which all must agree."""

    def __init__(
        self,
        threshold: float = 0.8,
        retention_ms: int | None = None,
        rng: random.Random | None = None,
        link_from: float = 0.0,
        one_per_source: bool = False,
        *,
        cap_rechecks: int = 0,
        chosen: bool = False,
    ) -> None:
        guards = (ChosenGuards if chosen else Guards)(one_per_source=one_per_source)
        self._new = partial(Ledger, threshold, retention_ms, guards, link_from=link_from, cap_rechecks=cap_rechecks)
        self.ledger = self._new()
        rest = {"one_per_source": one_per_source, "cap_rechecks": cap_rechecks, "chosen": chosen}
        self.oracle = Oracle(threshold, retention_ms, link_from=link_from, **rest)  # type: ignore[arg-type]
        self.topics = Topics()
        self.offset = self.splits = self.moved = self.capped = 0
        self.rng = rng
        self._also = [self.ledger]
        self._follower = self._new()
        self._rows = self._new()
        self.checked, self.parts = Checked(), Checked()
        self._parts = FrameParts(self._new(), threshold)
        self._ids_by_links = not (link_from or one_per_source or cap_rechecks)

    def settle(
        self,
        *,
        retirements: Iterable[Retirement] = (),
        edges: Iterable[Edge] = (),
        horizon: Horizon | None = None,
        decisions: Sequence[Decision] = (),
    ) -> Settled:
        """One frame through everything."""
        retirements, edges = list(retirements), list(edges)
        self.offset += 1
        settle = partial(methodcaller, "settle", self.offset, retirements=retirements, horizon=horizon)
        before = clusters_of(self.ledger)
        every = [settle(edges=edges_of(edges), decisions=decisions)(ledger) for ledger in self._also]
        every.append(settle(edges=edges, decisions=decisions)(self._rows))
        settled: Settled = every[0]
        assert all(other == settled for other in every), "a recovered ledger behaves like the one that wrote"
        if self._ids_by_links and not decisions:
            frame = FrameChecks(self.offset, before, clusters_of(self.ledger), settled)
            self.checked = self.checked.plus(frame.check(retirements, edges, horizon, self.oracle.threshold))
            self.parts = self.parts.plus(self._parts.check(self.offset, retirements, edges, horizon, frame))

        rechecks = self.oracle.settle(retirements, edges, horizon, decisions)
        assert len(settled.rechecks) == len(rechecks)
        assert {frozenset(recheck) for recheck in settled.rechecks} == rechecks
        assert settled.rechecks == sorted(settled.rechecks)
        assert {recheck[0] for recheck in settled.rechecks} <= {
            self.ledger.newest_ref(retired.id) for retired in retirements
        }
        self.capped += settled.capped_rechecks
        assert self.capped == self.oracle.capped
        self.compare_recovery(settled.changes, withdrawn_and_put(retirements, edges, self.oracle.threshold))
        self.moved += len({one[:2] for one in settled.reviews} & {one[:2] for one in settled.matches})
        self.splits += sum(cluster.split_from is not None for cluster in settled.clusters)
        self.topics.read(settled)
        self.compare_left_behind()
        self.compare_topics()
        self.compare_state()
        check_graph(self.ledger)
        return settled

    def compare_recovery(self, changes: LedgerChanges, put_again: set[tuple[str, str]]) -> None:
        """A ledger recovered from the records, or a snapshot and later records, equals the live one."""
        follower, snapshot = self._follower, self.ledger.snapshot()
        before = follower.snapshot()
        assert not {*before.nodes} & {*changes.nodes}, "a row that did not change"
        unchanged = {pair[:2] for pair in {*before.pairs} & {*changes.pairs}}
        assert unchanged <= put_again, "a row that did not change"
        assert {*changes.nodes_gone} <= {node.id for node in before.nodes}
        assert {*changes.pairs_gone} <= {pair[:2] for pair in before.pairs}
        assert {*changes.clusters_gone} <= {cluster.id for cluster in before.clusters}
        follower.apply(changes)
        assert all(ledger.snapshot() == snapshot for ledger in (*self._also, follower))
        assert pasts_of(follower) == pasts_of(self.ledger)
        assert members_of(follower) == members_of(self.ledger)
        check_graph(follower)
        if self.rng is not None and self.rng.random() < 0.1:
            self._also = [self.ledger, follower]
            self._follower = self._new()
            self._follower.apply(snapshot)
            assert self._follower.snapshot() == snapshot

    def compare_left_behind(self) -> None:
        """Pairs that an expired end took along stay in `matches` as they were then; no others do."""
        for key in self.topics.matches.keys() - self.oracle.matches().keys():
            assert self.topics.matches[key] == seen(self.oracle.left_behind[key])
        both = self.topics.reviews.keys() & self.topics.matches.keys()
        assert both <= self.oracle.left_behind.keys() | self.oracle.reviews_left.keys()
        for key in self.topics.reviews.keys() - self.oracle.reviews().keys():
            assert self.topics.reviews[key] == seen(self.oracle.reviews_left[key])

    def compare_topics(self) -> None:
        """The published values are the true ones."""
        nodes, clustered = nodes_of(self.ledger), members_of(self.ledger)
        for topic, pairs in (
            (self.topics.matches, self.oracle.matches()),
            (self.topics.reviews, self.oracle.reviews()),
        ):
            true = {key: seen(pair) for key, pair in pairs.items()}
            assert {key: topic.get(key) for key in true} == true
        least = 2 if self.oracle.link_from else 1
        groups = self.oracle.groups()
        clustered_ids = {id for component in groups if len(component) >= least for id in component}
        assert self.topics.members == {
            id: MemberChange(id, node.cluster, self.oracle.best(id), node.time_ms)
            for id, node in nodes.items()
            if id in clustered_ids
        }
        clusters = {}
        for component in groups:
            members = sorted((self.oracle.live[id].time_ms, id) for id in component)
            ids = {nodes[id].cluster for id in component}
            assert len(ids) == 1, "one component, one cluster"
            id = ids.pop()
            assert id not in clusters, "one cluster, one component"
            assert id not in self.ledger.ids.closed
            clusters[id] = ClusterChange(
                id,
                size=len(members),
                members=tuple(id for _, id in members[::-1][:100]),
                representative=members[0][1],
                first_time_ms=members[0][0],
                last_time_ms=members[-1][0],
            )
            assert clustered[id] == members
        assert self.topics.clusters == {id: cluster for id, cluster in clusters.items() if cluster.size >= least}
        assert self.ledger.ids.live.keys() == clusters.keys()

    def compare_state(self) -> None:
        """Documents, pairs, newest refs and the horizon are those of the oracle."""
        nodes, oracle = nodes_of(self.ledger), self.oracle
        assert {id: (node.ref, node.time_ms, node.digest) for id, node in nodes.items()} == oracle.live
        snapshot = self.ledger.snapshot()
        assert {(pair.left, pair.right): pair for pair in snapshot.pairs} == oracle.pairs
        assert {state.id: (state.ref, state.keep_until_ms) for state in snapshot.newest} == oracle.newest
        assert self.ledger.horizon == oracle.horizon
