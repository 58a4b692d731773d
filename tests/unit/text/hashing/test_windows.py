import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.hashing.groups import BLOCK
from stream_lsh.text.hashing.windows import drop_straddling, hash_windows, polynomial_base, polynomial_windows, power

M = 1 << 64


@given(st.lists(st.integers(0, M - 1), min_size=1, max_size=150), st.integers(1, 64), st.integers(0, M - 1))
def test_windows_by_doubling_are_the_polynomials(values: list[int], k: int, odd: int) -> None:
    k, base = min(k, len(values)), odd | 1
    want = [
        sum(c * base ** (k - 1 - j) for j, c in enumerate(values[i : i + k])) % M for i in range(len(values) - k + 1)
    ]
    array = np.array(values, np.uint64)
    assert polynomial_windows(array, k, base).tolist() == want
    assert array.tolist() == values, "the argument is left alone"


@pytest.mark.parametrize("size", [0, 1, 4, 5, BLOCK + 3, BLOCK + 4, BLOCK + 5, 2 * BLOCK + 9])
def test_blocks_do_not_show_in_the_hashes(size: int) -> None:
    values = np.arange(size, dtype=np.uint32) * np.uint32(2654435761)
    hashes = hash_windows(values, 5, polynomial_base(1), 99)
    assert hashes.size == max(0, size - 4)
    for place in {0, BLOCK - 1, BLOCK, hashes.size - 1}:
        if 0 <= place < hashes.size:
            assert hashes[place] == hash_windows(values[place : place + 5], 5, polynomial_base(1), 99)[0]


def test_the_width_of_the_values_does_not_matter() -> None:
    narrow = np.frombuffer(b"some bytes", np.uint8)
    assert np.array_equal(hash_windows(narrow, 3, 5, 7), hash_windows(narrow.astype(np.uint32), 3, 5, 7))


@given(st.lists(st.integers(0, 2000), max_size=8), st.integers(1, 9))
def test_only_windows_within_a_text_are_left(lengths: list[int], k: int) -> None:
    lengths = [0 if length == 0 else max(length, k) for length in lengths]
    starts = np.cumsum([0, *lengths]).tolist()
    hashes = np.arange(max(0, starts[-1] - k + 1), dtype=np.uint64)
    want = [i for s, n in zip(starts, lengths, strict=False) for i in range(s, s + n - k + 1)]
    assert drop_straddling(hashes, np.array(lengths, np.int64), k).tolist() == want


@given(st.integers(0, 1000))
def test_the_base_is_invertible_and_its_powers_repeat_late(seed: int) -> None:
    base = polynomial_base(seed)
    assert base % 8 == 5
    assert base * power(base, -1) % M == 1
    assert power(base, 1 << 61) != 1
