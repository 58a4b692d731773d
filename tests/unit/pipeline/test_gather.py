"""Step 3: the pairs that are passed on, and their documents."""

import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.batches import CANDIDATE, RECHECK
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded, gather
from tests.simulation.pipelines.scheme import NamedShingles
from tests.unit.pipeline.makers import candidates, signed

SCHEME = NamedShingles()


def table_of(*texts: str, partition: int = 0) -> DocumentTable:
    table = DocumentTable(SCHEME.slots)
    signed(table, SCHEME, 0, [Document(f"d{n}", text, 10 * n) for n, text in enumerate(texts)], partition=partition)
    return table


@pytest.mark.parametrize("partition", [0, 40_000])
def test_a_pair_goes_on_with_all_that_is_known_of_its_new_document(partition: int) -> None:
    table = table_of("1", "1 2", "3", partition=partition)
    new = [make_ref(partition, n) for n in (2, 1, 2)]
    made = gather(candidates([(new[0], 7), (new[1], 5), (new[2], 5)]), table, Forwarded())
    assert made is not None
    assert made.rows.dtype == np.int64
    assert made.refs[made.rows].tolist() == new
    assert made.old.tolist() == [7, 5, 5]
    assert len(made.refs) == 2, "a document goes once"
    for row, ref in enumerate(made.refs.tolist()):
        n = ref & 0xFF
        assert (made.ids[row], made.texts[row], made.times[row]) == (f"d{n}", ("1", "1 2", "3")[n], 10 * n)
    expected = SCHEME.sign(made.texts)
    assert_array_equal(made.signatures, expected.values)
    assert_array_equal(made.digests, expected.digests)


def test_a_pair_whose_new_ref_is_not_the_newest_is_dropped_a_recheck_too() -> None:
    table = table_of("1", "2")
    signed(table, SCHEME, 2, [Document("d0", "4"), Document("d1", None)])
    stale = candidates([(0, 9), (1, 9), (8, 9), (0, 9)], [CANDIDATE, CANDIDATE, CANDIDATE, RECHECK])
    assert gather(stale, table, Forwarded()) is None
    made = gather(candidates([(0, 9), (2, 9)]), table, Forwarded())
    assert made is not None
    assert made.refs.tolist() == [2]


def test_a_pair_is_passed_on_once_and_a_recheck_always() -> None:
    table, forwarded = table_of("1", "2"), Forwarded()
    pairs = [(0, 9), (0, 9), (1, 9), (0, 9), (0, 9)]
    kinds = [CANDIDATE, CANDIDATE, CANDIDATE, RECHECK, RECHECK]
    made = gather(candidates(pairs, kinds), table, forwarded)
    assert made is not None
    assert made.kinds.tolist() == [CANDIDATE, CANDIDATE, RECHECK, RECHECK]
    again = gather(candidates(pairs, kinds), table, forwarded)
    assert again is not None
    assert again.kinds.tolist() == [RECHECK, RECHECK]
    assert gather(candidates([(1, 9)]), table, forwarded) is None
    assert gather(candidates([(1, 9)]), table, Forwarded()) is not None, "a new memory passes the pair on again"


def test_a_pair_that_was_dropped_as_stale_is_not_remembered() -> None:
    table, forwarded = DocumentTable(SCHEME.slots), Forwarded()
    assert gather(candidates([(0, 9)]), table, forwarded) is None
    assert len(forwarded) == 0
    signed(table, SCHEME, 0, [Document("a", "1")])
    assert gather(candidates([(0, 9)]), table, forwarded) is not None


def test_the_memory_of_pairs_is_bounded_and_keeps_the_latest() -> None:
    limit = 50
    forwarded = Forwarded(limit)
    for n in range(1_000):
        assert forwarded.add(n, 1)
        assert not forwarded.add(n, 1)
        assert not forwarded.add(max(0, n - limit + 1), 1), "the last `limit` pairs are known"
        assert len(forwarded) <= 2 * limit + 1
    assert forwarded.add(0, 1), "the first ones are forgotten"


def test_the_memory_of_pairs_does_not_confuse_new_and_old() -> None:
    forwarded = Forwarded()
    assert forwarded.add(1, 2)
    assert forwarded.add(2, 1)


@pytest.mark.parametrize("case", range(20))
def test_each_live_pair_is_passed_on_once_in_any_batches(case: int) -> None:
    rng = random.Random(case)
    table, forwarded, seen = table_of(*"1234567"), Forwarded(), []
    offered = [(rng.randrange(10), rng.randrange(20)) for _ in range(200)]
    for start in range(0, 200, 10):
        made = gather(candidates(offered[start : start + 10]), table, forwarded)
        if made is not None:
            seen += list(zip(made.refs[made.rows].tolist(), made.old.tolist(), strict=True))
    assert len(seen) == len(set(seen))
    assert set(seen) == {pair for pair in offered if pair[0] < 7}
