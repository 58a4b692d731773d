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


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("slots", [64, 128, 256])
def test_the_bound_is_the_first_count_within_three_standard_errors(threshold: float, slots: int) -> None:
    least = least_matching_slots(threshold, slots)
    lowest = threshold - 3 * math.sqrt(threshold * (1 - threshold) / slots)
    assert least / slots >= lowest - 1e-12
    assert least == 0 or (least - 1) / slots < lowest


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 0.95])
def test_a_pair_at_the_threshold_is_hardly_ever_lost(threshold: float) -> None:
    least = least_matching_slots(threshold, 128)
    lost = sum(math.comb(128, m) * threshold**m * (1 - threshold) ** (128 - m) for m in range(least))
    assert lost < 0.006
