"""Intervals of a share: the sums that they are made of, how often they hold the truth, pairs that go together."""

import math
import random

import pytest

from stream_lsh.errors import InvariantError
from stream_lsh.lsh.recall import clopper_pearson, effective_size
from stream_lsh.sketch.beta import incomplete_beta_at


def binomial(size: int, truth: float) -> list[float]:
    """The chances of 0, 1, ... found."""
    return [math.comb(size, found) * truth**found * (1 - truth) ** (size - found) for found in range(size + 1)]


@pytest.mark.parametrize("truth", [0.02, 0.3, 0.5, 0.97, 0.999])
@pytest.mark.parametrize("size", [1, 7, 60, 900])
def test_the_incomplete_beta_function_is_a_sum_of_binomial_chances(size: int, truth: float) -> None:
    chances = binomial(size, truth)
    for found in {1, size // 2 or 1, size}:
        assert incomplete_beta_at(found, size - found + 1, truth) == pytest.approx(
            math.fsum(chances[found:]), abs=1e-10
        )


def test_the_incomplete_beta_function_begins_with_0_ends_with_1_and_takes_millions() -> None:
    assert (incomplete_beta_at(2, 3, 0.0), incomplete_beta_at(2, 3, 1.0)) == (0.0, 1.0)
    assert incomplete_beta_at(4e6, 4e6, 0.5) == pytest.approx(0.5, abs=1e-6)
    assert incomplete_beta_at(1.5, 2.5, 0.3) + incomplete_beta_at(2.5, 1.5, 0.7) == pytest.approx(1)


@pytest.mark.parametrize(("found", "size"), [(9, 10), (5, 10), (990, 1000), (1, 300)])
def test_at_a_bound_the_sample_would_be_among_the_rarest_of_its_side(found: int, size: int) -> None:
    share, low, high = clopper_pearson(found / size, size)
    assert low < share < high
    assert math.fsum(binomial(size, low)[found:]) == pytest.approx(0.005, rel=1e-4)
    assert math.fsum(binomial(size, high)[: found + 1]) == pytest.approx(0.005, rel=1e-4)


@pytest.mark.parametrize("size", [1, 3.5, 10, 1e6])
def test_all_and_nothing_have_one_bound(size: float) -> None:
    none, every = clopper_pearson(0.0, size), clopper_pearson(1.0, size)
    assert none.low == 0
    assert every.high == 1
    assert every.low == pytest.approx(0.005 ** (1 / size), abs=1e-9)
    assert none.high == pytest.approx(1 - every.low, abs=1e-9)


@pytest.mark.parametrize("truth", [0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("size", [10, 100, 400])
def test_the_interval_holds_the_truth_in_99_of_100_samples_or_more(truth: float, size: int) -> None:
    intervals = [clopper_pearson(found / size, size) for found in range(size + 1)]
    chances = binomial(size, truth)
    held = [chance for chance, (_, low, high) in zip(chances, intervals, strict=True) if low <= truth <= high]
    assert math.fsum(held) >= 0.99  # exact: all samples there are


def test_pairs_that_stand_and_fall_together_are_worth_one(seed: int) -> None:
    rng, truth, rounds = random.Random(seed), 0.8, 300
    held = {"effective": 0, "all": 0}
    for _ in range(rounds):
        families = [(rng.randint(1, 20), rng.random() < truth) for _ in range(60)]
        pairs, squares = sum(size for size, _ in families), sum(size**2 for size, _ in families)
        share = sum(size for size, found in families if found) / pairs
        for name, size in (("effective", effective_size(pairs, squares)), ("all", float(pairs))):
            _, low, high = clopper_pearson(share, size)
            held[name] += low <= truth <= high
    # Of 300 samples an interval of 99 % misses 3; more than 13 have a probability below 1e-5.
    assert held["effective"] >= rounds - 13
    assert held["all"] < rounds * 0.9, "pairs taken for independent would promise too much"


def test_no_sample_has_no_interval() -> None:
    with pytest.raises(InvariantError, match="of 0 pairs"):
        clopper_pearson(0.5, 0)
    with pytest.raises(InvariantError, match="expected 0 to 1"):
        clopper_pearson(1.5, 10)
