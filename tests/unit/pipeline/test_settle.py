"""Step 5: each message is settled once, documents expire, and the ledger recovers from its records."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.model import Retirement, make_ref
from stream_lsh.pipeline.batches import RECHECK, EdgesFrame, Mark, Watermarks
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.pipeline.settle import Settlement, Settler, flights
from stream_lsh.retention import BEGINNING_MS, Horizon
from tests.unit.pipeline.makers import AWKWARD_IDS

End = tuple[str, int, int]
"""Id, ref, time."""


def edges(*rows: tuple[End, End, float]) -> Edges:
    def ends(side: int) -> Ends:
        chosen = [row[side] for row in rows]
        ids, refs, times = zip(*chosen, strict=True)
        return Ends(list(ids), np.array(refs, np.uint64), np.array(times, np.int64), np.array(refs, np.uint64))

    similarity = np.array([row[2] for row in rows])
    return Edges(ends(0), ends(1), similarity, (similarity * 12).astype(np.uint32), np.full(len(rows), 12, np.uint32))


def watermarks_of(origin: int, *times: int, idle: bool = False, min_offsets: tuple[int, ...] = ()) -> Watermarks:
    min_offsets = min_offsets or (0,) * len(times)
    marks = (Mark(n, t, idle, f) for n, (t, f) in enumerate(zip(times, min_offsets, strict=True)))
    return Watermarks(origin, tuple(marks))


def settled(settler: Settler, frame: EdgesFrame) -> Settlement:
    settlement = settler.settle(frame, settler.applied_offset + 1)
    assert settlement is not None
    return settlement


A, B, C = ("a", 1, 10), ("b", 2, 20), ("c", 3, 30)


def test_a_message_that_was_settled_is_passed_over() -> None:
    settler = Settler(0.5)
    frame = EdgesFrame(edges=edges((A, B, 0.75)))
    first = settler.settle(frame, 5)
    assert first is not None
    assert first.record.offset == settler.applied_offset == 5
    assert [(match.left, match.right, match.similarity) for match in first.settled.matches] == [("a", "b", 0.75)]
    before = settler.snapshot()
    assert settler.settle(frame, 5) is settler.settle(frame, 0) is None
    assert settler.snapshot() == before


def test_the_rows_of_a_batch_come_as_edges_of_plain_values() -> None:
    high = ("\ud800", make_ref(40_000, 3), -(1 << 62))
    (edge,) = edges((high, B, 0.25)).rows()
    assert edge.left[:4] == ("\ud800", make_ref(40_000, 3), -(1 << 62), make_ref(40_000, 3))
    assert (edge.similarity, edge.shared, edge.union) == (0.25, 3, 12)
    assert {type(edge.left.ref), type(edge.similarity), type(edge.shared)} == {int, float}


def keys(settlement: Settlement) -> set[tuple[str, ...]]:
    """The keys that are written to the public topics, from the outputs themselves."""
    settled = settlement.settled
    matches = {("matches", match.left, match.right) for match in settled.matches}
    matches |= {("reviews", match.left, match.right) for match in settled.reviews}
    return (
        matches | {("members", one.id) for one in settled.members} | {("clusters", one.id) for one in settled.clusters}
    )


def taken_apart(frames: list[EdgesFrame], most_keys: int = 1_000) -> list[list[int]]:
    """The offsets of each flight."""
    settler = Settler(0.5, retention_ms=100, lateness_ms=0)
    return [[one.record.offset for one in run] for run in flights((settled(settler, one) for one in frames), most_keys)]


def test_messages_that_have_nothing_to_do_with_each_other_are_under_way_together() -> None:
    d, e, f = ("d", 4, 40), ("e", 5, 50), ("f", 6, 60)
    one, two, three = (EdgesFrame(edges=edges(pair)) for pair in ((A, B, 0.75), (C, d, 0.75), (e, f, 0.75)))
    assert taken_apart([one, two, three]) == [[0, 1, 2]]
    assert taken_apart([one, two, three], most_keys=8) == [[0, 1], [2]], "a pair has four keys"
    assert taken_apart([one, two, EdgesFrame(edges=edges((A, C, 0.75))), three]) == [[0, 1], [2, 3]], "clusters merge"
    assert taken_apart([]) == []


def test_a_horizon_is_sent_when_all_before_it_is_stored() -> None:
    pair, more = EdgesFrame(edges=edges((A, B, 0.75))), EdgesFrame(edges=edges((C, ("d", 4, 40), 0.75)))
    still, moved = EdgesFrame(watermarks=watermarks_of(0, BEGINNING_MS)), EdgesFrame(watermarks=watermarks_of(0, 101))
    assert taken_apart([pair, still, more]) == [[0, 1, 2]]
    assert taken_apart([pair, moved, more]) == [[0], [1, 2]]


def test_a_review_is_a_key_too() -> None:
    settler, newer = Settler(0.5, link_from=0.9), ("b", 5, 20)
    frames = [EdgesFrame(edges=edges((A, B, 0.75))), EdgesFrame(edges=edges((A, newer, 0.5)))]
    runs = [*flights(settled(settler, frame) for frame in frames)]
    assert [[one.record.offset for one in run] for run in runs] == [[0], [1]]
    assert [[keys(one) for one in run] for run in runs] == [[{("reviews", "a", "b")}]] * 2


@pytest.mark.parametrize("case", range(40))
def test_no_key_is_twice_in_a_flight_and_a_flight_ends_for_a_reason(case: int) -> None:
    rng, settler = random.Random(case), Settler(0.5, link_from=0.7 if case % 4 == 0 else 0.0)
    ids = [(f"d{number}", number + 1, number) for number in range(rng.choice((4, 12, 40)))]
    pairs = [rng.sample(ids, 2) for _ in range(30)]
    frames = [EdgesFrame(edges=edges((one, other, 0.75))) for one, other in pairs]
    runs = list(flights(settled(settler, frame) for frame in frames))
    assert [one.record.offset for run in runs for one in run] == list(range(30))
    for run in runs:
        assert sum(len(keys(one)) for one in run) == len(set().union(*map(keys, run)))
    for run, following in pairwise(runs):
        assert keys(following[0]) & set().union(*map(keys, run))


def test_rechecks_name_the_newest_refs_of_both_ends() -> None:
    settler = Settler(0.5)
    high = make_ref(65_535, 7)
    settled(settler, EdgesFrame(edges=edges((A, B, 0.75), (B, C, 0.5))))
    assert settled(settler, EdgesFrame()).rechecks is None
    updates = (Retirement("b", high, 25, 9, False, 25), Retirement("c", 4, 35, 8, False, 35))
    rechecks = settled(settler, EdgesFrame(updates)).rechecks
    assert rechecks is not None
    assert [str(c.dtype) for c in (rechecks.new, rechecks.old, rechecks.kinds)] == ["uint64", "uint64", "uint8"]
    assert rechecks.kinds.tolist() == [RECHECK] * 2
    pairs = {frozenset(pair) for pair in zip(rechecks.new.tolist(), rechecks.old.tolist(), strict=True)}
    assert pairs == {frozenset({high, 1}), frozenset({high, 4})}


def scored(left: End, right: End, similarity: float, records: int) -> Edges:
    """A scored pair; the partition of `right` had this number of records."""
    return replace(edges((left, right, similarity)), union=np.array([records], np.uint32))


def rescored(settlement: Settlement) -> list[tuple[int, int]]:
    rechecks = settlement.rechecks
    return [] if rechecks is None else [*zip(rechecks.new.tolist(), rechecks.old.tolist(), strict=True)]


def test_pairs_are_compared_again_when_the_records_of_their_partition_have_doubled() -> None:
    settler, x, y = Settler(0.5, 2, link_from=0.9), ("x", make_ref(1, 5), 10), ("y", make_ref(1, 6), 10)
    assert rescored(settled(settler, EdgesFrame(edges=scored(B, A, 0.75, 500)))) == []
    assert rescored(settled(settler, EdgesFrame(edges=scored(y, x, 0.75, 2_000)))) == [], "another partition"
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, A, 0.75, 990)))) == []
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, B, 0.75, 1_000)))) == [(1, 2)], (
        "right is the greater id"
    )
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, B, 0.75, 1_001)))) == [], "it has been asked for"
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, B, 0.75, 1_010)))) == [(1, 2)], "no answer has arrived"
    answer = settled(settler, EdgesFrame(edges=scored(A, B, 0.95, 1_020)))
    assert [(match.left, match.right, match.similarity) for match in answer.settled.matches] == [("a", "b", 0.95)]
    assert rescored(answer) == []
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, B, 0.75, 1_900)))) == []


def test_a_pair_that_arrives_with_an_outdated_score_is_compared_again() -> None:
    settler, few = Settler(0.5, 2, link_from=0.9), make_ref(1, 5)
    settled(settler, EdgesFrame(edges=scored(B, A, 0.75, 500)))
    # The partition of the smaller id, which has three records, has scored these.
    settled(settler, EdgesFrame(edges=scored(("y", 7, 10), ("x", few, 10), 0.75, 3)))
    assert rescored(settled(settler, EdgesFrame(edges=scored(("z", 8, 10), ("x", few, 10), 0.75, 3)))) == [(few, 8)]
    assert rescored(settled(settler, EdgesFrame(edges=scored(("x", few, 10), ("z", 8, 10), 0.75, 500)))) == []


def test_pairs_in_doubt_and_pairs_without_counts_are_not_outdated() -> None:
    settler = Settler(0.5, link_from=0.9)
    settled(settler, EdgesFrame(edges=scored(B, A, 0.75, 10)))
    settled(settler, EdgesFrame((Retirement("b", 9, 25, 9, False, 25),)))
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, A, 0.75, 900)))) == []
    plain = Settler(0.5, link_from=0.9)
    for row in (A, B, 0.75), (A, C, 0.75), (B, C, 0.95):
        assert rescored(settled(plain, EdgesFrame(edges=scored(*row, 0)))) == []


def test_a_pair_that_may_not_be_compared_is_asked_for_at_most_as_often_as_its_partition_grows() -> None:
    settler = Settler(0.5, link_from=0.9)
    settled(settler, EdgesFrame(edges=scored(B, A, 0.75, 500)))
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, A, 0.75, 1_000)))) == [(1, 2)]
    refused = EdgesFrame(edges=scored(A, B, 0.0, 0))
    assert rescored(settled(settler, refused)) == [], "the answer does not count any record, and another one will not"
    never = Settler(0.5, link_from=0.9)
    settled(never, EdgesFrame(edges=scored(B, A, 0.0, 0)))
    assert rescored(settled(never, EdgesFrame(edges=scored(C, A, 0.75, 1_000)))) == []
    assert rescored(settled(never, EdgesFrame(edges=scored(C, A, 0.75, 2_000)))) == []


def test_one_search_asks_for_a_share_of_the_pairs_those_with_the_oldest_scores_first() -> None:
    settler, count = Settler(0.5, link_from=0.9), 1_500
    ends = [(f"{number:04}", number, 10) for number in range(count + 2)]
    many = edges(*[(ends[number + 1], ends[number], 0.75) for number in range(count)])
    settled(settler, EdgesFrame(edges=replace(many, union=np.arange(count, 0, -1, dtype=np.uint32) + 5_000)))
    again = rescored(settled(settler, EdgesFrame(edges=scored(ends[count + 1], ends[count], 0.75, 20_000))))
    assert sorted(again) == [(number, number + 1) for number in range(count - 1_000, count)]


def test_pairs_whose_scores_count_no_records_displace_no_outdated_ones() -> None:
    settler, count = Settler(0.5, link_from=0.9), 1_500
    ends = [(f"{number:04}", 10 + number, 10) for number in range(count + 1)]
    many = edges(*[(ends[number + 1], ends[number], 0.75) for number in range(count)])
    settled(settler, EdgesFrame(edges=replace(many, union=np.zeros(count, np.uint32))))
    settled(settler, EdgesFrame(edges=scored(B, A, 0.75, 500)))
    assert rescored(settled(settler, EdgesFrame(edges=scored(C, A, 0.75, 1_000)))) == [(1, 2)]


# -- the horizon


def test_the_horizon_lies_retention_and_lateness_behind_the_least_watermark() -> None:
    settler = Settler(0.5, 2, retention_ms=100, lateness_ms=10)
    assert settled(settler, EdgesFrame(watermarks=watermarks_of(0, 1_000, 900))).horizon is None
    assert settler.ledger.horizon == Horizon()
    assert settled(settler, EdgesFrame(watermarks=watermarks_of(1, 1_000, 950))).horizon == Horizon(900 - 110)
    assert settled(settler, EdgesFrame(watermarks=watermarks_of(1, 1_000, 990))).horizon is None, (
        "the other input is behind"
    )
    assert settled(settler, EdgesFrame(watermarks=watermarks_of(0, 1_000, 980))).horizon == Horizon(980 - 110)
    assert settler.ledger.horizon == Horizon(870)


def test_the_horizon_does_not_fall_when_a_source_that_was_idle_comes_back() -> None:
    settler = Settler(0.5, 2, retention_ms=100, lateness_ms=0)
    for origin in (0, 1):
        idle = Mark(1, 50, True, 0)
        settled(settler, EdgesFrame(watermarks=Watermarks(origin, (Mark(0, 1_000, False, 0), idle))))
    assert settler.ledger.horizon == Horizon(900)
    for origin in (0, 1):
        assert settled(settler, EdgesFrame(watermarks=watermarks_of(origin, 1_000, 50))).horizon is None
    assert settler.ledger.horizon == Horizon(900)


def test_without_a_retention_time_does_not_expire_and_floors_do() -> None:
    settler = Settler(0.5, 2, retention_ms=None)
    settled(settler, EdgesFrame(watermarks=watermarks_of(0, 1_000, 900, min_offsets=(5, 0))))
    settlement = settled(settler, EdgesFrame(watermarks=watermarks_of(1, 1_000, 900, min_offsets=(7, 3))))
    assert settlement.horizon == Horizon(BEGINNING_MS, (5, 0))


def test_nothing_expires_before_all_sources_have_a_watermark() -> None:
    settler = Settler(0.5, 2, retention_ms=1, lateness_ms=0)
    for origin in (0, 1):
        assert settled(settler, EdgesFrame(watermarks=watermarks_of(origin, 1 << 60, min_offsets=(9,)))).horizon is None


def test_a_retention_beyond_the_beginning_of_time_expires_nothing() -> None:
    settler = Settler(0.5, 1, retention_ms=1 << 63)
    assert settled(settler, EdgesFrame(watermarks=watermarks_of(0, 1_000))).horizon is None


def test_expired_documents_leave_the_members() -> None:
    settler = Settler(0.5, 1, retention_ms=100, lateness_ms=0)
    settled(settler, EdgesFrame(edges=edges((A, B, 0.75))))
    settlement = settled(settler, EdgesFrame(watermarks=watermarks_of(0, 115)))
    assert [(member.id, member.reason) for member in settlement.settled.members if member.cluster is None] == [
        ("a", "expired")
    ]


# -- recovery


def drawn_frame(rng: random.Random, refs: dict[str, list[tuple[int, int]]], now: int, partitions: int) -> EdgesFrame:
    """Any message: new versions, edges between any versions, words about time."""
    retirements = []
    for id in rng.sample(sorted(refs), rng.choice((0, 0, 1, 2))):
        ref, time_ms = refs[id][-1][0] + 10, now
        retirements.append(Retirement(id, ref, time_ms, rng.randrange(3), rng.random() < 0.3, max(now, time_ms)))
        refs[id].append((ref, time_ms))
    rows = []
    for _ in range(rng.choice((0, 1, 3))):
        ends = [(id, *rng.choice(refs[id][-2:])) for id in rng.sample(sorted(refs), 2)]
        rows.append((ends[0], ends[1], rng.choice((0.0, 0.25, 0.5, 1.0))))
    marks = None
    if rng.random() < 0.4:
        times = [now - rng.randint(0, 30) for _ in range(partitions)]
        min_offsets = tuple(rng.choice((0, max(0, now // 4 - 40))) for _ in range(partitions))
        marks = watermarks_of(rng.randrange(partitions), *times, idle=rng.random() < 0.3, min_offsets=min_offsets)
    return EdgesFrame(tuple(retirements), edges(*rows) if rows else None, marks)


@pytest.mark.parametrize("case", range(60))
def test_recovery_from_the_records_or_from_a_snapshot_and_what_follows_it_is_equal(case: int) -> None:
    rng = random.Random(case)
    partitions, retention_ms = rng.choice((1, 2, 3)), rng.choice((None, 40, 150))

    def new_settler() -> Settler:
        return Settler(0.5, partitions, retention_ms, lateness_ms=10)

    ids = [*AWKWARD_IDS[:3], "x", "y", "z"]
    refs = {id: [(make_ref(n % partitions, n), 0)] for n, id in enumerate(ids)}
    settler, log, last = new_settler(), list[LedgerRecord](), Horizon()
    for offset in range(0, 160, 2):
        settlement = settler.settle(drawn_frame(rng, refs, offset, partitions), offset)
        assert settlement is not None
        log.append(settlement.record)
        assert settlement.record.changes.horizon.max(last) == settlement.record.changes.horizon, "W never falls"
        assert (settlement.horizon is not None) == (settler.ledger.horizon != last)
        last = settler.ledger.horizon
        if rng.random() < 0.1:
            log.append(settler.snapshot())
    whole = settler.snapshot()
    for start in [0, *(n for n, record in enumerate(log) if record.changes.complete)]:
        recovered = new_settler()
        for record in log[start:]:
            recovered.apply(record)
            if rng.random() < 0.3:
                recovered.apply(record)
            if rng.random() < 0.3:
                recovered.apply(rng.choice(log[: log.index(record) + 1]))
        assert recovered.snapshot() == whole
    one, other = new_settler(), settler  # and both go on alike
    one.apply(whole)
    frame = drawn_frame(rng, refs, 170, partitions)
    got, expected = one.settle(frame, 170), other.settle(frame, 170)
    assert got is not None
    assert expected is not None
    assert (got.settled, got.record, got.horizon) == (expected.settled, expected.record, expected.horizon)


def test_a_lower_record_of_a_late_writer_is_ignored_a_snapshot_too() -> None:
    settler, other = Settler(0.5), Settler(0.5)
    first = settled(settler, EdgesFrame(edges=edges((A, B, 0.75)))).record
    early = settler.snapshot()
    second = settled(settler, EdgesFrame(edges=edges((B, C, 0.75)))).record
    for record in (first, second):
        other.apply(record)
    for late in (first, early, replace(first, offset=-1)):
        other.apply(late)
        assert other.snapshot() == settler.snapshot()
