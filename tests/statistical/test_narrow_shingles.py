"""Hashes of four bytes: collisions within the birthday bound, and bits spread as the signature needs them."""

import math

import numpy as np
import pytest

from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.sketch.catalog import scheme
from stream_lsh.text.catalog import shingler
from stream_lsh.text.narrow import collision_probability, expected_collisions, expected_shared, four_bytes, spread

LETTERS = np.frombuffer(b" abcdefghijklmnopqrstuvwxyz", np.uint8)
COUNT = 1_000_000


def letters(rng: np.random.Generator, count: int) -> str:
    return LETTERS[rng.integers(0, 27, count)].tobytes().decode()


@pytest.mark.parametrize("spec", ["char:9/4", "char:24/4", "word:1/4", "bag:char:9/4"])
def test_the_number_of_collisions_is_within_the_birthday_bound(spec: str, seed: int) -> None:
    text = letters(np.random.default_rng(seed), COUNT)
    wide = sorted_unique(shingler(spec.removesuffix("/4"))([text]).hashes)
    narrow = sorted_unique(shingler(spec)([text]).hashes)
    expected = expected_collisions(wide.size, width=4)
    # Pairs that collide are nearly independent: a Poisson number; five standard deviations.
    assert abs(wide.size - narrow.size - expected) <= 5 * math.sqrt(expected) + 1
    if spec.startswith("char"):
        assert 90 < expected < 120


def test_the_probability_of_any_collision_is_that_of_the_birthday_problem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, trials = 60_000, 200
    chance = collision_probability(count, width=4)
    made = four_bytes(rng.integers(0, 2**64, (trials, count), np.uint64))
    made.sort(axis=1)
    hit = int((made[:, 1:] == made[:, :-1]).any(axis=1).sum())
    assert abs(hit - trials * chance) <= 5 * math.sqrt(trials * chance * (1 - chance))
    assert 0.3 < chance < 0.4


def test_the_probability_agrees_with_the_exact_product() -> None:
    for count in (2, 1000, 77_163, 200_000):
        exact = -math.expm1(math.fsum(math.log1p(-at / 2**32) for at in range(count)))
        assert collision_probability(count, width=4) == pytest.approx(exact, rel=1e-4)
    assert collision_probability(10_000) < 3e-12
    assert collision_probability(0) == collision_probability(1) == 0


def test_unrelated_documents_share_as_few_as_expected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = shingler("char:24/4")
    left, right = (sorted_unique(made([letters(rng, COUNT)]).hashes) for _ in range(2))
    expected = expected_shared(left.size, right.size, width=4)
    assert abs(np.intersect1d(left, right, assume_unique=True).size - expected) <= 5 * math.sqrt(expected)
    assert 200 < expected < 250


def test_nine_characters_in_four_bytes_are_spread_evenly_where_four_characters_are_not(seed: int) -> None:
    words = ["the", "of", "and", "to", "in", "river", "ferry", "port", "night", "water"]
    text = " ".join(np.random.default_rng(seed).choice(words, 200_000))
    of_four = sorted_unique(np.frombuffer(text.encode(), np.uint8)[: len(text) // 4 * 4].view("<u4").astype(np.uint64))
    of_nine = sorted_unique(four_bytes(shingler("char:9")([text]).hashes))
    assert of_nine.size > 5 * of_four.size
    for values, even in ((of_nine, True), (of_four, False)):
        counts = np.bincount((values >> np.uint64(28)).astype(np.int64), minlength=16)
        chi_square = float(((counts - values.size / 16) ** 2 / (values.size / 16)).sum())
        assert (chi_square < 15 + 5 * math.sqrt(2 * 15)) == even


def test_spreading_is_a_bijection_and_every_bit_of_the_result_varies(seed: int) -> None:
    values = np.arange(100_000, dtype=np.uint64)
    made = spread(values)
    assert sorted_unique(made).size == values.size
    ones = np.array([int(((made >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    assert (abs(ones - values.size / 2) <= 5 * math.sqrt(values.size / 4)).all()


def test_signatures_of_narrow_shingles_estimate_as_those_of_wide_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    common, own = letters(rng, 3000), [letters(rng, 1500) for _ in range(2)]
    slots = 4096
    for spec in ("char:9", "char:9/4"):
        made = shingler(spec)([common + own[0], common + own[1]])
        left, right = (sorted_unique(made.document(row)) for row in range(2))
        truth = np.intersect1d(left, right, assume_unique=True).size / np.union1d(left, right).size
        signatures = scheme("fast", slots)(made)
        estimate = float((signatures[0] == signatures[1]).mean())
        assert abs(estimate - truth) <= 5 * math.sqrt(truth * (1 - truth) / slots)
