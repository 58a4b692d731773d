"""b-bit signatures, advised lengths and estimated sizes against theory: fixed seeds, bounds of five standard errors."""

import math

import numpy as np
import pytest

from stream_lsh.arrays import F64, U32
from stream_lsh.sketch.advice import advise_slots, worst_failure
from stream_lsh.sketch.b_bit import (
    WIDTHS,
    accidental_agreement,
    b_bit_standard_error,
    estimate_b_bit,
    matching_b_bit_slots,
    pack,
)
from stream_lsh.sketch.cardinality import estimated_sizes, size_standard_error
from stream_lsh.sketch.catalog import SCHEMES, scheme
from stream_lsh.sketch.signature_batch import signed
from stream_lsh.text.shingles import Shingles, offsets_of
from tests.statistical import variance_bound

every_scheme = pytest.mark.parametrize("name", sorted(SCHEMES))
INDEPENDENT = sorted(set(SCHEMES) - {"fast"})
"""Schemes whose slots are independent, and minima over all shingles."""
SLOTS = 128


def random_pairs(seed: int, left: int, right: int, shared: int, trials: int) -> Shingles:
    """Pairs of random sets, one after the other."""
    x = np.random.default_rng(seed).integers(0, 1 << 64, (trials, left + right - shared), np.uint64)
    hashes = np.concatenate((x[:, :left], x[:, left - shared :]), axis=1).ravel()
    return Shingles(hashes, offsets_of(np.tile(np.array([left, right]), trials)))


def b_bit_estimates(values: U32, bits: int) -> F64:
    packed = pack(values, bits)
    rows = np.arange(0, len(values), 2)
    return estimate_b_bit(matching_b_bit_slots(packed.take(rows), packed.take(rows + 1)), values.shape[1], bits)


@every_scheme
@pytest.mark.parametrize(("left", "right", "shared"), [(1, 1, 0), (1, 2, 1), (3, 3, 2), (30, 30, 20), (60, 300, 50)])
def test_b_bit_estimates_are_unbiased_and_as_accurate_as_in_the_formula(
    name: str, seed: int, left: int, right: int, shared: int
) -> None:
    trials = 800
    values = scheme(name, SLOTS)(random_pairs(seed, left, right, shared, trials))
    jaccard = shared / (left + right - shared)
    for bits in WIDTHS:
        estimates = b_bit_estimates(values, bits)
        error = b_bit_standard_error(jaccard, SLOTS, bits)
        assert abs(float(estimates.mean()) - jaccard) < 5 * error / math.sqrt(trials) + 1e-6, bits
        agree = 2.0**-bits + (1 - 2.0**-bits) * jaccard
        bound = variance_bound(agree, SLOTS, trials)
        ratio = float(estimates.var()) / error**2
        assert ratio < 1 + bound, bits
        assert name == "fast" or ratio > 1 - bound, bits


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize(("left", "right", "shared"), [(40, 40, 20), (120, 24, 12), (180, 20, 0), (100, 100, 50)])
def test_the_constants_hold_for_explicit_permutations_of_a_small_universe(
    bits: int, left: int, right: int, shared: int
) -> None:
    rows, trials = 200, 20_000
    # The rank of each row in each permutation, and that of the first row of each set.
    ranks = np.random.default_rng(bits).permuted(np.tile(np.arange(rows), (trials, 1)), axis=1)
    least = [ranks[:, :left].min(axis=1), ranks[:, left - shared : left - shared + right].min(axis=1)]
    low = [ranks & ((1 << bits) - 1) for ranks in least]
    agree = float((low[0] == low[1]).mean())
    jaccard = shared / (left + right - shared)
    c1, c2 = accidental_agreement(bits, left / rows, right / rows)
    expected = c1 + (1 - c2) * jaccard
    # The theorem is for a large universe; with one of 200 elements it is off by less than 0.002.
    assert abs(agree - expected) < 0.002 + 5 * math.sqrt(expected * (1 - expected) / trials)
    limit = 2.0**-bits + (1 - 2.0**-bits) * jaccard
    assert abs(agree - limit) > 0.01, "the constants of a large universe would not do"


@pytest.mark.parametrize(("least", "error", "failure"), [(0.5, 0.1, 0.05), (0.8, 0.05, 0.01)])
def test_the_advised_slots_keep_their_promise_in_simulation(
    seed: int, least: float, error: float, failure: float
) -> None:
    slots = advise_slots(least, error, failure).slots
    generator = np.random.default_rng(seed)
    trials = 200_000
    bound = failure + 5 * math.sqrt(failure * (1 - failure) / trials)
    for similarity in np.linspace(least, 1, 21).tolist():
        estimates = generator.binomial(slots, similarity, trials) / slots
        assert float((estimates > (1 + error) * similarity).mean()) < bound
        assert float((estimates < (1 - error) * similarity).mean()) < bound


def test_fewer_slots_than_advised_break_the_promise_in_simulation(seed: int) -> None:
    slots = advise_slots(0.5, 0.1, 0.05).slots * 3 // 4
    estimates = np.random.default_rng(seed).binomial(slots, 0.5, 200_000) / slots
    rate = float((estimates < 0.9 * 0.5).mean())
    assert rate > 0.05 + 5 * math.sqrt(0.05 * 0.95 / 200_000)
    assert rate < worst_failure(slots, 0.5, 0.1) + 5 * math.sqrt(0.1 * 0.9 / 200_000)


@every_scheme
def test_signatures_of_the_advised_length_keep_the_promise(name: str, seed: int) -> None:
    advice = advise_slots(0.5, 0.2, 0.05)
    trials, jaccard = 1500, 20 / 40
    values = scheme(name, advice.slots)(random_pairs(seed, 30, 30, 20, trials))
    estimates = (values[0::2] == values[1::2]).mean(axis=1)
    bound = 0.05 + 5 * math.sqrt(0.05 * 0.95 / trials)
    assert float((estimates > 1.2 * jaccard).mean()) < bound
    assert float((estimates < 0.8 * jaccard).mean()) < bound


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("size", [1, 2, 10, 300, 2000])
def test_estimated_sizes_are_unbiased_with_the_stated_error(name: str, seed: int, size: int) -> None:
    trials = max(60, min(1500, 100_000 // size))
    hashes = np.random.default_rng(seed).integers(0, 1 << 64, trials * size, np.uint64)
    sizes = estimated_sizes(signed(scheme(name, SLOTS), Shingles(hashes, np.arange(trials + 1) * size))) / size
    error = size_standard_error(SLOTS)
    assert abs(float(sizes.mean()) - 1) < 5 * error / math.sqrt(trials)
    assert abs(float(sizes.std()) / error - 1) < 5 / math.sqrt(2 * trials) + 0.1
