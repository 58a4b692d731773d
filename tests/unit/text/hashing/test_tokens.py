import itertools
import re
import sys

import numpy as np
import pytest
from hypothesis import given

from stream_lsh.text.hashing.groups import BLOCK
from stream_lsh.text.hashing.tokens import token_hashes
from stream_lsh.text.hashing.windows import polynomial_base
from tests.evaluation.oracles import tokens
from tests.texts import AWKWARD, batches

BASE = polynomial_base(1)


def hashes_by_text(texts: list[str]) -> list[list[int]]:
    hashes, starts = token_hashes(texts, BASE, 5)
    assert len(starts) == len(texts) + 1
    return [hashes[a:b].tolist() for a, b in itertools.pairwise(starts)]


@given(batches)
def test_tokens_are_those_of_the_lower_cased_text(batch: list[str]) -> None:
    found = hashes_by_text(batch)
    assert [len(hashes) for hashes in found] == [len(tokens(text)) for text in batch]
    words = [word for text in batch for word in tokens(text)]
    hashes = [h for document in found for h in document]
    assert len(set(zip(words, hashes, strict=True))) == len(set(words)) == len(set(hashes))


def test_a_letter_that_grows_when_lower_cased_does_not_move_its_neighbours() -> None:
    assert "İ".lower() == "i\u0307"
    first, second = hashes_by_text(["İstanbul İİ", "kartal"])
    assert len(first) == len(tokens("İstanbul İİ"))
    assert second == hashes_by_text(["kartal"])[0]


def test_the_same_token_has_the_same_hash_among_ascii_and_among_other_scripts() -> None:
    ((plain,),) = hashes_by_text(["Token"])
    assert hashes_by_text(["日本 TOKEN é"])[0][1] == plain
    assert hashes_by_text(["x" * 40_000 + " token"])[0][1] == plain


@pytest.mark.parametrize("gap", range(-2, 3))
@pytest.mark.parametrize("letter", ["q", "é"])
def test_a_token_over_the_end_of_a_block_is_one_token(gap: int, letter: str) -> None:
    text = " " * (BLOCK - 3 + gap) + letter * 5 + " " + letter * 5
    first, second = hashes_by_text([text])[0]
    assert first == second


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1, 65_537, 3 * BLOCK, 150_000])
def test_a_token_over_several_blocks_is_one_token(length: int) -> None:
    word = "q" * length
    alone = hashes_by_text([word])[0]
    assert len(alone) == 1
    assert hashes_by_text(["first " + word + " last", word]) == [
        [*hashes_by_text(["first"])[0], *alone, *hashes_by_text(["last"])[0]],
        alone,
    ]
    assert hashes_by_text([word + "r"]) != [alone]


def test_long_texts_have_the_tokens_of_the_regular_expression() -> None:
    for text in AWKWARD:
        found = hashes_by_text([text])[0]
        words = tokens(text)
        assert len(found) == len(words)
        assert len(set(zip(words, found, strict=True))) == len(set(words)) == len(set(found))


def test_every_code_point_is_classed_as_the_regular_expression_does() -> None:
    points = [chr(code) for code in range(sys.maxunicode + 1)]
    for start in range(0, len(points), 20_000):
        part = points[start : start + 20_000]
        _, starts = token_hashes(part, BASE, 5)
        assert np.diff(starts).tolist() == [len(re.findall(r"\w+", c.lower())) for c in part]


def test_nothing_has_no_tokens() -> None:
    assert hashes_by_text([]) == []
    assert hashes_by_text(["", "."]) == [[], []]
