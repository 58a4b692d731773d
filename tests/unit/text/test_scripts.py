"""Tokens of `space` and `mixed` against slow definitions; block ends among them."""

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.hashing.groups import BLOCK
from stream_lsh.text.shinglers.mixed import MixedShingler
from stream_lsh.text.shinglers.runs import TokenShingler
from stream_lsh.text.shinglers.space import SpaceShingler
from stream_lsh.text.shinglers.word import WordShingler
from tests.texts import batches

SCRIPTS = (
    "CJK UNIFIED IDEOGRAPH",
    "HIRAGANA LETTER",
    "KATAKANA LETTER",
    "THAI CHAR",
    "LAO LETTER",
    "KHMER LETTER",
    "MYANMAR LETTER",
)
mixed_texts = st.text(st.sampled_from("ab 1_日本カなทีนกຂກំကြ၁é\u0301e\u0939\u093fİ\0\ud800😀.𠀀"), max_size=40)


def mixed_tokens(text: str) -> list[str]:
    """Character by character: a letter of an unspaced script stands alone, a mark belongs to the one before it."""
    tokens, kinds, at_once = list[str](), list[str](), False
    for character in text.lower():
        if unicodedata.category(character)[0] == "M":
            if at_once:
                tokens[-1] += character
        elif not re.match(r"\w", character):
            at_once = False
        elif unicodedata.name(character, "").startswith(SCRIPTS) and not character.isdecimal():
            tokens.append(character)
            kinds.append("single")
            at_once = True
        elif at_once and kinds[-1] == "word":
            tokens[-1] += character
        else:
            tokens.append(character)
            kinds.append("word")
            at_once = True
    return tokens


def split(text: str) -> list[str]:
    return text.split()


SLOW: dict[type[TokenShingler], Callable[[str], list[str]]] = {SpaceShingler: split, MixedShingler: mixed_tokens}


def check(made: TokenShingler, batch: list[str]) -> None:
    """That hashes are equal exactly where tokens are, and that there are as many."""
    slow = SLOW[type(made)]
    expected = [slow(text) for text in batch]
    shingles = made(batch)
    assert shingles.counts.tolist() == [len(one) for one in expected]
    meaning: dict[int, str] = {}
    for value, token in zip(shingles.hashes.tolist(), (token for one in expected for token in one), strict=True):
        assert meaning.setdefault(value, token) == token
    assert len({*meaning.values()}) == len(meaning)


@pytest.mark.parametrize("made", [SpaceShingler(1), MixedShingler(1)])
@given(batch=st.lists(mixed_texts, max_size=5))
def test_tokens_are_those_of_the_slow_definition(made: TokenShingler, batch: list[str]) -> None:
    check(made, batch)


@given(batch=batches)
def test_any_text_has_the_tokens_that_split_finds(batch: list[str]) -> None:
    check(SpaceShingler(1), batch)


@pytest.mark.parametrize("made", [SpaceShingler(1), MixedShingler(1)])
@pytest.mark.parametrize("tail", ["ที่日e\u0301 b", "\u0301\u0301x 日", "a1 日", " \u0301", "日\u0301日a"])
@pytest.mark.parametrize("head", ["a", "日", "é", "ก", ".", "日 ", "e\u0301"])
def test_a_token_over_the_end_of_a_block_is_one(made: TokenShingler, head: str, tail: str) -> None:
    ends = ["." * (BLOCK - before - len(head)) + " " * before + head + tail for before in range(4)]
    check(made, [*ends, head * BLOCK + tail])


@given(st.text(st.sampled_from("ab ,\n"), max_size=60), st.integers(1, 4))
def test_mixed_shingles_of_spaced_scripts_are_word_shingles(text: str, k: int) -> None:
    assert MixedShingler(k)([text]).hashes.tolist() == WordShingler(k)([text]).hashes.tolist()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京 2020", ["東", "京", "2020"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("ສະບາຍ", ["ສ", "ະ", "ບ", "າ", "ຍ"]),
        ("សួស្តី", ["សួ", "ស្", "តី"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("한국어 말", ["한국어", "말"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("๒๕๖๓", ["๒๕๖๓"]),
        ("iPhone手机", ["iphone", "手", "机"]),
    ],
)
def test_units_are_the_tokens_as_a_reader_sees_them(text: str, tokens: list[str]) -> None:
    starts, ends, firsts = MixedShingler(1).units(text)
    assert [text[a:b].lower() for a, b in zip(starts, ends, strict=True)] == tokens == mixed_tokens(text)
    assert firsts.size == len(tokens)


def test_one_character_more_costs_an_unspaced_text_k_shingles_and_not_a_clause() -> None:
    text, edited = "我们昨天在北京的公园里看见了一只很大的熊猫", "我们昨天在北京的小公园里看见了一只很大的熊猫"
    shared = {
        made.spec: len({*made([text]).hashes.tolist()} & {*made([edited]).hashes.tolist()})
        for made in (WordShingler(1), MixedShingler(3))
    }
    assert shared == {"word:1": 0, "mixed:3": len(text) - 2 - 2}


def test_white_space_alone_parts_tokens_and_case_and_punctuation_stay() -> None:
    hashes = SpaceShingler(1)(["a, a A \0 \x1ca,\u3000a\0"]).hashes.tolist()
    assert len(hashes) == 6
    assert hashes[0] == hashes[4]
    assert len(set(hashes)) == 5
