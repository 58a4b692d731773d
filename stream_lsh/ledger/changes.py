"""The changes of one frame.

For the public topics: `MatchChange`, `MemberChange`, `ClusterChange`; for the changelog: `LedgerChanges`.  A change
holds the new state, not the steps to it, so publishing or applying it twice is harmless.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.sites.mirrors import SiteMirrors
from stream_lsh.model import NO_ABOUT, About, First, Outlet
from stream_lsh.retention import Horizon


class MatchChange(NamedTuple):
    """A current pair, or (`similarity` is None) one that is withdrawn for a `reason`.

    Reasons are `updated` and `deleted`, and with human decisions also `decided`.

    `left_shingles` is 0 if the measure does not report it; `right_shingles` is computed from it.  `evidence` is a text
    for a pair of records, "" for a pair of texts.
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
        """The number of shingles of the right document; 0 if the measure does not report it."""
        return self.left_shingles and self.shared + self.union - self.left_shingles


class MemberChange(NamedTuple):
    """The cluster of a document, or (`cluster` is None) its departure from all clusters for a `reason`.

    Reasons are `updated`, `deleted` and `expired`, and with human decisions also `decided`.

    `similarity` is that of its best live pair, None if only an identical or an expired document connects it.
    """

    id: str
    cluster: str | None = None
    similarity: float | None = None
    time_ms: int = 0
    reason: str | None = None


class StorySummary(NamedTuple):
    """The summary of a story: its headline, at most 100 outlets in the order of publication, the first outlet.

    `source_count` counts all outlets.
    """

    headline: str
    sources: tuple[Outlet, ...]
    source_count: int
    first: First


class EntitySummary(NamedTuple):
    """The summary of an entity: at most 100 members with their sources, newest first, and the golden record."""

    members: tuple[tuple[str, str], ...]
    golden: str


class ClusterChange(NamedTuple):
    """The current state of a cluster, or (`event` is None) its end: merged into another cluster, or closed.

    `members` are at most 100, newest event time first; `size` counts all.  `summary` is set for stories and entities.
    """

    id: str
    event: str | None = None
    size: int = 0
    members: Sequence[str] = ()
    representative: str = ""
    merged_from: tuple[str, ...] = ()
    split_from: str | None = None
    first_time_ms: int = 0
    last_time_ms: int = 0
    merged_into: str | None = None
    summary: StorySummary | EntitySummary | None = None


class MirrorChange(NamedTuple):
    """Two sites, `left` < `right`, that mirror each other, or (`now` is None) no longer do."""

    left: str
    right: str
    now: SiteMirrors | None = None


class NodeState(NamedTuple):
    """A live document in the ledger: its newest version, its cluster, its past nodes in ascending order.

    `about` belongs to the newest version.
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

    `left_shingles` is 0 if the measure does not report it; `right_shingles` is computed from it.  `evidence` is as in
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
        """The number of shingles of the right document; 0 if the measure does not report it."""
        return self.left_shingles and self.shared + self.union - self.left_shingles

    def change(self) -> MatchChange:
        """The pair as its topic publishes it."""
        left, right, _, _, left_ms, right_ms, similarity, shared, union, left_shingles, evidence = self
        return MatchChange(left, right, similarity, shared, union, left_ms, right_ms, None, left_shingles, evidence)


class NewestState(NamedTuple):
    """The newest known version of an id with retired versions; dropped when the horizon passes `keep_until_ms`."""

    id: str
    ref: int
    keep_until_ms: int


class ClusterState(NamedTuple):
    """A live cluster and the edges offset at which it was created."""

    id: str
    created: int


class ClosedState(NamedTuple):
    """A cluster id that is reserved until the horizon passes the newest member of the closed cluster."""

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
    """The table state that the last page report of a source partition refers to.

    `began` and `ended` are the edges offsets at which its last full report began and one ended, -1 before the first.
    """

    partition: int
    offset: int
    generation: int
    began: int
    ended: int


class SiteFirstState(NamedTuple):
    """Two sites with pages in common, `left` < `right`, and the event time of the first such pair."""

    left: str
    right: str
    first_ms: int


DecisionState = Decision
"""A human decision on two ids; a revoked decision keeps its row."""


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """The changes of one frame for recovery: new or changed rows, and removed keys.

    A snapshot has the same form with `complete` set: applied to an empty ledger, it restores the whole ledger.
    `nodes_gone`, `pairs_gone`, `clusters_gone` and `site_firsts_gone` are applied before the rows.  Rows are in lists
    or in `Table`s.
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
    """The result of settling one frame; lists are in ascending order of their keys (ids by UTF-8 bytes).

    `rechecks` are pairs (ref of a retired document, ref of its partner) to compare again, in ascending order.
    `mirrors` is filled only if the ledger watches sites.

    `reviews` are kept pairs that do not link: a person reviews them.  A pair that moves between matches and reviews is
    withdrawn from its previous topic.

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
