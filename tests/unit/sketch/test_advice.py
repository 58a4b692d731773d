"""Advice on slots against sums of binomial terms in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.sketch import advice
from stream_lsh.sketch.advice import advise_slots, signature_memory, worst_failure
from stream_lsh.sketch.beta import incomplete_beta


def binomial(slots: int, agreeing: int, similarity: Fraction) -> Fraction:
    return math.comb(slots, agreeing) * similarity**agreeing * (1 - similarity) ** (slots - agreeing)


def failures(slots: int, similarity: Fraction, error: Fraction) -> tuple[float, float]:
    """The probabilities of an estimate that is too great, and of one that is too small."""
    high, low = (1 + error) * similarity * slots, (1 - error) * similarity * slots
    above = sum(binomial(slots, j, similarity) for j in range(slots + 1) if j > high)
    below = sum(binomial(slots, j, similarity) for j in range(slots + 1) if j < low)
    return float(above), float(below)


def test_tails_are_the_sums_of_binomial_terms() -> None:
    for slots in (1, 2, 7, 60):
        for similarity in (Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)):
            want = [
                float(sum(binomial(slots, i, similarity) for i in range(j, slots + 1))) for j in range(1, slots + 1)
            ]
            j = np.arange(1.0, slots + 1)
            got = incomplete_beta(j, slots - j + 1, np.full(slots, float(similarity)))
            assert got.tolist() == pytest.approx(want, rel=1e-11, abs=1e-15)


def test_the_function_is_0_and_1_at_the_ends_of_its_range() -> None:
    a, b = np.array([1.0, 3.0]), np.array([2.0, 5.0])
    assert incomplete_beta(a, b, np.zeros(2)).tolist() == [0, 0]
    assert incomplete_beta(a, b, np.ones(2)).tolist() == [1, 1]
    assert incomplete_beta(a[:0], b[:0], a[:0]).size == 0


def test_large_arguments_are_computed_too() -> None:
    n = 20_001.0
    assert incomplete_beta(np.array([n]), np.array([n]), np.array([0.5])).tolist() == pytest.approx([0.5], rel=1e-9)


@pytest.mark.parametrize(("slots", "agreeing"), [(1_000, 330), (10_000, 3_100)])
def test_long_tails_have_the_stated_precision(slots: int, agreeing: int) -> None:
    terms = (math.comb(slots, j) * 3**j * 7 ** (slots - j) for j in range(agreeing, agreeing + 600))
    want = float(Fraction(sum(terms), 10**slots))
    got = incomplete_beta(np.array([agreeing]), np.array([slots - agreeing + 1]), np.array([0.3]))
    assert got.tolist() == pytest.approx([want], rel=1e-10)


@pytest.mark.parametrize("slots", [1, 5, 20, 33])
@pytest.mark.parametrize(("least", "error"), [(Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 5), Fraction(3, 10))])
def test_no_similarity_fails_more_often_than_the_worst_and_one_fails_so(
    slots: int, least: Fraction, error: Fraction
) -> None:
    worst = worst_failure(slots, float(least), float(error))
    tiny = Fraction(1, 10**9)
    edges = [Fraction(j, slots) / side for j in range(slots + 1) for side in (1 + error, 1 - error)]
    grid = [Fraction(n, 200) for n in range(201)]
    tried = [s for edge in edges for s in (edge - tiny, edge, edge + tiny)] + grid + [least]
    most = max(max(failures(slots, s, error)) for s in tried if least <= s <= 1)
    assert most <= worst + 1e-12
    assert most == pytest.approx(worst, abs=1e-6)


@pytest.mark.parametrize(
    ("least", "error", "failure"),
    [(0.5, 0.1, 0.05), (0.5, 0.2, 0.05), (0.8, 0.1, 0.01), (0.3, 0.3, 0.1), (0.9, 0.05, 0.02)],
)
def test_the_slots_advised_are_the_least_that_keep_the_promise_and_fewer_than_chernoffs(
    least: float, error: float, failure: float
) -> None:
    advised = advise_slots(least, error, failure)
    assert advised.slots < advised.by_chernoff
    assert worst_failure(advised.slots, least, error) <= failure
    assert all(worst_failure(fewer, least, error) > failure for fewer in range(1, advised.slots))


def test_a_rare_and_great_error_above_a_low_similarity_may_take_more_slots_than_chernoffs_bound_for_one_below() -> None:
    advised = advise_slots(0.05, 0.9, 1e-9)
    assert advised.by_chernoff < advised.slots < 1.5 * advised.by_chernoff
    assert worst_failure(advised.slots, 0.05, 0.9) <= 1e-9


def test_longer_signatures_keep_the_promise_too() -> None:
    advised = advise_slots(0.5, 0.1, 0.05)
    assert all(worst_failure(slots, 0.5, 0.1) <= 0.05 for slots in range(advised.slots, advised.by_chernoff, 13))


def test_advice_is_a_table_with_the_memory_of_each_width() -> None:
    lines = str(advise_slots(0.5, 0.1, 0.05, documents=20_000_000)).split("\n")
    assert lines[0] == "similarity 0.5 or more, relative error above 10 % in at most 5 % of cases on each side:"
    assert lines[1].split() == ["Chernoff's", "bound", "1,199", "slots"]
    assert lines[3] == "memory of 290 slots for 20,000,000 documents:"
    assert lines[4].split() == ["32", "bits", "a", "slot", "1,160", "bytes", "a", "document", "23.20", "GB"]
    assert lines[-1].split() == ["1", "bit", "37", "0.74", "GB"]


def test_memory_is_bits_rounded_up_to_bytes_a_document() -> None:
    assert [signature_memory(3, 9, bits) for bits in (1, 2, 4, 8, 16, 32)] == [6, 9, 15, 27, 54, 108]


def test_advice_beyond_the_slots_of_a_signature_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "MOST_SLOTS", 289)
    with pytest.raises(ConfigError, match="more than 289 slots"):
        advise_slots(0.5, 0.1, 0.05)
    monkeypatch.setattr(advice, "MOST_SLOTS", 290)
    assert advise_slots(0.5, 0.1, 0.05).slots == 290


@pytest.mark.parametrize("arguments", [(0.0, 0.1, 0.05), (1.1, 0.1, 0.05), (0.5, 0.0, 0.05), (0.5, 0.1, 1.0)])
def test_arguments_out_of_their_range_are_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError):
        advise_slots(*arguments)
