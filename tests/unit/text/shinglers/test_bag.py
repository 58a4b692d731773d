"""Bags against counters: repetitions count, batches and orders do not."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.bags import bag as bag_of_measure
from stream_lsh.measure.jaccard import jaccard, sorted_unique
from stream_lsh.text.catalog import shingler
from stream_lsh.text.shinglers.bag import bag, bags
from stream_lsh.text.shingles import Shingles, offsets_of
from tests.evaluation.oracles import bag_jaccard, char_windows, word_windows
from tests.texts import texts

documents = st.lists(st.lists(st.integers(0, 4) | st.integers(0, 2**64 - 1), max_size=12), max_size=6)


@given(documents)
def test_each_document_of_a_batch_has_the_bag_that_it_has_alone(batch: list[list[int]]) -> None:
    hashes = np.array([value for one in batch for value in one], np.uint64)
    made = Shingles(hashes, offsets_of(np.array([len(one) for one in batch], np.int64)))
    numbered = bags(made)
    assert made.hashes.tolist() == [value for one in batch for value in one], "the argument is left alone"
    for row, one in enumerate(batch):
        assert np.array_equal(np.sort(numbered.document(row)), bag(np.array(one, np.uint64)))
        firsts = [at for at, value in enumerate(one) if value not in one[:at]]
        assert numbered.document(row)[firsts].tolist() == [one[at] for at in firsts], "first ones keep hash and place"


@pytest.mark.parametrize("k", [1, 2, 3])
@given(st.text(st.sampled_from("ab c"), max_size=30) | texts, st.text(st.sampled_from("ab c"), max_size=30) | texts)
def test_the_similarity_is_that_of_the_counts(k: int, left: str, right: str) -> None:
    for name, windows in (("char", char_windows), ("word", word_windows)):
        made = shingler(f"bag:{name}:{k}")
        a, b = (sorted_unique(made([text]).hashes) for text in (left, right))
        assert jaccard(a, b) == bag_jaccard(windows(left, k), windows(right, k))
        assert a.size == Counter(windows(left, k)).total()


def test_the_bag_of_measure_is_this_one() -> None:
    assert bag_of_measure is bag
