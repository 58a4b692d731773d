"""One text of 20 MB: the temporaries stay small beside the result."""

import tracemalloc

import numpy as np
import pytest

from stream_lsh.text.catalog import shingler

MB = 1 << 20


@pytest.mark.parametrize(("spec", "bytes_a_character"), [("char:5", 8), ("word:3", 14)])
@pytest.mark.parametrize("phrase", ["a word of text ", "日本語 テキスト の "])
def test_a_huge_text_takes_little_beside_its_hashes(spec: str, bytes_a_character: int, phrase: str) -> None:
    text = phrase * (20_000_000 // len(phrase))
    shingles = shingler(spec)
    tracemalloc.start()
    try:
        hashes = shingles([text]).hashes
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(np.unique(hashes[:100_000]), np.unique(hashes))
    assert peak < bytes_a_character * len(text) + (0 if phrase.isascii() else 3 * len(text)) + 16 * MB
