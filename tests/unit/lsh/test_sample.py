from itertools import combinations

import numpy as np
import pytest

from stream_lsh.arrays import F64, U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.sample import sampled_agreements, sampled_candidates
from stream_lsh.sketch.scheme import MOST_SLOTS

SLOTS = 32


def signatures_of(rng: np.random.Generator, documents: int, families: int = 40) -> U32:
    """Documents of which most agree in a slot here and there; families of three agree in 26 to 30 of 32."""
    signatures = rng.integers(0, 12, (documents, SLOTS), dtype=np.uint32)
    for family in range(families):
        for copy in (1, 2):
            signatures[3 * family + copy] = signatures[3 * family]
            signatures[3 * family + copy, rng.integers(0, SLOTS, 2)] += 100
    return signatures


def by_all_pairs(signatures: U32, keys: np.typing.NDArray[np.uint64] | None = None) -> F64:
    """Pairs by agreeing slots; of those that share a key, where there are keys."""
    counts = np.zeros(SLOTS + 1)
    for one, other in combinations(range(len(signatures)), 2):
        if keys is None or (keys[one] == keys[other]).any():
            counts[int((signatures[one] == signatures[other]).sum())] += 1
    return counts


def test_a_small_collection_is_compared_as_a_whole(seed: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 150)
    found = sampled_agreements(signatures, seed)
    assert found.pairs.tolist() == by_all_pairs(signatures).tolist()
    assert (found.documents, found.slots) == (150, SLOTS)


def test_candidates_are_those_that_share_a_bucket(seed: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 150)
    found = sampled_candidates(signatures, 16, 2, seed)
    assert found.tolist() == by_all_pairs(signatures, Bands(16, 2, seed)(signatures)).tolist()
    assert found[:15].sum() > found[15:].sum() > 100


def sampled(signatures: U32, runs: int, seed: int, visits: int) -> F64:
    """The estimates of some runs; in each the slots come in another order, as other hash functions would have it."""
    rng = np.random.default_rng(seed)
    return np.array(
        [
            sampled_agreements(signatures[:, rng.permutation(SLOTS)], n, compared_with_all=40, visits=visits).pairs
            for n in range(runs)
        ]
    )


@pytest.mark.parametrize("visits", [2_000_000, 3_000])
def test_a_sample_estimates_bulk_and_tail_of_all_pairs_without_bias(seed: int, visits: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 300)
    truth = by_all_pairs(signatures)
    runs = sampled(signatures, 60, seed, visits)
    for part in (slice(0, 3), slice(3, 6), slice(6, 20), slice(24, 33)):
        found = runs[:, part].sum(axis=1)
        error = found.std(ddof=1) / len(runs) ** 0.5
        assert truth[part].sum() == pytest.approx(found.mean(), abs=4.5 * error + 1e-9)


def test_rare_pairs_are_estimated_better_than_by_comparing_documents_with_all(seed: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 300)
    truth = by_all_pairs(signatures)[24:].sum()
    # 40 of 300 documents see some 16 of the 120 pairs: their count alone would be right within a quarter.
    assert np.std(sampled(signatures, 20, seed, 2_000_000)[:, 24:].sum(axis=1)) < 0.05 * truth


def test_candidates_of_a_part_of_the_documents_stand_for_all(seed: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 400)
    every = sampled_candidates(signatures, 16, 2, seed).sum()
    part = sampled_candidates(signatures, 16, 2, seed, visits=int(every) // 2)
    assert part.sum() != every
    assert part.sum() == pytest.approx(every, rel=0.2)


def test_the_seed_decides_and_nothing_else(seed: int) -> None:
    signatures = signatures_of(np.random.default_rng(seed), 300)
    one, same, other = (
        sampled_agreements(signatures, choice, compared_with_all=20).pairs for choice in (seed, seed, seed + 1)
    )
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()


def test_signatures_of_one_slot_can_be_sampled() -> None:
    signatures = np.arange(600, dtype=np.uint32)[:, None] % 300
    assert sampled_agreements(signatures, compared_with_all=10).pairs.tolist() == [600 * 599 / 2 - 300, 300]


def test_signatures_of_the_greatest_length_can_be_sampled() -> None:
    signatures = np.zeros((3, MOST_SLOTS), np.uint32)
    signatures[2] = 1
    for found in (sampled_agreements(signatures).pairs, sampled_candidates(signatures, 2, MOST_SLOTS // 2)):
        assert found[MOST_SLOTS] == 1


@pytest.mark.parametrize("documents", [0, 1])
def test_fewer_than_two_documents_have_no_pairs(documents: int) -> None:
    for sample in (sampled_agreements, lambda signatures: sampled_candidates(signatures, 2, 2)):
        with pytest.raises(ConfigError, match=f"got {documents} documents with shingles, expected two or more"):
            sample(np.zeros((documents, SLOTS), np.uint32))
