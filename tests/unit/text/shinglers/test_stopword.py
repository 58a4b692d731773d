"""Stop-word shingles against a slow definition, and their effect on articles."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh import NearDuplicates
from stream_lsh.text.hashing.groups import GROUP
from stream_lsh.text.shinglers.stopword import StopwordShingler
from stream_lsh.text.shinglers.stopwords import STOP_WORDS
from stream_lsh.text.shinglers.word import WordShingler

WORDS = st.sampled_from(["the", "and", "of", "cat", "dog", "river", "The", "Münster", "x", "...", "don't"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


def slow(text: str, language: str = "en") -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    starts = [at for at, word in enumerate(words) if word in STOP_WORDS[language]]
    return [tuple(words[at : at + 3]) for at in starts if at + 3 <= len(words)]


@given(batch=st.lists(TEXTS, max_size=6))
def test_they_are_the_runs_of_three_words_that_begin_with_a_stop_word(batch: list[str]) -> None:
    shingles = StopwordShingler("en")(batch)
    expected = [slow(text) for text in batch]
    assert shingles.counts.tolist() == [*map(len, expected)]
    meaning: dict[int, tuple[str, ...]] = {}
    for row, runs in enumerate(expected):
        for value, run in zip(shingles.document(row).tolist(), runs, strict=True):
            assert meaning.setdefault(value, run) == run
    assert len({*meaning.values()}) == len(meaning)


@given(text=TEXTS)
def test_each_has_the_hash_that_word_shingles_give_it(text: str) -> None:
    words = re.findall(r"\w+", text.lower())
    runs = [tuple(words[at : at + 3]) for at in range(len(words) - 2)]
    of_words = dict(zip(runs, WordShingler(3)([text]).hashes.tolist(), strict=len(words) >= 3))
    assert StopwordShingler("en")([text]).hashes.tolist() == [of_words[run] for run in slow(text)]


@given(batch=st.lists(TEXTS, max_size=6))
def test_a_document_has_the_same_shingles_in_any_company(batch: list[str]) -> None:
    shingler = StopwordShingler("en")
    together = shingler(batch)
    for row, text in enumerate(batch):
        assert shingler([text]).hashes.tolist() == together.document(row).tolist()


def test_a_batch_that_is_done_in_parts_has_the_same_shingles() -> None:
    shingler, text = StopwordShingler("en"), "the cat of the house and the dog " * (GROUP // 60)
    together = shingler([text, "of mice and of men", text])
    assert together.counts.tolist() == [len(slow(text)), 2, len(slow(text))]
    assert together.document(1).tolist() == shingler(["of mice and of men"]).hashes.tolist()


def test_the_example_of_the_theory_comes_out() -> None:
    prose = "A spokesperson for the Sudzo Corporation revealed today that studies have shown it is good to buy"
    counts = StopwordShingler("en")(["Buy Sudzo.", "I recommend that you buy Sudzo for your laundry."]).counts
    assert counts.tolist() == [0, 4]
    assert slow(prose)[:3] == [
        ("a", "spokesperson", "for"),
        ("for", "the", "sudzo"),
        ("the", "sudzo", "corporation"),
    ]
    assert StopwordShingler("en")([prose]).counts.tolist() == [len(slow(prose))]


@pytest.mark.parametrize("language", STOP_WORDS)
def test_each_word_of_a_list_is_one_token(language: str) -> None:
    for word in STOP_WORDS[language]:
        assert re.findall(r"\w+", word.lower()) == [word]
        assert StopwordShingler(language)([f"{word} 1 2"]).counts.tolist() == [1]
    assert len(STOP_WORDS[language]) > 90


def test_seeds_and_languages_give_other_shingles() -> None:
    text = ["the cat sat on the mat in the sun and die der das"]
    one, other = StopwordShingler("en")(text), StopwordShingler("en", seed=2)(text)
    assert not {*one.hashes.tolist()} & {*other.hashes.tolist()}
    assert StopwordShingler("de")(text).counts.tolist() == [len(slow(text[0], "de"))]


def test_an_article_is_found_in_another_frame() -> None:
    article = (
        "The council put off the vote on the new bridge until it has seen what it will cost and who is going to pay "
        "for it, as the mayor stated on Monday after a long debate in which all of the parties had their say."
    )
    menu = "Home News Sport Weather Travel Jobs Cars Property Contact Imprint"
    other = "Start Politics Business Culture Science Video Shop Login Subscribe Newsletter Archive Terms"
    found = {}
    for shingles in ("word:3", "stopword:en"):
        near = NearDuplicates(0.8, shingles)
        near.add("one", f"{menu} {article} {menu}")
        found[shingles] = near.query(f"{other} {article} {other}")
    assert found["word:3"] == []
    assert found["stopword:en"][0].similarity > 0.9
