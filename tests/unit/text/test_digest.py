import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.digest import bag_digest
from stream_lsh.text.shingles import Shingles, offsets_of
from tests.evaluation.oracles import MASK64, fmix64

bags = st.lists(st.lists(st.integers(0, MASK64), max_size=6), max_size=8)


def batch(documents: list[list[int]]) -> Shingles:
    counts = np.array([len(d) for d in documents], np.int64)
    return Shingles(np.array([h for d in documents for h in d], np.uint64), offsets_of(counts))


@given(bags)
def test_the_digest_is_the_formula_and_0_for_an_empty_document(documents: list[list[int]]) -> None:
    want = [fmix64((sum(d) + len(d) * 0x9E3779B97F4A7C15) & MASK64) if d else 0 for d in documents]
    assert bag_digest(batch(documents)).tolist() == want


@given(st.lists(st.integers(0, MASK64), min_size=1))
def test_the_order_of_the_shingles_does_not_matter(document: list[int]) -> None:
    first, second = bag_digest(batch([document, sorted(document)])).tolist()
    assert first == second


def test_counts_matter() -> None:
    digests = bag_digest(batch([[1, 2], [1, 1, 2], [1, 2, 2], [0], [0, 0]])).tolist()
    assert len(set(digests)) == 5
