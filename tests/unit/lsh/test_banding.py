import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.lsh.banding import Bands, digest_buckets
from tests.evaluation.oracles import MASK64, fmix64, odd_constants


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 1000))
def test_keys_are_the_formula_with_bit_0_cleared(bands: int, rows: int, documents: int, seed: int) -> None:
    signatures = np.random.default_rng(seed).integers(0, 1 << 32, (documents, bands * rows + 3)).astype(np.uint32)
    factors, salts = odd_constants(rows, 31 * seed + 7), odd_constants(bands, 131 * seed + 3)
    want = [
        [
            fmix64((salts[b] + sum(m * s for m, s in zip(factors, row[b * rows :], strict=False))) & MASK64) & ~1
            for b in range(bands)
        ]
        for row in signatures.tolist()
    ]
    keys = Bands(bands, rows, seed)(signatures)
    assert keys.shape == (documents, bands)
    assert keys.dtype == np.uint64
    assert keys.tolist() == want


def test_a_key_is_shared_exactly_where_all_rows_agree() -> None:
    generator = np.random.default_rng(1)
    left = generator.integers(0, 1 << 32, (500, 12)).astype(np.uint32)
    right = np.where(generator.random((500, 12)) < 0.8, left, left + np.uint32(1))
    agree = (left == right).reshape(500, 4, 3).all(axis=2)
    banding = Bands(4, 3)
    assert np.array_equal(banding(left) == banding(right), agree)
    assert agree.any()
    assert not agree.all()


def test_bands_never_share_buckets() -> None:
    same_in_every_band = np.full((1, 128), 7, np.uint32)
    assert np.unique(Bands(16, 8)(same_in_every_band)).size == 16


def test_the_order_of_the_rows_matters() -> None:
    keys = Bands(1, 2)(np.array([[1, 2], [2, 1]], np.uint32))
    assert keys[0, 0] != keys[1, 0]


def test_bit_0_distinguishes_the_buckets_of_digests_from_those_of_bands() -> None:
    generator = np.random.default_rng(2)
    digests = generator.integers(0, 1 << 64, 1000, np.uint64)
    assert (digest_buckets(digests) & np.uint64(1)).all()
    assert (digest_buckets(digests) >> np.uint64(1) == digests >> np.uint64(1)).all()
    signatures = generator.integers(0, 1 << 32, (1000, 128)).astype(np.uint32)
    assert not (Bands(16, 8)(signatures) & np.uint64(1)).any()


def test_no_bands_and_no_rows_are_refused() -> None:
    for bands, rows in ((0, 5), (5, 0), (-1, 2)):
        with pytest.raises(ConfigError):
            Bands(bands, rows)


def test_signatures_that_are_too_short_are_a_bug() -> None:
    with pytest.raises(InvariantError, match="got signatures of 99 slots, expected 100 or more"):
        Bands(20, 5)(np.zeros((1, 99), np.uint32))
