"""Stems: runs of the output of the stemmer, synonyms, a bounded memory, a library that is missing."""

import re
import sys

import pytest
import Stemmer  # type: ignore[import-not-found]
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import shingler
from stream_lsh.text.hashing.vocabulary import Vocabulary
from stream_lsh.text.shinglers.stem import LANGUAGES, StemShingler
from tests.evaluation.oracles import tokens
from tests.texts import texts

sentences = st.lists(st.sampled_from("house houses housing run Running runs, ran the of".split()), max_size=10).map(
    " ".join
)


@given(st.lists(sentences | texts, max_size=5), st.integers(1, 3))
def test_shingles_are_equal_exactly_where_runs_of_stems_are(batch: list[str], k: int) -> None:
    stemmer, meaning = Stemmer.Stemmer("en"), dict[int, tuple[str, ...]]()
    shingles = StemShingler("en", k)(batch)
    for row, text in enumerate(batch):
        stems = stemmer.stemWords(tokens(text))
        runs = [tuple(stems[at : at + k]) for at in range(max(1, len(stems) - k + 1))] if stems else []
        for value, run in zip(shingles.document(row).tolist(), runs, strict=True):
            assert meaning.setdefault(value, run) == run
    assert len({*meaning.values()}) == len(meaning)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_stems(language: str) -> None:
    made = StemShingler(language, 1)
    assert made.spec == f"stem:{language}:1"
    assert made(["one two", "один два", "ένα δύο"]).counts.tolist() == [2, 2, 2]


def test_the_languages_are_those_of_the_library() -> None:
    known = []
    for first in "abcdefghijklmnopqrstuvwxyz":
        for second in "abcdefghijklmnopqrstuvwxyz":
            try:
                Stemmer.Stemmer(first + second)
            except KeyError:
                continue
            known.append(first + second)
    assert tuple(known) == LANGUAGES


def test_word_forms_are_the_same_word() -> None:
    german = StemShingler("de", 1)(["Häuser Hauses"]).hashes.tolist()
    assert german[0] == german[1]
    walks, walked = StemShingler("en", 2)(["he walks", "he walked"]).hashes.tolist()
    assert walks == walked


def test_synonyms_stand_for_all_words_of_a_stem_and_are_part_of_the_name() -> None:
    plain, cars = StemShingler("en", 2), StemShingler("en", 2, synonyms={"car": "automobile", "big": "large"})
    texts = ["a big car", "a large automobile", "A Big automobiles"]
    assert len({tuple(cars(texts).document(row).tolist()) for row in range(3)}) == 1
    assert len({tuple(plain(texts).document(row).tolist()) for row in range(3)}) == 3
    assert re.fullmatch(r"stem:en:2\+[0-9a-f]{16}", cars.spec)
    others = [
        StemShingler("en", 2, synonyms={"car": "automobile"}),
        StemShingler("en", 2, synonyms={"car": "bus", "big": "large"}),
        plain,
        cars,
    ]
    assert len({one.spec for one in others}) == 4
    assert StemShingler("en", 2, synonyms={"big": "large", "cars": "automobiles"}).spec == cars.spec, (
        "of the same stems"
    )
    assert StemShingler("en", 2, synonyms={"car": "cars"}).spec == plain.spec, "which replaces nothing"


@pytest.mark.parametrize(
    ("synonyms", "message"),
    [
        ({"two words": "one"}, "got 'two words', expected a single word"),
        ({"one": ""}, "got '', expected a single word"),
        ({"car": "bus", "cars": "tram"}, "its stem 'car' is one of another word"),
        ({"car": "bus", "bus": "tram"}, "got 'car' for 'bus', which itself is replaced, expected 'tram'"),
    ],
)
def test_ambiguous_synonyms_are_rejected(synonyms: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        StemShingler("en", 2, synonyms=synonyms)


def test_a_name_alone_does_not_bring_synonyms() -> None:
    with pytest.raises(ConfigError, match="did you mean 'stem:en:2'"):
        shingler(StemShingler("en", 2, synonyms={"car": "bus"}).spec)


def test_an_unknown_language_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'stem:en:3'"):
        shingler("stem:english:3")
    with pytest.raises(ConfigError, match=r"got the language 'dee', expected one of .*did you mean 'de'"):
        StemShingler("dee", 3)


def test_a_missing_library_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(ConfigError, match=r'pip install "stream_lsh\[stem\]"'):
        shingler("stem:en:3")


def test_a_full_cache_starts_empty_again_and_changes_no_hash() -> None:
    asked = list[str]()

    def reduced(tokens: list[str]) -> list[str]:
        asked.extend(tokens)
        return [token[:1] for token in tokens]

    small, large = Vocabulary(1, reduced, most_kept=200), Vocabulary(1, reduced)
    tokens = ["aa", "ab", "ba", "aa"]
    assert small(tokens).tolist() == large(tokens).tolist() == small(tokens).tolist()
    assert sorted(asked) == sorted(["aa", "ab", "ba"] * 2), "three fill it: 2 + 64 each; it forgets when it is beyond"
    for number in range(50):
        assert small([f"a{number}", "ab"]).tolist() == large(["aa", "ab"]).tolist()
    assert small._kept <= 200 + 3 * 66
