import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U64
from stream_lsh.measure import jaccard as module
from stream_lsh.measure.jaccard import jaccard, shared_count, shared_counts, sorted_unique
from tests.evaluation import oracles

SIZES = (0, 1, 2, 9, 10, 11, 50, 128, 129, 400, 900, 5000)
sets = st.lists(st.integers(0, 40) | st.integers(0, oracles.MASK64), max_size=60)


def as_set(values: list[int]) -> U64:
    return sorted_unique(np.array(values, np.uint64))


def overlapping(generator: np.random.Generator, one: U64, size: int, share: float) -> U64:
    common = generator.choice(one, min(one.size, int(size * share)), replace=False)
    fresh = generator.integers(0, 1 << 64, size - common.size, np.uint64)
    return sorted_unique(np.concatenate((common, fresh)))


@given(sets)
def test_a_set_is_ascending_and_without_repetitions(values: list[int]) -> None:
    array = np.array(values, np.uint64)
    assert sorted_unique(array).tolist() == sorted(set(values))
    assert array.tolist() == values, "the argument is left alone"


@given(sets, sets)
def test_shared_and_jaccard_are_those_of_sets(left: list[int], right: list[int]) -> None:
    a, b = as_set(left), as_set(right)
    assert shared_count(a, b) == shared_count(b, a) == len(set(left) & set(right))
    assert jaccard(a, b) == oracles.jaccard(left, right)


@pytest.mark.parametrize("left", SIZES)
@pytest.mark.parametrize("right", SIZES)
def test_every_strategy_for_a_pair_counts_alike(left: int, right: int) -> None:
    generator = np.random.default_rng(left * 10_000 + right)
    a = as_set(generator.integers(0, 1 << 64, left, np.uint64).tolist())
    b = overlapping(generator, a, right, 0.6)
    want = len(set(a.tolist()) & set(b.tolist()))
    assert shared_count(a, b) == shared_count(b, a) == want


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 31, 32, 63, 64, 65, 130])
def test_one_against_many_counts_as_pairs_do(size: int, count: int) -> None:
    generator = np.random.default_rng(size * 1000 + count)
    one = as_set(generator.integers(0, 1 << 64, size, np.uint64).tolist())
    many = [overlapping(generator, one, int(generator.integers(0, 2 * size + 3)), 0.5) for _ in range(count)]
    if count > 2:
        many[0] = many[-1] = as_set([])
    got = shared_counts(one, many)
    assert got.tolist() == [len(set(one.tolist()) & set(other.tolist())) for other in many]
    assert got.dtype == np.int64


def test_much_larger_sets_and_a_huge_one_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    one = as_set(generator.integers(0, 1 << 64, 300, np.uint64).tolist())
    large = [overlapping(generator, one, 9000, 0.02) for _ in range(40)]
    want = [len(set(one.tolist()) & set(other.tolist())) for other in large]
    assert shared_counts(one, large).tolist() == want
    monkeypatch.setattr(module, "_LARGEST_PROBE", 100)
    similar = [overlapping(generator, one, 300, 0.5) for _ in range(40)]
    assert shared_counts(one, similar).tolist() == [len(set(one.tolist()) & set(o.tolist())) for o in similar]


def test_the_columns_10111_and_10011_are_three_quarters_alike() -> None:
    rows = [[row for row, bit in enumerate(column) if bit == "1"] for column in ("10111", "10011")]
    assert jaccard(as_set(rows[0]), as_set(rows[1])) == 0.75


def test_an_empty_document_is_similar_to_nothing() -> None:
    assert jaccard(as_set([]), as_set([])) == 0.0
    assert jaccard(as_set([]), as_set([1])) == 0.0
