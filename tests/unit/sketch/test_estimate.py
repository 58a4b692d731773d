import numpy as np
import pytest

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.sketch.estimate import chernoff_slots, matching_slots, standard_error, union
from stream_lsh.sketch.scheme import EMPTY_SLOT


@pytest.mark.parametrize("pairs", [0, 1, 511, 512, 513, 1500])
def test_matching_slots_are_counted_pair_by_pair(pairs: int) -> None:
    generator = np.random.default_rng(pairs)
    left = generator.integers(0, 3, (pairs, 16)).astype(np.uint32)
    right = generator.integers(0, 3, (pairs, 16)).astype(np.uint32)
    want = [sum(a == b for a, b in zip(x, y, strict=True)) for x, y in zip(left.tolist(), right.tolist(), strict=True)]
    got = matching_slots(left, right)
    assert got.tolist() == want
    assert got.dtype == np.int64


def test_empty_documents_agree_in_no_slot() -> None:
    empty = np.full((2, 8), EMPTY_SLOT, np.uint32)
    assert matching_slots(empty, empty).tolist() == [0, 0]


def test_signatures_of_other_shapes_are_a_bug() -> None:
    with pytest.raises(InvariantError, match=r"\(1, 8\)"):
        matching_slots(np.zeros((1, 8), np.uint32), np.zeros((2, 8), np.uint32))


def test_an_empty_signature_is_neutral_in_a_union() -> None:
    signature = np.array([3, 1, 2], np.uint32)
    assert np.array_equal(union(signature, np.full(3, EMPTY_SLOT, np.uint32)), signature)


def test_the_standard_error_at_one_half_with_128_slots_is_0442() -> None:
    assert round(standard_error(0.5, 128), 4) == 0.0442


def test_chernoffs_bound_for_a_tenth_of_one_half_at_five_percent_is_1199_slots() -> None:
    assert chernoff_slots(0.5, relative_error=0.1, failure=0.05) == 1199


def test_chernoffs_bound_refuses_what_is_no_probability() -> None:
    with pytest.raises(ConfigError):
        chernoff_slots(0.0, 0.1, 0.05)
