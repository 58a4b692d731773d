"""Containment against Python sets and fractions, and the measures by their names."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.cli.options import common
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.scheme import TextScheme, banding_for
from stream_lsh.measure.catalog import JACCARD, MEASURES, measure_of, similarity_of
from stream_lsh.measure.containment import Containment
from stream_lsh.measure.jaccard import sorted_unique
from tests.evaluation import oracles

SETS = st.sets(st.integers(0, 40), max_size=30)
RATIOS = st.sampled_from([1.0, 1.15, 2.0, 3.5, 100.0])


def one_pair(measure: Containment, shared: int, size: int, other: int) -> float:
    return float(measure.similarity(*np.array([[shared], [size], [other]], np.uint32))[0])


@given(SETS, SETS, RATIOS)
def test_containment_is_that_of_sets(left: set[int], right: set[int], ratio: float) -> None:
    one, other = (sorted_unique(np.array([*numbers], np.uint64)) for numbers in (left, right))
    found = similarity_of(Containment(ratio), one, other)
    assert found == similarity_of(Containment(ratio), other, one) == oracles.containment(left, right, ratio)
    assert similarity_of(JACCARD, one, other) == oracles.jaccard(left, right)


@given(st.data(), st.integers(1, 300), st.integers(1, 99), RATIOS)
def test_no_pair_has_a_smaller_jaccard_similarity_than_bands_are_chosen_for(
    data: st.DataObject, size: int, percent: int, ratio: float
) -> None:
    other = data.draw(st.integers(size, math.floor(Fraction(str(ratio)) * size)))
    shared = data.draw(st.integers(-(-percent * size // 100), size))
    size, other = data.draw(st.permutations([size, other]))
    measure = Containment(ratio)
    assert one_pair(measure, shared, size, other) >= percent / 100
    assert measure.sizes_allow(np.array([size]), np.array([other]), percent / 100)[0]
    assert shared / (size + other - shared) >= measure.least_jaccard(percent / 100) * (1 - 1e-12)


@pytest.mark.parametrize("ratio", [1, 2, 3, 10])
@pytest.mark.parametrize("percent", [20, 50, 80, 95])
def test_the_least_jaccard_similarity_is_one_that_a_pair_has(ratio: int, percent: int) -> None:
    shared, size, other = percent, 100, ratio * 100
    assert one_pair(Containment(ratio), shared, size, other) == percent / 100
    assert Containment(ratio).least_jaccard(percent / 100) == pytest.approx(shared / (size + other - shared), abs=1e-15)


@pytest.mark.parametrize("percent", range(100, 401, 5))
def test_a_ratio_of_sizes_is_met_as_the_user_wrote_it(percent: int) -> None:
    exact = Fraction(percent, 100)
    for scale in (1, 3, 7, 1_000):
        size, other = exact.denominator * scale, exact.numerator * scale
        assert one_pair(Containment(percent / 100), size, size, other) == 1
        assert one_pair(Containment(percent / 100), size, other, size) == 1
        assert one_pair(Containment(percent / 100), size, size, other + 1) == 0
    assert one_pair(Containment(math.nextafter(float(exact), 9)), 1, exact.denominator, exact.numerator) > 0


def test_empty_sets_are_contained_in_nothing() -> None:
    nothing, something = np.array([], np.uint64), np.array([1], np.uint64)
    assert similarity_of(Containment(), nothing, something) == similarity_of(Containment(), nothing, nothing) == 0
    allowed = Containment().sizes_allow(np.array([0, 0, 1]), np.array([0, 1, 0]), 0.1)
    assert not allowed.any()


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9])
def test_bands_and_estimate_are_those_of_the_least_jaccard_similarity(threshold: float) -> None:
    measure = Containment(2.0)
    least = measure.least_jaccard(threshold)
    scheme, plain = TextScheme(threshold, measure=measure), TextScheme(least)
    assert scheme.banding == plain.banding
    assert (
        scheme.least_matching(threshold)
        == plain.least_matching(least)
        < TextScheme(threshold).least_matching(threshold)
    )
    assert scheme.banding.probability_at_threshold >= 0.989


def test_measures_have_names() -> None:
    assert [measure_of(name).name for name in MEASURES] == [*MEASURES] == [*common.MEASURES]
    assert measure_of() == JACCARD
    assert measure_of("containment", 5.0) == Containment(5.0)
    assert JACCARD.settings == {"measure": "jaccard"}
    assert Containment(3).settings == {"measure": "containment", "size_ratio": 3.0}
    assert Containment(2) == Containment(2.0) != Containment(3)


@pytest.mark.parametrize(
    ("name", "ratio", "message"),
    [
        ("cosine", None, "measure: got 'cosine', expected jaccard or containment"),
        ("jaccard", 2.0, "size_ratio: got 2, expected none, as the measure is jaccard: only containment uses it"),
        ("containment", 0.9, "size_ratio: got 0.9, expected a number from 1 to 100"),
        ("containment", 101, "size_ratio: got 101, expected a number from 1 to 100"),
        ("containment", float("nan"), "size_ratio: got nan, expected a number from 1 to 100"),
    ],
)
def test_invalid_measures_are_rejected(name: str, ratio: float | None, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        measure_of(name, ratio)
    assert str(caught.value) == message


def test_a_ratio_that_no_signature_reaches_is_refused_with_what_is_feasible() -> None:
    with pytest.raises(ConfigError) as caught:
        banding_for(0.8, 0.99, 128, Containment(40))
    assert "finds a pair of similarity 0.0199 with probability 0.99: raise slots to" in str(caught.value)
    assert str(caught.value).endswith(
        "Jaccard similarities, of a containment of 0.8 at this `size_ratio`: or lower that"
    )
    assert banding_for(0.8, 0.99, 256, Containment(40)).rows == 1
    for threshold in (0.0, 1.0, 1.5):
        with pytest.raises(ConfigError, match=f"threshold: got {threshold}, expected a number above 0 and below 1"):
            banding_for(threshold, 0.99, 128, Containment())
