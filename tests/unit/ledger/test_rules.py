"""The rules of the ledger, one by one.  Each bench compares every frame with the oracle too."""

from itertools import pairwise

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon
from tests.ledger_oracle import Bench


def end(id: str, version: int = 1, time_ms: int | None = None, digest: int = 0) -> End:
    """A version of a document; `a` has the refs from 100 on, `b` those from 200 on, and so on; their times are 1, 2."""
    place = ord(id[0]) - ord("a") + 1
    return End(id, make_ref(0, 100 * place + version), place if time_ms is None else time_ms, digest)


def edge(one: End | str, other: End | str, percent: int = 90) -> Edge:
    one, other = (end(it) if isinstance(it, str) else it for it in (one, other))
    return Edge(one, other, percent / 100, percent, 100)


def chain(ids: str) -> list[Edge]:
    return [edge(one, other) for one, other in pairwise(ids)]


def updated(new: End, keep_until_ms: int = 99) -> Retirement:
    return Retirement(new.id, new.ref, new.time_ms, new.digest, False, keep_until_ms)


def deleted(id: str, version: int = 2, keep_until_ms: int = 99) -> Retirement:
    return Retirement(id, end(id, version).ref, 99, 0, True, keep_until_ms)


def groups(bench: Bench) -> dict[str, str]:
    """The members of each cluster."""
    return {id: "".join(sorted(bench.ledger.members(id))) for id in bench.ledger.ids.live}


# -- pairs


def test_a_pair_is_a_match_a_cluster_and_two_members() -> None:
    settled = Bench().settle(edges=[edge("b", "a")])
    assert settled.matches == [MatchChange("a", "b", 0.9, 90, 100, 1, 2)]
    assert settled.members == [MemberChange("a", "a", 0.9, 1), MemberChange("b", "a", 0.9, 2)]
    assert settled.clusters == [
        ClusterChange("a", "created", 2, ("b", "a"), "a", first_time_ms=1, last_time_ms=2),
    ]
    assert settled.rechecks == []


def test_the_evidence_of_a_pair_is_published_and_stored_and_withdrawn_with_it() -> None:
    bench = Bench()
    settled = bench.settle(edges=[edge("b", "a")._replace(evidence='{"name":1}'), edge("b", "c")])
    assert [match.evidence for match in settled.matches] == ['{"name":1}', ""]
    assert [pair.evidence for pair in settled.changes.pairs] == ['{"name":1}', ""]
    again = bench.settle(edges=[edge("a", "b")._replace(evidence='{"name":2}')])
    assert again.matches == [MatchChange("a", "b", 0.9, 90, 100, 1, 2, evidence='{"name":2}')]
    bench.settle(retirements=[deleted("a")])
    bench.settle(edges=[edge("c", "d")])
    assert [pair.evidence for pair in bench.ledger.snapshot().pairs] == ["", ""], "the number of the pair is used again"


def test_a_repeated_pair_publishes_nothing_and_writes_no_record() -> None:
    bench = Bench()
    first = bench.settle(edges=[edge("a", "b")] * 5)
    assert len(first.matches) == 1
    again = bench.settle(edges=[edge("a", "b"), edge("b", "a")])
    assert (again.matches, again.members, again.clusters) == ([], [], [])
    assert (again.changes.nodes, again.changes.pairs, again.changes.clusters) == ([], [], [])


def test_a_pair_below_the_threshold_is_nothing() -> None:
    bench = Bench()
    settled = bench.settle(edges=[edge("a", "b", 79)])
    assert (settled.matches, settled.members, settled.clusters) == ([], [], [])
    assert not bench.ledger.graph.nodes


def test_a_document_is_no_pair_with_itself() -> None:
    ledger = Ledger(0.8)
    assert ledger.settle(1, edges=[edge(end("a"), end("a", 2))]).matches == []
    assert not ledger.graph.nodes


def test_an_edge_with_an_expired_end_is_dropped() -> None:
    bench = Bench()
    bench.settle(horizon=Horizon(2))
    assert bench.settle(edges=[edge("a", "b")]).matches == []
    assert len(bench.settle(edges=[edge("b", "c")]).matches) == 1


# -- updates


def test_an_update_that_still_matches_writes_no_null_and_tears_no_cluster() -> None:
    bench = Bench()
    bench.settle(edges=chain("abc"))
    settled = bench.settle(retirements=[updated(end("b", 2))])
    assert (settled.matches, settled.members, settled.clusters) == ([], [], [])
    settled = bench.settle(edges=[edge("a", end("b", 2), 85)])
    assert settled.matches == [MatchChange("a", "b", 0.85, 85, 100, 1, 2)]
    assert settled.members == [MemberChange("a", "a", 0.85, 1)]
    assert settled.clusters == []
    assert groups(bench) == {"a": "abc"}


def test_an_answer_below_the_threshold_withdraws_the_pair() -> None:
    bench = Bench()
    bench.settle(edges=chain("abc"))
    bench.settle(retirements=[updated(end("c", 2))])
    settled = bench.settle(edges=[edge("b", end("c", 2), 30)])
    assert settled.matches == [MatchChange("b", "c", reason="updated")]
    assert settled.members == [MemberChange("c", reason="updated")]
    assert [(change.id, change.event, change.size) for change in settled.clusters] == [("a", "left", 2)]


def test_an_update_moves_the_time_of_a_member_and_of_its_cluster() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    settled = bench.settle(retirements=[updated(end("a", 2, time_ms=7))])
    assert settled.matches == []
    assert settled.members == [MemberChange("a", "a", 0.9, 7)]
    assert settled.clusters == [
        ClusterChange("a", "changed", 2, ("a", "b"), "b", first_time_ms=2, last_time_ms=7),
    ]


def test_an_edge_may_overtake_the_retirement() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    settled = bench.settle(edges=[edge(end("b", 2), "c")])
    assert [change[:3] for change in settled.matches] == [("b", "c", 0.9)]
    assert settled.rechecks == [], "the retirement will ask"
    settled = bench.settle(retirements=[updated(end("b", 2))])
    assert settled.rechecks == [(end("b", 2).ref, end("a").ref)]


def test_pairs_beyond_the_cap_on_rechecks_are_withdrawn_the_least_similar_and_oldest_first() -> None:
    bench = Bench(cap_rechecks=2)
    bench.settle(edges=[edge("a", "b", 90), edge("a", "c", 80), edge("a", "d", 90), edge("a", "e", 95)])
    settled = bench.settle(retirements=[updated(end("a", 2))])
    assert settled.rechecks == [(end("a", 2).ref, end("d").ref), (end("a", 2).ref, end("e").ref)]
    assert [(match.right, match.reason) for match in settled.matches] == [("b", "updated"), ("c", "updated")]
    assert settled.capped_rechecks == 2
    again = bench.settle(retirements=[updated(end("a", 2))])
    assert (again.rechecks, again.capped_rechecks) == (settled.rechecks, 0)


def test_a_pair_that_was_decided_to_be_the_same_is_beyond_no_cap() -> None:
    bench = Bench(link_from=0.9, cap_rechecks=1)
    bench.settle(edges=[edge("a", "b", 90), edge("a", "c", 85)], decisions=[Decision("a", "c", "same", 1)])
    settled = bench.settle(retirements=[updated(end("a", 2))])
    assert len(settled.rechecks) == 2
    assert settled.capped_rechecks == 0


def test_rechecks_name_the_newest_refs_of_both_ends() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b"), edge("b", "c")])
    assert bench.settle(retirements=[updated(end("a", 2))]).rechecks == [(end("a", 2).ref, end("b").ref)]
    assert bench.settle(retirements=[updated(end("b", 2))]).rechecks == [
        (end("b", 2).ref, end("a", 2).ref),
        (end("b", 2).ref, end("c").ref),
    ]


def test_both_ends_updated_in_one_frame_are_compared_once() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    settled = bench.settle(retirements=[updated(end("b", 2)), updated(end("a", 2))])
    assert settled.rechecks == [(end("a", 2).ref, end("b", 2).ref)]


def test_a_known_retirement_requests_a_recheck_until_the_pair_is_settled() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    for _ in range(3):
        assert bench.settle(retirements=[updated(end("a", 2))]).rechecks == [(end("a", 2).ref, end("b").ref)]
    bench.settle(edges=[edge(end("a", 2), "b")])
    assert bench.settle(retirements=[updated(end("a", 2))]).rechecks == []


def test_an_answer_in_the_same_frame_needs_no_recheck() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    assert bench.settle(retirements=[updated(end("a", 2))], edges=[edge(end("a", 2), "b")]).rechecks == []


def test_stale_edges_are_dropped() -> None:
    bench = Bench()
    bench.settle(retirements=[updated(end("a", 2))])
    assert bench.settle(edges=[edge("a", "b")]).matches == []
    bench.settle(edges=[edge(end("a", 3), "b")])
    assert bench.settle(edges=[edge(end("a", 2), "c"), edge(end("a", 2), "b", 10)]).matches == []


def test_the_newest_ref_is_forgotten_when_the_retired_version_has_expired() -> None:
    bench = Bench()
    bench.settle(retirements=[deleted("a", keep_until_ms=5)])
    bench.settle(horizon=Horizon(5))
    assert bench.ledger.newest_ref("a") == end("a", 2).ref
    bench.settle(horizon=Horizon(6))
    assert bench.ledger.newest_ref("a") == -1
    bench.settle(retirements=[deleted("a", keep_until_ms=5)])
    assert bench.ledger.newest_ref("a") == -1


def test_a_late_version_retires_its_predecessor() -> None:
    bench = Bench()
    bench.settle(edges=[edge("b", "c")], horizon=Horizon(2))
    settled = bench.settle(retirements=[updated(end("c", 2, time_ms=1))])
    assert settled.matches == [MatchChange("b", "c", reason="updated")]
    assert settled.members == [MemberChange("b", reason="updated"), MemberChange("c", reason="updated")]
    assert settled.clusters == [ClusterChange("b")]


def test_a_late_version_that_a_newer_one_overtook_withdraws_nothing() -> None:
    bench = Bench()
    bench.settle(edges=[edge("b", "c")], horizon=Horizon(2))
    bench.settle(edges=[edge(end("c", 3), "d")])
    settled = bench.settle(retirements=[updated(end("c", 2, time_ms=1))])
    assert settled.matches == []
    assert settled.rechecks == [(end("c", 3).ref, end("b").ref)]
    assert bench.settle(edges=[edge("b", end("c", 3))]).matches == [], "it looks as before"


# -- deletes


def test_a_delete_withdraws_at_once() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    settled = bench.settle(retirements=[deleted("a")])
    assert settled.matches == [MatchChange("a", "b", reason="deleted")]
    assert settled.members == [MemberChange("a", reason="deleted"), MemberChange("b", reason="deleted")]
    assert settled.clusters == [ClusterChange("a")]
    assert settled.rechecks == []
    assert not bench.ledger.graph.nodes


def test_a_document_made_again_before_its_tombstone_came_keeps_its_new_pairs() -> None:
    bench = Bench()
    bench.settle(edges=chain("abc"))
    bench.settle(edges=[edge(end("b", 3), "c"), edge(end("b", 3), "d")])
    settled = bench.settle(retirements=[deleted("b")])
    assert settled.matches == [MatchChange("a", "b", reason="deleted")]
    assert settled.members == [MemberChange("a", reason="deleted")]
    assert groups(bench) == {"a": "bcd"}


def test_deleting_a_hub_splits_and_the_largest_part_keeps_the_id() -> None:
    bench = Bench()
    bench.settle(edges=[*chain("ab"), *chain("cde"), edge("h", "a"), edge("h", "c"), edge("h", "f"), edge("f", "g")])
    settled = bench.settle(retirements=[deleted("h")])
    assert groups(bench) == {"a": "cde", f"a~{bench.offset}": "ab", "f": "fg"}
    events = {change.id: (change.event, change.split_from) for change in settled.clusters}
    assert events == {"a": ("split", None), f"a~{bench.offset}": ("split", "a"), "f": ("split", "a")}


def test_of_equal_parts_the_one_with_the_smallest_document_keeps_the_id() -> None:
    bench = Bench()
    bench.settle(edges=[edge("d", "e"), edge("h", "d"), edge("h", end("b", time_ms=9)), edge(end("b", time_ms=9), "c")])
    bench.settle(retirements=[deleted("h")])
    assert groups(bench) == {"d": "bc", f"d~{bench.offset}": "de"}


# -- clusters


def test_a_merge_keeps_the_older_id() -> None:
    bench = Bench()
    bench.settle(edges=[edge("c", "d")])
    bench.settle(edges=[edge("a", "b")])
    settled = bench.settle(edges=[edge("b", "c")])
    assert [change[:2] for change in settled.members] == [("a", "c"), ("b", "c")]
    gone, stays = settled.clusters
    assert gone == ClusterChange("a", merged_into="c")
    assert (stays.id, stays.event, stays.merged_from, stays.size) == ("c", "merged", ("a",), 4)
    assert (stays.representative, stays.members) == ("a", ("d", "c", "b", "a"))


def test_a_chain_becomes_one_cluster_within_a_frame() -> None:
    bench = Bench()
    settled = bench.settle(edges=[edge("a", "b"), edge("c", "d"), edge("b", "c")])
    assert [(change.id, change.event, change.size, change.merged_from) for change in settled.clusters] == [
        ("a", "created", 4, ())
    ]
    assert [change.cluster for change in settled.members] == ["a"] * 4


def test_a_cluster_that_was_merged_twice_names_its_last_heir() -> None:
    bench = Bench()
    for pair in ("ab", "cd", "ef"):
        bench.settle(edges=chain(pair))
    settled = bench.settle(edges=[edge("d", "e"), edge("b", "c")])
    assert settled.clusters[0].merged_from == ("c", "e")
    assert settled.clusters[1:] == [ClusterChange("c", merged_into="a"), ClusterChange("e", merged_into="a")]


def test_members_that_join_and_leave_are_published_once() -> None:
    bench = Bench()
    bench.settle(edges=chain("ab"))
    settled = bench.settle(edges=chain("bc"))
    assert [(change.id, change.event, change.size) for change in settled.clusters] == [("a", "joined", 3)]
    settled = bench.settle(retirements=[deleted("c")])
    assert [(change.id, change.event, change.size) for change in settled.clusters] == [("a", "left", 2)]


def test_a_closed_id_is_not_used_again_while_its_members_could_be_remembered() -> None:
    bench = Bench()
    bench.settle(edges=[edge("a", "b")])
    bench.settle(retirements=[deleted("b", keep_until_ms=2)])
    bench.settle(edges=[edge("a", "c")])
    assert groups(bench) == {f"a~{bench.offset}": "ac"}
    assert bench.ledger.ids.closed.keys() == {"a"}


def test_a_closed_id_is_free_when_its_last_member_has_expired() -> None:
    bench = Bench()
    late = [end("a", time_ms=9), end("c", time_ms=9)]
    bench.settle(edges=[edge("a", "b")])
    bench.settle(retirements=[deleted("b", keep_until_ms=2)], horizon=Horizon(2))
    bench.settle(retirements=[updated(end("a", 2, time_ms=9), 1)], horizon=Horizon(3))
    assert bench.ledger.ids.closed == {}
    bench.settle(edges=[edge(end("a", 2, time_ms=9), late[1])])
    assert groups(bench) == {"a": "ac"}


def test_an_id_that_a_live_cluster_has_gets_the_offset_until_it_is_free() -> None:
    bench = Bench()
    bench.settle(edges=[*chain("abc"), *chain("cd"), edge("a", "c")])
    bench.settle(retirements=[updated(end("a", 2))])
    settled = bench.settle(edges=[edge(end("a", 2), "b", 10), edge(end("a", 2), "c", 10), edge(end("a", 2), "x")])
    assert groups(bench) == {"a": "bcd", f"a~{bench.offset}": "ax"}
    assert settled.members[0] == MemberChange("a", f"a~{bench.offset}", 0.9, 1)


def test_a_cluster_lists_its_hundred_newest() -> None:
    bench = Bench()
    leaves = [End(f"z{number:03}", make_ref(1, number), 100 + number, 0) for number in range(150)]
    settled = bench.settle(edges=[edge("a", leaf) for leaf in leaves])
    assert settled.clusters[0].size == 151
    assert settled.clusters[0].members == tuple(leaf.id for leaf in leaves[:-101:-1])
