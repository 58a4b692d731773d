"""Step 2: postings are removed and inserted, and new versions meet those of their buckets."""

import random
from collections.abc import Sequence

import numpy as np

from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.batches import CANDIDATE, Postings
from stream_lsh.pipeline.index import Indexed, index

Version = tuple[int, bool, Sequence[int]]
"""Ref, whether it is retired, buckets."""


def postings(versions: Sequence[Version]) -> Postings:
    rows = [row for row, (_, _, buckets) in enumerate(versions) for _ in buckets]
    return Postings(
        refs=np.array([ref for ref, _, _ in versions], np.uint64),
        times=np.zeros(len(versions), np.int64),
        retired=np.array([retired for _, retired, _ in versions], np.bool_),
        rows=np.array(rows, np.int64),
        buckets=np.array([bucket for _, _, buckets in versions for bucket in buckets], np.uint64),
    )


def table(cap_postings: int = 0, cap_candidates: int = 0) -> BandTable:
    return BandTable(cap_postings=cap_postings, cap_candidates=cap_candidates, first_capacity=64)


def pairs(indexed: Indexed) -> set[tuple[int, int]]:
    if indexed.candidates is None:
        return set()
    assert set(indexed.candidates.kinds.tolist()) == {CANDIDATE}
    return set(zip(indexed.candidates.new.tolist(), indexed.candidates.old.tolist(), strict=True))


def test_new_versions_meet_those_of_their_buckets_in_the_batch_and_before() -> None:
    buckets = table()
    assert index(postings([(1, False, [2, 4])]), buckets).candidates is None
    assert pairs(index(postings([(2, False, [4]), (3, False, [2, 8]), (4, False, [8])]), buckets)) == {
        (2, 1),
        (3, 1),
        (4, 3),
    }


def test_retired_versions_are_taken_out_first_whatever_their_place_in_the_batch() -> None:
    buckets = table()
    index(postings([(1, False, [2, 4]), (2, False, [6])]), buckets)
    for batch in ([(1, True, [2, 4]), (3, False, [2, 6])], [(3, False, [2, 6]), (1, True, [2, 4])]):
        assert pairs(index(postings(batch), buckets)) == {(3, 2)}


def test_a_batch_that_only_retires_gives_nothing_but_copies_that_became_neighbours() -> None:
    buckets = table(cap_postings=1)
    index(postings([(ref, False, [1]) for ref in (1, 2, 3)]), buckets)
    assert pairs(index(postings([(2, True, [1])]), buckets)) == {(3, 1)}
    assert index(postings([(9, True, [1, 2])]), buckets).candidates is None


def test_the_same_postings_again_give_the_same_candidates_again() -> None:
    rng = random.Random(3)
    buckets = table()
    batches = [postings([(10 * n + m, False, rng.sample(range(0, 40, 2), 4)) for m in range(5)]) for n in range(1, 12)]
    first = [pairs(index(batch, buckets)) for batch in batches]
    assert any(first)
    assert [pairs(index(batch, buckets)) for batch in batches] == first


def test_pairs_beyond_the_caps_are_counted() -> None:
    buckets = table(cap_postings=2, cap_candidates=1)
    for ref in range(1, 5):
        index(postings([(ref, False, [2])]), buckets)
    indexed = index(postings([(0, True, [2]), (9, False, [2])]), buckets)
    assert (pairs(indexed), len(indexed.capped_buckets), indexed.capped_candidates) == ({(9, 4)}, 1, 3)


def test_refs_of_high_partitions_come_back_whole() -> None:
    buckets, ref = table(), 65_535 << 48
    assert pairs(index(postings([(40_000 << 48, False, [2]), (ref, False, [2])]), buckets)) == {(ref, 40_000 << 48)}
