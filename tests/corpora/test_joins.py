"""The joins and the method `exact` on corpora: the pairs of the files, and of a comparison of every two."""

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from stream_lsh.arrays import U64
from stream_lsh.kinds.shingled.exact_scheme import ExactScheme
from stream_lsh.measure.jaccard import shared_counts
from stream_lsh.measure.joins.join import METHODS, join
from stream_lsh.pipeline.local import LocalPipeline
from tests.corpora.documents import sample
from tests.corpora.test_offline_equals_online import history, in_small_batches
from tests.streamed import UNCAPPED, Pairs

pytestmark = pytest.mark.corpus


class Case(NamedTuple):
    """A corpus, how much of it is taken, what is a match, and how many pairs there are at least."""

    corpus: str
    most: int
    threshold: float
    shingles: str
    pairs: int


CASES = [
    Case("newsgroups20", 900, 0.5, "word:3", 50),
    Case("newsgroups20", 500, 0.9, "char:9", 5),
    Case("llvm_docs_pages", 350, 0.7, "word:3", 300),
    Case("llvm_docs_pages", 350, 0.9, "word:3", 50),
    Case("llvm_docs_pages", 800, 0.98, "word:3", 5),
]


def every_two(ids: list[str], sets: list[U64], threshold: float) -> Pairs:
    found: Pairs = {}
    for row, one in enumerate(sets):
        for other, shared in enumerate(shared_counts(one, sets[:row]).tolist()):
            similarity = shared / max(1, one.size + sets[other].size - shared)
            if similarity >= threshold:
                left, right = sorted((ids[row], ids[other]))
                found[left, right] = similarity
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.corpus} {case.threshold} {case.shingles}")
def test_joins_and_stream_find_the_pairs_of_a_comparison_of_every_two(case: Case, data_dir: Path, seed: int) -> None:
    corpus, most, threshold, shingles, least = case
    rng = random.Random(seed)
    documents = sample(data_dir, corpus, most, rng)
    scheme = ExactScheme(threshold, shingles)
    ids, sets = [one.id for one in documents], scheme.shingle_sets([one.text or "" for one in documents])
    wanted = every_two(ids, sets, threshold)
    assert len(wanted) >= least

    compared = []
    for method in METHODS:
        found = join(sets, threshold, method=method)
        ends = ((ids[left], ids[right]) for left, right in zip(found.left.tolist(), found.right.tolist(), strict=True))
        pairs = [(min(two), max(two)) for two in ends]
        assert dict(zip(pairs, found.similarity.tolist(), strict=True)) == wanted
        compared.append(found.compared)
    assert compared == sorted(compared, reverse=True)
    assert compared[-1] < compared[0] / 2

    pipeline = LocalPipeline(scheme, threshold, UNCAPPED)
    assert in_small_batches(pipeline, history(documents, rng), rng).pairs == wanted
