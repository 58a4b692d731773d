import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.word import WordShingler
from tests.evaluation.oracles import word_windows
from tests.texts import AWKWARD, batches


@given(batches, st.integers(1, 5))
def test_shingles_are_equal_exactly_where_their_hashes_are(batch: list[str], k: int) -> None:
    shingles = WordShingler(k)(batch)
    windows = [window for text in batch for window in word_windows(text, k)]
    assert shingles.counts.tolist() == [len(word_windows(text, k)) for text in batch]
    hashes = shingles.hashes.tolist()
    assert len(set(zip(windows, hashes, strict=True))) == len(set(windows)) == len(set(hashes))


@given(batches, st.integers(1, 64))
def test_a_document_does_not_depend_on_its_neighbours(batch: list[str], k: int) -> None:
    shingler = WordShingler(k)
    together = shingler(batch)
    for row, text in enumerate(batch):
        assert np.array_equal(together.document(row), shingler([text]).hashes)


@pytest.mark.parametrize("k", [1, 3, 64])
def test_awkward_and_long_texts_have_as_many_distinct_hashes_as_shingles(k: int) -> None:
    shingler = WordShingler(k)
    together = shingler(AWKWARD)
    for row, text in enumerate(AWKWARD):
        alone = shingler([text])
        assert np.unique(alone.hashes).size == len(set(word_windows(text, k)))
        assert np.array_equal(together.document(row), alone.hashes)


def test_case_and_punctuation_do_not_matter_but_order_does() -> None:
    shingles = WordShingler(3)(["The quick, brown fox!", "the QUICK -- brown\tfox", "fox brown quick the"])
    first, second, reversed_ = (shingles.document(row).tolist() for row in range(3))
    assert first == second
    assert not set(first) & set(reversed_)


def test_fewer_tokens_than_k_are_one_shingle_and_none_are_none() -> None:
    shingles = WordShingler(3)(["re: thanks", "re: thanks a lot", "!?", "re"])
    assert shingles.counts.tolist() == [1, 2, 0, 1]
    assert np.unique(shingles.hashes).size == 4


def test_seeds_give_unrelated_hashes() -> None:
    text = ["the quick brown fox jumps over the lazy dog"]
    assert not set(WordShingler(2, 1)(text).hashes.tolist()) & set(WordShingler(2, 2)(text).hashes.tolist())
