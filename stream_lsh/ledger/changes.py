"""What one frame changed.

For the public topics: `MatchChange`, `MemberChange`, `ClusterChange`; for the changelog: `LedgerChanges`.  A change
says what is true now, not how it came about, so that publishing or applying it twice does no harm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.sites.mirrors import SiteMirrors
from stream_lsh.model import NO_ABOUT, About, First, Outlet
from stream_lsh.retention import Horizon


class MatchChange(NamedTuple):
    """A pair that is true now, or (`similarity` is None) one that is withdrawn for a `reason`.

    Reasons are `updated` and `deleted`; `decided` where people have a say.

    `left_shingles` is 0 where the measure does not tell; `right_shingles` follows from it.  `evidence` is a text that
    goes with a pair of records, "" with one of texts.
    """

    left: str
    right: str
    similarity: float | None = None
    shared: int = 0
    union: int = 0
    left_time_ms: int = 0
    right_time_ms: int = 0
    reason: str | None = None
    left_shingles: int = 0
    evidence: str = ""

    @property
    def right_shingles(self) -> int:
        """Of the right one; 0 where the measure does not tell."""
        return self.left_shingles and self.shared + self.union - self.left_shingles


class MemberChange(NamedTuple):
    """The cluster of a document, or (`cluster` is None) that it is in none for a `reason`.

    Reasons are `updated`, `deleted` and `expired`; `decided` where people have a say.

    `similarity` is that of its best live pair, None where it is held by an identical or an expired document only.
    """

    id: str
    cluster: str | None = None
    similarity: float | None = None
    time_ms: int = 0
    reason: str | None = None


class StorySummary(NamedTuple):
    """What a cluster tells: its headline, its outlets in the order in which they published, at most 100, who was first.

    `source_count` is that of all outlets.
    """

    headline: str
    sources: tuple[Outlet, ...]
    source_count: int
    first: First


class EntitySummary(NamedTuple):
    """What a cluster of records tells: its members with their sources, newest first, at most 100; the golden record."""

    members: tuple[tuple[str, str], ...]
    golden: str


class ClusterChange(NamedTuple):
    """A cluster as it is now, or (`event` is None) that it is no more: merged into another, or closed.

    `members` are the newest first by event time, at most 100; `size` counts them all.  `summary` is set for stories and
    entities.
    """

    id: str
    event: str | None = None
    size: int = 0
    members: tuple[str, ...] = ()
    representative: str = ""
    merged_from: tuple[str, ...] = ()
    split_from: str | None = None
    first_time_ms: int = 0
    last_time_ms: int = 0
    merged_into: str | None = None
    summary: StorySummary | EntitySummary | None = None


class MirrorChange(NamedTuple):
    """Two sites, `left` < `right`, that mirror each other, or (`now` is None) that do so no more."""

    left: str
    right: str
    now: SiteMirrors | None = None


class NodeState(NamedTuple):
    """A live document that the ledger knows: its newest version, its cluster, its past nodes in ascending order.

    `about` is that of the newest version.
    """

    id: str
    ref: int
    time_ms: int
    digest: int
    cluster: str
    pasts: tuple[int, ...]
    about: About = NO_ABOUT


class PairState(NamedTuple):
    """A live pair with the versions that it was confirmed for; `left` < `right` by UTF-8 bytes.

    `left_shingles` is 0 where the measure does not tell; `right_shingles` follows from it.  `evidence` is as in
    `MatchChange`.
    """

    left: str
    right: str
    left_ref: int
    right_ref: int
    left_time_ms: int
    right_time_ms: int
    similarity: float
    shared: int
    union: int
    left_shingles: int = 0
    evidence: str = ""

    @property
    def right_shingles(self) -> int:
        """Of the right one; 0 where the measure does not tell."""
        return self.left_shingles and self.shared + self.union - self.left_shingles


class NewestState(NamedTuple):
    """The newest version known of an id that has retired ones; forgotten when the horizon passes `keep_until_ms`."""

    id: str
    ref: int
    keep_until_ms: int


class ClusterState(NamedTuple):
    """A live cluster and the edges offset at which it was made."""

    id: str
    created: int


class ClosedState(NamedTuple):
    """An id that no new cluster may take until the horizon passes the newest member that it had."""

    id: str
    time_ms: int
    ref: int


class SiteCountState(NamedTuple):
    """Live pages of a site in one source partition (0: none left), and the edges offset of the report by its owner."""

    partition: int
    site: str
    pages: int
    reported_at: int


class SiteOriginState(NamedTuple):
    """As of what the last word about the pages of a source partition is.

    And where its last statement began, and where one has ended: edges offsets, -1 as long as none has.
    """

    partition: int
    offset: int
    generation: int
    began: int
    ended: int


class SiteFirstState(NamedTuple):
    """Two sites that have pages in common, `left` < `right`, and since when."""

    left: str
    right: str
    first_ms: int


DecisionState = Decision
"""What people say of two ids; one that was taken back is a row too."""


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """Everything that recovery needs of one frame: rows that are new or changed, and keys that are gone.

    A snapshot has the same form with `complete` set: applied to nothing it is the whole ledger.  `nodes_gone`,
    `pairs_gone` and `clusters_gone` are applied before the rows, `site_firsts_gone` too.  Rows are in lists or in
    `Table`s.
    """

    complete: bool = False
    nodes: Sequence[NodeState] = ()
    nodes_gone: Sequence[str] = ()
    pairs: Sequence[PairState] = ()
    pairs_gone: Sequence[tuple[str, str]] = ()
    clusters: Sequence[ClusterState] = ()
    clusters_gone: Sequence[str] = ()
    newest: Sequence[NewestState] = ()
    closed: Sequence[ClosedState] = ()
    site_counts: Sequence[SiteCountState] = ()
    site_origins: Sequence[SiteOriginState] = ()
    site_firsts: Sequence[SiteFirstState] = ()
    site_firsts_gone: Sequence[tuple[str, str]] = ()
    decisions: Sequence[DecisionState] = ()
    next_past: int = 0
    horizon: Horizon = field(default_factory=Horizon)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LedgerChanges):
            return NotImplemented
        plain = (self.complete, self.next_past, self.horizon) == (other.complete, other.next_past, other.horizon)
        return plain and all([*mine] == [*theirs] for mine, theirs in zip(self._rows(), other._rows(), strict=True))

    def _rows(self) -> tuple[Sequence[object], ...]:
        gone = (self.nodes_gone, self.pairs_gone, self.clusters_gone, self.site_firsts_gone)
        sites = (self.site_counts, self.site_origins, self.site_firsts)
        return self.nodes, self.pairs, self.clusters, self.newest, self.closed, self.decisions, *sites, *gone


@dataclass(frozen=True, slots=True)
class Settled:
    """What settling one frame leads to; lists are in ascending order of their keys (ids by UTF-8 bytes).

    `rechecks` are pairs (ref of a document that was retired, ref of its partner) that are to be compared again, in
    ascending order.  `mirrors` are there where sites are watched.

    `reviews` are the pairs that are kept and do not link, where there are such: for people to look at.  A pair that
    becomes a match, or is one no more, is withdrawn from where it was.

    `capped_rechecks` pairs were withdrawn instead of compared again, because a document had too many.
    """

    matches: Sequence[MatchChange]
    members: Sequence[MemberChange]
    clusters: Sequence[ClusterChange]
    rechecks: list[tuple[int, int]]
    changes: LedgerChanges
    mirrors: Sequence[MirrorChange] = ()
    reviews: Sequence[MatchChange] = ()
    capped_rechecks: int = 0
