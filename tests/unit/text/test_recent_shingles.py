"""Shingles of recent texts: those of the shingler, or none."""

import random

import numpy as np

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.text.catalog import shingler
from stream_lsh.text.recent_shingles import RecentShingles
from stream_lsh.text.shingles import Shingles


def test_a_recent_text_has_the_shingles_of_the_shingler() -> None:
    rng, shingles, recent = random.Random(1), shingler("char:3"), RecentShingles(2_000)
    texts = ["x" * 40 + "".join(rng.choices("ab", k=3)) + "y" * 40 for _ in range(30)] + ["", "a", "abc"]
    found = 0
    for start in range(0, len(texts), 5):
        batch = texts[start : start + 5]
        recent.add(batch, shingles(batch))
        for text in texts:
            kept = recent.get(text)
            if kept is not None:
                found += 1
                assert kept.tolist() == shingles([text]).document(0).tolist()
    assert found > 10
    assert recent.get("x" * 40 + "..." + "y" * 40) is None, "equal length and equal ends"


def test_the_oldest_batches_leave_and_a_large_one_never_comes() -> None:
    recent = RecentShingles(10)
    for number in range(5):
        recent.add([str(number)], Shingles(np.arange(4, dtype=np.uint64), np.array([0, 4])))
    assert [number for number in range(5) if recent.get(str(number)) is not None] == [3, 4]
    recent.add(["large"], Shingles(np.arange(11, dtype=np.uint64), np.array([0, 11])))
    assert recent.get("large") is None
    assert recent.get("4") is not None


def test_signed_texts_are_not_shingled_again() -> None:
    scheme = TextScheme(0.8, "word:1")
    texts = ["one two two three", "four", ""]
    expected = [made.tolist() for made in TextScheme(0.8, "word:1").shingle_sets(texts)]
    scheme.sign(texts[:2])
    asked = list[str]()
    shingles = scheme.shingles

    def noted(some: list[str]) -> Shingles:
        asked.extend(some)
        return shingles(some)

    scheme.shingles = noted  # type: ignore[method-assign, assignment]
    assert [made.tolist() for made in scheme.shingle_sets(texts)] == expected
    assert asked == [""]
