"""Step 2: postings in, pairs of versions that share a bucket out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.index.hits import Hits
from stream_lsh.index.table import BandTable
from stream_lsh.pipeline.batches import CANDIDATE, Candidates, Postings


class Indexed(NamedTuple):
    """Candidates, and the omissions by caps: buckets that were not followed to their end, pairs that were cut.

    `has_neighbours`: some candidates came within the caps by a retirement.
    """

    candidates: Candidates | None
    capped_buckets: Sequence[int]
    capped_candidates: int
    has_neighbours: bool


def index(postings: Postings, table: BandTable) -> Indexed:
    """Remove retired postings from the table, insert new ones, and return the candidates of the new ones.

    Guarantees:
        new postings that are repeated give the same candidates again, or more: a duplicate is harmless, a missing one
        is a lost match.  A repeated retirement gives none, because the table does not have the posting any more.
    """
    if not postings.retired.any():
        return _indexed([table.insert_and_probe(postings.refs, postings.times, postings.rows, postings.buckets)], False)
    retired, inserted = postings.only(postings.retired), postings.only(~postings.retired)
    hits = [table.retire(retired.refs, retired.rows, retired.buckets)]
    if len(inserted):
        hits.append(table.insert_and_probe(inserted.refs, inserted.times, inserted.rows, inserted.buckets))
    return _indexed(hits, hits[0].new.size > 0)


def _indexed(parts: list[Hits], has_neighbours: bool) -> Indexed:
    new = np.concatenate([hits.new for hits in parts])
    old = np.concatenate([hits.old for hits in parts])
    candidates = Candidates(new, old, np.full(new.size, CANDIDATE, np.uint8)) if new.size else None
    capped = [bucket for hits in parts for bucket in hits.capped_buckets]
    return Indexed(candidates, capped, sum(hits.capped_candidates for hits in parts), has_neighbours)
