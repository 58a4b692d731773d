"""The data between the steps: columns, not objects.  `wire.frames` encodes each of these batches.

    Postings ──────▶ index     bands of new versions, and of versions that were retired
    Candidates ────▶ gather    pairs of refs that share a bucket, and rechecks from settle
    Verifications ─▶ verify    a new document with the old refs to compare it with
    Edges ─────────▶ settle    confirmed pairs and answers to rechecks
    Retirements ───▶ settle    ids whose older versions are obsolete
    PageCounts ────▶ settle    the page counts of sites, where sites are watched
    Decision ──────▶ settle    a human verdict on two ids
    Watermarks     ─▶ all      the event time of every source partition

A row of a batch is one version of a document or one pair of versions; `rows` columns point into the documents of
the same batch.  Batches are never changed after they were made.

One message carries a `…Frame`: the data of one sender for one partition of one topic, processed in the order of its
fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U8, U32, U64, Bools
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.sites.page_counts import PageCounts
from stream_lsh.model import Abouts, Retirement
from stream_lsh.retention import Horizon

CANDIDATE, RECHECK = 0, 1
"""Kinds of a pair on its way to the exact check: found by the index, or a recheck from settle."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """Of n versions: uint32[n, slots] `values` and uint64[n] `digests`, 0 for a version that cannot match."""

    values: U32
    digests: U64

    def __len__(self) -> int:
        return self.digests.size


@dataclass(frozen=True, slots=True)
class Postings:
    """Versions and the buckets they fall into.

    Attributes:
        refs: uint64[n], the version.
        times: int64[n], its event time in ms.
        retired: bool[n], true where the postings are to be removed instead of inserted.
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

    def only(self, keep: Bools) -> "Postings":
        """The versions for which `keep`, bool[n], is true, with their postings."""
        number = np.cumsum(keep) - 1
        kept = keep[self.rows]
        return Postings(
            self.refs[keep], self.times[keep], self.retired[keep], number[self.rows[kept]], self.buckets[kept]
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of versions to compare: uint64[n] `new` and `old`, uint8[n] `kinds`.

    The pair travels to the partition of `new` first.
    """

    new: U64
    old: U64
    kinds: U8

    def __len__(self) -> int:
        return self.new.size

    def only(self, which: Bools | slice) -> "Candidates":
        """Some of the pairs."""
        return Candidates(self.new[which], self.old[which], self.kinds[which])


@dataclass(frozen=True, slots=True)
class Verifications:
    """New versions with all data for the exact check, and the old versions to compare them with.

    Attributes:
        refs, times, digests: uint64[n], int64[n], uint64[n] of the new versions.
        ids, texts: n strings each; a text is the input of the shingler.
        signatures: uint32[n, slots].
        rows: int64[m], the new version of each pair, as a row number.
        old: uint64[m]; kinds: uint8[m].
        abouts: the metadata of each new version, for stories.
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
    abouts: Abouts = ()

    def __len__(self) -> int:
        return self.old.size

    def only(self, which: Bools | slice) -> "Verifications":
        """Some of the pairs; all new versions stay."""
        return replace(self, rows=self.rows[which], old=self.old[which], kinds=self.kinds[which])


class Mark(NamedTuple):
    """The progress of one source partition.

    Attributes:
        source: the source partition.
        time_ms: the greatest event time seen.
        idle: it has been read to its end and no message follows.
        min_offset: offsets below it are dropped by `max_documents`; 0 keeps all.
        generation, number: of the report: numbered by the owner of the partition in that generation of the consumer
            group.  Reports are repeated after a crash, and an old one must not override a newer one.
    """

    source: int
    time_ms: int
    idle: bool
    min_offset: int
    generation: int = -1
    number: int = 0

    @property
    def order_key(self) -> tuple[int, int]:
        """The order of the reports about one source partition."""
        return self.generation, self.number


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The marks of the source as known to partition `origin` of a hop: all older data precedes them."""

    origin: int
    marks: tuple[Mark, ...]


class Pass(NamedTuple):
    """The role of a record of the buckets changelog in the pass that rewrites it (`changelog.rewrite`).

    Attributes:
        began: the offset of its first record; -1 in that record itself.
        ended: it is the last one: every slice is in the log.
    """

    began: int
    ended: bool


BEGINS = Pass(-1, False)
"""The role of the first record of a pass."""


@dataclass(frozen=True, slots=True)
class BandsFrame:
    """A message of the topic `bands`: from sign postings and watermarks, from settle the horizon.

    Also used in the changelog of index, where `copied` marks the records of a pass.  `lag` is the number of bytes that
    wait for settle, which the worker that settles reports to all others.
    """

    postings: Postings | None = None
    watermarks: Watermarks | None = None
    horizon: Horizon | None = None
    copied: Pass | None = None
    lag: int | None = None


@dataclass(frozen=True, slots=True)
class CandidatesFrame:
    """A message of the topic `candidates`: from index pairs and watermarks, from settle rechecks and the horizon."""

    candidates: Candidates | None = None
    watermarks: Watermarks | None = None
    horizon: Horizon | None = None


@dataclass(frozen=True, slots=True)
class VerificationsFrame:
    """A message of the topic `verifications`, from gather."""

    verifications: Verifications | None = None
    watermarks: Watermarks | None = None


@dataclass(frozen=True, slots=True)
class EdgesFrame:
    """A message of the topic `edges`.

    Sign sends retirements and page counts, gather and verify send edges, verify sends watermarks, decide sends human
    decisions on two ids.
    """

    retirements: tuple[Retirement, ...] = ()
    edges: Edges | None = None
    watermarks: Watermarks | None = None
    pages: PageCounts | None = None
    decisions: tuple[Decision, ...] = ()


Frame = BandsFrame | CandidatesFrame | VerificationsFrame | EdgesFrame
"""A message of a topic between two steps, before it is encoded."""


def has_pairs(frame: Frame) -> bool:
    """Whether a frame has pairs on their way from index to settle."""
    match frame:
        case CandidatesFrame(rows) | VerificationsFrame(rows):
            return rows is not None
        case EdgesFrame():
            return frame.edges is not None
    return False
