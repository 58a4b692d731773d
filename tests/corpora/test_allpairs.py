"""All pairs of real texts against the pairs that come with them, which were found by Python sets."""

import random
from pathlib import Path

import pytest

from stream_lsh import Document
from stream_lsh.allpairs.engine import LEAST_MEMORY
from stream_lsh.allpairs.pairs import AllPairs, all_pairs
from tests.evaluation import corpora

pytestmark = pytest.mark.corpus


def found(documents: list[Document], threshold: float) -> dict[tuple[str, str], float]:
    return {(pair.left, pair.right): round(pair.similarity, 4) for pair in all_pairs(documents, threshold)}


@pytest.mark.parametrize("size", corpora.MCCORMICK)
def test_all_pairs_of_the_articles(size: int, data_dir: Path) -> None:
    corpus = corpora.mccormick(data_dir, size)
    assert found(corpus.documents, corpus.least) == corpus.exact
    assert corpus.exact


def test_all_pairs_of_the_postings(data_dir: Path) -> None:
    corpus = corpora.newsgroups(data_dir)
    pairs = found(corpus.documents, corpus.least)
    assert pairs == corpus.exact
    assert sum(similarity >= 0.8 for similarity in pairs.values()) == 963


def test_all_pairs_of_some_pages_that_share_a_frame(data_dir: Path, seed: int) -> None:
    corpus = corpora.llvm_pages(data_dir)
    documents = random.Random(seed).sample(corpus.documents, 1500)
    ids = {one.id for one in documents}
    expected = {pair: similarity for pair, similarity in corpus.exact.items() if ids.issuperset(pair)}
    assert found(documents, corpus.least) == expected
    assert len(expected) > 1000


def test_little_memory_gives_the_same_pairs(data_dir: Path, tmp_path: Path) -> None:
    corpus = corpora.newsgroups(data_dir)
    documents = corpus.documents[:6000]
    ids = {one.id for one in documents}
    with AllPairs(0.5, memory=2 * LEAST_MEMORY, folder=str(tmp_path), threads=1) as pairs:
        pairs.add(documents)
        some = {(pair.left, pair.right): round(pair.similarity, 4) for pair in pairs.matches()}
    assert some == {
        pair: similarity for pair, similarity in corpus.exact.items() if similarity >= 0.5 and ids.issuperset(pair)
    }
