"""Step 4: new documents and old refs in, edges with their exact similarity out.

candidate   filtered by event time and by cheap tests of its kind, then compared; an edge if J >= T
recheck     compared, regardless of the filters; an edge in any case, 0 if too far apart in event time

A pair whose old ref is not the newest of its id is dropped, also a recheck: it gets no negative answer, because the
retirement that made it stale causes another recheck.
"""

from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.model import at_rows
from stream_lsh.pipeline.batches import Verifications
from stream_lsh.pipeline.compare import Compared, Comparer, Criteria, Pairs
from stream_lsh.pipeline.documents.table import DocumentTable

STEP = 1_024
"""The best number of pairs for one step: more gain nothing, fewer pay for each numpy call."""


def verify(asked: Verifications, documents: DocumentTable, criteria: Criteria, comparer: Comparer) -> Edges | None:
    """The pairs that are matches, and the answers to rechecks; None if there are none.

    Guarantees:
        exact: the similarity is that of the two versions, by the measure of their kind; no estimate.
    """
    return _verified(asked, documents, criteria, comparer, bounded=False)[0]


def verify_in_steps(
    asked: Verifications, documents: DocumentTable, criteria: Criteria, comparer: Comparer, most: int = STEP
) -> Iterator[Edges | None]:
    """The edges of `verify`, in steps of bounded work, as if each pair were compared alone.

    Documents may be added and removed between two steps.

    Args:
        asked: pairs of one document side by side, or it costs more.
        documents: the old ends.
        criteria: the conditions of a match.
        comparer: of the pipeline.
        most: pairs in one step.

    Cost:
        a step takes some 50 ms of work, or one pair where that takes longer.
    """
    start, size = 0, most
    while start < len(asked):
        at, step = slice(start, start + size), asked
        if start or len(asked) > size:
            step = asked.only(at)
        edges, done = _verified(step, documents, criteria, comparer, bounded=True)
        start, size = start + done, min(most, 2 * done)
        yield edges


def _verified(
    asked: Verifications, documents: DocumentTable, criteria: Criteria, comparer: Comparer, *, bounded: bool
) -> tuple[Edges | None, int]:
    """The edges of the first pairs, and the number of compared pairs."""
    old_rows = documents.rows(asked.old)
    at = np.flatnonzero((old_rows >= 0) & (asked.refs[asked.rows] != asked.old))
    if not at.size:
        return None, len(asked)
    pairs = Pairs(asked, documents, at, old_rows[at])
    near = pairs.near(criteria.retention_ms)
    compared = comparer.compare(pairs, near, criteria, bounded=bounded)
    count = compared.similarity.size
    sent = np.flatnonzero(pairs.recheck[:count] | (near[:count] & (compared.similarity >= criteria.threshold)))
    done = len(asked) if count == len(pairs) else int(at[count])
    return _edges(pairs, sent, compared) if sent.size else None, done


def _edges(pairs: Pairs, at: I64, compared: Compared) -> Edges:
    asked, documents = pairs.asked, pairs.documents
    new, old = pairs.new[at], pairs.old[at]
    rows = new.tolist()
    abouts = at_rows(asked.abouts, rows)
    left = Ends([asked.ids[row] for row in rows], asked.refs[new], asked.times[new], asked.digests[new], abouts)
    ids, abouts = documents.ids(old), documents.abouts(old)
    right = Ends(ids, pairs.old_refs[at], pairs.old_times[at], documents.digests(old), abouts)
    sizes = None if compared.sizes is None else compared.sizes[at]
    evidence = [compared.evidence[row] for row in at.tolist()] if compared.evidence else ()
    return Edges(left, right, compared.similarity[at], compared.shared[at], compared.union[at], sizes, evidence)
