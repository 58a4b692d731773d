import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import I64
from stream_lsh.errors import ConfigError
from stream_lsh.sketch.permutations import (
    NO_ROW,
    _is_prime,
    agreeing_share,
    characteristic_matrix,
    minhashes_by_permutation,
    signature_matrix,
    universal_hashes,
)
from tests.evaluation.oracles import minhash_by_permutation, minhash_by_row_hashing

UNIVERSE = "abcdefghij"
PRIMES = [11, 13, 101]
sets = st.lists(st.sets(st.sampled_from(UNIVERSE)), min_size=1, max_size=6)


def shuffled_rows(rows: int, count: int, seed: int) -> I64:
    """`count` permutations of the rows: int64[count, rows]."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(rows), (count, 1)), axis=1)


@given(sets, st.integers(0, 1000))
def test_minhashes_are_the_first_rows_of_the_permutations(sets: list[set[str]], seed: int) -> None:
    permutations = shuffled_rows(len(UNIVERSE), 5, seed)
    found = minhashes_by_permutation(characteristic_matrix(sets, UNIVERSE), permutations)
    for permutation, minhashes in zip(permutations.tolist(), found.tolist(), strict=True):
        order = [UNIVERSE[row] for row in permutation]
        want = [UNIVERSE.index(minhash_by_permutation(members, order)) if members else NO_ROW for members in sets]
        assert minhashes == want


@given(sets, st.integers(1, 10), st.integers(0, 10), st.sampled_from(PRIMES))
def test_signatures_are_the_least_hashes_of_the_rows(sets: list[set[str]], a: int, b: int, prime: int) -> None:
    hashes = universal_hashes(10, [a, 1], [b, 0], prime)
    found = signature_matrix(characteristic_matrix(sets, UNIVERSE), hashes)
    rows = [[UNIVERSE.index(element) for element in members] for members in sets]
    assert hashes[:, 0].tolist() == [(a * x + b) % prime % 10 for x in range(10)]
    want = [min((hashes[row, 0] for row in members), default=NO_ROW) for members in rows]
    assert found[0].tolist() == want
    assert found[1].tolist() == [minhash_by_row_hashing(r, 1, 0, 10) if r else NO_ROW for r in rows]


def test_a_prime_as_great_as_the_rows_makes_each_hash_a_permutation_and_a_greater_one_may_not() -> None:
    assert sorted(universal_hashes(7, [3], [2], 7)[:, 0].tolist()) == list(range(7))
    assert len(set(universal_hashes(7, [3], [2], 11)[:, 0].tolist())) < 7


def test_empty_sets_agree_with_nothing_not_even_with_each_other() -> None:
    matrix = characteristic_matrix(["", "", "a"], UNIVERSE)
    signatures = minhashes_by_permutation(matrix, shuffled_rows(10, 4, seed=1))
    assert [agreeing_share(signatures, 0, column) for column in range(3)] == [0, 0, 0]
    assert agreeing_share(signatures, 2, 2) == 1


def test_an_invalid_universe_permutation_or_universal_hash_is_rejected() -> None:
    with pytest.raises(ConfigError, match="got 'z'"):
        characteristic_matrix(["az"], UNIVERSE)
    with pytest.raises(ConfigError, match="got 3 elements, of which 2 differ"):
        characteristic_matrix(["a"], "aba")
    with pytest.raises(ConfigError, match=r"got \[0, 0\]"):
        minhashes_by_permutation(characteristic_matrix(["a"], "ab"), np.array([[0, 0]]))
    with pytest.raises(ConfigError) as caught:
        universal_hashes(10, [0, 3, 4], [12, 1], 9)
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigError, match="expected a prime of 10 or more"):
        universal_hashes(10, [1], [1], 7)


def test_primes_of_any_size_are_recognised() -> None:
    small = [number for number in range(-2, 3_000) if _is_prime(number)]
    assert small == [number for number in range(2, 3_000) if all(number % divisor for divisor in range(2, number))]
    assert [_is_prime(number) for number in (2**31 - 1, 2**61 - 1, 2**61 + 1, (2**31 - 1) ** 2)] == [1, 1, 0, 0]
    assert not any(map(_is_prime, (3_215_031_751, 3_825_123_056_546_413_051, 2_152_302_898_747)))  # pseudoprimes
    assert universal_hashes(5, [2**60], [7], 2**61 - 1).shape == (5, 1)
