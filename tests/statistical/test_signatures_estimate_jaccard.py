"""The claims of the schemes against theory, at every size, with fixed seeds and bounds of five standard errors."""

import math
from functools import cache

import numpy as np
import pytest

from stream_lsh.arrays import Bools
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.sketch.catalog import SCHEMES
from stream_lsh.sketch.catalog import scheme as made_of
from stream_lsh.sketch.estimate import matching_slots
from stream_lsh.sketch.fast_similarity import FastSimilarity
from stream_lsh.sketch.scheme import SignatureScheme
from stream_lsh.text.catalog import shingler
from stream_lsh.text.shingles import Shingles, offsets_of
from tests.statistical import variance_bound

# Sizes of the two sets and of what they share.
PAIRS = [
    (1, 1, 0),
    (1, 2, 1),
    (3, 3, 2),
    (10, 10, 9),
    (30, 30, 20),
    (100, 100, 89),
    (300, 300, 267),
    (20, 400, 20),
    (100, 1000, 100),
    (3000, 3000, 2667),
    (1, 3000, 1),
    (5000, 5000, 1000),
    (5000, 2500, 2500),
    (5000, 5000, 4975),
]
PRODUCTS = {"fast": 3_000_000, "permuted": 150_000, "datasketch-legacy": 150_000}
"""Shingles that the trials of one test may sign; the dearer the scheme, the fewer."""
MOST_DEAR = {"fast": 250, "classic": 250, "permuted": 30, "datasketch-legacy": 30}
"""Trials there are at least."""
schemes = pytest.mark.parametrize("scheme", [made_of(name) for name in SCHEMES], ids=lambda s: str(s.name))


@cache
def agreements(name: str, left: int, right: int, shared: int, trials: int) -> Bools:
    """Which slots agree, for pairs of random sets of these sizes: bool[trials, slots]; several tests look at them."""
    generator = np.random.default_rng(left * 7 + right * 3 + shared)
    found = []
    step = max(1, 500_000 // (left + right))
    for start in range(0, trials, step):
        count = min(step, trials - start)
        x = generator.integers(0, 1 << 64, (count, left + right - shared), np.uint64)
        hashes = np.concatenate((x[:, :left], x[:, left - shared :]), axis=1).ravel()
        signatures = made_of(name)(Shingles(hashes, offsets_of(np.tile(np.array([left, right]), count))))
        found.append(signatures[0::2] == signatures[1::2])
    return np.concatenate(found)


def trials_for(scheme: SignatureScheme, left: int, right: int) -> int:
    return max(MOST_DEAR.get(scheme.name, 100), min(6000, PRODUCTS.get(scheme.name, 600_000) // (left + right)))


@schemes
@pytest.mark.parametrize(("left", "right", "shared"), PAIRS)
def test_a_slot_agrees_with_the_probability_of_the_jaccard_similarity(
    scheme: SignatureScheme, left: int, right: int, shared: int
) -> None:
    trials = trials_for(scheme, left, right)
    agree = agreements(scheme.name, left, right, shared, trials)
    jaccard = shared / (left + right - shared)
    bound = 5 * math.sqrt(jaccard * (1 - jaccard) / agree.size) + 1e-6
    assert abs(float(agree.mean()) - jaccard) < bound


@schemes
@pytest.mark.parametrize(("left", "right", "shared"), PAIRS[1:])
def test_the_variance_of_the_estimate_is_at_most_that_of_independent_slots(
    scheme: SignatureScheme, left: int, right: int, shared: int
) -> None:
    trials = trials_for(scheme, left, right)
    estimates = agreements(scheme.name, left, right, shared, trials).mean(axis=1)
    jaccard = shared / (left + right - shared)
    ratio = float(estimates.var()) / (jaccard * (1 - jaccard) / scheme.slots)
    assert ratio < 1 + variance_bound(jaccard, scheme.slots, trials)
    if scheme.name == "fast" and 3 <= left + right <= 200:
        assert ratio < 0.8, "small sets do much better"


@schemes
@pytest.mark.parametrize(("bands", "rows"), [(16, 8), (16, 6), (35, 3)])
@pytest.mark.parametrize("sizes", [(3, 3, 2), (30, 30, 20), (300, 300, 267)])
def test_pairs_become_candidates_as_in_the_s_curve(
    scheme: SignatureScheme, bands: int, rows: int, sizes: tuple[int, int, int]
) -> None:
    left, right, shared = sizes
    trials = trials_for(scheme, left, right)
    agree = agreements(scheme.name, left, right, shared, trials)[:, : bands * rows]
    in_band = agree.reshape(trials, bands, rows).sum(axis=2) == rows
    rate = float((in_band.sum(axis=1) > 0).mean())
    theory = candidate_probability(shared / (left + right - shared), bands, rows)
    # Fast similarity sketching is steeper than the formula, by some hundredths at most.
    steeper = 0.03 if scheme.name == "fast" else 0.0
    assert abs(rate - theory) < steeper + 5 * math.sqrt(theory * (1 - theory) / trials)


@pytest.mark.parametrize("spec", ["char:5", "word:1"])
def test_texts_agree_in_slots_and_bands_by_their_similarity_over_many_seeds(spec: str) -> None:
    # Digits: few characters, neighbouring values; the hardest inputs for a polynomial hash.
    texts = [" ".join(str(n * n) for n in range(start, start + 120)) for start in (1000, 1020)]
    matching, candidates, seeds = 0, 0, 600
    for seed in range(1, seeds + 1):
        shingles = shingler(spec, seed)(texts)
        signatures = FastSimilarity()(shingles)
        matching += int(matching_slots(signatures[:1], signatures[1:])[0])
        left, right = Bands(16, 6)(signatures)
        candidates += bool((left == right).any())
    a, b = (set(shingles.document(row).tolist()) for row in (0, 1))
    jaccard = len(a & b) / len(a | b)
    assert abs(matching / seeds / 128 - jaccard) < 5 * math.sqrt(jaccard * (1 - jaccard) / (128 * seeds))
    theory = candidate_probability(jaccard, 16, 6)
    assert abs(candidates / seeds - theory) < 0.03 + 5 * math.sqrt(theory * (1 - theory) / seeds)
