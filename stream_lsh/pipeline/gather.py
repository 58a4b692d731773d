"""Step 3: pairs in, the new documents with all data for the exact check out."""

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.pipeline.batches import RECHECK, Candidates, Verifications
from stream_lsh.pipeline.documents.table import DocumentTable

_MOST_REMEMBERED = 1 << 14
"""Pairs: 2 MB in both generations, and more than the lag between index partitions, except in full buckets."""


class Forwarded:
    """The recently forwarded pairs: two generations of at most `limit` pairs each.

    A pair meets in several buckets on several index partitions; one check is enough.  A forgotten pair only costs
    a second check, so a revoked partition drops this memory.
    """

    def __init__(self, limit: int = _MOST_REMEMBERED) -> None:
        self._limit = limit
        self._young: set[int] = set()  # the refs of a pair in one number: half the memory of a tuple
        self._old: set[int] = set()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def add(self, new: int, old: int) -> bool:
        """Remember a pair of refs; returns whether it is new."""
        pair = new << 64 | old
        if pair in self._young or pair in self._old:
            return False
        self._young.add(pair)
        if len(self._young) > self._limit:
            self._old, self._young = self._young, set()
        return True


def gather(candidates: Candidates, documents: DocumentTable, forwarded: Forwarded) -> Verifications | None:
    """The documents of the new refs, each with the old refs to compare it with; None if no pair is left.

    Dropped: pairs whose new ref is not the newest of its id, and pairs that were forwarded before.  A recheck always
    passes: its pair may have been forwarded when the other end was about to change.
    """
    rows = _rows_of_runs(candidates.new, documents)
    keep = rows >= 0
    _drop_known(candidates, keep, forwarded)
    if not keep.any():
        return None
    unique, numbers = np.unique(rows[keep], return_inverse=True)
    refs, times = documents.refs_times(unique)
    signatures = documents.signatures(unique)
    return Verifications(
        refs=refs,
        times=times,
        digests=signatures.digests,
        ids=documents.ids(unique),
        texts=documents.texts(unique),
        signatures=signatures.values,
        rows=numbers.astype(np.int64),
        old=candidates.old[keep],
        kinds=candidates.kinds[keep],
        abouts=documents.abouts(unique),
    )


def _rows_of_runs(refs: U64, documents: DocumentTable) -> I64:
    """The row of each ref; each run of equal refs is looked up once."""
    starts = np.flatnonzero(np.append(True, refs[1:] != refs[:-1]))
    return np.repeat(documents.rows(refs[starts]), np.diff(starts, append=refs.size))


def _drop_known(candidates: Candidates, keep: Bools, forwarded: Forwarded) -> None:
    """Clear `keep` for candidates that were forwarded before, and remember the others."""
    positions = np.flatnonzero(keep & (candidates.kinds != RECHECK))
    keep[positions] = list(map(forwarded.add, candidates.new[positions].tolist(), candidates.old[positions].tolist()))
