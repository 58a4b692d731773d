"""Decisions of users, and one document per source: by examples, against the oracle, and in any order."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.changes import LedgerChanges, MatchChange, MemberChange
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import About, Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_inside import check_graph
from tests.ledger_oracle import Bench, ChosenGuards, Topics, seen
from tests.unit.ledger.test_guards import slow_constrained
from tests.unit.ledger.test_random import IDS, frames
from tests.unit.ledger.test_rules import deleted, edge, end, groups, updated

Frames = list[tuple[list[Retirement], list[Edge], Horizon | None]]


def bench(one_per_source: bool = False) -> Bench:
    """Pairs from 0.8 on are kept, those from 0.9 on are matches."""
    return Bench(0.8, link_from=0.9, one_per_source=one_per_source)


def decision(left: str, verdict: str | None, right: str, ref: int = 1) -> Decision:
    return Decision(left, right, verdict, ref)


def test_the_decision_same_turns_a_review_into_a_match() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 85)])
    settled = world.settle(decisions=[decision("a", "same", "b")])
    assert settled.reviews == [MatchChange("a", "b", reason="decided")]
    assert settled.matches == [MatchChange("a", "b", 0.85, 85, 100, 1, 2)]
    assert settled.changes.decisions == [decision("a", "same", "b")]
    assert settled.changes.pairs == []
    assert groups(world) == {"a": "ab"}
    back = world.settle(decisions=[decision("a", None, "b", 2)])
    assert back.matches == [MatchChange("a", "b", reason="decided")]
    assert back.reviews == [MatchChange("a", "b", 0.85, 85, 100, 1, 2)]
    assert back.members == [MemberChange("a", reason="decided"), MemberChange("b", reason="decided")]


def test_the_decision_different_withdraws_a_match_and_separates_its_ends() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 95)])
    settled = world.settle(decisions=[decision("a", "different", "b")])
    assert settled.matches == [MatchChange("a", "b", reason="decided")]
    assert settled.reviews == []
    assert groups(world) == {"a": "a", "b": "b"}


def test_different_ids_are_separated_whichever_pairs_connect_them() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 92), edge("b", "c", 95), edge("c", "d", 91)])
    settled = world.settle(decisions=[decision("a", "different", "d")])
    assert (settled.matches, settled.reviews) == ([], []), "they were no pair"
    assert groups(world) == {"a": "abc", "d": "d"}, "the least similar pair loses"
    world.settle(edges=[edge("b", "d", 99)])
    assert sorted(groups(world).values()) == ["a", "bcd"]
    world.settle(decisions=[decision("a", None, "d", 9)])
    assert [*groups(world).values()] == ["abcd"]


def test_identical_documents_can_have_the_decision_different() -> None:
    world = bench()
    one, other = end("a", digest=7), end("b", digest=7)
    world.settle(edges=[edge(one, other, 100), edge(other, "c", 95)], decisions=[decision("a", "different", "b")])
    assert sorted(groups(world).values()) == ["a", "bc"]


def test_an_older_decision_does_not_override_a_newer_one() -> None:
    world = bench()
    world.settle(
        edges=[edge("a", "b", 95)], decisions=[decision("a", "different", "b", 5), decision("a", None, "b", 7)]
    )
    for ref in (5, 6, 7):
        late = world.settle(decisions=[decision("a", "different", "b", ref)])
        assert (late.matches, late.changes.decisions) == ([], [])
    assert groups(world) == {"a": "ab"}


def test_a_decision_about_a_missing_pair_applies_once_the_pair_exists() -> None:
    world = bench()
    first = world.settle(decisions=[decision("a", "same", "b"), decision("b", "different", "c")])
    assert first.changes.decisions == [decision("a", "same", "b"), decision("b", "different", "c")]
    settled = world.settle(edges=[edge("a", "b", 85), edge("b", "c", 99)])
    assert [match[:2] for match in settled.matches] == [("a", "b")]
    assert settled.reviews == []
    assert groups(world) == {"a": "ab", "c": "c"}
    world.settle(retirements=[deleted("a")])
    assert sorted(groups(world).values()) == ["b", "c"]
    world.settle(edges=[edge(end("a", 3), "b", 80)])
    assert sorted(groups(world).values()) == ["ab", "c"], "the decision outlives the document"


def test_an_answer_below_the_threshold_does_not_withdraw_a_pair_with_the_decision_same() -> None:
    world, newer = bench(), end("b", 2)
    world.settle(edges=[edge("a", "b", 85)], decisions=[decision("a", "same", "b")])
    world.settle(retirements=[updated(newer)])
    answered = world.settle(edges=[edge("a", newer, 30)])
    assert answered.matches == [MatchChange("a", "b", 0.3, 30, 100, 1, 2)]
    assert groups(world) == {"a": "ab"}
    back = world.settle(decisions=[decision("a", None, "b", 2)])
    assert back.matches == [MatchChange("a", "b", reason="decided")]
    assert groups(world) == {}


def test_decisions_need_a_ledger_that_can_divide_a_component() -> None:
    with pytest.raises(InvariantError, match="about 'a' and 'b'"):
        Ledger(0.8).settle(0, decisions=[decision("a", "same", "b")])


def of(source: str, id: str) -> End:
    return end(id)._replace(about=About(source=source))


def test_one_document_of_each_source() -> None:
    world = bench(one_per_source=True)
    crm, shop, other = of("crm", "a"), of("shop", "b"), of("crm", "c")
    world.settle(edges=[edge(crm, shop, 92), edge(shop, other, 95), edge(of("", "d"), shop, 90)])
    assert sorted(groups(world).values()) == ["a", "bcd"], "the more similar one"
    world.settle(decisions=[decision("a", "same", "b")])
    assert sorted(groups(world).values()) == ["abd", "c"], "decisions take precedence"


def sourced(version: End) -> End:
    source = random.Random(version.ref).choice(("", "crm", "shop", "erp"))
    return version._replace(about=About(source=source))


decisions = st.lists(
    st.builds(
        lambda ids, verdict, ref: Decision(min(ids), max(ids), verdict, ref),
        st.lists(st.sampled_from(IDS), min_size=2, max_size=2, unique=True),
        st.sampled_from((None, "same", "different", "different")),
        st.integers(0, 30),
    ),
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(
    frames=frames,
    decided=st.lists(decisions, min_size=15, max_size=15),
    one_per_source=st.booleans(),
    chosen=st.booleans(),
    seed=st.integers(0, 5),
)
def test_any_frames_and_decisions_settle_as_in_the_oracle(
    frames: Frames, decided: list[list[Decision]], one_per_source: bool, chosen: bool, seed: int
) -> None:
    world = Bench(0.8, None, random.Random(seed), 0.9, one_per_source, chosen=chosen)
    for (retired, linked, _), taken in zip(frames, decided, strict=False):
        retirements = [replace(one, about=sourced(End(one.id, one.ref, 0, 0)).about) for one in retired]
        edges = [one._replace(left=sourced(one.left), right=sourced(one.right)) for one in linked]
        settled = world.settle(retirements=retirements, edges=edges, decisions=taken)  # compares with the oracle
        assert world.ledger.decisions.of.keys() >= {(one.left, one.right) for one in settled.changes.decisions}


def history(rng: random.Random) -> list[Edge | Retirement | Decision]:
    """Documents with one or two versions, similarities, and decisions; in the end only the newest of each count."""
    entries = list[Edge | Retirement | Decision]()
    versions = dict[str, list[End]]()
    for at in range(rng.randint(3, 14)):
        id = f"d{at:02}"
        versions[id] = [sourced(End(id, 10 * at + 1, rng.randrange(30), rng.choice((0, 0, 5 + at % 3))))]
        if rng.random() < 0.3:
            newer = sourced(End(id, 10 * at + 2, rng.randrange(30), 0))
            versions[id].append(newer)
            entries.append(Retirement(id, newer.ref, newer.time_ms, 0, rng.random() < 0.3, 99, newer.about))
    ids = [*versions]
    for one in ids:
        for other in ids:
            if one < other and rng.random() < 0.3:
                for first in versions[one]:
                    for second in versions[other]:
                        score = rng.choice((0.8, 0.85, 0.9, 0.95, 1.0))
                        entries.append(Edge(first, second, score, round(100 * score), 100))
    for ref in range(rng.randint(0, 12)):
        left, right = sorted(rng.sample(ids, 2))
        entries.append(Decision(left, right, rng.choice((None, "same", "different")), ref))
    return entries


def settled_in(
    entries: Sequence[Edge | Retirement | Decision], rng: random.Random, one_per_source: bool, chosen: bool
) -> object:
    """The final contents of the topics, without the ids of clusters."""
    world = Bench(0.8, None, rng, 0.9, one_per_source, chosen=chosen)
    shuffled = [*entries]
    rng.shuffle(shuffled)
    while shuffled:
        cut = rng.randint(1, 8)
        frame, shuffled = shuffled[:cut], shuffled[cut:]
        world.settle(
            retirements=[one for one in frame if isinstance(one, Retirement)],
            edges=[one for one in frame if isinstance(one, Edge)],
            decisions=[one for one in frame if isinstance(one, Decision)],
        )
    parts = {frozenset(members) for members in groups(world).values()}
    return parts, world.topics.matches, world.topics.reviews, world.topics.members.keys()


@pytest.mark.parametrize(("one_per_source", "chosen"), [(False, False), (True, False), (True, True)])
def test_any_order_ends_in_the_same_groups(one_per_source: bool, chosen: bool, seed: int) -> None:
    for number in range(25):
        rng = random.Random(seed + number)
        entries = history(rng)
        first = settled_in(entries, rng, one_per_source, chosen)
        assert all(settled_in(entries, rng, one_per_source, chosen) == first for _ in range(2))


class Decided(History):
    """Histories with decisions about pairs, and documents with sources."""

    def _version(self, id: str) -> End:
        version = sourced(super()._version(id))
        self._versions[id][-1] = version
        return version

    def _retirement(self) -> Retirement:
        retired = super()._retirement()
        return replace(retired, about=sourced(End(retired.id, retired.ref, 0, 0)).about)

    def decisions(self) -> list[Decision]:
        rng = self._rng
        taken = list[Decision]()
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            left, right = sorted(rng.sample(self._ids, 2))
            taken.append(Decision(left, right, rng.choice((None, "same", "different")), rng.randrange(100)))
        return taken


def recomputed_clusters(ledger: Ledger, retention_ms: int | None) -> set[frozenset[str]]:
    """The clusters that follow from the documents, pairs, decisions and past nodes of a snapshot."""
    snapshot = ledger.snapshot()
    nodes = sorted(snapshot.nodes, key=lambda node: (node.time_ms, node.id))
    number = {node.id: at for at, node in enumerate(nodes)}
    verdicts = {(one.left, one.right): one.verdict for one in snapshot.decisions}
    links = list[tuple[int, int, float]]()
    for digest in {node.digest for node in nodes} - {0}:
        for one, other in pairwise(node for node in nodes if node.digest == digest):
            if retention_ms is None or other.time_ms - one.time_ms <= retention_ms:
                links.append((number[one.id], number[other.id], 1e300))
    for past in {past for node in nodes for past in node.pasts}:
        links += [(number[a.id], number[b.id], 1e300) for a, b in pairwise(n for n in nodes if past in n.pasts)]
    for pair in snapshot.pairs:
        verdict = verdicts.get((pair.left, pair.right))
        if verdict == "same" or (verdict is None and pair.similarity >= 0.9):
            first, second = sorted((number[pair.left], number[pair.right]))
            links.append((first, second, math.inf if verdict else pair.similarity))
    apart = [
        tuple(sorted((number[left], number[right])))
        for (left, right), verdict in verdicts.items()
        if verdict == "different" and left in number and right in number
    ]
    sources = [(node.about.source,) if node.about.source else () for node in nodes]
    whole = Links([1] * len(nodes), links, sources, [(one, other) for one, other in apart])
    return {frozenset(nodes[at].id for at in part) for part in slow_constrained(whole, ledger.guards.one_per_source)}


def assert_topics_follow_from_clusters(ledger: Ledger, topics: Topics, left_behind: set[tuple[str, str]]) -> None:
    """Each live pair is on the topic that its similarity, the last decision and, if chosen, the clusters determine.

    A pair that left with an expired end may still be on the other topic.
    """
    best: dict[str, float] = {}
    for pair in ledger.snapshot().pairs:
        key = pair.left, pair.right
        verdict = ledger.decisions.verdict(*key)
        linked = pair.similarity >= 0.9 if verdict is None else verdict
        together = not ledger.guards.chosen_matches or ledger.cluster_of(pair.left) == ledger.cluster_of(pair.right)
        is_match = linked and (together or verdict is not None)
        is_review = not is_match and verdict is None
        for topic, is_there in ((topics.matches, is_match), (topics.reviews, is_review)):
            assert topic.get(key) == seen(pair) if is_there else key not in topic or key in left_behind
        for id in key if is_match else ():
            best[id] = max(best.get(id, 0.0), pair.similarity)
    assert {id: member.similarity for id, member in topics.members.items()} == {
        id: best.get(id) for id in topics.members
    }


@pytest.mark.parametrize("guards", [Guards(), Guards(one_per_source=True), ChosenGuards(one_per_source=True)])
def test_clusters_follow_from_decisions_and_sources_while_documents_expire(guards: Guards, seed: int) -> None:
    apart = expired = 0
    for number in range(30):
        print(f"history {seed + number}")
        history, rng = Decided(seed + number), random.Random(seed + number)
        ledger, topics = Ledger(0.8, history.retention_ms, guards, link_from=0.9), Topics()
        log, pairs, left_behind = list[LedgerChanges](), set[tuple[str, str]](), set[tuple[str, str]]()
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            settled = ledger.settle(
                offset, retirements=retirements, edges=edges_of(edges), horizon=horizon, decisions=history.decisions()
            )
            topics.read(settled)
            log.append(settled.changes)
            clusters = {id: frozenset(ledger.members(id)) for id in ledger.ids.live}
            assert {*clusters.values()} == recomputed_clusters(ledger, history.retention_ms)
            published = {id: members for id, members in clusters.items() if len(members) > 1}
            assert {id: one.cluster for id, one in topics.members.items()} == {
                one: id for id, members in published.items() for one in members
            }
            assert {id: one.size for id, one in topics.clusters.items()} == {
                id: len(one) for id, one in published.items()
            }
            pairs_now = {pair[:2] for pair in ledger.snapshot().pairs}
            published_now = {change[:2] for change in (*settled.matches, *settled.reviews)}
            left_behind |= (pairs | published_now) - pairs_now if horizon is not None else set()
            pairs = pairs_now
            assert_topics_follow_from_clusters(ledger, topics, left_behind)
            expired += sum(one.reason == "expired" for one in settled.members)
            if rng.random() < 0.1:
                live, ledger = ledger, Ledger(0.8, history.retention_ms, guards, link_from=0.9)
                for changes in log:
                    ledger.apply(changes)
                assert ledger.snapshot() == live.snapshot()
                check_graph(ledger)
        apart += len(ledger.decisions.apart)
    assert min(apart, expired) > 20


def test_one_per_source_and_the_other_guards_apply_together() -> None:
    ledger = Ledger(0.8, guards=Guards(one_per_source=True, max_size=2), link_from=0.9)
    crm, shop, other, last = of("crm", "a"), of("shop", "b"), of("crm", "c"), of("", "d")
    ledger.settle(0, edges=[edge(crm, shop, 92), edge(shop, other, 95), edge(last, shop, 90), edge(last, crm, 91)])
    found = {frozenset(ledger.members(id)) for id in ledger.ids.live}
    assert found == {frozenset("bc"), frozenset("ad")}
