import math
from itertools import combinations

import numpy as np
import pytest

from stream_lsh.arrays import F64
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.lsh.spread import Agreements, Similarities, agreeing_probability


def by_all_places(slots: int, bands: int, rows: int, agreeing: int) -> float:
    """The share of all ways to choose agreeing slots that fill a band."""
    places = [set(one) for one in combinations(range(slots), agreeing)]
    every = [set(range(band * rows, (band + 1) * rows)) for band in range(bands)]
    return sum(any(band <= one for band in every) for one in places) / len(places)


@pytest.mark.parametrize(
    ("slots", "bands", "rows"), [(4, 2, 2), (9, 3, 3), (10, 3, 3), (10, 10, 1), (8, 1, 8), (7, 2, 2)]
)
def test_the_probability_is_the_share_of_all_places_of_the_agreeing_slots(slots: int, bands: int, rows: int) -> None:
    wanted = [by_all_places(slots, bands, rows, agreeing) for agreeing in range(slots + 1)]
    assert agreeing_probability(slots, bands, rows) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("slots", "bands", "rows"), [(128, 16, 6), (128, 35, 3), (128, 128, 1), (512, 30, 17)])
@pytest.mark.parametrize("similarity", [0.005, 0.05, 0.3, 0.8, 0.99])
def test_over_all_hash_functions_it_is_the_s_curve_without_bias(
    slots: int, bands: int, rows: int, similarity: float
) -> None:
    mean = float(binomial(slots, similarity) @ agreeing_probability(slots, bands, rows))
    assert mean == pytest.approx(candidate_probability(similarity, bands, rows), rel=1e-9, abs=1e-12)


def test_the_estimate_in_place_of_the_similarity_would_count_several_times_too_many() -> None:
    estimates = np.arange(129) / 128
    read = float(binomial(128, 0.01) @ candidate_probability(estimates, 35, 3))
    assert read > 3 * candidate_probability(0.01, 35, 3)


def binomial(slots: int, similarity: float) -> F64:
    chances = [math.comb(slots, a) * similarity**a * (1 - similarity) ** (slots - a) for a in range(slots + 1)]
    return np.array(chances)


def test_of_very_long_signatures_the_estimate_is_taken() -> None:
    assert agreeing_probability(2000, 16, 6)[1600] == pytest.approx(candidate_probability(0.8, 16, 6))


def test_more_bands_than_slots_are_refused() -> None:
    with pytest.raises(ConfigError, match="got 5 bands of 2 rows, expected at most the 8 slots"):
        agreeing_probability(8, 5, 2)


def test_shares_are_of_all_pairs_below_and_from_the_threshold_on() -> None:
    pairs = np.zeros(11)
    pairs[[0, 7, 8, 10]] = 6, 2, 1, 1
    false, true, matches = Agreements(pairs, 5).shares(0.8, 10, 1)
    assert (false, true, matches) == pytest.approx((0.2, 0.2, 0.2))
    assert Agreements(pairs, 5).all_pairs == 10
    false, true, matches = Similarities(np.array([8.0, 1, 0, 1])).shares(0.75, 3, 2)
    assert (false, true, matches) == pytest.approx(
        (0.8 * (1 - (1 - 1 / 64) ** 3) + 0.1 * (1 - (1 - 9 / 64) ** 3), 0.1 * (1 - (1 - 49 / 64) ** 3), 0.1)
    )


def test_one_document_makes_no_pairs() -> None:
    with pytest.raises(ConfigError, match="got 1 documents, expected two or more"):
        Agreements(np.ones(3), 1)


@pytest.mark.parametrize("counts", [[], [0.0, 0.0], [1.0, -1.0, 3.0], [float("nan")], [float("inf")]])
def test_invalid_counts_are_rejected(counts: list[float]) -> None:
    for make in (Similarities, lambda weights: Agreements(weights, 3)):
        with pytest.raises(ConfigError, match="expected one or more counts of pairs"):
            make(np.array(counts))
