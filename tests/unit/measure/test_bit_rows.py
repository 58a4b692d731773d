"""Sets as rows of bits, against Python sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U64
from stream_lsh.measure import bit_rows as module
from stream_lsh.measure.bit_rows import BitRows
from tests.evaluation import oracles

sets = st.frozensets(st.integers(0, 80) | st.integers(0, oracles.MASK64), max_size=90)


def as_array(values: frozenset[int]) -> U64:
    return np.array(sorted(values), np.uint64)


@given(st.lists(sets, min_size=1, max_size=40), sets, st.sampled_from((1, 3, 1 << 14)))
def test_rows_share_what_the_sets_share(many: list[frozenset[int]], other: frozenset[int], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        rows, everything = BitRows(), np.arange(len(many))
        for number, one in enumerate(many):
            assert rows.add(as_array(one)) == number
            if number % 5 == 0:  # sets that wait are written before they are read
                assert rows.members(number).tolist() == sorted(one)
        left, right = np.repeat(everything, len(many)), np.tile(everything, len(many))
        assert rows.shared(left, right).tolist() == [len(one & another) for one in many for another in many]
        assert rows.shared_with(as_array(other), everything).tolist() == [len(one & other) for one in many]
        assert rows.sizes(everything).tolist() == [len(one) for one in many]
        assert [rows.members(number).tolist() for number in range(len(many))] == [sorted(one) for one in many]
        assert rows.width == len(frozenset[int]().union(*many))
        assert len(rows) == len(many)


def test_large_sets_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAITING_HASHES", 100)
    rows = BitRows()
    for number in range(5):
        rows.add(np.arange(number, number + 60, dtype=np.uint64))
    assert rows.width == 63, "the fifth set waits"
    assert rows.shared(np.array([0]), np.array([4])).tolist() == [56]
    assert rows.width == 64
    assert rows.nbytes >= 5 * 8 + 64 * 16
