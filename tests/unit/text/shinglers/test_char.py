import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.shinglers.char import CharShingler, code_points
from tests.evaluation.oracles import char_windows
from tests.texts import texts


def test_the_shingles_of_abcab_of_two_characters_are_ab_bc_ca() -> None:
    shingles = CharShingler(2)(["abcab", "ab", "bc", "ca"])
    ab, bc, ca = (int(shingles.document(row)[0]) for row in (1, 2, 3))
    assert shingles.document(0).tolist() == [ab, bc, ca, ab]


def test_the_shingles_of_abeabe_of_three_characters_are_a_bag_of_three() -> None:
    hashes = CharShingler(3)(["abeabe"]).hashes
    values, counts = np.unique(hashes, return_counts=True)
    assert values.size == 3
    assert sorted(counts.tolist()) == [1, 1, 2]


def test_27_symbols_make_14348907_shingles_of_five_and_the_first_million_differ() -> None:
    assert 27**5 == 14_348_907
    letters = "abcdefghijklmnopqrstuvwxyz "
    text = "".join(a + b + c + d for a in letters for b in letters for c in letters[:9] for d in letters)
    assert np.unique(CharShingler(5)([text]).hashes).size == len(set(char_windows(text, 5)))


@given(texts, st.integers(2, 9))
def test_padding_is_no_character(text: str, k: int) -> None:
    short = text[: k - 1]
    padded = short + "\U0010ffff" * (k - len(short))
    if short and short != padded:
        first, second = CharShingler(k)([short, padded]).hashes
        assert first != second


@given(texts)
def test_code_points_are_those_of_ord(text: str) -> None:
    assert code_points(text).tolist() == [ord(c) for c in text]


def test_seeds_give_unrelated_hashes() -> None:
    text = ["the quick brown fox jumps over the lazy dog"]
    assert not set(CharShingler(5, 1)(text).hashes.tolist()) & set(CharShingler(5, 2)(text).hashes.tolist())


def test_the_hashes_are_evenly_spread_at_the_top_and_at_the_bottom() -> None:
    hashes = np.unique(CharShingler(5)([" ".join(str(i * i) for i in range(30_000))]).hashes)
    for shift in (57, 25, 0):
        counts = np.bincount(((hashes >> np.uint64(shift)) & np.uint64(127)).astype(np.int64), minlength=128)
        expected = hashes.size / 128
        assert 0.6 < float(((counts - expected) ** 2 / expected).sum() / 127) < 1.4


def test_no_texts_have_no_shingles() -> None:
    assert len(CharShingler(5)([])) == 0
    assert CharShingler(5)([]).hashes.size == 0
