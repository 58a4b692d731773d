"""Banding, sensitive families and their amplification: Mining of Massive Datasets, sections 3.4, 3.6, 3.7 and 3.8."""

import math

import numpy as np
import pytest

from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Composed, Family
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.hyperplanes import Hyperplanes, estimated_angle
from stream_lsh.lsh.families.lengths import about_equal
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.minhash import MinHash
from stream_lsh.lsh.scurve import (
    candidate_probability,
    false_negative_area,
    false_positive_area,
    scurve_threshold,
)

# Banding


def test_twenty_bands_of_five_rows() -> None:
    similarities = (0.8, 0.75, 0.5, 0.2)
    assert [round(candidate_probability(s, 20, 5), 5) for s in similarities] == [0.99964, 0.99556, 0.47005, 0.00638]
    assert round(scurve_threshold(20, 5), 3) == 0.549


def test_the_s_curve_is_an_or_of_ands_of_minhashing() -> None:
    composed = MinHash().and_(5).or_(20)
    for similarity in (0.2, 0.5, 0.75, 0.8):
        assert composed.probability(1 - similarity) == pytest.approx(candidate_probability(similarity, 20, 5))


def test_false_negatives_are_the_area_above_the_threshold_and_false_positives_the_area_below() -> None:
    slices = (np.arange(100_000) + 0.5) / 100_000
    curve = 1 - (1 - slices**5) ** 20
    for threshold in (0.3, 0.549, 0.8):
        below = slices < threshold
        assert false_positive_area(threshold, 20, 5) == pytest.approx(curve[below].sum() / 100_000, abs=1e-5)
        assert false_negative_area(threshold, 20, 5) == pytest.approx((1 - curve[~below]).sum() / 100_000, abs=1e-5)


def test_bands_never_share_buckets() -> None:
    assert np.unique(Bands(20, 5)(np.full((1, 100), 7, np.uint32))).size == 20


# Families


def test_minhashing_is_d1_d2_1_minus_d1_1_minus_d2_sensitive() -> None:
    assert MinHash().sensitivity(0.2, 0.8) == pytest.approx((0.2, 0.8, 0.8, 0.2))
    assert MinHash().sensitivity(0.3, 0.6) == pytest.approx((0.3, 0.6, 0.7, 0.4))


def test_bit_sampling_is_sensitive_by_the_share_of_the_coordinates() -> None:
    assert BitSampling(25).sensitivity(5, 10) == pytest.approx((5, 10, 1 - 5 / 25, 1 - 10 / 25))


@pytest.mark.parametrize("signs", [False, True])
def test_hyperplanes_are_sensitive_by_the_share_of_180_degrees(signs: bool) -> None:
    assert Hyperplanes(8, signs=signs).sensitivity(45, 120) == pytest.approx((45, 120, 1 - 45 / 180, 1 - 120 / 180))


def test_sketches_that_agree_in_a_third_of_the_places_estimate_120_degrees() -> None:
    left = np.array([[1, 1, 1, 0, 0, 0]], np.uint32)
    right = np.array([[1, 1, 0, 1, 1, 1]], np.uint32)
    assert estimated_angle(left, right).tolist() == [120.0]


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_lines_are_half_a_cell_two_cells_one_half_one_third_sensitive(dimension: int) -> None:
    promised = Lines(dimension, width=3.0, uniform=True).sensitivity(3.0 / 2, 2 * 3.0)
    assert promised.p1 >= 1 / 2
    assert promised.p2 <= 1 / 3


def test_in_five_dimensions_two_cells_are_not_far_enough_for_a_third() -> None:
    assert Lines(5, width=3.0, uniform=True).sensitivity(1.5, 6.0).p2 == pytest.approx(23 / 64)
    assert Lines(3, width=3.0, uniform=True).sensitivity(1.5, 6.0).p2 == pytest.approx(1 / 4)
    assert Lines(2, width=3.0, uniform=True).sensitivity(1.5, 6.0).p2 == pytest.approx(
        1 / 3 - 4 / math.pi * (1 - math.sqrt(3) / 2)
    )


@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0, 2.5, 40.0])
def test_the_curve_of_normal_lines_is_the_integral_over_the_projections(ratio: float) -> None:
    """The integral of 1/c f(t/c) (1 - t/w) over t from 0 to w, f the density of the size of a normal number."""
    middles = (np.arange(400_000) + 0.5) / 400_000
    density = 2 / math.sqrt(2 * math.pi) * np.exp(-((middles / ratio) ** 2) / 2) / ratio
    want = float((density * (1 - middles)).mean())
    assert Lines(7, width=5.0).probability(5.0 * ratio) == pytest.approx(want, rel=1e-6)


def test_1024_triples_of_squares_find_a_finger_and_few_others() -> None:
    family = GridTriples(squares=400, size=3, occupied=0.2)
    assert family.probability(0.2) == pytest.approx(0.2**3 * 0.8**3)  # 80 % agreement for the same finger: .004096
    assert family.probability(0.8) == pytest.approx(0.2**6)  # by chance: .000064
    many = family.or_(1024)
    assert (round(many.probability(0.2), 3), round(many.probability(0.8), 3)) == (0.985, 0.063)
    assert many.cost == 1024


def test_documents_of_about_equal_length_are_candidates() -> None:
    left, right = np.array([100, 100, 100, 0]), np.array([81, 79, 126, 0])
    assert about_equal(left, right, 1 / 0.8).tolist() == [True, False, False, False]


# Amplification: from a family that is (.2, .8, .8, .2)-sensitive

FAMILIES_OF_THE_EXAMPLE: list[tuple[Family, float, float]] = [
    (MinHash(), 0.2, 0.8),
    (BitSampling(100), 20, 80),
    (Hyperplanes(3), 36, 144),
]
every_base = pytest.mark.parametrize(("base", "near", "far"), FAMILIES_OF_THE_EXAMPLE, ids=str)


def promised(composed: Composed, near: float, far: float, places: int) -> tuple[float, float]:
    found = composed.sensitivity(near, far)
    assert (found.d1, found.d2) == (near, far)
    return round(found.p1, places), round(found.p2, places)


@every_base
def test_and_4_then_or_4(base: Family, near: float, far: float) -> None:
    assert promised(base.and_(4).or_(4), near, far, 4) == (0.8785, 0.0064)


@every_base
def test_or_4_then_and_4(base: Family, near: float, far: float) -> None:
    assert promised(base.or_(4).and_(4), near, far, 4) == (0.9936, 0.1215)


@every_base
def test_or_4_and_4_then_and_4_or_4(base: Family, near: float, far: float) -> None:
    cascade = base.or_(4).and_(4).and_(4).or_(4)
    assert promised(cascade, near, far, 7)[0] == 0.9999996
    assert promised(cascade, near, far, 5)[1] == 0.00087
    assert cascade.cost == 256


def test_and_and_or_are_their_formulas() -> None:
    assert MinHash().and_(3).probability(0.4) == pytest.approx(0.6**3)
    assert MinHash().or_(3).probability(0.4) == pytest.approx(1 - 0.4**3)


def test_below_its_fixed_point_a_cascade_lowers_and_above_it_raises() -> None:
    composed = MinHash().and_(4).or_(4)
    (point,) = composed.fixed_points()
    assert composed.probability(1 - point) == pytest.approx(point)
    assert composed.probability(1 - point + 0.05) < point - 0.05
    assert composed.probability(1 - point - 0.05) > point + 0.05
    assert round(point, 4) == 0.7245
    assert round(MinHash().or_(4).and_(4).fixed_points()[0], 4) == 0.2755  # the mirror image
