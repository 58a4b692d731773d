"""Shared passages, compared with windows made of strings, and normal forms with those of each piece."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.text.catalog import shingler
from stream_lsh.text.normalise import FORMS, Normaliser
from stream_lsh.text.origins import lowered, trace
from stream_lsh.text.passages.shared import Passage, passages
from tests.evaluation.oracles import char_windows, tokens, word_windows
from tests.texts import texts

forms = st.lists(st.sampled_from(sorted(FORMS)), max_size=3)
KINDS = (
    "aAé e\u0301\u0323\u0327İß",
    "\u1100\u1161\u11a8각가\u034fㄱㅏ",
    "ﬁfiﬀ①1㎏kg",
    "ﾊﾞハ\u3099バ",
    "\u09c7\u09be\u09cba",
    "a \u00a0\n\u1680",
)
"""Characters that join, part, change places, become several, and vanish."""
marked = st.sampled_from(KINDS).flatmap(lambda kind: st.text(st.sampled_from(kind), max_size=20))
two_texts = st.one_of(
    st.tuples(texts, texts),
    st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(*[st.text(st.sampled_from(kind), max_size=12)] * 2)),
)


def check(text: str, normal: str, starts: list[int], ends: list[int]) -> None:
    """That ends follow starts, that characters come in order, and that pieces do not overlap."""
    assert len(starts) == len(ends) == len(normal)
    parts = sorted(set(zip(starts, ends, strict=True)))
    assert parts == list(dict.fromkeys(zip(starts, ends, strict=True)))
    assert all(0 <= start < end <= len(text) for start, end in parts)
    assert all(before[1] <= after[0] for before, after in pairwise(parts))


@given(st.one_of(texts, marked), forms)
def test_a_normal_form_leads_back_to_the_text(text: str, names: list[str]) -> None:
    normal, (starts, ends) = trace(names, text)
    assert normal == Normaliser(names)(text)
    assert len(starts) == len(ends) == len(normal)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    assert starts.tolist() == sorted(starts)
    assert ends.tolist() == sorted(ends)


@pytest.mark.parametrize("name", ["nfc", "nfkc", "accents"])
def test_a_long_run_of_marks_leads_back_to_the_text(name: str) -> None:
    text = "xa" + "\u0301\u0323" * 40 + "b"
    normal, origins = trace((name,), text)
    assert normal == FORMS[name](text)
    assert (origins.starts[0], origins.ends[0], origins.starts[-1], origins.ends[-1]) == (0, 1, 82, 83)
    assert (np.diff(origins.starts) >= 0).all()
    assert (np.diff(origins.ends) >= 0).all()


@given(st.one_of(texts, marked), st.sampled_from(sorted(FORMS)))
def test_every_piece_of_a_text_has_the_form_that_the_whole_has_there(text: str, name: str) -> None:
    normal, (starts, ends) = trace([name], text)
    check(text, normal, starts.tolist(), ends.tolist())
    pieces: dict[tuple[int, int], str] = {}
    for character, start, end in zip(normal, starts.tolist(), ends.tolist(), strict=True):
        pieces[start, end] = pieces.get((start, end), "") + character
    for (start, end), made in pieces.items():
        assert made == (FORMS[name](text[start:end]) if name != "space" else " " if text[start].isspace() else made)
    if name == "space":
        assert "".join(text[start] for start, _ in pieces if not text[start].isspace()) == "".join(text.split())


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("nfc", "xe\u0301y", [(0, 1), (1, 3), (3, 4)]),
        ("nfc", "a\u0301\u0323b", [(0, 3), (0, 3), (3, 4)]),  # the marks change places
        ("nfc", "a\u0327\u0323", [(0, 3), (0, 3)]),  # the second mark joins the letter, over the first one
        ("nfc", "\u1100\u1161\u11a8\u1100", [(0, 3), (3, 4)]),
        ("nfkc", "ﬁx", [(0, 1), (0, 1), (1, 2)]),
        ("accents", "x\u0301é", [(0, 2), (2, 3)]),  # a removed character belongs to the one before it
        ("accents", "\u1100\u034f\u1161", [(0, 3)]),  # the character between the two is removed
        ("casefold", "aßb", [(0, 1), (1, 2), (1, 2), (2, 3)]),
        ("space", " a \n b", [(1, 2), (2, 5), (5, 6)]),
    ],
)
def test_characters_of_a_normal_form_come_from_the_smallest_piece(
    name: str, text: str, places: list[tuple[int, int]]
) -> None:
    starts, ends = trace([name], text)[1]
    assert [*zip(starts.tolist(), ends.tolist(), strict=True)] == places


@given(st.one_of(texts, marked))
def test_lower_case_leads_back_to_the_text(text: str) -> None:
    lower, (starts, ends) = lowered(text)
    assert lower == text.lower()
    check(text, lower, starts.tolist(), ends.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nfc", "nfkc", "accents"])
def test_every_character_that_a_form_changes_leads_back_to_itself_between_others(name: str) -> None:
    changing = [chr(code) for code in range(sys.maxunicode + 1) if FORMS[name](chr(code)) != chr(code)]
    assert len(changing) > 1000
    text = "|".join(changing)
    normal, (starts, ends) = trace([name], text)
    assert normal == FORMS[name](text)
    for start, end in {*zip(starts.tolist(), ends.tolist(), strict=True)}:
        assert end - start <= 2, "a character, or a bar and a mark"
    check(text, normal, starts.tolist(), ends.tolist())


@given(two_texts, st.sampled_from(["word", "char"]), st.integers(1, 4), forms)
def test_passages_are_the_units_that_shared_windows_cover(
    both: tuple[str, str], kind: str, k: int, names: list[str]
) -> None:
    text, other = both
    shingles = shingler(f"{kind}:{k}")
    made = sorted_unique(shingles([Normaliser(names)(other)]).hashes)
    found = passages(text, names, shingles, made)
    assert all(one.end <= then.start and one.shared != then.shared for one, then in pairwise(found))
    # The slow way: units as strings, and the windows that the other text has as well.
    normal, back = trace(names, text)
    units = tokens(normal) if kind == "word" else list(normal)
    windows = (word_windows if kind == "word" else char_windows)(normal, k)
    theirs = set((word_windows if kind == "word" else char_windows)(Normaliser(names)(other), k))
    covered = {at + place for at, window in enumerate(windows) if window in theirs for place in range(k)}
    starts, ends, firsts = shingles.units(normal)
    assert len(firsts) == len(windows)
    assert len(starts) == len(units)
    for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        begin, stop = int(back.starts[start]), int(back.ends[end - 1])
        holding = [one for one in found if one.start < stop and one.end > begin]
        assert any(one.shared == (at in covered) for one in holding) or len(holding) == 1


@given(
    st.text(st.sampled_from("ab .\n"), max_size=60), st.text(st.sampled_from("ab .\n"), max_size=60), st.integers(1, 4)
)
def test_words_of_ascii_are_marked_to_the_letter(text: str, other: str, k: int) -> None:
    shingles = shingler(f"word:{k}")
    found = passages(text, ("nfc",), shingles, sorted_unique(shingles([other]).hashes))
    theirs = set(word_windows(other, k))
    words, windows = tokens(text), word_windows(text, k)
    covered = {at + place for at, window in enumerate(windows) if window in theirs for place in range(k)}
    got = [(word, one.shared) for one in found for word in tokens(text[one.start : one.end])]
    assert got == [(word, at in covered) for at, word in enumerate(words)]
    edges = [text[one.start] + text[one.end - 1] for one in found]
    assert all(edge.isalpha() for edge in edges)


stop = st.lists(st.sampled_from(["the", "of", "to", "cat", "dog", "Menu"]), max_size=15).map(" ".join)


@given(stop, stop)
def test_words_in_no_shingle_are_in_no_passage(text: str, other: str) -> None:
    shingles = shingler("stopword:en")
    found = passages(text, (), shingles, sorted_unique(shingles([other]).hashes))
    theirs = {window for window in word_windows(other, 3) if len(window) == 3 and window[0] in ("the", "of", "to")}
    theirs = theirs if len(tokens(other)) >= 3 else set()
    words, kinds = tokens(text), [0] * len(tokens(text))
    for at in range(len(words) - 2):
        if words[at] in ("the", "of", "to"):
            for place in range(at, at + 3):
                kinds[place] = max(kinds[place], 1 + (tuple(words[at : at + 3]) in theirs))
    starts, ends, _ = shingles.units(text)
    got = [0] * len(words)
    for passage in found:
        for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            if passage.start <= start and end <= passage.end:
                got[at] = 1 + passage.shared
    assert got == kinds
    assert all(one.shared != then.shared or 0 in kinds for one, then in pairwise(found))


def test_passages_are_parts_of_the_text_as_it_came() -> None:
    text, other = "Cafe\u0301 au  LAIT, Straße", "CAFÉ AU LAIT, Allee"
    shingles = shingler("char:3")
    names = ("nfc", "casefold", "space")
    found = passages(text, names, shingles, sorted_unique(shingles([Normaliser(names)(other)]).hashes))
    assert [(text[start:end], shared) for start, end, shared in found] == [
        ("Cafe\u0301 au  LAIT, ", True),
        ("Straße", False),
    ]


def test_a_character_that_is_several_in_the_normal_form_is_in_one_passage_only() -> None:
    shingles = shingler("char:1")
    for other, want in (("f", [Passage(0, 1, shared=True)]), ("i", [Passage(0, 1, shared=False)])):
        assert passages("ﬁ", ("nfkc",), shingles, shingles([other]).hashes) == want
    found = passages("aﬁa", ("nfkc",), shingles, sorted_unique(shingles(["ai"]).hashes))
    assert found == [Passage(0, 1, shared=True), Passage(1, 2, shared=False), Passage(2, 3, shared=True)]


def test_a_text_without_shingles_has_no_passages() -> None:
    shingles = shingler("word:3")
    assert passages("", ("nfc",), shingles, shingles([""]).hashes) == []
    assert passages("!?", ("nfc",), shingles, shingles(["a b c"]).hashes) == []
    assert passages("a b", ("nfc",), shingles, shingles([""]).hashes) == [Passage(0, 3, shared=False)]
