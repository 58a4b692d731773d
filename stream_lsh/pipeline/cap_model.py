"""Predicts the candidates of a document that the caps of the index omit, from some of the documents in its buckets.

The recall monitor knows the newest versions of one source partition.  The buckets also hold those of the other
partitions, of which there are about as many: each version of the monitor stands for one of every partition.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U64, Bools


def _one_partition(buckets: U64) -> I64:
    return np.zeros(buckets.shape, np.int64)


@dataclass(frozen=True, slots=True)
class CapModel:
    """The caps of an index.

    Attributes:
        postings: that a probe follows in a bucket; 0: all.
        candidates: of a document in each partition of the index; 0: all.
        partitions: of the source.
        partition_of: the partition of the index for each bucket.
    """

    postings: int = 0
    candidates: int = 0
    partitions: int = 1
    partition_of: Callable[[U64], I64] = _one_partition

    def may_omit(self, documents: int) -> bool:
        """Whether a cap can apply to a document, if the monitor has this many others."""
        caps = [cap for cap in (self.postings, self.candidates) if cap]
        return bool(caps) and documents * self.partitions > min(caps)

    def kept(self, own: U64, others: U64) -> Bools:
        """Whether the index proposes each of the others as a candidate.

        Args:
            own: uint64[w], the buckets of a document; 0 for none.
            others: uint64[n, w], the buckets of the earlier documents, oldest first.

        Returns:
            bool[n].

        Example:
            >>> others = np.array([[1, 5], [1, 7], [1, 9]], np.uint64)
            >>> CapModel(postings=2).kept(np.array([1, 5], np.uint64), others).tolist()
            [True, True, True]
            >>> CapModel(candidates=2).kept(np.array([1, 5], np.uint64), others).tolist()
            [True, False, True]
        """
        own = own[own != 0]
        shared: Bools = np.stack([(others == bucket).any(axis=1) for bucket in own], axis=1)
        if self.postings:
            newer: I64 = np.cumsum(shared[::-1], axis=0)[::-1] - shared
            shared &= newer * self.partitions < self.postings
        kept = np.zeros(len(others), np.bool_)
        if not self.candidates:
            return np.logical_or.reduce(shared, axis=1, out=kept)
        partitions = self.partition_of(own)
        for partition in np.unique(partitions):
            here = shared[:, partitions == partition]
            bands = here.sum(axis=1)
            at = np.flatnonzero(bands)[::-1]
            order = at[np.argsort(-bands[at], kind="stable")]  # most bands first, then the newest
            # With further partitions, the nearest posting is mostly one that the monitor does not know.
            nearest = _newest(here) if self.partitions == 1 else at[:0]
            order = np.concatenate((nearest, order[~np.isin(order, nearest)]))
            kept[order[: max(nearest.size, -(-self.candidates // self.partitions))]] = True
        return kept


def _newest(shared: Bools) -> I64:
    """The newest row of each bucket that has one: int64[k], each once."""
    rows: I64 = np.unique(len(shared) - 1 - np.argmax(shared[::-1], axis=0)[shared.any(axis=0)])
    return rows
