"""What passes between the steps: columns, not objects.  `wire.frames` gives each of these a form in bytes.

    Postings ──────▶ index     bands of new versions, and of versions that were retired
    Candidates ────▶ gather    pairs of refs that share a bucket, and rechecks that settle asks for
    Verifications ─▶ verify    a new document with the old refs it is to be compared with
    Edges ─────────▶ settle    confirmed pairs and answers to rechecks
    Retirements ───▶ settle    ids whose older versions are no longer true
    Watermarks     ─▶ all      how far the event time of every source partition has come
    Horizon        ─▶ all      what settle has decided to forget

A row of a batch is one version of a document or one pair of versions; `rows` columns point into the documents of the same
batch.  Batches are never changed after they were made.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64, U8, U32, U64, Bools

CANDIDATE, RECHECK = 0, 1
"""Kinds of a pair on its way to the exact check: found by the index, or asked again by settle."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Versions and the buckets they fall into.

    Attributes:
        refs: uint64[n], the version.
        times: int64[n], its event time in ms.
        retired: bool[n], true where the postings are to be taken out instead of put in.
        rows: int64[m], the version of each posting, as a row number below n.
        buckets: uint64[m], (band, band hash) as one key; bit 0 is set on the digest band and nowhere else.
    """

    refs: U64
    times: I64
    retired: Bools
    rows: I64
    buckets: U64

    def __len__(self) -> int:
        return self.refs.size


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of versions that are to be compared: uint64[n] `new`, uint64[n] `old`, uint8[n] `kinds`, bool[n] `identical`.

    The pair travels to the partition of `new` first.  `identical` says that the two share the digest band.
    """

    new: U64
    old: U64
    kinds: U8
    identical: Bools

    def __len__(self) -> int:
        return self.new.size


@dataclass(frozen=True, slots=True)
class Verifications:
    """New versions with all that the exact check needs of them, and the old versions they meet.

    Attributes:
        refs, times, digests: uint64[n], int64[n], uint64[n] of the new versions.
        ids, texts: n strings each; a text is what the shingler gets.
        signatures: uint32[n, slots].
        rows: int64[m], the new version of each pair, as a row number.
        old: uint64[m]; kinds: uint8[m].
    """

    refs: U64
    times: I64
    digests: U64
    ids: Sequence[str]
    texts: Sequence[str]
    signatures: U32
    rows: I64
    old: U64
    kinds: U8

    def __len__(self) -> int:
        return self.old.size


@dataclass(frozen=True, slots=True)
class Ends:
    """One end of each edge: n `ids`, uint64[n] `refs`, int64[n] `times`, uint64[n] `digests`."""

    ids: Sequence[str]
    refs: U64
    times: I64
    digests: U64


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs with their exact similarity: float64[n], and the counts behind it, uint32[n] each.

    A pair that the index found is here only if it reaches the threshold; the answer to a recheck is here whatever it is.
    """

    left: Ends
    right: Ends
    similarity: F64
    shared: U32
    union: U32

    def __len__(self) -> int:
        return self.similarity.size


@dataclass(frozen=True, slots=True)
class Retirement:
    """Every version of `id` below `ref` is no longer true.

    Attributes:
        id: the document.
        ref: its newest version, or the tombstone.
        time_ms: event time of that version.
        digest: its digest; 0 for a document without shingles and for a tombstone.
        deleted: the document is gone; otherwise there is a newer version.
        keep_until_ms: the newest event time among the retired versions: until that has expired, an edge that was under way
            may still name one of them.
    """

    id: str
    ref: int
    time_ms: int
    digest: int
    deleted: bool
    keep_until_ms: int


@dataclass(frozen=True, slots=True)
class Watermarks:
    """What one partition of a hop knows of the source: int64[s] `times`, bool[s] `idle`, int64[s] `floors`.

    Attributes:
        origin: the partition that speaks.
        sources: int64[s], the source partitions that it speaks of.
        times: greatest event time seen, ms.
        idle: the partition has been read to its end and nothing comes.
        floors: offsets below it are dropped by `max_documents`; 0 keeps all.
    """

    origin: int
    sources: I64
    times: I64
    idle: Bools
    floors: I64


@dataclass(frozen=True, slots=True)
class Horizon:
    """What is forgotten: versions older than `time_ms`, and those below the offset floor of their partition (int64[s])."""

    time_ms: int
    floors: I64

    def passed(self, time_ms: int, ref: int) -> bool:
        """Whether a version of this event time and ref has expired."""
        if time_ms < self.time_ms:
            return True
        partition = ref >> 48
        return partition < self.floors.size and (ref & 0xFFFFFFFFFFFF) < int(self.floors[partition])


BEGINNING_MS = -(1 << 62)
"""Before every event time: nothing has expired, nothing has been seen."""


def no_horizon() -> Horizon:
    """A horizon that nothing has passed."""
    return Horizon(BEGINNING_MS, np.zeros(0, dtype=np.int64))
