"""A query: the stored documents that are similar to one that is not stored.

    sign      the buckets of the document
    probe     the postings of these buckets, partition by partition
    merge     the candidates of all partitions, each version once; rank, cap
    verify    the candidates, partition by partition of the documents

`LocalPipeline` runs these steps in memory, and the query API runs them on the workers that own the partitions.
A query changes no state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.index.hits import Hits
from stream_lsh.index.table import BandTable
from stream_lsh.model import NO_ABOUT, NO_REF, About, or_empty, ref_offsets
from stream_lsh.pipeline.batches import CANDIDATE, Postings, Signatures, Verifications
from stream_lsh.pipeline.scheme import Scheme


@dataclass(frozen=True, slots=True)
class Query:
    """A document that is not stored.

    Attributes:
        text: as the scheme compares it.
        time_ms: its event time; None to ignore the retention.
        about: its metadata.
        signatures: of this one document.
        buckets: uint64[n], all different.
    """

    text: str
    time_ms: int | None
    about: About
    signatures: Signatures
    buckets: U64

    @property
    def postings(self) -> Postings:
        """Its buckets as those of one version without a ref."""
        return Postings(
            np.array([NO_REF], np.uint64),
            np.array([self.time_ms or 0], np.int64),
            np.zeros(1, np.bool_),
            np.zeros(self.buckets.size, np.int64),
            self.buckets,
        )

    def against(self, old: U64) -> Verifications:
        """The comparison with stored versions, by their refs."""
        return Verifications(
            refs=np.array([NO_REF], np.uint64),
            times=np.array([self.time_ms or 0], np.int64),
            digests=self.signatures.digests,
            ids=("",),
            texts=(self.text,),
            signatures=self.signatures.values,
            rows=np.zeros(old.size, np.int64),
            old=old,
            kinds=np.full(old.size, CANDIDATE, np.uint8),
            abouts=or_empty([self.about]),
        )


def signed(scheme: Scheme, text: str, time_ms: int | None = None, about: About = NO_ABOUT) -> Query | None:
    """The query of a document; None if it cannot match any."""
    signatures = scheme.sign([text])
    if not signatures.digests[0]:
        return None
    buckets = scheme.buckets(signatures)[0]
    return Query(text, time_ms, about, signatures, buckets[buckets != 0])


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The candidates of a query: identical content first, then most bands, then the newest.

    Attributes:
        old: uint64[n], refs, all different.
        bands: uint32[n], the buckets in common.
        identical: bool[n], whether one of these is a digest bucket.
        capped: whether a cap omitted candidates.
    """

    old: U64
    bands: U32
    identical: Bools
    capped: bool = False

    def __len__(self) -> int:
        return self.old.size


def probe(table: BandTable, buckets: U64) -> Found:
    """The candidates in one partition of the band-bucket table."""
    hits = table.probe(np.zeros(buckets.size, np.int64), buckets, counted=False)
    return Found(hits.old, hits.bands, hits.identical, is_capped(hits))


def is_capped(hits: Hits) -> bool:
    """Whether a cap omitted candidates."""
    return hits.capped_postings > 0 or hits.capped_candidates > 0


def merged(parts: Sequence[Found], cap_candidates: int) -> Found:
    """The candidates of several partitions as one, at most `cap_candidates` besides identical ones; 0: all.

    Buckets in common are added.  Partitions number their postings separately, so among candidates with equally many
    the higher offset in the source counts as newer.

    Example:
        >>> def found(old, bands):
        ...     return Found(np.array(old, np.uint64), np.array(bands, np.uint32), np.zeros(len(old), np.bool_))
        >>> both = merged([found([5, 7], [2, 1]), found([7, 6], [2, 2])], cap_candidates=2)
        >>> both.old.tolist(), both.bands.tolist(), both.capped
        ([7, 6], [3, 2], True)
    """
    if len(parts) == 1:
        return parts[0]
    capped = any(part.capped for part in parts)
    if not sum(map(len, parts)):
        return Found(np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.bool_), capped)
    old, place = np.unique(np.concatenate([part.old for part in parts]), return_inverse=True)
    bands = np.bincount(place, np.concatenate([part.bands for part in parts])).astype(np.uint32)
    identical = np.bincount(place, np.concatenate([part.identical for part in parts])) > 0
    order: I64 = np.lexsort((old, ref_offsets(old), bands, identical))[::-1]
    if cap_candidates:
        kept = (np.arange(order.size) < cap_candidates) | identical[order]
        capped, order = capped or not kept.all(), order[kept]
    return Found(old[order], bands[order], identical[order], capped)
