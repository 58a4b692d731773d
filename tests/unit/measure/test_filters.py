import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.filters import least_matching_slots, sizes_allow


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 100))
def test_no_pair_that_reaches_the_threshold_is_refused(left: int, right: int, shared: int, percent: int) -> None:
    shared = min(shared, left, right)
    threshold = percent / 100
    exact = shared / (left + right - shared) if left and right else 0.0
    if exact >= threshold:
        assert sizes_allow(np.array([left]), np.array([right]), threshold)[0]


@given(st.integers(1, 300), st.integers(1, 300))
def test_the_size_filter_is_tight(small: int, large: int) -> None:
    small, large = min(small, large), max(small, large)
    assert sizes_allow(np.array([small]), np.array([large]), small / large)[0]
    assert not sizes_allow(np.array([small]), np.array([large]), math.nextafter(small / large, 2))[0]


def test_empty_documents_are_refused_at_every_threshold() -> None:
    assert sizes_allow(np.array([0, 0, 3]), np.array([0, 5, 0]), 0.0).tolist() == [False, False, False]


def lost(threshold: float, slots: int, least: int) -> float:
    return math.fsum(math.comb(slots, m) * threshold**m * (1 - threshold) ** (slots - m) for m in range(least))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("slots", [64, 128, 256])
def test_the_bound_is_the_greatest_that_loses_few_enough(threshold: float, slots: int) -> None:
    for missed in (1e-2, 1e-4, 1e-6):
        least = least_matching_slots(threshold, slots, missed)
        assert lost(threshold, slots, least) <= missed * (1 + 1e-9)
        assert lost(threshold, slots, least + 1) > missed * (1 - 1e-9)


def test_identical_documents_agree_in_every_slot() -> None:
    assert least_matching_slots(1.0, 128) == 128
