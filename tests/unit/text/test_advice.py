"""The advisor for k against definitions by sets and by simulation."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.text.advice import accidental_shares, advise, coincidence
from stream_lsh.text.catalog import shingler
from tests.evaluation.oracles import char_windows

samples = st.lists(st.text(st.sampled_from("abc "), min_size=1, max_size=15), min_size=2, max_size=6, unique=True)


@given(samples, st.integers(1, 3))
def test_the_share_is_the_mean_over_all_other_documents(documents: list[str], k: int) -> None:
    by_bag = {tuple(sorted(char_windows(text, k))): set(char_windows(text, k)) for text in reversed(documents)}
    sets = [*by_bag.values()][::-1]
    made = shingler(f"char:{k}")
    if len(sets) < 2:
        with pytest.raises(ConfigError, match="got 1 different documents"):
            accidental_shares(documents, made)
        return
    expected = [
        np.mean([len(one & other) / len(one) for j, other in enumerate(sets) if j != i]) for i, one in enumerate(sets)
    ]
    assert np.sort(accidental_shares(documents, made)) == pytest.approx(np.sort(expected))


@given(samples)
def test_longer_documents_share_more(documents: list[str]) -> None:
    made = shingler("char:1/full")
    if len({tuple(sorted(text)) for text in documents}) > 1:
        once, thrice = (accidental_shares(documents, made, times) for times in (1.0, 3.0))
        assert (once <= thrice + 1e-12).all()
        assert (thrice <= 3 * once + 1e-12).all()


def test_the_smallest_k_is_chosen_and_explained() -> None:
    documents = ["".join(word) for word in product("ab", repeat=4)]
    advice = advise(documents, most=0.3)
    assert advice.spec == f"char:{advice.k}"
    assert [*advice.shares] == [*range(1, advice.k + 1)]
    assert advice.shares[advice.k] <= 0.3 < advice.shares[advice.k - 1]
    assert f"of char:{advice.k}, unrelated documents share" in advice.reasons[0]
    assert re.search(rf"2 symbols would make {2**advice.k} shingles of {advice.k}", advice.reasons[2])
    assert advise(documents, most=1.0).k == 1
    assert advise(["one two", "two three", "four"], "word", most=0.1).spec == "word:2"


def test_a_sample_without_documents_is_rejected() -> None:
    with pytest.raises(ConfigError, match="got 0 different documents"):
        advise(["", " "], "word")
    with pytest.raises(ConfigError, match="are there copies among them"):
        advise(["x" * 200, "x" * 201], most=0.1)


def test_coincidence_is_the_probability_that_two_walks_are_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(list("aaab"), 300_000))
    assert coincidence([text], 3) == pytest.approx((0.75**2 + 0.25**2) ** 3, rel=0.02)
    starts = rng.integers(0, len(text) - 3, (2, 40_000)).tolist()
    equal = sum(text[i : i + 3] == text[j : j + 3] for i, j in zip(*starts, strict=True))
    chance = coincidence([text], 3)
    assert abs(equal - 40_000 * chance) <= 5 * (40_000 * chance * (1 - chance)) ** 0.5
    assert coincidence(["", "a"], 3) == 0
