"""A table that is written down again, slice by slice, comes back in the same order."""

import numpy as np
import pytest

from stream_lsh.index import BandTable, incremental_snapshot, segment
from stream_lsh.index.batch import Batch
from tests.unit.index.oracle import Posting, columns, retire
from tests.unit.index.test_sealed import NeverSealed, SealedOnDemand, same
from tests.unit.index.test_table import Settings

BUCKETS = [2, 3, 1 << 40, (1 << 40) + 2, 5 << 60, (5 << 60) + 1]
ASKED = columns([(0, 0, bucket) for bucket in BUCKETS])[2:]


def entered(slices: list[Batch], span: int | None) -> BandTable:
    table = BandTable(cap_postings=3, segment_span_ms=span, first_capacity=32)
    for batch in slices:
        table.insert(batch.refs, batch.times, batch.rows, batch.buckets)
    return table


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "BORDER", 8)
    monkeypatch.setattr(incremental_snapshot, "_LEAST_DOCUMENTS", 3)


class Life:
    """A table in which versions come and go; from some moment on it is copied, and later changes are recorded."""

    def __init__(self, table: BandTable, random: np.random.Generator) -> None:
        self.table, self.random = table, random
        self.live: list[tuple[int, list[int]]] = []
        self.slices: list[Batch] = []
        self.later: list[tuple[bool, list[Posting]]] = []

    def go_on(self, refs: range) -> None:
        for ref in refs:
            chosen = self.random.choice(BUCKETS, int(self.random.integers(1, 4)), replace=False).tolist()
            self.live.append((ref, chosen))
            self._do(True, [(ref, ref // 3, bucket) for bucket in chosen])
            if self.random.random() < 0.4:
                gone, of = self.live.pop(int(self.random.integers(0, len(self.live))))
                self._do(False, [(gone, 0, bucket) for bucket in of])
            if self.random.random() < 0.5 and (batch := self.table.copy()) is not None:
                self.slices.append(batch)

    def _do(self, come: bool, postings: list[Posting]) -> None:
        enter(self.table, come, postings)
        if self.table.is_copying or self.slices:
            self.later.append((come, postings))


def enter(table: BandTable, come: bool, postings: list[Posting]) -> None:
    if come:
        table.insert(*columns(postings))
    else:
        retire(table, [(bucket, ref) for ref, _, bucket in postings])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("span", [None, 10])
@pytest.mark.parametrize("seed", range(40))
def test_the_slices_and_what_came_meanwhile_give_the_same_table(seed: int, span: int | None) -> None:
    random, settings = (
        np.random.default_rng(seed),
        Settings(cap_postings=3, cap_candidates=200, segment_span_ms=span, first_capacity=16),
    )
    table = SealedOnDemand(**settings)
    life = Life(table, random)
    life.go_on(range(60))
    for _ in range(int(random.integers(0, 30))):
        table.seal_some()
    life.table = BandTable.restore(table.snapshot(), **settings) if seed % 2 else table
    life.table.begin_copy()
    life.go_on(range(60, 120))
    while (batch := life.table.copy()) is not None:
        life.slices.append(batch)
    again = entered(life.slices, span)
    for come, postings in life.later:
        enter(again, come, postings)
    assert len(life.slices) > 1
    assert len(again) == len(life.table)
    same(again.probe(*ASKED), life.table.probe(*ASKED))
    same(again.insert_and_probe(*columns([(999, 0, 3)])), life.table.insert_and_probe(*columns([(999, 0, 3)])))
    for horizon in range(0, 50, 10):
        assert again.expire(horizon) == life.table.expire(horizon)


@pytest.mark.usefixtures("small")
def test_no_segment_changes_its_form_while_a_copy_is_under_way() -> None:
    table = BandTable(segment_span_ms=1, first_capacity=16)
    for ref in range(40):
        table.insert(*columns([(ref, ref // 4, 2)]))
    table.begin_copy()
    before = [*table._segments]
    table.seal()
    assert table._segments == before
    while table.copy() is not None:
        assert table.is_copying
    table.seal()
    assert table._segments != before


def test_slices_are_of_whole_calls_and_of_some_size() -> None:
    table = NeverSealed(first_capacity=1 << 15)
    for start in range(0, 3_000, 100):
        table.insert(
            *columns([(start + ref, 0, 2 + 2 * (ref + start) + bucket) for ref in range(100) for bucket in range(4)])
        )
    table.begin_copy()
    sizes = []
    while (batch := table.copy()) is not None:
        sizes.append((len(batch.refs), len(batch.rows)))
    assert sizes == [(1_100, 4_400), (1_100, 4_400), (800, 3_200)]
