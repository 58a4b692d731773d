import numpy as np

from stream_lsh.text.shinglers.word import WordShingler


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
