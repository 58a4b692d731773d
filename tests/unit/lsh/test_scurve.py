import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.lsh.scurve import (
    candidate_probability,
    false_negative_area,
    false_positive_area,
    half_point,
    scurve_threshold,
)

bands_and_rows = st.tuples(st.integers(1, 64), st.integers(1, 20))


def test_twenty_bands_of_five_rows_give_the_values_of_the_textbook() -> None:
    got = [round(candidate_probability(s, 20, 5), 5) for s in (0.8, 0.75, 0.5, 0.2)]
    assert got == [0.99964, 0.99556, 0.47005, 0.00638]
    assert round(scurve_threshold(20, 5), 3) == 0.549
    assert [round(candidate_probability(s, 20, 5), 3) for s in (0.5, 0.7, 0.9)] == [0.47, 0.975, 1.0]


def test_fourteen_bands_of_nine_rows_give_their_known_values() -> None:
    got = [round(candidate_probability(s, 14, 9), 3) for s in (0.5, 0.7, 0.8, 0.9)]
    assert got == [0.027, 0.438, 0.867, 0.999]
    assert round(scurve_threshold(14, 9), 3) == 0.746


@given(st.floats(0, 1), bands_and_rows)
def test_the_probability_is_the_formula(similarity: float, banding: tuple[int, int]) -> None:
    bands, rows = banding
    assert candidate_probability(similarity, bands, rows) == pytest.approx(
        1 - (1 - similarity**rows) ** bands, abs=1e-12
    )


def test_an_array_of_similarities_gives_an_array() -> None:
    got = candidate_probability(np.array([0.0, 0.5, 1.0]), 20, 5)
    assert got.tolist() == [0.0, candidate_probability(0.5, 20, 5), 1.0]


@given(bands_and_rows)
def test_the_half_point_has_probability_one_half(banding: tuple[int, int]) -> None:
    assert candidate_probability(half_point(*banding), *banding) == pytest.approx(0.5)


@given(st.floats(0.01, 0.99), st.integers(1, 16), st.integers(1, 15))
def test_areas_are_the_sums_of_thin_slices(threshold: float, bands: int, rows: int) -> None:
    def area(start: float, stop: float) -> float:
        middles = start + (np.arange(4000) + 0.5) / 4000 * (stop - start)
        return float(candidate_probability(middles, bands, rows).mean()) * (stop - start)

    assert false_positive_area(threshold, bands, rows) == pytest.approx(area(0, threshold), abs=1e-5)
    assert false_negative_area(threshold, bands, rows) == pytest.approx(1 - threshold - area(threshold, 1), abs=1e-5)
