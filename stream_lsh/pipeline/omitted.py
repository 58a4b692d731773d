"""Estimates the matches among the pairs that the caps omitted: a sample of these pairs is compared exactly."""

import numpy as np

from stream_lsh.index.omitted import OmittedSample
from stream_lsh.pipeline.batches import CANDIDATE, Candidates
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded, gather
from stream_lsh.pipeline.verify import verify


def matches_among(sample: OmittedSample, documents: DocumentTable, criteria: Criteria, comparer: Comparer) -> float:
    """The number of matches that the matches in a sample stand for.

    Args:
        sample: of the omitted pairs.
        documents: holds both ends.
        criteria: the conditions of a match.
        comparer: of the pipeline: its memory is shared.
    """
    candidates = Candidates(sample.new, sample.old, np.full(len(sample), CANDIDATE, np.uint8))
    asked = gather(candidates, documents, Forwarded())
    edges = None if asked is None else verify(asked, documents, criteria, comparer)
    if edges is None:
        return 0.0
    pairs = zip(sample.new.tolist(), sample.old.tolist(), strict=True)
    weights = dict(zip(pairs, sample.weights.tolist(), strict=True))
    matches = zip(edges.left.refs.tolist(), edges.right.refs.tolist(), strict=True)
    return float(sum(weights[pair] for pair in matches))
