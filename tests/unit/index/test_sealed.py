"""Sealed segments: the histories of `test_index_table` with sealing at any moment, against a table that never seals."""

from typing import TypeVar

import numpy as np
import pytest

from stream_lsh.errors import DamagedBytes
from stream_lsh.index import BandTable, Hits, sealed, sealing, segment, walk
from stream_lsh.index.sealing import MOST_SEALED
from stream_lsh.model import make_ref
from tests.unit.index.oracle import columns, pairs_of, probe, retire
from tests.unit.index.test_table import History, Settings, ascending


def slices_of(postings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sealed, sealing):
        monkeypatch.setattr(module, "SLICE", postings)


class NeverSealed(BandTable):
    """All segments stay as they were filled."""

    __slots__ = ()

    def _seal_some(self, every: bool = True) -> bool:
        return False


class SealedOnDemand(NeverSealed):
    """Seals only when `seal` is called."""

    __slots__ = ()

    def seal_some(self) -> bool:
        return BandTable._seal_some(self)

    def seal(self) -> None:
        while self.seal_some():
            pass


def same(left: Hits, right: Hits) -> None:
    for name in ("new", "old", "bands", "identical"):
        assert getattr(left, name).tolist() == getattr(right, name).tolist()
    assert left.capped_postings == right.capped_postings
    assert left.capped_candidates == right.capped_candidates


class Twins:
    """A table that is sealed at any moment and one that never is, behind the face of one."""

    def __init__(self, table: BandTable, twin: NeverSealed, random: np.random.Generator) -> None:
        self.table, self.twin, self.random = table, twin, random

    def __len__(self) -> int:
        assert len(self.table) == len(self.twin)
        assert self.table.documents == self.twin.documents
        return len(self.table)

    def _disturb(self) -> None:
        """On to some point of sealing: no step, a few, or to the end."""
        if isinstance(self.table, SealedOnDemand):
            for _ in range(int(self.random.integers(0, 5))):
                self.table.seal_some()
        if self.random.integers(0, 4) == 0:
            self.table.seal()

    def _both(self, name: str, *arguments: np.ndarray) -> Hits:
        self._disturb()
        hits: Hits = getattr(self.table, name)(*arguments)
        same(hits, getattr(self.twin, name)(*arguments))
        return hits

    def insert_and_probe(self, *arguments: np.ndarray) -> Hits:
        rows, buckets = arguments[2:]
        if len({*zip(rows.tolist(), buckets.tolist(), strict=True)}) == len(rows):
            same(self.table.probe(rows, buckets), self.twin.probe(rows, buckets))
        return self._both("insert_and_probe", *arguments)

    def retire(self, *arguments: np.ndarray) -> Hits:
        return self._both("retire", *arguments)

    def insert(self, *arguments: np.ndarray) -> None:
        self._disturb()
        self.table.insert(*arguments)
        self.twin.insert(*arguments)

    def expire(self, horizon: int, min_offsets: np.ndarray | None = None) -> int:
        self._disturb()
        dropped = self.table.expire(horizon, min_offsets)
        assert dropped == self.twin.expire(horizon, min_offsets)
        return dropped


Table = TypeVar("Table", bound=BandTable)


def restored(kind: type[Table], table: BandTable, settings: Settings) -> Table:
    """`restore` makes a plain table; this one is of the kind that is tested."""
    again = kind(**settings)
    plain = BandTable.restore(table.snapshot(), **settings)
    for name in BandTable.__slots__:
        setattr(again, name, getattr(plain, name))
    return again


class SealedHistory(History):
    """A history of twins."""

    def __init__(self, seed: int, kind: type[BandTable]) -> None:
        super().__init__(seed)
        self.kind = kind
        self.chance = np.random.default_rng(seed + 1_000_000)
        self.twins = Twins(kind(**self.settings), NeverSealed(**self.settings), self.chance)
        self.table = self.twins  # type: ignore[assignment]  # all of a table that a history uses

    def stop_and_resume(self) -> None:
        self.twins.table = restored(self.kind, self.twins.table, self.settings)
        self.twins.twin = restored(NeverSealed, self.twins.twin, self.settings)


@pytest.mark.parametrize("size", [1, 4, 1 << 16])
@pytest.mark.parametrize("few", [0, 6, 40])
@pytest.mark.parametrize("start", range(0, 50, 25))
@pytest.mark.parametrize("kind", [BandTable, SealedOnDemand])
def test_sealing_at_any_moment_changes_no_result(
    kind: type[BandTable], start: int, few: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (segment, walk, sealed):
        monkeypatch.setattr(module, "FEW", few)
    for module in (segment, sealed):
        monkeypatch.setattr(module, "ROUNDS", 3 + few)
    slices_of(size, monkeypatch)
    for seed in range(start, start + 25):
        print(f"seed {seed}")
        history = SealedHistory(seed, kind)
        for _ in range(30):
            history.step()
            assert len(history.twins.table) == len(history.twins.twin) == len(history.oracle)
            assert not history.never_emitted()


def sealed_halfway(table: SealedOnDemand, steps: int) -> None:
    for _ in range(steps):
        table.seal_some()


@pytest.mark.parametrize("steps", range(12))
def test_postings_retired_while_a_segment_is_being_sealed_stay_retired(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices_of(8, monkeypatch)
    table = SealedOnDemand(cap_postings=0, first_capacity=32)
    for start in range(0, 40, 4):
        table.insert(*columns([(start + i, 0, bucket) for i in range(4) for bucket in (0, 5, 1 << 63)]))
    sealed_halfway(table, steps)
    retire(table, [(bucket, ref) for ref in (0, 3, 4, 9) for bucket in (0, 5, 1 << 63)])
    table.seal()
    assert pairs_of(probe(table, [(99, 0, 0), (99, 0, 5)])) == {
        (99, ref) for ref in range(40) if ref not in (0, 3, 4, 9)
    }
    retire(table, [(bucket, ref) for ref in range(1, 40) for bucket in (0, 5)])
    assert pairs_of(probe(table, [(100, 0, 0), (100, 0, 5)])) == {(100, 99)}


def test_a_segment_that_is_the_newest_again_is_not_sealed_under_its_inserts() -> None:
    for steps in range(4):
        table, twin = SealedOnDemand(first_capacity=16), NeverSealed(first_capacity=16)
        for each in (table, twin):
            each.insert(*columns([(make_ref(1, 100 + i), 0, 2) for i in range(12)]))
            each.insert(*columns([(make_ref(0, i), 0, 2) for i in range(20)]))  # partly in a second segment
        sealed_halfway(table, steps)
        min_offsets = np.array([20, 0], dtype=np.uint64)
        assert table.expire(-1, min_offsets) == twin.expire(-1, min_offsets)
        for ref in range(30, 60, 5):
            postings = [(make_ref(0, ref + i), 0, 2) for i in range(5)]
            same(probe(table, postings), probe(twin, postings))
            sealed_halfway(table, steps)


def test_sealing_forgets_what_was_retired_and_needs_less_memory() -> None:
    table, random = SealedOnDemand(first_capacity=1 << 12), np.random.default_rng(3)
    buckets = random.integers(0, 1 << 63, 6000, dtype=np.uint64)
    n = np.arange(6000)
    table.insert(n.astype(np.uint64), np.zeros(6000, dtype=np.int64), n, buckets)
    table.retire(n[:2000].astype(np.uint64), n[:2000], buckets[:2000])
    before, live = table.nbytes, len(table)
    table.seal()
    assert len(table) == live == 4000
    assert table.nbytes < before - 2000 * 16
    hits = table.probe(n, buckets)
    assert hits.old.tolist() == list(range(2000, 6000))


@pytest.mark.parametrize("span", [None, 1 << 40])
def test_a_stream_with_a_retention_seals_its_older_segments_by_itself(
    monkeypatch: pytest.MonkeyPatch, span: int | None
) -> None:
    slices_of(64, monkeypatch)
    table = BandTable(first_capacity=256, segment_span_ms=span)
    for start in range(0, 1200, 10):
        probe(table, ascending(10, [3, 1 << 63], start))
    kinds = [f"{number}.keys" in table.snapshot() for number in range(table.segments)]
    assert table.segments > 1
    assert kinds == [span is not None] * (table.segments - 1) + [False]


@pytest.mark.parametrize("steps", range(10))
def test_postings_retired_while_a_segment_is_sealed_again_are_neither_lost_nor_duplicated(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices_of(8, monkeypatch)
    table = SealedOnDemand(cap_postings=0, first_capacity=96)
    table.insert(*columns([(ref, 0, bucket) for ref in range(50) for bucket in (4, 6)]))
    table.seal()
    retire(table, [(bucket, ref) for ref in range(26) for bucket in (4, 6)])
    sealed_halfway(table, steps)
    retire(table, [(bucket, ref) for ref in (47, 45, 40, 33, 30) for bucket in (4, 6)])
    table.seal()
    left = [ref for ref in range(49, 25, -1) if ref not in (47, 45, 40, 33, 30)]
    for bucket in (4, 6):
        assert table.probe(*columns([(99, 0, bucket)])[2:]).old.tolist() == left
    assert len(table) == 2 * len(left)


def buckets_of(ref: int) -> list[int]:
    return [3, 5 + 2 * (ref % 7), (ref % 3) << 40]


def update(table: BandTable, old: int | None, new: int) -> None:
    if old is not None:
        retire(table, [(bucket, old) for bucket in buckets_of(old)])
    table.insert_and_probe(*columns([(new, 0, bucket) for bucket in buckets_of(new)]))


@pytest.mark.slow
def test_ten_thousand_versions_of_one_document_need_no_more_room_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    slices_of(64, monkeypatch)
    table, most, largest = BandTable(first_capacity=256), 0, 0
    for ref in range(10_000):
        update(table, ref - 1 if ref else None, ref)
        most, largest = max(most, table.segments), max(largest, table.nbytes)
    assert (len(table), most) == (3, 2)
    assert largest < 25_000, "480,000 bytes of postings have passed"


@pytest.mark.slow
@pytest.mark.parametrize("between", [5, 25])
def test_documents_that_stay_among_many_versions_of_another_do_not_scatter(
    between: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices_of(64, monkeypatch)
    table, twin = (kind(first_capacity=64, credit=1 << 40) for kind in (BandTable, NeverSealed))
    before: int | None = None
    for ref in range(2_000):
        stays = ref % between == 0
        for each in (table, twin):
            update(each, None if stays else before, ref)
        before = before if stays else ref
        assert table.segments <= MOST_SEALED + 4
        if ref % 100 == 0:
            asked = columns([(0, 0, bucket) for bucket in (3, 5, 7, 2 << 40)])[2:]
            same(table.probe(*asked), twin.probe(*asked))
    assert len(table) == len(twin) == 3 * (2_000 // between + 1)
    assert sum(segment.rows for segment in table._segments) < 5 * len(table)
    assert sum(segment.documents for segment in table._segments) < 5 * len(table) / 3


def test_a_damaged_snapshot_of_a_sealed_segment_is_refused() -> None:
    table = BandTable(first_capacity=8)
    probe(table, ascending(4, [2, 5]))
    probe(table, ascending(4, [2, 5], 4))
    table.seal()
    whole = table.snapshot()
    assert "0.keys" in whole
    for name in whole:
        with pytest.raises(DamagedBytes):
            BandTable.restore({other: array for other, array in whole.items() if other != name})
    for name in ("0.keys", "0.docs", "0.refs", "0.alive", "0.fields", "0.lowest"):
        with pytest.raises(DamagedBytes):
            BandTable.restore({**whole, name: whole[name][:-1]})
    for name, value in (("0.docs", 7), ("0.docs", sealed.DEAD), ("0.keys", 1 << 50)):
        array = whole[name].copy()
        array[2] = value
        with pytest.raises(DamagedBytes):
            BandTable.restore({**whole, name: array})


@pytest.mark.parametrize("span", [None, 10])
def test_the_last_millisecond_is_a_time_like_any_other(span: int | None) -> None:
    table = BandTable(segment_span_ms=span)
    last = (1 << 63) - 1
    assert pairs_of(probe(table, [(1, last, 2), (2, 5, 2), (3, last, 2)])) == {(2, 1), (3, 1), (3, 2)}
    assert table.expire(last - 1) == 0
    assert table.expire(last) == 3
