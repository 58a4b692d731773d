"""The owner and the standbys of each partition when workers come and go."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.membership.assignor import Partitions, spread

Spread = tuple[Partitions, Partitions]


def joined(before: Spread, member: str, partitions: int, standbys: int) -> Spread:
    owned, followed = before
    return spread({**owned, member: ()}, {**followed, member: ()}, partitions, standbys)


def gone(before: Spread, member: str, partitions: int, standbys: int) -> Spread:
    owned, followed = ({one: had for one, had in part.items() if one != member} for part in before)
    return spread(owned, followed, partitions, standbys)


def test_two_workers_follow_each_other_and_the_one_that_stays_has_everything() -> None:
    alone = spread({"a": ()}, {"a": ()}, 4, 1)
    assert alone == ({"a": {0, 1, 2, 3}}, {"a": set()})
    both = joined(alone, "b", 4, 1)
    assert both == ({"a": {2, 3}, "b": {0, 1}}, {"a": {0, 1}, "b": {2, 3}})
    assert gone(both, "b", 4, 1) == alone


def test_a_third_worker_gets_its_share_and_what_it_takes_over_it_has_followed() -> None:
    three = ({"a": {0, 3}, "b": {1, 4}, "c": {2, 5}}, {"a": {1, 2}, "b": {0, 5}, "c": {3, 4}})
    assert spread(*three, 6, 1) == three, "nothing moves that need not"
    owned, followed = gone(three, "a", 6, 1)
    assert owned == {"b": {0, 1, 4}, "c": {2, 3, 5}}
    assert followed == {"b": {2, 3, 5}, "c": {0, 1, 4}}


def test_standbys_stay_where_they_are() -> None:
    for followed in ({"a": {3, 5}, "b": {1, 4}, "c": {0, 2}}, {"a": {2, 4}, "b": {0, 5}, "c": {1, 3}}):
        assert spread({"a": {0, 1}, "b": {2, 3}, "c": {4, 5}}, followed, 6, 1)[1] == followed


def test_partitions_that_move_for_balance_are_followed_by_the_new_owner_or_are_the_newest() -> None:
    assert spread({"a": {0, 1, 2, 3}, "b": ()}, {"a": (), "b": {1, 3}}, 4, 1)[0] == {"a": {0, 2}, "b": {1, 3}}
    came = spread({"a": {0, 1}, "b": {2}, "c": {3}}, {"a": {4, 5}, "b": (), "c": ()}, 6, 1)
    assert came[0]["a"] == {0, 1}


def test_nearly_all_partitions_without_an_owner_go_to_a_standby() -> None:
    rng, moved, warm = random.Random(1), 0, 0
    for _ in range(100):
        partitions, number = rng.choice((4, 6, 8, 12)), 0
        now = spread({"m": ()}, {"m": ()}, partitions, 1)
        for _ in range(12):
            members = sorted(now[0])
            if len(members) == 1 or (len(members) < 5 and rng.random() < 0.5):
                number += 1
                now = joined(now, f"m{number}", partitions, 1)
                continue
            owned, followed = now
            now = gone(now, rng.choice(members), partitions, 1)
            for member, has in now[0].items():
                moved += len(has - owned[member])
                warm += len((has - owned[member]) & followed[member])
    assert moved > 500
    assert warm > 0.9 * moved


def test_a_single_partition_goes_to_its_standby() -> None:
    assert spread({"a": (), "c": ()}, {"a": (), "c": (0,)}, 1, 1)[0] == {"a": set(), "c": {0}}


@pytest.mark.parametrize("standbys", [0, 1])
def test_four_partitions_of_three_workers_are_even(standbys: int) -> None:
    now = spread({"a": ()}, {"a": ()}, 4, standbys)
    for member in "bc":
        now = joined(now, member, 4, standbys)
    assert sorted(len(had) for had in now[0].values()) == [1, 1, 2]
    assert sum(len(had) for had in now[1].values()) == 4 * standbys


def test_without_standbys_only_what_the_new_one_gets_moves() -> None:
    before = ({"a": {2, 3}, "b": {0, 1}}, dict[str, set[int]](a=set(), b=set()))
    owned, _ = joined(before, "c", 4, 0)
    assert [len(owned[member] - before[0].get(member, set())) for member in "abc"] == [0, 0, 1]


@settings(max_examples=200)
@given(
    partitions=st.integers(1, 16),
    standbys=st.integers(0, 3),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=12),
)
def test_every_partition_has_an_owner_and_as_many_standbys_as_possible_after_any_moves(
    partitions: int, standbys: int, moves: list[tuple[bool, int]]
) -> None:
    now: Spread = spread({"m0": ()}, {"m0": ()}, partitions, standbys)
    for joins, number in moves:
        member, members = f"m{number}", set(now[0])
        if joins and member not in members:
            now = joined(now, member, partitions, standbys)
        elif not joins and members > {member}:
            now = gone(now, member, partitions, standbys)
        owned, followed = now
        assert sorted(one for had in owned.values() for one in had) == list(range(partitions))
        copies = sorted(one for had in followed.values() for one in had)
        assert copies == sorted(list(range(partitions)) * min(standbys, len(owned) - 1))
        assert not any(owned[one] & followed[one] for one in owned)
        for sizes, most in ((list(map(len, owned.values())), 1), (list(map(len, followed.values())), 2)):
            assert max(sizes) - min(sizes) <= most
        assert spread(owned, followed, partitions, standbys) == now


def test_an_owner_that_two_claim_is_one_of_them() -> None:
    assert spread({"a": {0, 1}, "b": {0, 1}}, {"a": (), "b": ()}, 2, 0)[0] in (
        {"a": {0}, "b": {1}},
        {"a": {1}, "b": {0}},
    )


def test_the_engine_assigns_the_computed_partitions_and_their_roles() -> None:
    apps = [EngineApp("app", broker="kafka://localhost:9092", table_standby_replicas=1) for _ in range(2)]
    for app in apps:
        app.Table("docs", partitions=4)
    log, topics = "app-docs-changelog", {"source": 4, "app-docs-changelog": 4, "edges": 1}
    cluster = SimpleNamespace(partitions_for_topic=lambda topic: set(range(topics[topic])))

    def rebalanced() -> list[tuple[set[int], set[int], int]]:
        """The partitions of the changelog that each worker owns and follows, and how many of `edges` it has."""
        assignors: list[Any] = [app.assignor for app in apps]
        metadata = {f"member-{number}": assignor.metadata(set(topics)) for number, assignor in enumerate(assignors)}
        given_out = assignors[0].assign(cluster, metadata)
        roles = []
        for number, assignor in enumerate(assignors):
            mine = given_out[f"member-{number}"]
            assignor.on_assignment(mine)
            both = (assignor.assigned_actives(), assignor.assigned_standbys())
            owned, followed = ({tp.partition for tp in role if tp.topic == log} for role in both)
            read = {topic: set(partitions) for topic, partitions in mine.assignment}
            assert (read[log], read["source"]) == (owned | followed, owned)
            roles.append((owned, followed, len(read["edges"])))
        return roles

    (one, followed_by_one, edges_one), (two, followed_by_two, edges_two) = rebalanced()
    assert (followed_by_one, followed_by_two, len(one), len(two)) == (two, one, 2, 2)
    assert edges_one + edges_two == 1
    del apps[1]
    assert rebalanced() == [({0, 1, 2, 3}, set(), 1)]
