"""Twins, expiry, and what both leave behind; what the ledger costs."""

import pytest

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.graph.identical import _LEAST, _PIECES
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon
from tests.ledger_oracle import Bench
from tests.unit.ledger.test_rules import chain, deleted, edge, end, groups, updated

# -- twins


def test_twins_are_connected_without_a_pair() -> None:
    bench = Bench()
    bench.settle(edges=[edge(end("a", digest=7), "b")])
    bench.settle(edges=[edge(end("c", digest=7), "d")])
    assert groups(bench) == {"a": "abcd"}


def test_twins_further_apart_than_the_retention_are_strangers() -> None:
    for distance, together in ((9, True), (10, True), (11, False)):
        bench = Bench(retention_ms=10)
        bench.settle(edges=[edge(end("a", digest=7), "b")])
        twin = end("c", time_ms=1 + distance, digest=7)
        bench.settle(edges=[edge(twin, end("d", time_ms=12))])
        assert (len(groups(bench)) == 1) == together


def test_a_twin_between_two_holds_them_together_until_it_goes() -> None:
    bench = Bench(retention_ms=10)
    bench.settle(edges=[edge(end("a", digest=7), "b"), edge(end("c", time_ms=18, digest=7), end("d", time_ms=18))])
    assert groups(bench) == {"a": "ab", "c": "cd"}
    bench.settle(edges=[edge(end("e", time_ms=10, digest=7), end("f", time_ms=10))])
    assert groups(bench) == {"a": "abcdef"}
    bench.settle(retirements=[deleted("e")])
    assert groups(bench) == {"a": "ab", f"c~{bench.offset}": "cd"}


def test_deleting_one_of_the_identical_leaves_the_others_together() -> None:
    bench = Bench()
    hub, *others = (end(id, digest=7) for id in "abcde")
    bench.settle(edges=[edge(hub, other, 100) for other in others])
    settled = bench.settle(retirements=[deleted("a")])
    assert groups(bench) == {"a": "bcde"}
    assert settled.members == [
        MemberChange("a", reason="deleted"),
        *(MemberChange(other.id, "a", None, other.time_ms) for other in others),
    ]


def test_an_update_that_stays_identical_keeps_a_twin_that_has_no_pair() -> None:
    bench = Bench()
    bench.settle(edges=[edge("x", end(id, digest=7), 80) for id in "abc"])
    bench.settle(retirements=[deleted("x")])
    bench.settle(retirements=[deleted("c")])
    assert groups(bench) == {"a": "ab"}
    settled = bench.settle(retirements=[updated(end("a", 2, digest=7))])
    assert (settled.matches, settled.members, settled.clusters) == ([], [], [])
    assert groups(bench) == {"a": "ab"}


def test_a_document_that_turns_into_another_twin_moves_over() -> None:
    bench = Bench()
    bench.settle(edges=[*(edge("x", end(id, digest=7)) for id in "abc"), edge(end("d", digest=8), "e")])
    bench.settle(retirements=[deleted("x")])
    settled = bench.settle(retirements=[updated(end("c", 2, digest=8))])
    assert groups(bench) == {"a": "ab", "d": "cde"}
    assert [change.id for change in settled.members] == ["c"]
    assert settled.members[0].cluster == bench.ledger.cluster_of("d")


# -- expiry


def test_expiry_withdraws_no_match() -> None:
    bench = Bench()
    bench.settle(edges=chain("abc"))
    settled = bench.settle(horizon=Horizon(2))
    assert settled.matches == []
    assert settled.members == [MemberChange("a", reason="expired")]
    assert [(change.id, change.event, change.members) for change in settled.clusters] == [("a", "left", ("c", "b"))]


def test_a_pair_that_is_updated_and_expires_in_one_frame_is_published_with_its_last_value() -> None:
    bench = Bench()
    bench.settle(edges=[edge(end("a", time_ms=50), end("b", time_ms=60))])
    new = end("a", 2, time_ms=30)
    settled = bench.settle(retirements=[updated(new)], edges=[edge(new, end("b", time_ms=60), 85)], horizon=Horizon(40))
    assert settled.matches == [MatchChange("a", "b", 0.85, 85, 100, 30, 60)]
    assert settled.members == [MemberChange("a", reason="expired"), MemberChange("b", "a", None, 60)]


def test_an_expired_middle_keeps_the_rest_together() -> None:
    bench = Bench()
    late, later = end("x", time_ms=50), end("y", time_ms=60)
    bench.settle(edges=[edge(late, "b"), edge("b", later)])
    settled = bench.settle(horizon=Horizon(10))
    assert groups(bench) == {"b": "xy"}
    assert settled.members == [
        MemberChange("b", reason="expired"),
        MemberChange("x", "b", None, 50),
        MemberChange("y", "b", None, 60),
    ]


def test_a_pair_in_doubt_leaves_no_link_when_an_end_expires() -> None:
    bench = Bench()
    late, later = end("x", time_ms=50), end("y", time_ms=60)
    bench.settle(edges=[edge(late, "b"), edge("b", later), edge(later, end("z", time_ms=70))])
    bench.settle(retirements=[updated(end("x", 2, time_ms=51))])
    settled = bench.settle(horizon=Horizon(10))
    assert settled.matches == [MatchChange("b", "x", reason="updated")]
    assert settled.members[:2] == [MemberChange("b", reason="expired"), MemberChange("x", reason="updated")]
    assert groups(bench) == {"b": "yz"}


def test_past_nodes_that_an_expiring_document_joins_become_one() -> None:
    bench = Bench()
    x, y = end("x", time_ms=50), end("y", time_ms=60)
    bench.settle(edges=[edge("a", x), edge("a", "c"), edge("b", "c"), edge("b", y)])
    bench.settle(horizon=Horizon(3))
    assert len(bench.ledger.graph.past.links) == 2
    bench.settle(horizon=Horizon(4))
    assert groups(bench) == {"a": "xy"}
    assert len(bench.ledger.graph.past.links) == 1


def test_removing_the_link_between_two_past_nodes_separates_the_rest() -> None:
    for last in (deleted("m"), updated(end("m", 2, time_ms=55))):
        bench = Bench()
        x, m, y = (end(id, time_ms=50) for id in "xmy")
        bench.settle(edges=[edge("a", x), edge("a", m), edge("b", m), edge("b", y)])
        bench.settle(horizon=Horizon(3))
        assert groups(bench) == {"a": "mxy"}
        bench.settle(retirements=[last])
        assert groups(bench) == {"a": "x", "y": "y"}


def test_an_update_drops_the_past_and_the_others_keep_it() -> None:
    bench = Bench()
    x, y, z = (end(id, time_ms=50) for id in "xyz")
    bench.settle(edges=[edge("b", x), edge("b", y), edge("b", z)])
    bench.settle(horizon=Horizon(10))
    settled = bench.settle(retirements=[updated(end("x", 2, time_ms=51))])
    assert settled.members == [MemberChange("x", reason="updated")]
    assert groups(bench) == {"b": "yz"}


def test_a_delete_leaves_the_past_that_others_share() -> None:
    bench = Bench()
    bench.settle(edges=[edge("b", end(id, time_ms=50)) for id in "xyz"])
    bench.settle(horizon=Horizon(10))
    bench.settle(retirements=[deleted("y")])
    assert groups(bench) == {"b": "xz"}


def test_a_cluster_closes_with_its_last_member_and_its_id_is_free() -> None:
    bench = Bench()
    bench.settle(edges=chain("ab"))
    settled = bench.settle(horizon=Horizon(2))
    assert settled.members == [MemberChange("a", reason="expired"), MemberChange("b", "a", None, 2)]
    settled = bench.settle(horizon=Horizon(3))
    assert settled.members == [MemberChange("b", reason="expired")]
    assert settled.clusters == [ClusterChange("a")]
    snapshot = bench.ledger.snapshot()
    assert (snapshot.nodes, snapshot.pairs, snapshot.clusters, snapshot.closed) == ([], [], [], [])
    assert bench.ledger.graph.past.links == {}


def test_floors_expire_as_time_does() -> None:
    bench = Bench()
    bench.settle(edges=chain("abc"))
    settled = bench.settle(horizon=Horizon(min_offsets=(end("b").ref,)))
    assert settled.members == [MemberChange("a", reason="expired")]
    settled = bench.settle(horizon=Horizon(min_offsets=(end("b").ref + 1,)))
    assert settled.members == [MemberChange("b", reason="expired"), MemberChange("c", "a", None, 3)]


def test_a_horizon_never_falls() -> None:
    bench = Bench()
    bench.settle(horizon=Horizon(5, (3,)))
    settled = bench.settle(horizon=Horizon(2, (1, 4)))
    assert settled.changes.horizon == Horizon(5, (3, 4))


def test_a_pair_that_expires_in_its_own_frame_is_published_and_its_ends_are_no_members() -> None:
    settled = Bench().settle(edges=chain("ab"), horizon=Horizon(10))
    assert [(match.left, match.right, match.similarity) for match in settled.matches] == [("a", "b", 0.9)]
    assert (settled.members, settled.clusters) == ([], [])


# -- memory and cost


@pytest.mark.slow
def test_memory_is_that_of_the_live_members_however_long_the_story() -> None:
    ledger, window = Ledger(0.8, 100), 50
    for step in range(3, 4_000):
        new, old = (End(f"d{it}", make_ref(0, 10 * it), it, it // 7 % 3) for it in (step + 1, step))
        hub = End("hub", make_ref(1, step + 1), step + window // 2, 0)
        settled = ledger.settle(
            step,
            retirements=[
                Retirement("hub", hub.ref, hub.time_ms, 0, False, hub.time_ms - 1),
                Retirement(f"d{step - 3}", make_ref(0, 10 * (step - 3) + 1), step, 0, True, step - 3),
            ],
            edges=[Edge(new, old, 0.9, 9, 10), Edge(new, hub, 0.8, 8, 10)],
            horizon=Horizon(step - window),
        )
        assert len(settled.changes.nodes) < 20
        state = ledger.snapshot()
        assert len(state.nodes) <= window + 3
        assert len(state.pairs) <= 3 * window
        assert len(state.newest) <= window + 30
        assert len(state.closed) <= window + 30
        assert len(ledger.graph.past.links) <= len(state.nodes)
        assert sum(map(len, ledger.graph.past.links.values())) <= 2 * len(state.nodes)
        graph = ledger.graph
        assert len(graph.nodes.ids) <= window + 10
        assert len(graph.pairs.similarity) <= 3 * window + 20
        assert sum(map(len, graph.twins._pieces)) <= _PIECES * _LEAST + 8 * window
        assert graph.expiry.by_time is not None
        assert sum(map(len, graph.expiry.by_time.by_stretch.values())) <= 2 * len(state.nodes)
        for queue in (ledger._newest_queue, ledger.ids._queue):
            assert len(queue._by_time) <= 4 * window + 200
            assert sum(map(len, queue._by_offset.values())) <= 4 * window + 200


def test_past_nodes_with_the_same_links_are_one() -> None:
    bench = Bench()
    x, y = end("x", time_ms=1_000), end("y", time_ms=1_000)
    for number in range(50):
        old = End(f"old{number}", make_ref(1, number), number, 0)
        bench.settle(edges=[edge(old, x), edge(old, y)], horizon=Horizon(number))
    assert len(bench.ledger.graph.past.links) == 1


def test_expiry_in_a_large_component_writes_only_the_changed_rows() -> None:
    ledger = Ledger(0.8)
    hub = End("hub", make_ref(1, 0), 0, 0)
    leaves = [End(f"leaf{number}", make_ref(0, number), 1 + number, 0) for number in range(300)]
    ledger.settle(1, edges=[Edge(hub, leaf, 0.9, 9, 10) for leaf in leaves])
    assert len(ledger.settle(2, horizon=Horizon(1)).changes.nodes) == 300
    for number in range(1, 290):
        settled = ledger.settle(2 + number, horizon=Horizon(1 + number))
        assert (settled.changes.nodes, len(settled.changes.nodes_gone), len(settled.members)) == ([], 1, 1)
