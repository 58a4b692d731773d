"""Shingles of characters and of words: windows of k, whatever else is in the batch."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.shinglers.char import CharShingler
from stream_lsh.text.shinglers.word import WordShingler
from tests.evaluation.oracles import char_windows, word_windows
from tests.texts import AWKWARD, batches

Windows = Callable[[str, int], Sequence[Hashable]]
either = pytest.mark.parametrize(("shingler", "windows"), [(CharShingler, char_windows), (WordShingler, word_windows)])


@either
@given(batch=batches, k=st.integers(1, 9))
def test_shingles_are_equal_exactly_where_their_hashes_are(
    shingler: Any, windows: Windows, batch: list[str], k: int
) -> None:
    shingles = shingler(k)(batch)
    found = [window for text in batch for window in windows(text, k)]
    assert shingles.counts.tolist() == [len(windows(text, k)) for text in batch]
    hashes = shingles.hashes.tolist()
    assert len(set(zip(found, hashes, strict=True))) == len(set(found)) == len(set(hashes))


@either
@given(batch=batches, k=st.integers(1, 64))
def test_a_document_does_not_depend_on_its_neighbours(
    shingler: Any, windows: Windows, batch: list[str], k: int
) -> None:
    together = shingler(k)(batch)
    for row, text in enumerate(batch):
        assert np.array_equal(together.document(row), shingler(k)([text]).hashes)


@either
@pytest.mark.parametrize("k", [1, 3, 5, 64])
def test_awkward_and_long_texts_have_as_many_distinct_hashes_as_shingles(
    shingler: Any, windows: Windows, k: int
) -> None:
    together = shingler(k)(AWKWARD)
    for row, text in enumerate(AWKWARD):
        alone = shingler(k)([text])
        assert np.unique(alone.hashes).size == len(set(windows(text, k)))
        assert np.array_equal(together.document(row), alone.hashes)
