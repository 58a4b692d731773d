"""The band-bucket table against its oracle, over random histories and by example."""

from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest

from stream_lsh.errors import DamagedBytes, InvariantError
from stream_lsh.index import BandTable, segment, walk
from stream_lsh.model import make_ref
from tests.unit.index.oracle import Oracle, Posting, by_document, columns, pairs_of, probe, retire


class Settings(TypedDict):
    cap_postings: int
    cap_candidates: int
    segment_span_ms: int | None
    first_capacity: int


TOP = 0xABCDEF01 << 32
BUCKETS = [
    0,  # ordinary; then the digest of the same 63 bits
    1,
    (1 << 64) - 1,
    (1 << 64) - 2,
    TOP | 2,  # equal in the top 32 bits
    TOP | 3,
    TOP | 1 << 21 | 2,
    TOP | 1 << 18 | 2,  # equal in the top 44 bits, which are all that the batch is sorted by
    TOP | 1 << 18 | 3,
    (7 << 50) | 2,  # equal in the low bits
    (9 << 50) | 2,
    (9 << 50) | 3,
]


class History:
    """Any order of calls; table and oracle must agree after each."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.k = self.pick([0, 1, 2, 3, 32])
        self.settings: Settings = {
            "cap_postings": self.k,
            "cap_candidates": self.pick([0, 1, 3, 200]),
            "segment_span_ms": self.pick([0, 10]) or None,
            "first_capacity": self.pick([1, 2, 7, 64]),
        }
        self.table = BandTable(**self.settings)
        self.oracle = Oracle(self.k, self.settings["cap_candidates"], self.settings["segment_span_ms"])
        self.offset = 100
        self.time = 0
        self.pool = [self.pick(BUCKETS) for _ in range(self.below(12) + 1)]

    def below(self, bound: int) -> int:
        return int(self.random.integers(0, bound))

    def pick(self, values: list[int]) -> int:
        return values[self.below(len(values))]

    def postings(self, *, in_order: bool) -> list[Posting]:
        found: list[Posting] = []
        for _ in range(self.below(9)):
            self.offset += 1
            ref = make_ref(self.offset % 2, self.offset) if in_order else make_ref(self.pick([0, 1, 3]), self.below(30))
            time = max(0, self.time + self.below(30) - 15)
            found += [(ref, time, self.pick(self.pool)) for _ in range(self.below(6))]
        return found

    def check_probe(self, postings: list[Posting]) -> None:
        hits = probe(self.table, postings)
        expected = self.oracle.insert_and_probe(postings)
        assert by_document(hits) == {ref: found for ref, found in expected.candidates.items() if found}
        assert hits.capped_postings == expected.capped_postings
        assert hits.capped_candidates == expected.capped_candidates
        assert not (hits.new == hits.old).any()
        self.oracle.emitted |= pairs_of(hits)

    def insert_and_probe_anything(self) -> None:
        self.check_probe(self.postings(in_order=False))

    def insert_and_probe_in_order(self) -> None:
        self.check_probe(self.postings(in_order=True))

    def copies_arrive(self) -> None:
        bucket, count, first = self.pick(self.pool), self.below(12), self.offset + 1
        self.offset += count
        self.check_probe([(make_ref(2, first + i), self.time, bucket) for i in range(count)])

    def recover(self) -> None:
        postings = self.postings(in_order=self.below(2) == 0)
        self.table.insert(*columns(postings))
        self.oracle.insert(postings)
        self.oracle.emitted |= self.promised()

    def retire_documents(self) -> None:
        live = sorted({ref for found in self.oracle.buckets.values() for ref in found})
        chosen = [self.pick(live) for _ in range(self.below(self.pick([3, 14])))] if live else []
        postings = [(b, ref) for ref in chosen for b, found in self.oracle.buckets.items() if ref in found]
        postings += [(self.pick(self.pool), make_ref(0, self.below(30))) for _ in range(self.below(2))]
        postings = [postings[i] for i in self.random.permutation(len(postings)).tolist()]
        hits = retire(self.table, postings)
        self.oracle.retire(postings)
        returned = pairs_of(hits)
        assert len(returned) == len(hits)
        assert returned <= self.oracle.pairs_within(self.k)
        copies, gone = self.oracle.pairs_within(self.k, digest=True), len({ref for _, ref in postings})
        assert set(zip(hits.new[hits.identical].tolist(), hits.old[hits.identical].tolist(), strict=True)) <= copies
        most = self.settings["cap_candidates"]
        assert not most or len(returned - copies) <= gone * most + len(postings)
        live_now = {ref for found in self.oracle.buckets.values() for ref in found}
        self.oracle.emitted = {pair for pair in self.oracle.emitted if live_now.issuperset(pair)} | returned

    def expire(self) -> None:
        horizon = self.time - self.below(40)
        assert self.table.expire(horizon) == self.oracle.expire(horizon)

    def stop_and_resume(self) -> None:
        self.table = BandTable.restore(self.table.snapshot(), **self.settings)

    def step(self) -> None:
        calls = [
            *[self.insert_and_probe_anything, self.insert_and_probe_in_order, self.copies_arrive] * 2,
            *[self.recover, self.retire_documents, self.retire_documents, self.expire, self.stop_and_resume],
        ]
        calls[self.below(len(calls))]()
        self.time += self.below(6)

    def promised(self) -> set[tuple[int, int]]:
        """Copies within the cap of each other, and neighbours; where no candidates are cut, all within the cap."""
        if not self.settings["cap_candidates"]:
            return self.oracle.pairs_within(self.k)
        return self.oracle.pairs_within(self.k, digest=True) | self.oracle.pairs_within(1)

    def never_emitted(self) -> set[tuple[int, int]]:
        """Promised pairs that were never emitted: there must be none."""
        return self.promised() - self.oracle.emitted


@pytest.mark.parametrize("few", [0, 6, 40])
@pytest.mark.parametrize("start", range(0, 400, 50))
def test_any_history_of_calls_gives_the_answers_of_the_oracle(
    start: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`few` chooses between walking in step and one by one: the hits are the same."""
    monkeypatch.setattr(segment, "FEW", few)
    monkeypatch.setattr(walk, "FEW", few)
    monkeypatch.setattr(segment, "ROUNDS", 3 + few)
    for seed in range(start, start + 50):
        print(f"seed {seed}")
        history = History(seed)
        for _ in range(30):
            history.step()
            assert len(history.table) == len(history.oracle)
            assert not history.never_emitted()


def ascending(count: int, buckets_of: list[int], start: int = 0) -> list[Posting]:
    return [(start + i, 0, bucket) for i in range(count) for bucket in buckets_of]


@pytest.mark.parametrize("k", [0, 1, 2, 5, 32])
def test_retiring_one_copy_names_exactly_the_pairs_that_enter_the_window(k: int) -> None:
    for going in range(40):
        table = BandTable(cap_postings=k, first_capacity=16)  # 40 postings: over several segments
        for ref in range(40):
            probe(table, [(ref, 0, 5)])
        left = [ref for ref in range(40) if ref != going]
        i = left.index(going + 1) if going < 39 else 39
        expected = {(left[new], left[old]) for new in range(i, len(left)) for old in range(i) if new - old == k}
        assert pairs_of(retire(table, [(5, going)])) == (expected if k else set())


@pytest.mark.parametrize("seed_", range(30))
def test_copies_stay_tied_when_many_of_one_bucket_go_in_one_batch(seed_: int) -> None:
    random = np.random.default_rng(seed_)
    k = int(random.integers(1, 6))
    table, oracle = BandTable(cap_postings=k, first_capacity=8), Oracle(k, 200)
    for start in range(0, 60, 12):
        postings = [(start + i, 0, int(b)) for i, b in enumerate(random.choice([5, 7, 1 << 63 | 1], 12))]
        oracle.emitted |= pairs_of(probe(table, postings))
        oracle.insert(postings)
        live = [(bucket, ref) for bucket, found in oracle.buckets.items() for ref in found]
        gone = [live[i] for i in random.choice(len(live), int(random.integers(0, len(live) + 1)), replace=False)]
        oracle.emitted |= pairs_of(retire(table, gone))
        oracle.retire(gone)
        assert oracle.pairs_within(k, digest=True) <= oracle.emitted
        assert len(table) == len(oracle)


def test_a_late_copy_stays_tied_when_the_copies_it_met_are_retired() -> None:
    """The schedule that rules out putting late documents back into the segment of their time."""
    table, oracle = BandTable(cap_postings=2, segment_span_ms=10, first_capacity=16), Oracle(2, 200, 10)
    for ref, time in [(0, 0), (1, 0), (2, 15), (3, 15), (4, 15), (5, 0)]:
        oracle.emitted |= pairs_of(probe(table, [(ref, time, 9)]))
        oracle.insert([(ref, time, 9)])
    for ref in (0, 1, 4, 3):
        oracle.emitted |= pairs_of(retire(table, [(9, ref)]))
        oracle.retire([(9, ref)])
        assert oracle.pairs_within(2, digest=True) <= oracle.emitted
    assert (5, 2) in oracle.emitted


def test_a_late_document_sees_newer_segments_and_is_seen_by_them() -> None:
    table = BandTable(segment_span_ms=10, first_capacity=16)
    probe(table, [(0, 5, 2), (1, 15, 2), (2, 25, 2)])
    assert table.segments == 3
    assert pairs_of(probe(table, [(3, 5, 2)])) == {(3, 0), (3, 1), (3, 2)}
    assert pairs_of(probe(table, [(4, 26, 2)])) == {(4, 0), (4, 1), (4, 2), (4, 3)}


def test_a_replay_emits_again_what_it_emitted_first_and_enters_nothing() -> None:
    table = BandTable(cap_postings=3, first_capacity=8)
    batches_ = [ascending(5, [2, 5], start) for start in range(0, 30, 5)]
    first = [by_document(probe(table, batch)) for batch in batches_]
    size = len(table)
    again = [by_document(probe(table, batch)) for batch in batches_]
    assert again == first
    assert len(table) == size


def test_identical_content_is_never_cut_by_the_cap_on_candidates() -> None:
    table = BandTable(cap_candidates=2)
    probe(table, ascending(5, [1]) + ascending(20, [2, 4, 6], start=5))
    hits = probe(table, [(100, 0, bucket) for bucket in (1, 2, 4, 6)])
    assert hits.old.tolist() == [4, 3, 2, 1, 0, 24]
    assert hits.identical.tolist() == [True] * 5 + [False]
    assert hits.capped_candidates == 19


def test_the_nearest_candidate_of_each_bucket_is_never_cut_and_counts_first() -> None:
    arrivals = [*ascending(9, [2, 4, 6]), (9, 0, 8), (10, 0, 8), *ascending(2, [2, 4], start=11)]
    ask = [(100, 0, bucket) for bucket in (2, 4, 6, 8)]
    expected = {1: [12, 8, 10], 3: [12, 8, 10], 4: [12, 8, 7, 10], 6: [12, 8, 7, 6, 5, 10]}
    for most, kept in expected.items():
        table = BandTable(cap_candidates=most)
        probe(table, arrivals)
        hits = probe(table, ask)
        assert set(hits.old.tolist()) == set(kept)
        assert hits.capped_candidates == 13 - len(kept)


def test_candidates_come_with_most_bands_first_then_newest() -> None:
    table = BandTable()
    probe(table, [(1, 0, 2), (1, 0, 4), (2, 0, 2), (3, 0, 4), (3, 0, 2), (4, 0, 6)])
    hits = probe(table, [(9, 0, 2), (9, 0, 4), (9, 0, 6)])
    assert hits.old.tolist() == [3, 1, 4, 2]
    assert hits.bands.tolist() == [2, 2, 1, 1]
    assert hits.new.dtype == hits.old.dtype == np.uint64
    assert hits.bands.dtype == np.uint32
    assert hits.identical.dtype == np.bool_


def test_a_probe_of_a_hot_bucket_reads_no_more_postings_when_the_bucket_grows() -> None:
    table = BandTable(cap_postings=32, first_capacity=256)
    read = []
    for start in range(0, 3000, 50):
        before = table.visited
        probe(table, ascending(50, [3, 1 << 63, 12 << 58], start))
        read.append(table.visited - before)
    assert set(read[1:]) == {50 * 3 * 33}  # the cap, and one more that shows that there is more


def test_retired_postings_neither_appear_nor_use_up_the_cap() -> None:
    table = BandTable(cap_postings=2, first_capacity=4)
    probe(table, ascending(20, [2]))
    retire(table, [(2, ref) for ref in range(1, 20)])
    hits = probe(table, [(50, 0, 2)])
    assert pairs_of(hits) == {(50, 0)}
    assert hits.capped_postings == 0
    assert (len(table), table.documents) == (2, 2)


def test_buckets_of_one_slot_are_distinguished_by_all_their_bits() -> None:
    table = BandTable(first_capacity=256)
    alike = [TOP | low << 1 for low in range(200)]
    hits = probe(table, [(ref, 0, bucket) for ref, bucket in enumerate(alike)])
    assert len(hits) == 0
    assert pairs_of(probe(table, [(900 + ref, 0, bucket) for ref, bucket in enumerate(alike)])) == {
        (900 + ref, ref) for ref in range(200)
    }


def test_a_version_that_comes_in_two_parts_is_one_candidate() -> None:
    table = BandTable()
    probe(table, [(1, 0, 2)])
    probe(table, [(2, 0, 2)])
    probe(table, [(1, 0, 4)])
    hits = probe(table, [(3, 0, 2), (3, 0, 4)])
    assert hits.old.tolist() == [1, 2]
    assert hits.bands.tolist() == [2, 1]


def test_segments_below_the_offset_floors_go_when_every_partition_is_below() -> None:
    table = BandTable(first_capacity=4)
    a, b = make_ref(0, 10), make_ref(3, 7)
    probe(table, [(a, 0, 2), (a, 0, 4), (b, 0, 2), (b, 0, 4)])
    probe(table, [(make_ref(0, 11), 0, 2)])
    assert table.expire(1 << 60, np.array([11], dtype=np.uint64)) == 0  # partition 3 has no floor
    assert table.expire(0, np.array([11, 0, 0, 7], dtype=np.uint64)) == 0
    assert table.expire(0, np.array([11, 0, 0, 8], dtype=np.uint64)) == 4
    assert pairs_of(probe(table, [(make_ref(0, 12), 0, 2)])) == {(make_ref(0, 12), make_ref(0, 11))}


def test_memory_stays_flat_while_time_passes_and_the_horizon_follows() -> None:
    table = BandTable(segment_span_ms=100, first_capacity=64)
    sizes = []
    for step in range(200):
        ref = step * 10
        probe(table, [(ref + i, step * 20, (ref + i) << 40 | 2) for i in range(10)])
        table.expire(step * 20 - 400)
        sizes.append(table.nbytes)
    assert max(sizes[100:]) <= max(sizes[:100])
    assert table.segments <= 6


@pytest.mark.slow
def test_memory_stays_flat_where_floors_alone_decide() -> None:
    table, coarse = BandTable(first_capacity=64, most_documents=100), BandTable(first_capacity=64)
    sizes = []
    for ref in range(0, 8_000, 20):
        near = ref - 250  # a batch meets documents that are still there
        for one in (table, coarse):
            one.expire(-(1 << 62), np.array([max(0, ref - 300)], dtype=np.uint64))
            met = probe(one, [(ref + i, 0, (ref + i) % 250 << 40 | 2) for i in range(20)])
            assert near < 0 or {(ref + i, near + i) for i in range(20)} <= pairs_of(met)
        assert table.documents <= 300 + 100 + 20
        assert table.segments <= 6
        sizes.append(table.nbytes)
    assert max(sizes[200:]) <= max(sizes[:200])
    assert coarse.documents > 1_000
    probe(table, [(8_000 + i, 0, 4) for i in range(150)])
    table.expire(-(1 << 62), np.array([8_000 + 100], dtype=np.uint64))
    assert table.documents < 50 + 100, "a large batch is cut too"


def test_a_batch_beyond_the_sort_key_is_cut_and_has_the_same_hits() -> None:
    random = np.random.default_rng(7)
    n = (1 << 20) + 1000
    refs_ = np.arange(n, dtype=np.uint64)
    buckets_ = random.integers(0, 1 << 63, n, dtype=np.uint64) << np.uint64(1)
    buckets_[-1] = buckets_[5]
    table = BandTable()
    hits = table.insert_and_probe(refs_, np.zeros(n, dtype=np.int64), np.arange(n), buckets_)
    assert (n - 1, 5) in pairs_of(hits)
    assert len(table) == table.documents == n


def test_rows_may_come_in_any_order() -> None:
    postings = ascending(6, [2, 5, 9 << 50])
    refs_, times, rows, buckets_ = columns(postings)
    order = np.random.default_rng(3).permutation(len(rows))
    mixed = BandTable().insert_and_probe(refs_, times, rows[order], buckets_[order])
    assert by_document(mixed) == by_document(BandTable().insert_and_probe(refs_, times, rows, buckets_))


def test_columns_that_do_not_fit_are_a_bug() -> None:
    table = BandTable(first_capacity=8)
    one, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    ref, no_ref = one.astype(np.uint64), none.astype(np.uint64)
    for columns_ in [
        (ref, none, one, ref),
        (ref, one, one, no_ref),
        (ref, one, one + 1, ref),
        (ref, one, one - 1, ref),
    ]:
        with pytest.raises(InvariantError):
            table.insert(*columns_)
    assert len(table) == 0


def test_an_empty_table_has_no_hits() -> None:
    table = BandTable.restore(BandTable().snapshot())
    assert len(probe(table, [])) == 0
    assert len(retire(table, [(1, 2)])) == 0
    assert table.expire(1 << 62) == 0
    assert len(table) == table.documents == table.segments == 0


def test_a_damaged_snapshot_is_refused() -> None:
    table = BandTable(first_capacity=8)
    probe(table, ascending(20, [2, 5]))
    whole = table.snapshot()
    for name in whole:
        with pytest.raises(DamagedBytes):
            BandTable.restore({other: array for other, array in whole.items() if other != name})
    for name in ("0.log", "0.refs", "0.alive", "0.fields", "0.lowest"):
        with pytest.raises(DamagedBytes):
            BandTable.restore({**whole, name: whole[name][:-1]})
    for link in (5 << 32, 7):  # a chain that leads forwards, a document that is not there
        log = whole["0.log"].copy()
        log[1, 1] = link
        with pytest.raises(DamagedBytes):
            BandTable.restore({**whole, "0.log": log})


def test_a_snapshot_survives_a_file(tmp_path: Path) -> None:
    table = BandTable(first_capacity=8)
    probe(table, ascending(20, [2, 5]))
    np.savez(tmp_path / "table.npz", **table.snapshot())  # type: ignore[arg-type]  # a stub that thinks of allow_pickle
    with np.load(tmp_path / "table.npz", allow_pickle=False) as arrays:
        again = BandTable.restore(arrays, first_capacity=8)
    ask = [(50, 0, 2), (50, 0, 5)]
    assert by_document(probe(again, ask)) == by_document(probe(table, ask))


def test_a_snapshot_does_not_change_with_the_table() -> None:
    table = BandTable(first_capacity=64)
    probe(table, ascending(5, [2]))
    taken = table.snapshot()
    retire(table, [(2, 3)])
    probe(table, ascending(5, [2], 10))
    assert pairs_of(probe(BandTable.restore(taken), [(99, 0, 2)])) == {(99, ref) for ref in range(5)}


def test_the_newest_versions_of_a_bucket_are_those_of_a_list() -> None:
    random = np.random.default_rng(5)
    table = BandTable(cap_postings=4, segment_span_ms=10, first_capacity=4)
    held = list[tuple[int, int]]()
    for time in range(60):
        ref = make_ref(0, 100 + time)
        buckets = [BUCKETS[at] for at in random.permutation(len(BUCKETS))[:5]]
        columns = np.array([ref], np.uint64), np.array([time], np.int64), np.zeros(5, np.int64)
        table.insert_and_probe(*columns, np.array(buckets, np.uint64))
        held += [(bucket, ref) for bucket in buckets]
        if time % 7 == 6:
            bucket, gone = held.pop(int(random.integers(len(held))))
            table.remove(np.array([gone], np.uint64), np.zeros(1, np.int64), np.array([bucket], np.uint64))
    for bucket in BUCKETS:
        expected = [ref for other, ref in held if other == bucket][::-1]
        for most in (3, 1_000):
            assert walk.newest_refs(table.state[2], bucket, most).tolist() == expected[:most]
