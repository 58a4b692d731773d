import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.hashing import fmix32
from stream_lsh.sketch.b_bit import (
    WIDTHS,
    accidental_agreement,
    b_bit_standard_error,
    estimate_b_bit,
    matching_b_bit_slots,
    pack,
    packed_bytes,
)
from stream_lsh.sketch.estimate import standard_error
from stream_lsh.sketch.scheme import EMPTY_SLOT

every_width = pytest.mark.parametrize("bits", WIDTHS)


def kept(signature: list[int], bits: int) -> list[int]:
    """The lowest bits of the scrambled values, one slot after the other."""
    return [value % 2**bits for value in fmix32(np.array(signature, np.uint32)).tolist()]


@every_width
@given(slots=st.integers(1, 40), count=st.integers(0, 6), seed=st.integers(0, 1000))
def test_the_packed_bytes_are_the_lowest_bits_first_slot_lowest(bits: int, slots: int, count: int, seed: int) -> None:
    signatures = np.random.default_rng(seed).integers(0, 1 << 32, (count, slots)).astype(np.uint32)
    packed = pack(signatures, bits)
    assert packed.packed.shape == (count, packed_bytes(slots, bits))
    for row, signature in zip(packed.packed, signatures.tolist(), strict=True):
        number = sum(value << (bits * slot) for slot, value in enumerate(kept(signature, bits)))
        assert int.from_bytes(row.tobytes(), "little") == number


@every_width
def test_the_order_of_the_signatures_in_memory_does_not_matter(bits: int) -> None:
    signatures = np.arange(40, dtype=np.uint32).reshape(5, 8)
    by_columns, part = np.asfortranarray(signatures), np.repeat(signatures, 2, axis=1)[:, ::2]
    for same in (by_columns, part):
        assert pack(same, bits).packed.tolist() == pack(signatures, bits).packed.tolist()


@every_width
@given(slots=st.integers(1, 40), count=st.integers(0, 6), seed=st.integers(0, 1000))
def test_matching_slots_are_those_whose_kept_bits_are_equal(bits: int, slots: int, count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    left, right = (generator.integers(0, 5, (count, slots)).astype(np.uint32) for _ in range(2))
    want = [
        sum(a == b for a, b in zip(kept(x, bits), kept(y, bits), strict=True))
        for x, y in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert matching_b_bit_slots(pack(left, bits), pack(right, bits)).tolist() == want


@every_width
@pytest.mark.parametrize("count", [511, 512, 513, 1500])
def test_many_pairs_are_counted_like_few(bits: int, count: int) -> None:
    generator = np.random.default_rng(count)
    left, right = (pack(generator.integers(0, 9, (count, 33)).astype(np.uint32), bits) for _ in range(2))
    one_by_one = [
        int(matching_b_bit_slots(left.take(np.array([row])), right.take(np.array([row])))[0]) for row in range(count)
    ]
    assert matching_b_bit_slots(left, right).tolist() == one_by_one


@every_width
def test_empty_documents_agree_in_no_slot(bits: int) -> None:
    signatures = np.array([[EMPTY_SLOT] * 8, [EMPTY_SLOT] * 8, [5] * 8], np.uint32)
    packed = pack(signatures, bits)
    assert packed.filled.tolist() == [False, False, True]
    for other in (1, 2):
        pair = packed.take(np.array([0])), packed.take(np.array([other]))
        assert matching_b_bit_slots(*pair).tolist() == [0]
    assert matching_b_bit_slots(packed.take(np.array([2])), packed.take(np.array([2]))).tolist() == [8]


@every_width
def test_the_limit_of_the_constants_for_small_shares_is_2_to_the_minus_b(bits: int) -> None:
    assert accidental_agreement(bits) == (2**-bits, 2**-bits)
    for shares in ((1e-9, 1e-9), (1e-12, 3e-10), (1e-9, 0.0)):
        assert accidental_agreement(bits, *shares) == pytest.approx((2**-bits, 2**-bits), rel=1e-3)


def test_the_constants_are_those_of_theorem_1() -> None:
    def of(share: float, bits: int) -> float:
        return float(share * (1 - share) ** (2**bits - 1) / (1 - (1 - share) ** 2**bits))

    for bits in (1, 2, 4, 8):
        for r1, r2 in ((0.1, 0.3), (0.5, 0.5), (0.9, 0.02), (1.0, 0.4)):
            a1, a2 = of(r1, bits), of(r2, bits)
            first = a1 * r2 / (r1 + r2) + a2 * r1 / (r1 + r2)
            second = a1 * r1 / (r1 + r2) + a2 * r2 / (r1 + r2)
            assert accidental_agreement(bits, r1, r2) == pytest.approx((first, second))


@every_width
def test_the_estimate_undoes_the_accidents(bits: int) -> None:
    accident = 2.0**-bits
    for similarity in (0.0, 0.3, 1.0):
        agreeing = np.array([1000 * (accident + (1 - accident) * similarity)])
        assert estimate_b_bit(agreeing, 1000, bits).tolist() == pytest.approx([similarity])


def test_the_standard_error_grows_as_bits_go_and_is_that_of_whole_slots_with_many() -> None:
    errors = [b_bit_standard_error(0.5, 128, bits) for bits in WIDTHS]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == pytest.approx(standard_error(0.5, 128), rel=1e-4)
    assert errors[0] == pytest.approx(math.sqrt(0.75 * 0.25 / 128) / 0.5)


def test_at_equal_memory_few_bits_are_more_accurate_than_whole_slots_for_similar_pairs() -> None:
    assert b_bit_standard_error(0.8, slots=32 * 16, bits=1) < standard_error(0.8, slots=16)


@pytest.mark.parametrize("bits", [0, 3, 32, -1])
def test_other_widths_are_refused(bits: int) -> None:
    with pytest.raises(ConfigError, match="1, 2, 4, 8, 16"):
        pack(np.zeros((1, 4), np.uint32), bits)
    with pytest.raises(ConfigError, match="1, 2, 4, 8, 16"):
        accidental_agreement(bits)


def test_shares_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"got 1\.5 and 0\.0"):
        accidental_agreement(2, 1.5)


def test_signatures_of_other_widths_lengths_or_numbers_are_a_bug() -> None:
    signatures = np.zeros((2, 8), np.uint32)
    for other in (pack(signatures, 4), pack(signatures[:1], 2), pack(signatures[:, :7], 2)):
        with pytest.raises(InvariantError, match="expected the same"):
            matching_b_bit_slots(pack(signatures, 2), other)
