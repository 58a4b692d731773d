"""The mixers against arithmetic on Python integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from stream_lsh.hashing import fmix64, mix_in_place, odd_constants
from tests.evaluation import oracles

words = st.lists(st.integers(0, oracles.MASK64), max_size=20)


@given(words)
def test_fmix64_is_the_finaliser_of_murmurhash3(values: list[int]) -> None:
    given_values = np.array(values, np.uint64)
    assert fmix64(given_values).tolist() == [oracles.fmix64(value) for value in values]
    assert given_values.tolist() == values, "the argument is left alone"


def test_fmix64_keeps_the_shape_and_takes_the_extremes() -> None:
    values = np.array([[0, 1], [1 << 63, oracles.MASK64]], np.uint64)
    mixed = fmix64(values)
    assert mixed.shape == (2, 2)
    assert mixed[1, 1] == oracles.fmix64(oracles.MASK64)


@given(words)
def test_mix_in_place_can_be_undone_so_it_keeps_values_apart(values: list[int]) -> None:
    mixed = np.array(values, np.uint64)
    assert mix_in_place(mixed) is mixed
    inverse = pow(0xFF51AFD7ED558CCD, -1, 1 << 64)
    back = []
    for h in mixed.tolist():
        product = (h ^ h >> 29 ^ h >> 58) * inverse & oracles.MASK64
        back.append(product ^ product >> 32)
    assert back == values


@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 40))
def test_odd_constants_are_odd_and_fixed_by_the_seed(seed: int, count: int) -> None:
    constants = odd_constants(count, seed)
    assert constants.tolist() == oracles.odd_constants(count, seed)
    assert all(constant % 2 for constant in constants.tolist())
    assert_array_equal(constants, odd_constants(count + 3, seed)[:count])


def test_constants_of_neighbouring_seeds_differ() -> None:
    drawn = {tuple(odd_constants(4, seed).tolist()) for seed in range(200)}
    assert len(drawn) == 200
