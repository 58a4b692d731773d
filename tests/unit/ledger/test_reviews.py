"""Pairs for users to review, which connect no documents; each bench compares every frame with the oracle."""

import random
from itertools import combinations

import pytest

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.retention import Horizon
from tests.ledger_oracle import Bench
from tests.unit.ledger.test_rules import deleted, edge, end, groups, updated


def bench(retention_ms: int | None = None) -> Bench:
    """Pairs from 0.8 on are kept, those from 0.9 on are matches."""
    return Bench(0.8, retention_ms, link_from=0.9)


def test_a_review_is_no_match_and_publishes_no_cluster() -> None:
    world = bench()
    settled = world.settle(edges=[edge("a", "b", 85)])
    assert settled.reviews == [MatchChange("a", "b", 0.85, 85, 100, 1, 2)]
    assert (settled.matches, settled.members, settled.clusters) == ([], [], [])
    assert groups(world) == {"a": "a", "b": "b"}


def test_a_review_connects_no_documents_and_a_match_does() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 95), edge("b", "c", 85), edge("c", "d", 90)])
    assert groups(world) == {"a": "ab", "c": "cd"}
    assert world.topics.members["b"] == MemberChange("b", "a", 0.95, 2), "the best match, not the best pair"


def test_a_pair_that_an_update_makes_a_match_is_withdrawn_from_the_reviews() -> None:
    world, newer = bench(), end("b", 2)
    world.settle(edges=[edge("a", "b", 85)])
    assert world.settle(retirements=[updated(newer)]).rechecks == [(newer.ref, end("a").ref)]
    settled = world.settle(edges=[edge("a", newer, 95)])
    assert settled.reviews == [MatchChange("a", "b", reason="updated")]
    assert settled.matches == [MatchChange("a", "b", 0.95, 95, 100, 1, 2)]
    assert settled.clusters == [ClusterChange("a", "created", 2, ("b", "a"), "a", first_time_ms=1, last_time_ms=2)]
    newest = end("b", 3)
    world.settle(retirements=[updated(newest)])
    back = world.settle(edges=[edge("a", newest, 85)])
    assert back.matches == [MatchChange("a", "b", reason="updated")]
    assert back.reviews == [MatchChange("a", "b", 0.85, 85, 100, 1, 2)]
    assert back.members == [MemberChange("a", reason="updated"), MemberChange("b", reason="updated")]
    assert back.clusters == [ClusterChange("a")]


def test_the_rest_of_a_cluster_is_published_while_it_has_two_members() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b"), edge("b", "c"), edge("a", "x", 85)])
    left = world.settle(retirements=[deleted("c")])
    assert [(change.id, change.event, change.size) for change in left.clusters] == [("a", "left", 2)]
    alone = world.settle(retirements=[deleted("b")])
    assert alone.clusters == [ClusterChange("a")]
    assert alone.members == [MemberChange("a", reason="deleted"), MemberChange("b", reason="deleted")]
    assert groups(world) == {"a": "a", "x": "x"}, "the review holds them"


def test_a_published_cluster_keeps_its_id_in_a_merge() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 85)])
    world.settle(edges=[edge("c", "d")])
    settled = world.settle(edges=[edge("a", "d")])
    assert [(change.id, change.event, change.size, change.merged_from) for change in settled.clusters] == [
        ("c", "joined", 3, ())
    ]
    assert groups(world) == {"c": "acd", "b": "b"}


def test_the_score_of_two_versions_stays() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 95)._replace(evidence="{}")])
    for percent in (97, 85, 50):
        again = world.settle(edges=[edge("b", "a", percent)])
        assert (again.matches, again.reviews, again.changes.pairs) == ([], [], [])
    (pair,) = world.ledger.snapshot().pairs
    assert (pair.similarity, pair.evidence) == (0.95, "{}")


def test_a_score_that_counts_more_records_replaces_another_one() -> None:
    world = bench()
    world.settle(edges=[edge("a", "b", 95)])
    more = edge("b", "a", 85)._replace(union=200)
    settled = world.settle(edges=[more])
    assert settled.matches == [MatchChange("a", "b", reason="updated")]
    assert settled.reviews == [MatchChange("a", "b", 0.85, 85, 200, 1, 2)]
    assert settled.rechecks == []
    assert world.settle(edges=[edge("a", "b", 95), more]).changes.pairs == []
    settled = world.settle(edges=[edge("a", "b", 50)._replace(union=201)])
    assert settled.reviews == [MatchChange("a", "b", reason="updated")]
    assert groups(world) == {}


def test_scores_may_arrive_repeatedly_and_in_any_order(seed: int) -> None:
    rng = random.Random(seed)
    best = {pair: rng.randint(2, 9) for pair in combinations("abcdef", 2)}
    # The score with the most records is not below the threshold: a ledger does not remember withdrawn pairs.
    sent = [
        edge(one, other, rng.choice((82, 85, 93, 98)) if count == most else rng.choice((50, 85, 95)))._replace(
            union=count
        )
        for (one, other), most in best.items()
        for count in range(1, most + 1)
    ]
    worlds = [bench(), bench()]
    for world in worlds:
        arriving = [*sent, *rng.choices(sent, k=30)]
        rng.shuffle(arriving)
        while arriving:
            world.settle(edges=[arriving.pop() for _ in range(min(len(arriving), rng.randint(1, 9)))])
    one, other = (
        [(pair.left, pair.right, pair.similarity, pair.union) for pair in world.ledger.snapshot().pairs]
        for world in worlds
    )
    assert one == other
    assert {(left, right): union for left, right, _, union in one} == best


def test_an_expired_document_takes_its_reviews_along_and_leaves_no_link() -> None:
    world = bench(100)
    first, second, third = end("a", 1, 10), end("b", 1, 60), end("c", 1, 70)
    world.settle(edges=[edge(first, second, 85), edge(first, third, 85)])
    settled = world.settle(horizon=Horizon(50))
    assert (settled.reviews, settled.members, settled.clusters) == ([], [], [])
    assert world.topics.reviews.keys() == {("a", "b"), ("a", "c")}, "as matches stay"
    assert groups(world) == {}


def test_a_search_of_a_component_never_crosses_a_review(monkeypatch: pytest.MonkeyPatch) -> None:
    world, visited, plain = bench(), list[int](), Graph.steps

    def counted(graph: Graph, vertex: int) -> list[int]:
        visited.append(vertex)
        return plain(graph, vertex)

    hub = end("m")
    world.settle(edges=[edge(hub, end(f"z{number}"), 85) for number in range(200)])
    monkeypatch.setattr(Graph, "steps", counted)
    world.ledger.settle(world.offset + 1, edges=[edge(hub, "n")])
    assert len(visited) == 2
