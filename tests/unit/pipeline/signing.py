"""Helpers of the tests of sign: a scheme whose buckets are the shingles, and the postings of a result."""

from typing import Any

from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.pipeline.sign import Arrivals, Signed, prepare
from stream_lsh.retention import Horizon
from tests.simulation.pipelines.scheme import NamedShingles

SCHEME = NamedShingles()

Posted = dict[int, tuple[int, ...]]


def sign(arrivals: Arrivals, table: DocumentTable, scheme: Scheme, horizon: Horizon, **options: Any) -> Signed:
    """Prepare a batch and store it at once."""
    return prepare(arrivals, table, scheme, horizon, **options).store(table)


def new_table() -> DocumentTable:
    return DocumentTable(SCHEME.slots)


def buckets_of(text: str) -> tuple[int, ...]:
    return tuple(SCHEME.buckets(SCHEME.sign([text]))[0].tolist())


def posted(result: Signed, *, retired: bool = False) -> Posted:
    """Ref -> buckets of the inserted postings, or of the removed ones."""
    found: Posted = {}
    if result.postings is not None:
        postings = result.postings
        for row, ref in enumerate(postings.refs.tolist()):
            if bool(postings.retired[row]) == retired:
                buckets = tuple(postings.buckets[postings.rows == row].tolist())
                assert found.setdefault(ref, buckets) == buckets, "a version may be named twice, with the same buckets"
    return found
