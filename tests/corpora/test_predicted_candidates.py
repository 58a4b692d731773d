"""Candidates are predicted as they are counted: of all hash functions in mean, and of those of one pipeline exactly.

What one choice of hash functions makes of pages that share a frame scatters widely, for they become candidates of each
other all together or not at all: from 50 to 186 a document were counted with twelve seeds where 85 were predicted.
So the means over seeds are compared, and the tolerance is the error of that mean as the seeds themselves show it.
They are counted without the rest of the pipeline; that it counts the same is the last test.
"""

import random
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from stream_lsh import Document
from stream_lsh.arrays import U32
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.lsh.sample import sampled_agreements, sampled_candidates
from stream_lsh.lsh.solver import banding_of
from stream_lsh.pipeline.local import LocalPipeline
from tests.evaluation.corpora import llvm_pages, newsgroups
from tests.streamed import UNCAPPED

pytestmark = pytest.mark.corpus

SEEDS = 8


class Case(NamedTuple):
    """A number of documents of a corpus; `close` is the difference of the means, as a share of the count."""

    corpus: str
    documents: int
    threshold: float
    close: float


CASES = [Case("newsgroups20", 2000, 0.5, 0.1), Case("llvm_docs_pages", 600, 0.8, 0.35)]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.corpus)


@cache
def read(corpus: str, data_dir: Path) -> list[Document]:
    return list({"newsgroups20": newsgroups, "llvm_docs_pages": llvm_pages}[corpus](data_dir).documents)


def documents_of(case: Case, data_dir: Path, seed: int) -> list[Document]:
    return random.Random(seed).sample(read(case.corpus, data_dir), case.documents)


class Seen(NamedTuple):
    """The signatures of documents that have shingles, and what made them."""

    signatures: U32
    scheme: TextScheme

    def predicted(self, signatures: U32 | None = None, seed: int = 1) -> float:
        """Candidates a document, of all of these, from what is known of some."""
        banding = self.scheme.banding
        found = sampled_agreements(self.signatures if signatures is None else signatures, seed)
        chosen = banding_of(banding.threshold, banding.bands, banding.rows, histogram=found)
        return sum(chosen.candidates_per_document(len(self.signatures)))

    def counted(self, seed: int) -> float:
        banding = self.scheme.banding
        pairs = sampled_candidates(self.signatures, banding.bands, banding.rows, seed, visits=1 << 40)
        return float(pairs.sum()) / len(self.signatures)


def seen(case: Case, documents: list[Document], seed: int) -> Seen:
    scheme = TextScheme(case.threshold, seed=seed)
    signatures = scheme.sign([document.text or "" for document in documents])
    return Seen(signatures.values[signatures.digests != 0], scheme)


@every_case
def test_candidates_are_predicted_in_mean_over_hash_functions(case: Case, data_dir: Path, seed: int) -> None:
    documents = documents_of(case, data_dir, seed)
    runs = {choice: seen(case, documents, choice) for choice in range(1, SEEDS + 1)}
    counted = np.array([run.counted(choice) for choice, run in runs.items()])
    predicted = np.array([run.predicted() for run in runs.values()])
    error = np.std(counted - predicted, ddof=1) / SEEDS**0.5
    assert predicted.mean() == pytest.approx(counted.mean(), abs=4 * error)
    assert predicted.mean() == pytest.approx(counted.mean(), rel=case.close)


@every_case
def test_a_sample_predicts_for_more_documents_than_it_has(case: Case, data_dir: Path, seed: int) -> None:
    run = seen(case, documents_of(case, data_dir, seed), 1)
    rng = np.random.default_rng(seed)
    samples = [rng.choice(run.signatures, case.documents // 4, replace=False) for _ in range(24)]
    found = np.array([run.predicted(sample, choice) for choice, sample in enumerate(samples)])
    error = found.std(ddof=1) / len(found) ** 0.5
    assert found.mean() == pytest.approx(run.predicted(), abs=4 * error)
    assert found.mean() == pytest.approx(run.predicted(), rel=case.close)


@every_case
def test_the_pipeline_counts_the_predicted_candidates(case: Case, data_dir: Path, seed: int) -> None:
    documents = documents_of(case, data_dir, seed)
    run = seen(case, documents, 3)
    pipeline = LocalPipeline(run.scheme, case.threshold, UNCAPPED)
    for start in range(0, len(documents), 200):
        pipeline.process(documents[start : start + 200])
    assert pipeline.counts.candidates == round(run.counted(3) * len(run.signatures)) > 50
