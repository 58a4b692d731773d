"""The values of the domain, as used by the public interface of the package.

A *ref* names one version of a document: its Kafka coordinate, `partition << 48 | offset`, as an unsigned 64-bit
integer.  Refs of one id only grow, so the greater of two is the newer version (docs/internals/adr/0001).

Ids are ordered by their UTF-8 bytes, which is the order in which Python compares strings: by code point.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64

NO_REF = 0xFFFFFFFFFFFFFFFF
"""No version: a coordinate that no topic reaches."""

_OFFSET_BITS = 48
MAX_OFFSET = (1 << _OFFSET_BITS) - 1
"""The greatest offset of a ref."""


def make_ref(partition: int, offset: int) -> int:
    """The ref of the message at `offset` of `partition`.

    Example:
        >>> hex(make_ref(3, 255))
        '0x30000000000ff'
    """
    return partition << _OFFSET_BITS | offset


def ref_partition(ref: int) -> int:
    """The source partition of a ref."""
    return ref >> _OFFSET_BITS


def ref_partitions(refs: U64) -> I64:
    """The source partition of each ref: int64, the shape of `refs`."""
    return (refs >> np.uint64(_OFFSET_BITS)).astype(np.int64)


def ref_offset(ref: int) -> int:
    """The offset of a ref within its source partition."""
    return ref & MAX_OFFSET


def ref_offsets(refs: U64) -> U64:
    """The offset of each ref within its source partition: uint64, the shape of `refs`."""
    return refs & np.uint64(MAX_OFFSET)


class About(NamedTuple):
    """The description of a document version for stories and entities.

    Attributes:
        title: its headline; for a record its fields, as JSON.
        source: the outlet that published it; for a record its origin.
        length: characters of its text.
    """

    title: str = ""
    source: str = ""
    length: int = 0


NO_ABOUT = About()
"""The empty description."""


class Document(NamedTuple):
    """A text to match, or (`text` is None) the deletion of a document.

    Attributes:
        id: chosen by the user; a later document of the same id replaces this one.
        text: the compared text; an empty text is valid and matches nothing.
        time_ms: event time, milliseconds since the epoch.
        about: its description for stories; a change of it makes a new version, even with the same text.
    """

    id: str
    text: str | None
    time_ms: int = 0
    about: About = NO_ABOUT


@dataclass(frozen=True, slots=True)
class Retirement:
    """Every version of `id` below `ref` is obsolete.

    Attributes:
        id: the document.
        ref: its newest version, or the tombstone.
        time_ms: event time of that version.
        digest: its digest; 0 for a document without shingles and for a tombstone.
        deleted: the document was deleted; otherwise there is a newer version.
        keep_until_ms: the newest event time among the retired versions: until it expires, a late edge may still refer
            to one of them.
        about: that of the newest version.
    """

    id: str
    ref: int
    time_ms: int
    digest: int
    deleted: bool
    keep_until_ms: int
    about: About = NO_ABOUT


@dataclass(frozen=True, slots=True)
class Match:
    """A verified pair: `left` < `right` by UTF-8 bytes; `similarity` is exact, by Jaccard `shared` / `union`.

    With the measure containment `left_shingles` and `right_shingles` show which document contains the other; else they
    are 0.
    """

    left: str
    right: str
    similarity: float
    shared: int
    union: int
    left_time_ms: int = 0
    right_time_ms: int = 0
    left_shingles: int = field(default=0, repr=False)
    right_shingles: int = field(default=0, repr=False)


class Similar(NamedTuple):
    """A document that a queried text would match, with its exact similarity."""

    id: str
    similarity: float
    shared: int
    union: int


@dataclass(frozen=True, slots=True)
class NeighbourPair:
    """Two vectors within the distance: `left` < `right` by UTF-8 bytes; `distance` is exact, in the measure's unit."""

    left: str
    right: str
    distance: float
    left_time_ms: int = 0
    right_time_ms: int = 0


class Neighbour(NamedTuple):
    """A vector within the distance of a queried one, with its exact distance."""

    id: str
    distance: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents connected by matches, under an id that stays.

    Attributes:
        id: constant while the cluster lives, even if members join or leave.
        members: ids, newest first by event time.
    """

    id: str
    members: tuple[str, ...] = field(default=())


class Outlet(NamedTuple):
    """One outlet of a story: the time of its first document, and the number of its documents."""

    source: str
    first_time_ms: int
    documents: int


class First(NamedTuple):
    """The oldest document of a story, and its outlet."""

    id: str
    source: str
    time_ms: int


@dataclass(frozen=True, slots=True)
class Story:
    """A cluster with its summary.

    Attributes:
        id: of the cluster.
        headline: the title of the representative.
        representative: the fullest early version: the longest of the ten oldest documents.
        sources: at most 100 outlets, in the order of their first publication; documents without an outlet do not count.
        source_count: the number of all outlets.
        first: the oldest document and its outlet.
        last_time_ms: of the newest document.
        members: ids, newest first by event time.
    """

    id: str
    headline: str
    representative: str
    sources: tuple[Outlet, ...]
    source_count: int
    first: First
    last_time_ms: int
    members: tuple[str, ...]


Abouts = Sequence[About]
"""A column of `About`, one for each row; empty if no row has one, so that pipelines without stories store none."""


def or_empty(abouts: Abouts) -> Abouts:
    """The column, or an empty one if no row has an `About`."""
    return () if abouts.count(NO_ABOUT) == len(abouts) else abouts


def in_full(abouts: Abouts, rows: int) -> Abouts:
    """The column with one `About` for each row."""
    return abouts or [NO_ABOUT] * rows


def at_rows(abouts: Abouts, rows: Iterable[int]) -> Abouts:
    """The column of some of the rows, in their order."""
    return [abouts[row] for row in rows] if abouts else ()


def concatenate(columns: Iterable[tuple[Abouts, int]]) -> Abouts:
    """One column of several, each given with its number of rows."""
    parts = [*columns]
    return or_empty([about for abouts, rows in parts for about in in_full(abouts, rows)])
