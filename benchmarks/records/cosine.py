"""The baseline of any record linkage: one cosine over all text of a record, without a model.

Each record is the text of its values, weighted by tf-idf of the 3-grams within words; the pairs are those of the
nearest records.  Nothing is learned, and nothing is set for a file.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.peers import required
from tests.evaluation.clustering import components
from tests.evaluation.linking import measured_within
from tests.evaluation.one_to_one import best_pairs
from tests.evaluation.record_corpora import Corpus

NEAREST = 15
"""Neighbours of a record."""
LEAST = 0.3
"""The least cosine of a pair."""
CUTS = tuple(round(0.30 + 0.05 * step, 2) for step in range(14))
_ROWS = 1_000


def entities_at(corpus: Corpus, left: np.ndarray, right: np.ndarray, score: np.ndarray, least: float) -> float:
    """F1 within entities, if the pairs from a score on are linked: one to one where the sources are clean."""
    at = np.flatnonzero(score >= least)
    if corpus.clean:
        names = sorted({record.source for record in corpus.records})
        sources = np.array([names.index(record.source) for record in corpus.records])
        at = at[best_pairs(left[at], right[at], score[at], sources)]
    ids = [record.id for record in corpus.records]
    groups = components(
        [(ids[one], ids[other]) for one, other in zip(left[at].tolist(), right[at].tolist(), strict=True)]
    )
    return measured_within([*map(sorted, groups)], corpus.truth)["f1"]


def cosine_pairs(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the nearest pairs, earlier and later, int64[n] twice, and their cosines, float64[n]."""
    vectorizer = required("sklearn.feature_extraction.text").TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True
    )
    vectors = vectorizer.fit_transform([" ".join(map(str, record.fields.values())) for record in corpus.records])
    sources = [record.source for record in corpus.records] if corpus.clean else None
    found = dict(_nearest(vectors, sources))
    pairs = np.array([*found], np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.array([*found.values()])


def _nearest(vectors: Any, sources: Sequence[str] | None) -> Iterator[tuple[tuple[int, int], float]]:
    names = None if sources is None else np.unique(np.array(sources), return_inverse=True)[1]
    for start in range(0, vectors.shape[0], _ROWS):
        block = (vectors[start : start + _ROWS] @ vectors.T).toarray()
        rows = np.arange(block.shape[0])
        block[rows, start + rows] = 0
        if names is not None:
            block[names[start : start + _ROWS, None] == names[None, :]] = 0
        nearest = np.argpartition(-block, NEAREST, axis=1)[:, :NEAREST]
        for row in rows.tolist():
            for other in nearest[row].tolist():
                if block[row, other] >= LEAST:
                    one = start + row
                    yield (min(one, other), max(one, other)), float(block[row, other])
