"""Documents to sets: the worked examples of Mining of Massive Datasets, sections 3.1 and 3.2, and their kin."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from stream_lsh.arrays import U64
from stream_lsh.measure.jaccard import jaccard, sorted_unique
from stream_lsh.text.advice import possible_shingles
from stream_lsh.text.catalog import shingler
from stream_lsh.text.normalise import FORMS
from stream_lsh.text.page import read_page
from tests.evaluation.oracles import bag_jaccard


def shingle_set(spec: str, text: str) -> U64:
    return sorted_unique(shingler(spec)([text]).hashes)


def hashes_of(spec: str, *shingles: str) -> list[int]:
    """The hashes of shingles that are given as texts."""
    return sorted(int(shingler(spec)([one]).hashes[0]) for one in shingles)


@pytest.mark.parametrize(
    ("k", "text", "shingles"),
    [(2, "abcab", ["ab", "bc", "ca"]), (3, "abeabe", ["abe", "bea", "eab"]), (2, "日本日本", ["日本", "本日"])],
)
def test_the_set_of_character_shingles(k: int, text: str, shingles: list[str]) -> None:
    assert shingle_set(f"char:{k}", text).tolist() == hashes_of(f"char:{k}", *shingles)


def test_given_sets_of_shingles_are_two_thirds_and_one_third_alike() -> None:
    document = shingle_set("char:3", "abeabe")
    given = np.array(hashes_of("char:3", "abe", "eab"), np.uint64)
    assert Fraction(jaccard(document, given)).limit_denominator(100) == Fraction(2, 3)
    assert Fraction(jaccard(document, given[given == hashes_of("char:3", "eab")[0]])).limit_denominator(
        100
    ) == Fraction(1, 3)


def test_of_27_symbols_there_are_14_348_907_shingles_of_five() -> None:
    assert possible_shingles(27, 5) == 14_348_907


def test_the_bag_of_shingles() -> None:
    bag = shingler("bag:char:3")(["abeabe"]).hashes.tolist()
    plain = shingler("char:3")(["abeabe"]).hashes.tolist()
    names = dict(zip(plain, ["abe", "bea", "eab", "abe"], strict=True))
    assert Counter(names[value] for value in plain) == {"abe": 2, "bea": 1, "eab": 1}
    assert len(set(bag)) == 4
    assert bag[:3] == plain[:3]
    assert bag[3] not in plain


def test_similarity_of_bags_by_their_greatest_union() -> None:
    left, right = (shingle_set("bag:char:1", text) for text in ("abcc", "aacccc"))
    assert Fraction(jaccard(left, right)).limit_denominator(100) == Fraction(3, 7)
    assert jaccard(left, right) == bag_jaccard("abcc", "aacccc")


def test_runs_of_words_by_every_tokeniser() -> None:
    text = "The plane, the PLANE"
    counts = {
        spec: shingle_set(spec, text).size for spec in ("word:2", "space:2", "mixed:2", "stem:en:2", "code:text:2")
    }
    assert counts == {"word:2": 2, "space:2": 3, "mixed:2": 2, "stem:en:2": 2, "code:text:2": 3}
    assert shingle_set("stem:en:1", "planes plane").size == 1


def test_a_stop_word_and_the_two_words_after_it() -> None:
    advertisement, article = "Buy Sudzo.", "I recommend that you buy Sudzo for your laundry."
    assert shingler("stopword:en")([advertisement, article]).counts.tolist() == [0, 4]
    assert shingler("stopword:en")(["A spokesperson for the Sudzo Corporation revealed today"]).hashes[:3].tolist() == [
        int(shingler("word:3")([run]).hashes[0])
        for run in ("a spokesperson for", "for the sudzo", "the sudzo corporation")
    ]


def test_runs_that_start_or_end_at_a_capital() -> None:
    text = "prices fell in New York today after all"
    expected = ["in new", "new york", "york today"]
    assert shingle_set("capital:2", text).tolist() == hashes_of("word:2", *expected)


def test_hashed_shingles_take_four_or_eight_bytes() -> None:
    text = "the quick brown fox jumps over the lazy dog"
    assert shingle_set("char:9/4", text).size == shingle_set("char:9", text).size == len(text) - 8
    assert shingler("char:9/8").spec == "char:9"


def test_a_document_of_fewer_than_k_tokens_has_no_shingles_unless_the_whole_text_is_one() -> None:
    for spec in ("char:9", "word:3", "space:3", "mixed:3", "stem:en:3", "code:python:3"):
        assert shingler(f"{spec}/full")(["a b", ""]).counts.tolist() == [0, 0]
        assert shingler(spec)(["a b", ""]).counts.tolist() == [1, 0]
    assert jaccard(shingle_set("word:3", ""), shingle_set("word:3", "")) == 0


@pytest.mark.parametrize(
    ("form", "text", "normal"),
    [
        ("nfc", "e\u0301", "é"),
        ("nfkc", "ﬁ①", "fi1"),
        ("casefold", "Straße", "strasse"),
        ("space", " a \n b ", "a b"),
        ("accents", "Zürich", "Zurich"),
        ("punctuation", "«don't», e-mail_x 1+1=$2…", " don t   e mail x 1+1=$2 "),
    ],
)
def test_each_normal_form_is_a_named_option(form: str, text: str, normal: str) -> None:
    assert FORMS[form](text) == normal


def test_html_becomes_text() -> None:
    assert (
        read_page("<html><body><p>the <b>plane</b> was ready</p></body></html>", "page").text == "the plane was ready"
    )
