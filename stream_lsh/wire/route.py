"""The partition of each row of a batch, and the division of the batch by partition.

    postings        (bucket >> 1 & 0xFFFFFFFF) * P >> 32     the hash, without the bit that marks the digest band
    candidates      new >> 48                                the partition with the new document's text
    verifications   old >> 48                                the partition with the old document's text

A bucket's partition is the hash scaled to the number of partitions: the upper of those 32 bits decide, so the lower
ones stay evenly distributed within each partition.
"""

from itertools import pairwise

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.errors import InvariantError
from stream_lsh.model import at_rows, ref_partitions
from stream_lsh.pipeline.batches import Candidates, Postings, Verifications

_ONE, _LOW, _HALF = np.uint64(1), np.uint64(0xFFFFFFFF), np.uint64(32)


def bucket_partitions(buckets: U64, partitions: int) -> I64:
    """The partition of each bucket: int64, the shape of `buckets`, each below `partitions`.

    Example:
        >>> bucket_partitions(np.array([0, 0xFFFFFFFF, 0x1FFFFFFFF], np.uint64), 4).tolist()
        [0, 1, 3]
    """
    return ((((buckets >> _ONE) & _LOW) * np.uint64(partitions)) >> _HALF).astype(np.int64)


def postings_by_partition(postings: Postings, partitions: int) -> list[Postings | None]:
    """The postings of each partition, None where there are none.

    Returns:
        one entry per partition, with the versions that have a posting there, in their order; postings are grouped by
        version, in their order within it.  With one partition the input itself.
    Cost:
        one sort of the postings, and 2 us for each partition that receives some.
    """
    if partitions == 1:
        return [postings if postings.rows.size else None]
    divided = _Division(bucket_partitions(postings.buckets, partitions), postings.rows, len(postings), partitions)
    buckets = postings.buckets[divided.order]
    refs, times, retired = (column[divided.docs] for column in (postings.refs, postings.times, postings.retired))
    out: list[Postings | None] = []
    for entries, docs, rows in divided.slices():
        share = Postings(refs[docs], times[docs], retired[docs], rows, buckets[entries]) if rows.size else None
        out.append(share)
    return out


def candidates_by_partition(candidates: Candidates, partitions: int) -> list[Candidates | None]:
    """The pairs of each partition of the new document, in their order; None where there are none.

    Returns:
        one entry per partition; with one partition the input itself.

    Raises:
        InvariantError: a ref of a partition that does not exist.
    """
    if partitions == 1:
        return [candidates if len(candidates) else None]
    targets = _ref_partitions(candidates.new, partitions)
    order = np.argsort(targets, kind="stable")
    new, old, kinds = candidates.new[order], candidates.old[order], candidates.kinds[order]
    bounds = np.searchsorted(targets[order], np.arange(partitions + 1)).tolist()
    return [
        Candidates(new[start:stop], old[start:stop], kinds[start:stop]) if start < stop else None
        for start, stop in pairwise(bounds)
    ]


def verifications_by_partition(batch: Verifications, partitions: int) -> list[Verifications | None]:
    """The pairs of each partition of the old document, with the new documents that they need; None if there are none.

    Returns:
        one entry per partition; new documents keep their order, pairs are grouped by new document and keep their order
        within it.  With one partition the input itself.

    Raises:
        InvariantError: a ref of a partition that does not exist.
    """
    if partitions == 1:
        return [batch if len(batch) else None]
    divided = _Division(_ref_partitions(batch.old, partitions), batch.rows, batch.refs.size, partitions)
    old, kinds = batch.old[divided.order], batch.kinds[divided.order]
    out: list[Verifications | None] = []
    for entries, docs, rows in divided.slices():
        if not rows.size:
            out.append(None)
            continue
        chosen = divided.docs[docs]
        listed = chosen.tolist()
        share = Verifications(
            refs=batch.refs[chosen],
            times=batch.times[chosen],
            digests=batch.digests[chosen],
            ids=[batch.ids[row] for row in listed],
            texts=[batch.texts[row] for row in listed],
            signatures=batch.signatures[chosen],
            rows=rows,
            old=old[entries],
            kinds=kinds[entries],
            abouts=at_rows(batch.abouts, listed),
        )
        out.append(share)
    return out


def _ref_partitions(refs: U64, partitions: int) -> I64:
    targets = ref_partitions(refs)
    if targets.size and int(targets.max()) >= partitions:
        raise InvariantError(
            f"got a ref of partition {int(targets.max())}, expected less than {partitions}: the topic has grown since "
            "the pipeline started, or this is a bug"
        )
    return targets


class _Division:
    """Entries sorted by (partition, row), with the documents that each partition needs.

    Attributes:
        order: int64[m], the entries, sorted.
        docs: int64[k], the rows of the documents that each partition needs, partition by partition.
    """

    def __init__(self, targets: I64, rows: I64, documents: int, partitions: int) -> None:
        keys = targets * documents + rows
        self.order = np.argsort(keys, kind="stable")
        keys = keys[self.order]
        first = np.empty(keys.size, dtype=np.bool_)
        first[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        needed = keys[first]
        starts = np.arange(partitions + 1) * documents
        self.docs = needed % max(documents, 1)
        self._numbers = np.cumsum(first) - 1
        self._entry_bounds = np.searchsorted(keys, starts).tolist()
        self._doc_bounds = np.searchsorted(needed, starts).tolist()

    def slices(self) -> list[tuple[slice, slice, I64]]:
        """For every partition: its entries in `order`, its documents in `docs`, the row of each entry among these."""
        out = []
        for partition, start in enumerate(self._entry_bounds[:-1]):
            entries = slice(start, self._entry_bounds[partition + 1])
            docs = slice(self._doc_bounds[partition], self._doc_bounds[partition + 1])
            out.append((entries, docs, self._numbers[entries] - docs.start))
        return out
