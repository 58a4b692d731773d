"""Edges as columns, from rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from stream_lsh.ledger.edges import Edge, Edges, End, Ends, written
from stream_lsh.model import or_empty


def edges_of(rows: Iterable[Edge]) -> Edges:
    """Edges as columns."""
    edges = [*rows]
    shingles = np.array([edge.shingles for edge in edges], np.uint32)
    return Edges(
        _ends([edge.left for edge in edges]),
        _ends([edge.right for edge in edges]),
        np.array([edge.similarity for edge in edges], np.float64),
        np.array([edge.shared for edge in edges], np.uint32),
        np.array([edge.union for edge in edges], np.uint32),
        shingles if shingles.any() else None,
        written([edge.evidence for edge in edges]),
    )


def _ends(ends: Sequence[End]) -> Ends:
    return Ends(
        [end.id for end in ends],
        np.array([end.ref for end in ends], np.uint64),
        np.array([end.time_ms for end in ends], np.int64),
        np.array([end.digest for end in ends], np.uint64),
        or_empty([end.about for end in ends]),
    )
