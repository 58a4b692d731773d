import numpy as np
import pytest
from datasketch import MinHashLSH  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.lsh.scurve import areas, false_negative_area, false_positive_area
from stream_lsh.lsh.solver import alternatives, banding_of, choose_banding, choose_by_areas, pinned
from stream_lsh.lsh.spread import Agreements, agreeing_probability

TABLE = [
    (128, 0.99, {0.3: (49, 2), 0.5: (35, 3), 0.6: (19, 3), 0.7: (25, 5), 0.8: (16, 6), 0.9: (11, 10)}),
    (256, 0.99, {0.3: (49, 2), 0.5: (35, 3), 0.6: (34, 4), 0.7: (37, 6), 0.8: (26, 8), 0.9: (18, 14)}),
    (128, 0.95, {0.3: (32, 2), 0.5: (23, 3), 0.6: (22, 4), 0.7: (17, 5), 0.8: (13, 7), 0.9: (10, 12)}),
]
CASES = [(slots, recall, t, want) for slots, recall, row in TABLE for t, want in row.items()]


@pytest.mark.parametrize(("slots", "recall", "threshold", "want"), CASES)
def test_the_table_of_the_docstring_comes_out(
    slots: int, recall: float, threshold: float, want: tuple[int, int]
) -> None:
    banding = choose_banding(threshold, recall, slots)
    assert (banding.bands, banding.rows) == want


@pytest.mark.parametrize(("slots", "recall", "threshold", "want"), CASES)
def test_slack_changes_the_table_for_seven_tenths_only(
    slots: int, recall: float, threshold: float, want: tuple[int, int]
) -> None:
    banding = choose_banding(threshold, recall, slots, slack=0.0)
    assert ((banding.bands, banding.rows) == want) == ((slots, recall, threshold) != (128, 0.99, 0.7))


def test_slack_brings_fewer_false_candidates_at_seven_tenths() -> None:
    strict, slack = choose_banding(0.7, slack=0.0), choose_banding(0.7)
    assert (strict.bands, strict.rows) == (17, 4)
    assert 0.989 <= slack.probability_at_threshold < 0.99
    assert slack.probability_at(0.5) < 0.85 * strict.probability_at(0.5)
    assert slack.probability_at(0.3) < 0.5 * strict.probability_at(0.3)


def test_the_usual_16_by_8_would_miss_a_twentieth_at_eight_tenths() -> None:
    banding = choose_banding(0.8)
    assert banding.probability_at_threshold > 0.99
    assert round(1 - (1 - 0.8**8) ** 16, 3) == 0.947


@given(st.floats(0.2, 0.98), st.floats(0.5, 0.999), st.integers(64, 512))
def test_a_banding_fits_reaches_its_recall_and_wastes_no_band(threshold: float, recall: float, slots: int) -> None:
    banding = choose_banding(threshold, recall, slots)
    assert banding.slots_used == banding.bands * banding.rows <= slots
    assert banding.probability_at_threshold == pytest.approx(1 - (1 - threshold**banding.rows) ** banding.bands)
    assert banding.probability_at_threshold >= recall - 0.001 - 1e-9
    if banding.bands > 1:
        assert 1 - (1 - threshold**banding.rows) ** (banding.bands - 1) < recall
    assert banding.probability_at(banding.half_point) == pytest.approx(0.5)


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_no_other_banding_has_fewer_false_candidates(threshold: float) -> None:
    best = choose_banding(threshold, slack=0.0)
    s = (np.arange(1000) + 0.5) / 1000
    weights = (1 - s) ** 20 / ((1 - s) ** 20).sum()
    costs = {
        (b, r): float((weights * (1 - (1 - s**r) ** b))[s < threshold].sum())
        for r in range(1, 129)
        for b in range(1, 128 // r + 1)
        if 1 - (1 - threshold**r) ** b >= 0.99
    }
    assert best.false_candidates == pytest.approx(min(costs.values()))
    assert costs[best.bands, best.rows] == pytest.approx(min(costs.values()))


def test_a_histogram_shows_where_the_pairs_are() -> None:
    all_alike = np.zeros(10)
    all_alike[6] = 4.0
    banding = choose_banding(0.8, histogram=all_alike)
    assert banding.false_candidates == pytest.approx(banding.probability_at(0.65))
    assert choose_banding(0.8, histogram=np.array([1.0])).false_candidates == pytest.approx(
        choose_banding(0.8, histogram=np.array([1.0])).probability_at(0.5)
    )


def test_costly_bands_make_fewer_bands() -> None:
    assert choose_banding(0.8, band_cost=0.01).bands < choose_banding(0.8).bands


def test_an_error_about_an_infeasible_target_names_what_is_feasible() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_banding(0.02, recall=0.99, slots=128)
    assert "raise slots to 228, lower recall to 0.924, or raise the threshold to 0.036" in str(caught.value)
    assert choose_banding(0.02, recall=0.99, slots=228).rows == 1
    assert choose_banding(0.02, recall=0.924, slots=128).rows == 1
    assert choose_banding(0.036, recall=0.99, slots=128).rows == 1


def test_no_error_proposes_a_value_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"probability 0.9999: raise slots to 9206, or lower recall to 0.001$"):
        choose_banding(0.001, recall=0.9999, slots=1)
    with pytest.raises(ConfigError, match=r"probability 0.9999: raise slots to \d+$"):
        choose_banding(0.0001, recall=0.9999, slots=1)
    with pytest.raises(ConfigError, match=r"with probability 0.0000, not 0.9: take fewer rows$"):
        pinned(0.01, 0.9, 128, 1, 64)


def test_all_wrong_settings_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_banding(1.0, recall=0.0, slots=0, slack=-1.0)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["threshold", "recall", "slots", "slack"]


@pytest.mark.parametrize("counts", [[], [0.0, 0.0], [1.0, -1.0], [float("nan")]])
def test_a_histogram_without_counts_is_refused(counts: list[float]) -> None:
    with pytest.raises(ConfigError, match="histogram"):
        choose_banding(0.8, histogram=np.array(counts, np.float64))


def test_the_chosen_one_is_the_best_of_the_alternatives_and_those_descend() -> None:
    found = alternatives(0.8)
    assert [one.rows for one in found] == [1, 2, 3, 4, 5, 6]
    assert all(
        one.bands == 1 or banding_of(0.8, one.bands - 1, one.rows).probability_at_threshold < 0.99 for one in found
    )
    assert choose_banding(0.8) == min(found, key=lambda one: one.false_candidates) == found[-1]
    assert alternatives(0.02) == []
    wider = alternatives(0.8, slack=0.3)
    assert {(one.bands, one.rows) for one in found} < {(one.bands, one.rows) for one in wider}
    assert min(one.probability_at_threshold for one in wider) >= 0.69


def test_a_histogram_gives_the_number_of_candidates_of_a_document() -> None:
    pairs = np.zeros(129)
    pairs[[26, 115]] = 4900, 50  # all pairs of 100 documents agree in a fifth of the slots, but for one pair each two
    banding = choose_banding(0.8, histogram=Agreements(pairs, 100))
    false, true = banding.candidates_per_document(100)
    assert true == pytest.approx(0.5, rel=0.001)
    assert false == pytest.approx(49 * agreeing_probability(128, banding.bands, banding.rows)[26])
    assert banding.mean_recall == pytest.approx(agreeing_probability(128, banding.bands, banding.rows)[115])
    assert banding.candidates_per_document(199) == pytest.approx((2 * false, 2 * true))
    assert choose_banding(0.8, histogram=np.array([1.0, 0.0])).mean_recall is None


def test_a_corpus_can_change_the_choice() -> None:
    """Where all pairs lie far below the threshold, no banding has false candidates, and fewer bands are cheaper."""
    nothing_shared = np.zeros(129)
    nothing_shared[0] = 1.0
    far = choose_banding(0.8, histogram=Agreements(nothing_shared, 2), band_cost=1e-9)
    assert (far.bands, far.rows) == (3, 1)
    assert choose_banding(0.8, band_cost=1e-9).rows == 6


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_documents_that_have_nothing_in_common_change_no_choice(threshold: float) -> None:
    alone = choose_banding(threshold)
    for seen in (Agreements(np.array([9.0, *[0.0] * 128]), documents=5), np.array([0.0] * 99 + [1.0])):
        chosen = choose_banding(threshold, histogram=seen)
        assert (chosen.bands, chosen.rows) == (alone.bands, alone.rows)


def test_a_pinned_banding_has_to_fit_and_to_reach_the_recall() -> None:
    assert pinned(0.8, 0.99, 128, 20, 6) == banding_of(0.8, 20, 6, 0.99)
    assert pinned(0.7, 0.99, 128, 25, 5) == choose_banding(0.7)
    with pytest.raises(ConfigError, match="17 bands of 8 rows take 136 slots, and there are 128"):
        pinned(0.9, 0.5, 128, 17, 8)
    with pytest.raises(ConfigError, match=r"lower recall to 0.947, or take 26 bands"):
        pinned(0.8, 0.99, 128, 16, 8)
    assert pinned(0.8, 0.99, 256, 26, 8).probability_at_threshold >= 0.99


@pytest.mark.parametrize("banding", [(0.8, 0, 4), (0.8, 4, 0), (1.5, 2, 2), (float("nan"), 2, 2)])
def test_a_banding_that_cannot_be_is_rejected(banding: tuple[float, int, int]) -> None:
    with pytest.raises(ConfigError, match=r"^banding: got \d bands of \d rows for a threshold of"):
        banding_of(*banding)


def test_any_banding_reports_its_recall() -> None:
    banding = banding_of(0.8, 16, 8, recall=0.99)
    assert round(banding.probability_at_threshold, 3) == 0.947
    assert (banding.recall, banding.slots_used) == (0.99, 128)
    assert banding_of(0.8, 16, 8).recall == banding.probability_at_threshold
    assert (banding.false_negative_area, banding.false_positive_area) == (
        false_negative_area(0.8, 16, 8),
        false_positive_area(0.8, 16, 8),
    )


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.1, 0.9), (0.9, 0.1)])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("slots", [64, 128])
def test_weighing_the_areas_chooses_what_datasketch_chooses(
    slots: int, threshold: float, weights: tuple[float, float]
) -> None:
    theirs = MinHashLSH(threshold=threshold, num_perm=slots, weights=weights)
    ours = choose_by_areas(threshold, slots, false_negative_weight=weights[1], false_positive_weight=weights[0])
    assert (ours.bands, ours.rows) == (theirs.b, theirs.r)


def test_no_banding_has_smaller_weighted_areas() -> None:
    best = choose_by_areas(0.6, 48, 0.7, 0.3)
    costs = {
        (b, r): 0.7 * false_negative_area(0.6, b, r) + 0.3 * false_positive_area(0.6, b, r)
        for r in range(1, 49)
        for b in range(1, 48 // r + 1)
    }
    assert (best.bands, best.rows) == min(costs, key=lambda key: costs[key])


def test_areas_of_many_bands_at_once_are_those_of_each() -> None:
    below, above = areas(0.7, 20, 5)
    assert below.tolist() == pytest.approx([false_positive_area(0.7, b, 5) for b in range(1, 21)])
    assert above.tolist() == pytest.approx([false_negative_area(0.7, b, 5) for b in range(1, 21)])


def test_recall_first_finds_at_the_threshold_what_equal_weights_miss() -> None:
    assert choose_by_areas(0.8).probability_at_threshold < 0.5
    assert choose_banding(0.8).probability_at_threshold > 0.99


@pytest.mark.parametrize("weights", [(0.0, 0.0), (-1.0, 1.0), (float("nan"), 1.0), (1.0, float("inf"))])
def test_invalid_weights_are_rejected(weights: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match=r"false_(negative|positive)_weight"):
        choose_by_areas(0.8, 128, *weights)
