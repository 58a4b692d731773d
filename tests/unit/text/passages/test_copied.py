"""Passages with both places: in the texts as they came, with replaced words inside, moved, common ones left out."""

import numpy as np
import pytest

from stream_lsh.arrays import U64
from stream_lsh.measure.jaccard import sorted_unique
from stream_lsh.text.catalog import shingler
from stream_lsh.text.passages.copied import Copied, copied_passages
from stream_lsh.text.shingles import Shingler

WORDS = [f"w{number}" for number in range(400)]
NONE = np.empty(0, np.uint64)
SHINGLER = shingler("word:3")


def text(*ranges: tuple[int, int]) -> str:
    return " ".join(word for start, end in ranges for word in WORDS[start:end])


def found(left: str, right: str, common: U64 = NONE, least: int = 1, by: Shingler = SHINGLER) -> list[tuple[str, str]]:
    passages = copied_passages(left, right, ("nfc", "casefold"), by, common, least_units=least)
    return [(left[one.left_start : one.left_end], right[one.right_start : one.right_end]) for one in passages]


def test_a_passage_is_cut_out_of_both_texts_exactly() -> None:
    left, right = text((0, 20), (100, 130), (20, 40)), text((200, 210), (100, 130))
    assert found(left, right) == [(text((100, 130)),) * 2]


def test_passages_come_in_the_order_of_the_left_text_wherever_they_are_in_the_right_one() -> None:
    left, right = text((0, 50), (100, 150)), text((100, 150), (300, 350), (0, 50))
    assert found(left, right) == [(text((0, 50)),) * 2, (text((100, 150)),) * 2]


def test_replaced_words_do_not_divide_a_passage_but_are_not_counted() -> None:
    words = WORDS[:60]
    replaced = [word if at % 12 != 6 else "other" for at, word in enumerate(words)]
    (passage,) = copied_passages(" ".join(words), " ".join(replaced), ("nfc",), SHINGLER, NONE)
    assert passage == Copied(0, len(" ".join(words)), 0, len(" ".join(replaced)), 55)


def test_texts_between_two_passages_that_are_long_part_them() -> None:
    left, right = text((0, 30), (30, 60)), text((0, 30), (300, 330), (30, 60))
    assert found(left, right) == [(text((0, 30)),) * 2, (text((30, 60)),) * 2]


def test_common_shingles_do_not_count() -> None:
    left, right = text((0, 30), (50, 80)), text((50, 80), (0, 30))
    common = sorted_unique(SHINGLER([text((50, 80))]).hashes)
    assert found(left, right, common) == [(text((0, 30)),) * 2]


def test_short_passages_are_left_out_if_that_is_wanted() -> None:
    left, right = text((0, 9), (50, 80)), text((50, 80), (0, 9))
    assert found(left, right, least=10) == [(text((50, 80)),) * 2]
    assert len(found(left, right, least=9)) == 2


def test_places_are_those_of_the_original_text_under_any_normal_form() -> None:
    left, right = "Äh: STRASSE Cafe\u0301 und Öl.", "(straße café und öl)"
    assert found(left, right) == [("STRASSE Cafe\u0301 und Öl", "straße café und öl")]


@pytest.mark.parametrize("spec", ["char:5", "word:1", "stopword:en"])
def test_passages_are_found_with_all_kinds_of_shingles(spec: str) -> None:
    prose = "it was the best of times and it was the worst of times as they say in the novel that we read"
    ((left, right),) = found(f"Zzz! {prose}", prose, by=shingler(spec))
    assert right in prose
    assert left == right
    assert len(right) > len(prose) / 2


def test_empty_texts_have_no_passages() -> None:
    assert found("", "") == found("a b c", "") == found("", "a b c") == []
