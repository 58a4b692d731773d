"""Capital-letter shingles against a slow definition, and their effect on articles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh import NearDuplicates
from stream_lsh.text.hashing.tokens import word_pattern
from stream_lsh.text.shinglers.capital import CapitalShingler
from stream_lsh.text.shinglers.word import WordShingler
from tests.evaluation.oracles import tokens
from tests.texts import texts

words = st.lists(
    st.sampled_from(["the", "Paris", "cat", "iPad", "NASA", "İzmir", "x", "...", "ǅ", "éA", "日本", "𐐀b"]), max_size=12
)
batches = st.lists(words.map(" ".join) | texts, max_size=5)


def windows(text: str, k: int) -> list[tuple[tuple[str, ...], bool]]:
    """Every run of k words, and whether it is one of those asked for; of İ, lower case makes two characters."""
    found = list[tuple[str, bool]]()
    for original in word_pattern().findall(text):
        parts = tokens(original)
        flags = [any(c.isupper() or c.istitle() for c in original)] + [False] * (len(parts) - 1)
        if "İ" in original:
            flags = flags_of_parts(original)
        found += zip(parts, flags, strict=True)
    runs = [found[at : at + k] for at in range(len(found) - k + 1)]
    return [(tuple(word for word, _ in run), run[0][1] or run[-1][1]) for run in runs]


def flags_of_parts(original: str) -> list[bool]:
    """Lower-cased, İ ends a word: the dot over it is none of its characters."""
    pieces = [""]
    for character in original:
        pieces[-1] += character
        if character == "İ":
            pieces.append("")
    return [any(c.isupper() or c.istitle() for c in piece) for piece in pieces if piece]


@given(batches, st.integers(1, 4))
def test_they_are_the_runs_that_start_or_end_at_a_word_with_a_capital(batch: list[str], k: int) -> None:
    shingles = CapitalShingler(k)(batch)
    for row, text in enumerate(batch):
        runs = windows(text, k)
        of_words = WordShingler(k, full=True)([text]).hashes.tolist()
        expected = [value for value, (_, wanted) in zip(of_words, runs, strict=True) if wanted]
        assert shingles.document(row).tolist() == expected


@pytest.mark.parametrize(
    ("text", "k", "runs"),
    [
        ("we flew to Paris on Monday night", 2, ["to Paris", "Paris on", "on Monday", "Monday night"]),
        ("my iPad", 1, ["iPad"]),
        ("nothing here", 1, []),
        ("Too short", 3, []),
        ("", 1, []),
    ],
)
def test_examples(text: str, k: int, runs: list[str]) -> None:
    starts, ends, firsts = CapitalShingler(k).units(text)
    assert [text[starts[at] : ends[at + k - 1]] for at in firsts.tolist()] == runs
    assert CapitalShingler(k)([text]).hashes.tolist() == [WordShingler(k)([run]).hashes[0] for run in runs]


def test_an_article_outweighs_the_search_words_around_it() -> None:
    article = (
        "Mayor Ann Lee of Basel stated on Monday that the Rhine Bridge will cost 3 Million more. Basel voted in May. "
    )
    clutter = "cheap flights hotels car rental insurance jobs dating games weather horoscope recipes "
    other = "video shop login subscribe newsletter archive terms privacy contact imprint sitemap help about careers "
    found = {}
    for shingles in ("word:3", "capital:3"):
        near = NearDuplicates(0.6, shingles)
        near.add("one", clutter + article + clutter)
        found[shingles] = near.query(other + article + other)
    assert found["word:3"] == []
    assert found["capital:3"][0].similarity == 14 / 20
