"""Comparators: known values of their libraries and papers, and properties of all of them."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U8
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.records.compare import tfidf
from stream_lsh.records.compare.catalog import COMPARATORS, WEIGHTED, comparator
from stream_lsh.records.compare.comparator import EQUAL, MISSING
from stream_lsh.records.compare.dates import ordinal
from stream_lsh.records.compare.geography import distance_km
from stream_lsh.records.compare.levels import level_of, levels_of
from stream_lsh.records.compare.phonetic import phonetic_code
from stream_lsh.records.frequencies import Frequencies, TokenFrequencies
from stream_lsh.records.model import SEVERAL, Column

VALUES = st.text("abc de12-", min_size=1, max_size=12).map(str.strip).filter(bool) | st.sampled_from(
    [
        "1978-11-12",
        "1978-12-11",
        "1978-11",
        "1978",
        "1978-02-31",
        "51.5,-0.1",
        "51.6,0.2",
        "inf,0",
        "infinity, nan",
        "12",
        "12.5",
        "12.5 usd",
        "2 $",
        "12.5 gb",
        "1 x 2 m",
        "12 sx100",
        "bob",
        "robert",
    ]
)
LEVELS = {"number": (0.1, 0.5), "distance": (10.0, 50.0)}


@pytest.mark.parametrize(
    ("name", "levels", "left", "right", "expected"),
    [
        # Winkler 1990, table of examples: .961, .840, .813 (with a prefix of 4 at .1).
        ("jaro-winkler", (0.97, 0.96), "martha", "marhta", 2),
        ("jaro-winkler", (0.85, 0.84), "dwayne", "duane", 2),
        ("jaro-winkler", (0.82, 0.81), "dixon", "dicksonx", 2),
        ("levenshtein", (2, 3), "kitten", "sitting", 2),
        ("levenshtein", (1, 2), "saturday", "sunday", 3),
        ("levenshtein", (0.8, 0.57), "kitten", "sitting", 2),
        ("damerau", (1,), "ca", "ac", 1),
        ("damerau", (1, 2, 3), "ca", "abc", 3),  # restricted: 3, unrestricted it were 2
        ("token-sort", (0.99,), "fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear", 1),
        ("token-set", (0.99,), "fuzzy was a bear", "fuzzy fuzzy was a bear", 1),
        ("token-sort", (0.99, 0.7), "fuzzy was a bear", "fuzzy fuzzy was a bear", 2),  # .84
        ("token-jaccard", (0.6, 0.5), "a b c", "b c d", 2),  # 2 of 4
        ("bigram-jaccard", (0.4, 0.2), "night", "nacht", 2),  # _n ht t_ of 9
        ("number", (0.01, 0.1), "100", "101", 1),
        ("number", (1, 5), "1999", "2004", 2),
        ("number", (1, 5), "1999", "n a", 3),
        ("distance", (300, 400), "52.52,13.405", "48.8566,2.3522", 3),
        ("distance", (800, 900), "52.52,13.405", "48.8566,2.3522", 2),
        ("distance", (800, 900), "52.52,13.405", "inf,2.3522", 3),
        ("price", (), "399 usd", "399 eur", 4),
        ("price", (), "399 usd", "399 $", 1),
        ("price", (), "399 $", "399 aud", 1),
        ("price", (), "399 kr", "399 usd", 4),
        ("price", (), "399 usd", "399", 1),
        ("price", (), "399 usd", "370 usd", 2),
        ("price", (), "399 usd", "199 usd", 4),
        ("price", (5, 50), "399 usd", "370 usd", 2),
        ("price", (), "2 $ per kg", "2 $", 4),
        ("price", (), "2 $", "call us", 4),
        ("measure", (), "33.3333333 rpm", "33.3 rpm", 1),
        ("measure", (), "2 gb", "2 l", 5),
        ("measure", (), "2 gb", "2.048 gb", 3),
        ("measure", (), "225 s", "225000", 2),
        ("measure", (), "225706", "3.762", 2),
        ("measure", (), "225", "13540", 2),
        ("measure", (), "225 s", "290 s", 5),
        ("measure", (), "0.1 x 0.2 m", "0.2 x 0.1 m", 1),
        ("measure", (), "0.1 x 0.2 m", "0.1 m", 5),
        ("measure", (), "0.1 x 0.2 m", "20 x 10", 2),
        ("measure", (), "2 gb", "small", 5),
        ("codes", (), "am53 5", "5 am53bk", 1),
        ("codes", (), "lx350h 33", "45 pslx350h", 2),
        ("codes", (), "2 750", "750", 3),
        ("codes", (), "2 750", "3 750", 4),
        ("codes", (), "2", "3", 5),
        ("codes", (), "am53 am53b", "am53bk x12", 1),
        ("codes", (), "am53bk x12", "am53 am53b", 1),
        ("codes", (), "350", "1350", 5),  # a number is not the end of another number
        ("exact", (), "vic", "nsw", 1),
        ("phonetic", (), "robert", "rupert", 1),
        ("phone", (), "7029191300", "17029191300", 1),
        ("phone", (), "03526553537", "3903526553537", 1),
        ("date", (), "1978-11-12", "1978-11-13", 1),
        ("date", (), "1978-11-12", "1978-12-11", 2),
        ("date", (), "1978-11-12", "1987-11-12", 1),  # two neighbours swapped
        ("date", (), "1978-11-12", "1978", 3),
        ("date", (), "1978-11-12", "1999-11-12", 3),
        ("date", (), "1978-11-12", "1979-10-30", 4),
        ("date", (), "1978-11-12", "1985-10-30", 5),
        ("date", (), "1978-11-12", "1905-10-30", 6),
        ("date", (), "1978-02-31", "1978-02-30", 1),
        ("person-name", (), "bob", "robert", 1),
        ("person-name", (), "maria luis", "luis maria", 1),
        ("person-name", (), "marhta", "martha", 2),
        ("person-name", (), "medina sentosa", "sentosa", 3),
        ("person-name", (), "b", "bob", 4),
        ("person-name", (), "j", "bob", 7),
        ("person-name", (), "dobbins jr", "dobbins senior", 7),
        ("person-name", (), "morris i", "morris ii", 7),
        ("person-name", (), "dobbins jr", "dobbins", 1),
    ],
)
def test_known_pairs(name: str, levels: tuple[float, ...], left: str, right: str, expected: int) -> None:
    found = comparator(name, levels)
    assert found.level(left, right) == expected
    assert expected < len(found.levels)


def test_known_distances_and_sounds() -> None:
    assert distance_km((0, 0), (0, 180)) == pytest.approx(20_015, abs=1)  # half round the Earth
    assert [phonetic_code(name) for name in ("robert", "rupert", "ashcraft", "tymczak", "pfister")] == [
        "R163", "R163", "A261", "T522", "P236",
    ]  # fmt: skip


@given(st.dates(), st.dates())
def test_days_apart_are_those_of_the_calendar(one: object, other: object) -> None:
    days = [ordinal(*map(int, str(day).split("-"))) for day in (one, other)]
    assert days[1] - days[0] == (other - one).days  # type: ignore[operator]


@pytest.mark.parametrize("name", COMPARATORS)
@given(left=VALUES, right=VALUES)
def test_a_level_is_the_same_whichever_value_comes_first(name: str, left: str, right: str) -> None:
    found = comparator(name, LEVELS.get(name, ()))
    level = level_of(found, left, right)
    assert level == level_of(found, right, left)
    assert level < len(found.levels)
    assert (level == EQUAL) == (left == right)


TOKENS = st.lists(st.sampled_from(["am53", "am53b", "am53bk", "x12", "bk7", "3", "53"]), min_size=1, unique=True)


@given(left=TOKENS.map(" ".join), right=TOKENS.map(" ".join))
def test_codes_of_one_number_are_compared_both_ways(left: str, right: str) -> None:
    codes = comparator("codes")
    assert codes.level(left, right) == codes.level(right, left)
    if left.split() == right.split()[: len(left.split())] and left != right:
        assert codes.level(left, right) in (1, 3)


@pytest.mark.parametrize("name", COMPARATORS)
@given(value=VALUES)
def test_a_missing_value_is_no_mismatch(name: str, value: str) -> None:
    found = comparator(name, LEVELS.get(name, ()))
    assert {level_of(found, value, ""), level_of(found, "", value), level_of(found, "", "")} == {MISSING}


@pytest.mark.parametrize("name", COMPARATORS)
@given(values=st.lists(VALUES | st.just("") | st.just(f"ab{SEVERAL}bob"), min_size=1, max_size=14))
def test_levels_of_columns_are_those_of_pairs_one_by_one(name: str, values: list[str]) -> None:
    found = comparator(name, LEVELS.get(name, ()))
    rows = np.array(list(itertools.product(range(len(values)), repeat=2)))
    levels = levels_of(found, Column.of(values), rows[:, 0], rows[:, 1])
    assert levels.tolist() == [level_of(found, values[one], values[other]) for one, other in rows.tolist()]


@pytest.mark.parametrize("letters", [1, 2, 5])
@pytest.mark.parametrize("name", COMPARATORS)
def test_the_longest_values_are_compared_in_a_moment(name: str, letters: int) -> None:
    # As the longest text is, and as eight values of one field are: a product of words would take minutes.
    one, other = (
        " ".join("".join(rng.choice(list("abcdefghijklmnop"), letters)) for _ in range(4096 // (letters + 1)))
        for rng in (np.random.default_rng(1), np.random.default_rng(2))
    )
    several = [SEVERAL.join(text[at : at + 511].strip() for at in range(0, 4096, 512)) for text in (one, other)]
    found = comparator(name, LEVELS.get(name, ()))
    began = time.process_time()
    levels = level_of(found, one, other), level_of(found, *several)
    assert time.process_time() - began < 1.0
    assert max(levels) < len(found.levels)


def test_the_first_sixteen_words_of_a_name_count() -> None:
    names, words = comparator("person-name"), [f"{chr(97 + n)}{chr(122 - n)}x" for n in range(20)]
    assert names.level(" ".join(words), " ".join((*words[:16], "other"))) == 1
    assert names.level(" ".join(words[:15]), " ".join((*words[:14], "qqq"))) > 1


def test_of_several_values_the_best_pair_counts() -> None:
    names = comparator("jaro-winkler", (0.9, 0.7))
    assert level_of(names, f"ann{SEVERAL}martha", f"marhta{SEVERAL}zoe") == 1
    assert level_of(names, f"ann{SEVERAL}martha", f"martha{SEVERAL}zoe") == EQUAL


@pytest.mark.parametrize(
    ("name", "levels", "message"),
    [
        ("jaro-winkler", (0.8, 0.9), "descending"),
        ("jaro-winkler", (1.5,), "up to 1"),
        ("levenshtein", (2, 1), "ascending"),
        ("damerau", (1.5,), "whole numbers"),
        ("number", (0.5, 0.1), "ascending"),
        ("distance", (-1.0,), "above 0"),
        ("price", (0.5, 0.1), "ascending"),
        ("measure", (0.1, 1.0), "below 1"),
        ("exact", (0.5,), "expected none"),
        ("token-jaccard", (0.0,), "above 0"),
        ("jaro", (), "did you mean 'jaro-winkler'"),
    ],
)
def test_invalid_levels_are_rejected(name: str, levels: tuple[float, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        comparator(name, levels)


def test_words_that_many_have_weigh_less() -> None:
    frequencies = TokenFrequencies()
    for number in range(100):
        frequencies.add(["the", f"word{number}"])
    words = comparator("tfidf", (0.8, 0.2), frequencies)
    assert words.level("the word1", "word1") == 1
    assert words.level("the word1", "the word2") == 3


@pytest.mark.parametrize("name", ["tfidf", "qgram-cosine"])
def test_tokens_and_values_are_weighed_once_for_all_pairs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Counter[str]()

    def counted(function: Callable[[float], float]) -> Callable[[float], float]:
        def call(number: float) -> float:
            calls[function.__name__] += 1
            return function(number)

        return call

    for function in (math.log, math.sqrt):
        monkeypatch.setattr(tfidf, function.__name__, counted(function))
    values = [
        f"{one} {other} line of things" for one in "red green blue white".split() for other in "box bag can tin".split()
    ]
    frequencies = TokenFrequencies()
    tokens = [tfidf.tokens_of(value, WEIGHTED[name]) for value in values]
    for each in tokens:
        frequencies.add(each)
    found = comparator(name, (), frequencies)
    pairs = [*itertools.combinations(values, 2)]
    levels = [found.level(*pair) for pair in pairs]
    assert calls["sqrt"] == len(values)  # the norm
    assert calls["log"] == 2 * len({(token, count) for each in tokens for token, count in each.items()})
    assert found.batch(*map(list, zip(*pairs, strict=True))).tolist() == levels
    assert calls["sqrt"] == len(values)


@pytest.mark.parametrize("name", ["tfidf", "qgram-cosine"])
@pytest.mark.parametrize("most", [1, 300, 1 << 18])
def test_a_batch_of_texts_has_the_levels_of_its_pairs(
    name: str, most: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_DENSE", "_EXPANDED"):
        monkeypatch.setattr(tfidf, limit, most)
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice([*"abcdef"], rng.integers(1, 7))) for _ in range(60)]
    values = list(dict.fromkeys(" ".join(rng.choice(words, rng.integers(1, 12))) for _ in range(50)))
    frequencies = TokenFrequencies()
    for value in values[10:]:  # the others have tokens without a count
        frequencies.add(tfidf.tokens_of(value, WEIGHTED[name]))
    found = comparator(name, tuple(step / 20 for step in range(19, 0, -1)), frequencies)
    pairs = [*itertools.permutations(values, 2)]
    rng.shuffle(pairs)
    levels = found.batch(*map(list, zip(*pairs, strict=True))).tolist()
    assert levels == [found.level(*pair) for pair in pairs]
    assert len(set(levels)) >= 6


def test_weights_of_words_follow_a_replaced_value() -> None:
    frequencies = TokenFrequencies()
    for number in range(100):
        frequencies.add(["the", f"word{number}"])
    words = comparator("tfidf", (0.8, 0.2), frequencies)
    assert words.level("the word1", "the word2") == 3
    for number in range(100):  # the total stays the same
        frequencies.remove(["the", f"word{number}"])
        frequencies.add(["a", f"word{number}"])
    assert words.level("the word1", "the word2") == 2


@given(st.lists(st.sampled_from("abc"), max_size=20), st.lists(st.sampled_from("abc"), max_size=20))
def test_removed_values_do_not_count(kept: list[str], removed: list[str]) -> None:
    frequencies, other = Frequencies(), Frequencies()
    frequencies.add(removed)
    frequencies.add(kept)
    frequencies.remove(removed)
    other.add(reversed(kept))
    assert [frequencies.count(one) for one in "abc"] == [other.count(one) for one in "abc"]
    assert (frequencies.total, len(frequencies)) == (other.total, len(set(kept)))


def test_a_value_that_was_never_added_cannot_be_removed() -> None:
    with pytest.raises(InvariantError):
        Frequencies().remove(["a"])


def test_several_values_are_compared_value_by_value_only() -> None:
    """Their whole texts are as long as fields may be, and are not compared."""

    class Asked:
        spec, levels = "asked", ("equal", "else")

        def level(self, left: str, right: str) -> int:
            assert SEVERAL not in left + right
            return 1

        def batch(self, left: Sequence[str], right: Sequence[str]) -> U8:
            return np.array([self.level(*pair) for pair in zip(left, right, strict=True)], np.uint8)

    column = Column.of([f"a{SEVERAL}b", "a", f"c{SEVERAL}d", "e", "f", ""])
    pairs = np.array([*itertools.product(range(6), repeat=2)])
    found = levels_of(Asked(), column, pairs[:, 0], pairs[:, 1])
    values = [column.values[code] if code >= 0 else "" for code in column.codes.tolist()]
    assert found.tolist() == [level_of(Asked(), values[left], values[right]) for left, right in pairs.tolist()]
    assert found.tolist()[:6] == [0, 0, 1, 1, 1, MISSING]
