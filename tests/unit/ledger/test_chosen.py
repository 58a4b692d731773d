"""Chosen matches: with one record of each source in a cluster, a pair between two clusters is a review."""

from stream_lsh.ledger.changes import MatchChange, MemberChange
from stream_lsh.ledger.edges import End
from stream_lsh.model import Retirement
from tests.ledger_oracle import Bench
from tests.unit.ledger.test_decisions import decision, of
from tests.unit.ledger.test_rules import edge


def bench() -> Bench:
    """Pairs from 0.8 on are kept, those from 0.9 on link, and a cluster has one document of each source."""
    return Bench(0.8, link_from=0.9, one_per_source=True, chosen=True)


CRM, SHOP, RIVAL = of("crm", "a"), of("shop", "b"), of("shop", "c")


def deletion(end: End) -> Retirement:
    return Retirement(end.id, end.ref + 1, end.time_ms, 0, True, end.time_ms, end.about)


def test_a_better_partner_replaces_the_match() -> None:
    world = bench()
    world.settle(edges=[edge(CRM, SHOP, 92)])
    settled = world.settle(edges=[edge(CRM, RIVAL, 95)])
    assert [(one.left, one.right, one.similarity) for one in settled.matches] == [("a", "b", None), ("a", "c", 0.95)]
    assert settled.matches[0].reason == "updated"
    assert [(one.left, one.right, one.similarity) for one in settled.reviews] == [("a", "b", 0.92)]
    assert [pair[:2] for pair in settled.changes.pairs] == [("a", "c")], "the topic of a pair follows from the clusters"
    assert world.topics.members.keys() == {"a", "c"}
    assert world.topics.members["a"].similarity == 0.95


def test_a_worse_partner_is_a_review_from_the_start() -> None:
    world = bench()
    settled = world.settle(edges=[edge(CRM, SHOP, 95), edge(CRM, RIVAL, 92)])
    assert [one[:3] for one in settled.matches] == [("a", "b", 0.95)]
    assert [one[:3] for one in settled.reviews] == [("a", "c", 0.92)]


def test_the_next_best_partner_takes_the_place_of_a_deleted_one() -> None:
    world = bench()
    world.settle(edges=[edge(CRM, SHOP, 95), edge(CRM, RIVAL, 92)])
    settled = world.settle(retirements=[deletion(SHOP)])
    assert [(one[:3], one.reason) for one in settled.matches] == [
        (("a", "b", None), "deleted"),
        (("a", "c", 0.92), None),
    ]
    assert settled.reviews == [MatchChange("a", "c", reason="updated")]
    assert [(one.id, one.similarity) for one in settled.members] == [("a", 0.92), ("b", None), ("c", 0.92)]


def test_a_decision_makes_a_match_of_the_pair_that_lost() -> None:
    world = bench()
    world.settle(edges=[edge(CRM, SHOP, 95), edge(CRM, RIVAL, 92)])
    settled = world.settle(decisions=[decision("a", "same", "c")])
    assert [(one[:3], one.reason) for one in settled.matches] == [
        (("a", "b", None), "updated"),
        (("a", "c", 0.92), None),
    ]
    assert settled.reviews == [
        MatchChange("a", "b", 0.95, 95, 100, *times(SHOP)),
        MatchChange("a", "c", reason="decided"),
    ]


def times(other: End) -> tuple[int, int]:
    return CRM.time_ms, other.time_ms


def test_the_similarity_of_a_member_is_that_of_its_match() -> None:
    world = bench()
    better = of("crm", "d")
    # c has a better partner than a, and a takes b; the pair a, c is the best of neither.
    world.settle(edges=[edge(CRM, SHOP, 91), edge(CRM, RIVAL, 93), edge(better, RIVAL, 97)])
    assert world.topics.matches.keys() == {("a", "b"), ("c", "d")}
    assert world.topics.members["a"] == MemberChange("a", world.topics.members["b"].cluster, 0.91, CRM.time_ms)
