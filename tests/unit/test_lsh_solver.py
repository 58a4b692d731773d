import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.lsh.solver import choose_banding

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


def test_a_histogram_tells_where_the_pairs_are() -> None:
    all_alike = np.zeros(10)
    all_alike[6] = 4.0
    banding = choose_banding(0.8, histogram=all_alike)
    assert banding.false_candidates == pytest.approx(banding.probability_at(0.65))
    assert choose_banding(0.8, histogram=np.array([1.0])).false_candidates == pytest.approx(
        choose_banding(0.8, histogram=np.array([1.0])).probability_at(0.5)
    )


def test_costly_bands_make_fewer_bands() -> None:
    assert choose_banding(0.8, band_cost=0.01).bands < choose_banding(0.8).bands


def test_what_is_not_feasible_says_what_would_be() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_banding(0.02, recall=0.99, slots=128)
    assert "raise slots to 228, lower recall to 0.924, or raise the threshold to 0.036" in str(caught.value)
    assert choose_banding(0.02, recall=0.99, slots=228).rows == 1
    assert choose_banding(0.02, recall=0.924, slots=128).rows == 1
    assert choose_banding(0.036, recall=0.99, slots=128).rows == 1


def test_all_wrong_settings_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_banding(1.0, recall=0.0, slots=0, slack=-1.0)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["threshold", "recall", "slots", "slack"]


@pytest.mark.parametrize("counts", [[], [0.0, 0.0], [1.0, -1.0], [float("nan")]])
def test_a_histogram_without_counts_is_refused(counts: list[float]) -> None:
    with pytest.raises(ConfigError, match="histogram"):
        choose_banding(0.8, histogram=np.array(counts, np.float64))
